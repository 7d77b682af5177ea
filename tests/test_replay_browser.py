"""The page of a replay in headless Chromium: its boxes, its colours, its script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.pages import CHROMIUM, opened
from support.replayed import made_up, replayed, subagent, told
from turnfit.replay.page import page

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed")

SEEN = """
const all = (selector) => [...document.querySelectorAll(selector)];
const box = (element) => element.getBoundingClientRect();
const rgb = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
const light = (colour) => rgb(colour).map((part) => part / 255)
  .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  .reduce((sum, part, n) => sum + part * [0.2126, 0.7152, 0.0722][n], 0);
const paper = getComputedStyle(document.body).backgroundColor;
const contrast = (colour) => {
  const [low, high] = [light(colour), light(paper)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};
const apart = (boxes) => boxes.every((one, n) => boxes.slice(n + 1).every((other) =>
  one.right <= other.left || other.right <= one.left
  || one.bottom <= other.top + 2 || other.bottom <= one.top + 2));
const written = all("p, th, td, h1, h2, h3, h4, summary, li, b, small")
  .filter((element) => element.textContent.trim())
  .map((element) => getComputedStyle(element).color);
const inked = all(".plot text").map((element) => getComputedStyle(element).fill);
return {
  paper,
  width: document.documentElement.clientWidth,
  scrolled: document.documentElement.scrollWidth,
  charts: all(".plot > svg").map(box).map(({ width, height }) => [width, height]),
  paths: all(".plot path, .plot rect").map(box).filter((one) => one.width && one.height).length,
  outside: all(".plot text").map(box)
    .filter((one) => one.left < 0 || one.right > innerWidth).length,
  touching: all(".plot > svg")
    .filter((svg) => !apart([...svg.querySelectorAll("text")].map(box).filter((one) => one.width)))
    .map((svg) => svg.id || svg.querySelector("title").textContent),
  contrast: Math.min(...[...written, ...inked].map(contrast)),
  ran: window.ran ?? null,
};
"""


@pytest.fixture(scope="module")
def shown() -> str:
    histories = [replayed(f"subagent-{seed}.json", subagent(seed)) for seed in (1, 2)]
    return page(histories, title="Two subagents")


@pytest.mark.parametrize("width", [360, 900, 1600])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_fits_its_window_and_can_be_read(
    shown: str, tmp_path: Path, width: int, dark: bool
) -> None:
    seen = opened(shown, tmp_path, SEEN, width, dark)
    assert seen["faults"] == []
    assert seen["width"] == width
    assert seen["scrolled"] <= width
    assert len(seen["charts"]) == 14
    assert all(size[0] >= 200 and size[1] >= 200 for size in seen["charts"])
    assert seen["paths"] > len(seen["charts"])
    assert (seen["outside"], seen["touching"]) == (0, [])
    # What WCAG 2.2 asks of text: https://www.w3.org/TR/WCAG22/#contrast-minimum
    assert seen["contrast"] >= 4.5


def test_light_and_dark_are_each_other_s_opposite(shown: str, tmp_path: Path) -> None:
    script = "return { paper: getComputedStyle(document.body).backgroundColor.match(/\\d+/g) };"
    light, dark = (opened(shown, tmp_path, script, dark=dark)["paper"] for dark in (False, True))
    assert min(map(int, light)) > 200
    assert max(map(int, dark)) < 60


@pytest.mark.parametrize("width", [360, 1600])
def test_long_names_many_policies_and_single_requests_fit_too(tmp_path: Path, width: int) -> None:
    name = "a/rather/long/path/of/a/history/without/any/spaces/" + "x" * 80
    rows = [made_up([step * 1000 + n for step in range(1, 40)])["policies"][0] for n in range(12)]
    policies = [{**row, "name": f"{n}-{name}"} for n, row in enumerate(rows)]
    nasty = {**made_up([1], name=f"<script>ran = 1</script>{name}"), "policies": policies}
    for histories in ([nasty], [made_up([5])], [made_up([])], [], [made_up([7], policy=name)] * 4):
        seen = opened(page(histories), tmp_path, SEEN, width)
        assert seen["faults"] == []
        assert seen["scrolled"] <= width
        assert (seen["outside"], seen["touching"], seen["ran"]) == (0, [], None)


def test_arrow_keys_and_the_pointer_read_single_requests(tmp_path: Path) -> None:
    replay = made_up([1_000, 25_000, 30_500], name="h")
    replay["policies"][0]["steps"]["first_changed"] = [-1, 3, -1]
    script = """
    const probe = document.querySelector('figure[data-kind="run"] .probe');
    const told = () => probe.getAttribute("aria-valuetext");
    const press = (key) => probe.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const out = [];
    probe.focus();
    out.push(told());
    press("ArrowRight");
    out.push(told());
    press("End");
    press("ArrowRight");
    out.push(told());
    const box = probe.getBoundingClientRect();
    probe.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2 }));
    out.push(told());
    const overlay = document.querySelector('figure[data-kind="tokens"] .probe');
    overlay.focus();
    out.push(overlay.getAttribute("aria-valuetext"));
    const seen = document.querySelector('figure[data-kind="run"] .told').textContent;
    return { out, seen, role: probe.getAttribute("role"), tab: probe.tabIndex };
    """
    seen = opened(page([replay]), tmp_path, script)
    sent = "tokens sent, 0 of them notes; 0 cleared, 0 dropped."
    first, second, third, pointed, overlaid = seen["out"]
    assert first == f"Request 1: after 2 messages, 1,000 {sent}"
    broke = "The cache broke at message 3 of the request before."
    assert second == pointed == f"Request 2: after 4 messages, 25,000 {sent} {broke}"
    assert third == f"Request 3: after 6 messages, 30,500 {sent}"
    assert overlaid == "Request 1: A p 1,000."
    assert seen["seen"] == second
    assert (seen["role"], seen["tab"], seen["faults"]) == ("slider", 0, [])


def test_of_thinned_requests_the_largest_is_told(tmp_path: Path) -> None:
    sizes = [1_000] * 5_000
    sizes[7] = 9_999
    script = """
    const probe = document.querySelector('figure[data-kind="run"] .probe');
    probe.focus();
    return { told: probe.getAttribute("aria-valuetext") };
    """
    seen = opened(page([made_up(sizes)]), tmp_path, script)
    assert seen["told"].startswith("Requests 1–12: the largest is 8, after 16 messages, 9,999")


def test_the_policies_are_sorted_by_a_row_and_back(tmp_path: Path) -> None:
    rows = {"big": [300, 300], "small": [1], "middle": [200]}
    policies = [told(name, _rows(sizes)) for name, sizes in rows.items()]
    replay: dict[str, Any] = {**made_up([1]), "policies": policies}
    script = """
    const heads = () => [...document.querySelectorAll(".policies thead bdi")];
    const names = () => heads().map((bdi) => bdi.textContent);
    const row = [...document.querySelectorAll(".policies tbody tr")]
      .find((tr) => tr.textContent.startsWith("tokens sent"));
    const figures = () => [...row.querySelectorAll("td")].map((td) => td.textContent);
    const button = row.querySelector("button");
    const out = [];
    for (let n = 0; n < 3; n += 1) {
      out.push([names(), figures(), button.getAttribute("aria-pressed")]);
      button.click();
    }
    return { out };
    """
    before, sorted_, after = opened(page([replay]), tmp_path, script)["out"]
    assert before == after == [["big", "small", "middle"], ["600", "1", "200"], "false"]
    assert sorted_ == [["small", "middle", "big"], ["1", "200", "600"], "true"]


def _rows(sizes: list[int]) -> list[dict[str, Any]]:
    columns = made_up(sizes)["policies"][0]["steps"]
    return [{key: column[step] for key, column in columns.items()} for step in range(len(sizes))]
