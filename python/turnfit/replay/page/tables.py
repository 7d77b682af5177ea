"""The page's tables: policies side by side, histories, and a chart's figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from turnfit.replay.page.figures import many, money, short, whole
from turnfit.replay.page.markup import Markup, join, tag, text
from turnfit.replay.page.reading import Replay, Run, size_of
from turnfit.replay.page.scale import columns_of
from turnfit.replay.page.totals import Total, totals
from turnfit.replay.page.words import PAID_FOR_LESS

__all__ = ["ROWS", "badged", "figures", "histories", "laid_figures", "side_by_side"]

_BLOCKS = 16
"""Rows of a table of requests; of more, several stand together in a row."""
_LISTED = 200
"""Histories that are listed one by one."""


class Row(NamedTuple):
    """A figure of the table of policies.

    Attributes:
        name: what it is called.
        meaning: what it counts.
        value: what it is sorted and compared by; None where it isn't known.
        told: the cell's text.
        less: whether less of it is better.
    """

    name: str
    meaning: str
    value: Callable[[Total], float | None]
    told: Callable[[Total], str]
    less: bool = True


def _sum(key: str, name: str, meaning: str, less: bool = True) -> Row:
    return Row(
        name, meaning, lambda total: total.told(key), lambda total: _known(total.told(key)), less
    )


def _known(figure: float | None) -> str:
    return "–" if figure is None else whole(figure)


def _finished(total: Total) -> str:
    if total.histories == 1:
        return "yes" if total.finishes else "no"
    return f"{total.finished} of {len(total.runs)}"


ROWS: dict[str, tuple[Row, ...]] = {
    "Outcome": (
        Row(
            "finished",
            "whether the work came to its end",
            lambda total: total.finished,
            _finished,
            less=False,
        ),
        _sum("refused", "refused", "requests over the window, which a provider refuses"),
        _sum("over_budget", "over budget", "requests that took more than the budget"),
        _sum("requests", "requests", "one before each answer of the model", less=False),
        _sum("unread", "results unread", "tool results that no request held whole"),
    ),
    "Sent": (
        _sum("tokens_sent", "tokens sent", "tokens of all requests that weren't refused"),
        Row(
            "largest request",
            "tokens of the largest request, refused or not",
            lambda total: total.largest,
            lambda total: _known(total.largest),
        ),
    ),
    "Prefix cache": (
        _sum(
            "cache_read", "from cache", "tokens read from the provider's prefix cache", less=False
        ),
        _sum("cache_written", "written to cache", "tokens written to it"),
        _sum("uncached", "uncached", "tokens neither read from it nor written to it"),
        _sum("start_changes", "start changed", "requests whose start isn't as it was sent before"),
        Row(
            "cost",
            "by the price file",
            lambda total: total.cost,
            lambda total: money(total.cost, total.currency),
        ),
    ),
    "Taken out": (
        _sum("cleared", "results cleared", "tool results replaced by a note", less=False),
        _sum("dropped_turns", "turns dropped", "turns left out", less=False),
        _sum("dropped_rounds", "rounds dropped", "rounds left out", less=False),
    ),
    "Side effects": (
        _sum("stale_reasoning", "reasoning lost", "reasoning before which the request changed"),
        _sum("exposed", "fetched again", "reads again of what was no longer in the request"),
        Row(
            "seconds fitting",
            "the time the policy itself took",
            lambda total: total.sum("seconds"),
            lambda total: f"{total.sum('seconds'):,.3f}",
        ),
    ),
}


def badged(total: Total) -> Markup:
    """A policy's letter and name."""
    return join([tag("b", text(total.badge), class_="badge"), tag("bdi", text(total.name))], " ")


def side_by_side(given: Sequence[Total]) -> Markup:
    """The policies as columns, their totals as rows."""
    head = tag("tr", tag("td"), *(tag("th", badged(total), scope="col") for total in given))
    groups = (_group(name, rows, given) for name, rows in ROWS.items())
    table = tag("table", tag("thead", head), *groups, class_="policies")
    return join([_scrolled(table, "Policies side by side"), _note(given)])


def _group(name: str, rows: Sequence[Row], given: Sequence[Total]) -> Markup:
    title = tag("th", text(name), scope="rowgroup", colspan=len(given) + 1)
    told = [row for row in rows if any(row.value(total) is not None for total in given)]
    return tag("tbody", tag("tr", title, class_="group"), *(_row(row, given) for row in told))


def _note(given: Sequence[Total]) -> Markup:
    some = any(total.finishes for total in given) and len(given) > 1
    best = "Bold: the least of those that finished everything. " if some else ""
    all_ = all(total.finishes for total in given)
    return tag("p", text(best + PAID_FOR_LESS * (not all_)), class_="note")


