"""The page's tables: policies side by side, histories, and a chart's figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from turnfit.replay.page.figures import many, money, short, whole
from turnfit.replay.page.markup import Markup, join, tag, text
from turnfit.replay.page.reading import Replay, Run
from turnfit.replay.page.scale import columns_of
from turnfit.replay.page.totals import Total, totals

__all__ = ["ROWS", "badged", "figures", "histories", "side_by_side"]

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
    return Row(name, meaning, lambda total: total.sum(key), lambda total: whole(total.sum(key)), less)


ROWS: dict[str, tuple[Row, ...]] = {
    "Outcome": (
        Row(
            "finished",
            "histories that came to their end",
            lambda total: total.finished,
            lambda total: f"{total.finished} of {len(total.runs)}",
            less=False,
        ),
        _sum("refused", "refused", "requests over the window, which a provider refuses"),
        _sum("over_budget", "over the budget", "requests over the budget"),
        _sum("requests", "requests", "requests made", less=False),
    ),
    "Sent": (
        _sum("tokens_sent", "tokens sent", "tokens of all requests"),
        Row(
            "largest request",
            "tokens of the largest request",
            lambda total: total.largest,
            lambda total: whole(total.largest),
        ),
    ),
    "Prefix cache": (
        _sum("cache_read", "read", "tokens read from the provider's prefix cache", less=False),
        _sum("cache_written", "written", "tokens written to it"),
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
        _sum("stale_reasoning", "stale reasoning", "reasoning before which the request changed"),
        _sum("exposed", "exposed re-reads", "reads again of what was no longer in the request"),
        Row(
            "fitting",
            "seconds spent fitting",
            lambda total: total.sum("seconds"),
            lambda total: f"{total.sum('seconds'):.3g} s",
        ),
    ),
}


def badged(total: Total) -> Markup:
    """A policy's letter and name."""
    return join([tag("b", text(total.badge), class_="badge"), tag("bdi", text(total.name))], " ")


def side_by_side(given: Sequence[Total]) -> Markup:
    """The policies as columns, their totals as rows."""
    head = tag("tr", tag("td"), *(tag("th", badged(total), scope="col") for total in given))
    groups = [
        tag(
            "tbody",
            tag("tr", tag("th", text(name), scope="rowgroup", colspan=len(given) + 1), class_="group"),
            *(_row(row, given) for row in rows),
        )
        for name, rows in ROWS.items()
    ]
    table = tag("table", _caption(given), tag("thead", head), *groups, class_="policies")
    return _scrolled(table, "Policies side by side")


def _caption(given: Sequence[Total]) -> Markup:
    some = any(total.finishes for total in given) and len(given) > 1
    best = "Bold: the least of those that finished everything. " if some else ""
    stopped = "" if all(total.finishes for total in given) else (
        "A policy that didn't finish stopped early, so it sent and paid for less work."
    )
    return tag("caption", text(best + stopped))


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
    ordered = sorted(replays, key=lambda replay: -replay.whole)
    columns = [*map(text, ("history", "messages", "tokens")), *map(badged, given)]
    head = tag("tr", *(tag("th", name, scope="col") for name in columns))
    rows = [_history(replay, given) for replay in ordered[:_LISTED]]
    left = len(ordered) - len(rows)
    more = f" The largest {_LISTED} are listed; {many(left, 'smaller one')} only counted above."
    caption = "Tokens of the whole history as recorded, and tokens sent under each policy."
    shown = tag("caption", text(caption + more * bool(left)))
    table = tag("table", shown, tag("thead", head), tag("tbody", *rows), class_="histories")
    return _scrolled(table, "All histories")


def _history(replay: Replay, given: Sequence[Total]) -> Markup:
    runs = {run.name: run for run in replay.runs}
    name = tag("th", tag("bdi", text(replay.name)), scope="row")
    sizes = (tag("td", text(whole(size))) for size in (replay.messages, replay.whole))
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
    shown = _scrolled(table, f"{run.name}: figures")
    return tag("details", tag("summary", text("The figures as a table")), shown)


def _block(run: Run, block: range) -> Markup:
    sizes = ("tokens", "notes", "cleared", "dropped")
    spans = [_span([run.steps[key][step] for step in block]) for key in sizes]
    counts = [sum(step in block for step in marked) for marked in (run.breaks, run.refusals)]
    name = _span([block[0] + 1, block[-1] + 1])
    cells = (tag("td", text(cell)) for cell in [*spans, *map(whole, counts)])
    return tag("tr", tag("th", text(name), scope="row"), *cells)


def _span(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return whole(low) if low == high else f"{whole(low)}–{whole(high)}"


def _scrolled(table: Markup, name: str) -> Markup:
    """A table that scrolls by itself where it is wider than the page, by keyboard too."""
    return tag("div", table, class_="scrolled", role="region", aria_label=name, tabindex=0)
