"use strict";
// Reads single requests off the charts, by pointer or arrow keys, and sorts the policies.
// Without it the page is whole: charts, figures and tables stand in it already.
(() => {
  const number = (value) => value.toLocaleString("en-US");
  const bold = (text) => Object.assign(document.createElement("b"), { textContent: text });
  const make = (name, className) => Object.assign(document.createElement(name), { className });

  function span(data, column) {
    const from = data.starts[column] + 1;
    const to = data.starts[column + 1] ?? data.steps;
    return from === to ? `Request ${number(from)}` : `Requests ${number(from)}–${number(to)}`;
  }

  function ofOne(data, run, column) {
    if (!(column in run.step)) return [`${span(data, column)}: not made under ${run.name}.`];
    const step = run.step[column] + 1;
    const many = data.starts[column + 1] !== undefined && data.starts[column + 1] > data.starts[column] + 1;
    const which = many ? `the largest is ${number(step)}, ` : "";
    const out = [
      `${span(data, column)}: ${which}after ${number(run.at[column])} messages, `,
      bold(`${number(run.tokens[column])} tokens`),
      ` sent, ${number(run.notes[column])} of them notes; ${number(run.cleared[column])} cleared, `,
      `${number(run.dropped[column])} dropped.`,
    ];
    const place = run.first_changed[column];
    if (place !== -1) out.push(` The cache broke at message ${number(place)} of the request before.`);
    if (run.refused[column]) out.push(" ", bold("Refused."));
    return out;
  }

  function ofAll(data, kind, column) {
    const made = data.runs.filter((run) => column in run.step);
    const parts = made.flatMap((run, n) => [
      n ? ", " : " ", bold(`${run.badge} ${run.name}`), ` ${number(run[kind][column])}`,
    ]);
    return [`${span(data, column)}:`, ...parts, "."];
  }

  function probe(figure) {
    const { source, kind, run } = figure.dataset;
    const data = JSON.parse(document.getElementById(source).textContent);
    const plot = figure.querySelector(".plot");
    const told = make("p", "told");
    const over = make("div", "probe");
    const cursor = make("div", "cursor");
    const last = data.starts.length - 1;
    let at = 0;
    told.textContent = "Point at the chart, or go to it and use the arrow keys, to read single requests.";
    cursor.hidden = true;
    const show = (column) => {
      at = Math.max(0, Math.min(last, column));
      const parts = kind === "run" ? ofOne(data, data.runs[run], at) : ofAll(data, kind, at);
      told.replaceChildren(...parts);
      const middle = (data.starts[at] + (data.starts[at + 1] ?? data.steps)) / 2;
      cursor.style.left = `${(100 * middle) / data.steps}%`;
      cursor.hidden = false;
      over.setAttribute("aria-valuenow", at + 1);
      over.setAttribute("aria-valuetext", told.textContent);
    };
    const attributes = {
      role: "slider", tabindex: 0, "aria-valuemin": 1, "aria-valuemax": last + 1, "aria-valuenow": 1,
      "aria-label": `${figure.querySelector("h3, h4").textContent}: read single requests`,
    };
    for (const [name, value] of Object.entries(attributes)) over.setAttribute(name, value);
    over.addEventListener("pointermove", (event) => {
      const box = over.getBoundingClientRect();
      const step = Math.floor(((event.clientX - box.left) / box.width) * data.steps);
      const after = data.starts.findIndex((start) => start > step);
      show(after === -1 ? last : after - 1);
    });
    const far = Math.max(1, Math.round(last / 10));
    const keys = {
      ArrowRight: () => at + 1, ArrowUp: () => at + 1, ArrowLeft: () => at - 1, ArrowDown: () => at - 1,
      PageUp: () => at + far, PageDown: () => at - far, Home: () => 0, End: () => last,
    };
    over.addEventListener("focus", () => show(at));
    over.addEventListener("keydown", (event) => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      show(keys[event.key]());
    });
    over.append(cursor);
    plot.append(over);
    plot.after(told);
  }

  function sortable(table) {
    const rows = [...table.querySelectorAll("tr")].filter((row) => row.cells.length > 1);
    const original = rows.map((row) => [...row.cells].slice(1));
    const order = original[0].map((_, n) => n);
    const buttons = [];
    const sort = (button, cells) => {
      const undo = button.getAttribute("aria-pressed") === "true";
      for (const other of buttons) other.setAttribute("aria-pressed", other === button && !undo);
      const value = (n) => Number(cells[n].dataset.value ?? Infinity);
      const sorted = undo ? order : [...order].sort((a, b) => value(a) - value(b) || a - b);
      rows.forEach((row, r) => row.append(...sorted.map((n) => original[r][n])));
    };
    rows.slice(1).forEach((row, r) => {
      const label = row.cells[0].querySelector("span");
      const button = make("button", "sorter");
      button.type = "button";
      button.title = "Sort the policies by this, least first";
      button.setAttribute("aria-pressed", "false");
      button.textContent = label.textContent;
      button.addEventListener("click", () => sort(button, original[r + 1]));
      buttons.push(button);
      label.replaceChildren(button);
    });
  }

  document.querySelectorAll("figure[data-source]").forEach(probe);
  document.querySelectorAll("table.policies").forEach(sortable);
})();