def _row(row: Row, given: Sequence[Total]) -> Markup:
    values = [row.value(total) for total in given]
    finished = [value for value, total in zip(values, given, strict=True) if total.finishes]
    known = [value for value in finished if value is not None] if row.less else []
    # Where all are alike, none stands out.
    best = min(known) if len(set(known)) > 1 else None
    cells = (
        _cell(row.told(total), value, total.finishes and value is not None and value == best)
        for total, value in zip(given, values, strict=True)
    )
    name = tag("th", tag("span", text(row.name)), tag("small", text(row.meaning)), scope="row")
    return tag("tr", name, *cells)


def _cell(told: str, value: float | None, best: bool) -> Markup:
    shown = tag("strong", text(told)) if best else text(told)
    return tag("td", shown, data_value=f"{value:.12g}" if value is not None else None)


def histories(replays: Sequence[Replay]) -> Markup:
    """The largest histories, a row each, and under every policy what was sent and refused."""
    given = totals(replays)
    ordered = sorted(replays, key=size_of, reverse=True)
    columns = [*map(text, ("history", "messages", "tokens")), *map(badged, given)]
    head = tag("tr", *(tag("th", name, scope="col") for name in columns))
    rows = [_history(replay, given) for replay in ordered[:_LISTED]]
    left = len(ordered) - len(rows)
    more = f" The largest {_LISTED} are listed; {many(left, 'smaller one')} only counted above."
    told = "Tokens of the whole history as recorded, and tokens sent under each policy."
    note = tag("p", text(told + more * bool(left)), class_="note")
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="histories")
    return join([note, _scrolled(table, "All histories")])


def _history(replay: Replay, given: Sequence[Total]) -> Markup:
    runs = {run.name: run for run in replay.runs}
    name = tag("th", tag("bdi", text(replay.name)), scope="row")
    sizes = (tag("td", text(_known(size))) for size in (replay.messages, replay.whole or None))
    return tag("tr", name, *sizes, *(_outcome(runs.get(total.name)) for total in given))


def _outcome(run: Run | None) -> Markup:
    if run is None:
        return tag("td", text("–"))
    sent, refused = short(run.sums["tokens_sent"]), run.sums["refused"]
    note = f"× {whole(refused)} refused" if refused else "" if run.finished else "not finished"
    return tag("td", text(sent), *[tag("small", text(note))] * bool(note))


def figures(run: Run) -> Markup:
    """A chart's figures; several requests in a row are told from the least to the greatest."""
    names = ("requests", "tokens sent", "notes", "cleared", "dropped", "cache broke", "refused")
    head = tag("tr", *(tag("th", text(name), scope="col") for name in names))
    rows = [_block(run, block) for block in columns_of(len(run), _BLOCKS)]
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="figures")
    return _opened(table, run.name)


def laid_figures(name: str, runs: Sequence[tuple[Total, Sequence[float]]]) -> Markup:
    """The figures of policies laid over each other, from the least to the greatest."""
    names = [tag("th", text("requests"), scope="col")]
    names += [tag("th", badged(total), scope="col") for total, _ in runs]
    rows = [
        tag("tr", _numbers(block), *(tag("td", text(_part(values, block))) for _, values in runs))
        for block in columns_of(max(len(values) for _, values in runs), _BLOCKS)
    ]
    table = tag("table", tag("thead", tag("tr", *names)), tag("tbody", *rows), class_="figures")
    return _opened(table, name)


def _numbers(block: range) -> Markup:
    return tag("th", text(_span([block[0] + 1, block[-1] + 1])), scope="row")


def _part(values: Sequence[float], block: range) -> str:
    part = values[block.start : block.stop]
    return _span(part) if part else "–"


def _opened(table: Markup, name: str) -> Markup:
    shown = _scrolled(table, f"{name}: figures")
    return tag("details", tag("summary", text("The figures as a table")), shown)


def _block(run: Run, block: range) -> Markup:
    sizes = ("tokens", "notes", "cleared", "dropped")
    spans = [_span([run.steps[key][step] for step in block]) for key in sizes]
    counts = [sum(step in block for step in marked) for marked in (run.breaks, run.refusals)]
    cells = (tag("td", text(cell)) for cell in [*spans, *map(whole, counts)])
    return tag("tr", _numbers(block), *cells)


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return whole(low) if low == high else f"{whole(low)}–{whole(high)}"


def _scrolled(table: Markup, name: str) -> Markup:
    """A table that scrolls by itself where it is wider than the page, by keyboard too."""
    return tag("div", table, class_="scrolled", role="region", aria_label=name, tabindex=0)
