"""Policies side by side, as a table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnfit.cli.printing import printable
from turnfit.replay.page.words import PAID_FOR_LESS
from turnfit.replay.replayed import totals

if TYPE_CHECKING:
    from turnfit.replay.replayed import Replayed

__all__ = ["print_table"]

Rows: TypeAlias = "Sequence[dict[str, Any]]"


@dataclass(frozen=True)
class _Line:
    """A line of the table: what it is called, and the policies' figures."""

    title: str
    cells: Callable[[Rows], list[str]]


def print_table(replays: Sequence[Replayed]) -> None:
    """Print what policies did to one recording, or to several together."""
    console = Console(highlight=False)
    summed = [total.as_dict() for total in totals(replay.as_dict() for replay in replays)]
    # Captured, because a console that prints to a broken pipe ends the process itself.
    with console.capture() as printed:
        for line in _about(replays):
            console.print(Text(line), soft_wrap=True)
        console.print()
        for number, some in enumerate(_chunks(summed, console.width)):
            if number:
                console.print()
            console.print(_table(replays, some))
        if any(one["refused"] for one in summed):
            console.print()
            console.print(Text(fill(PAID_FOR_LESS, console.width)))
    sys.stdout.write(printed.get())


def _about(replays: Sequence[Replayed]) -> Iterator[str]:
    """What was replayed, and by which measure."""
    first = replays[0]
    messages = sum(replay.messages for replay in replays)
    if len(replays) == 1:
        yield printable(first.name)
    many = "" if len(replays) == 1 else f"{len(replays):,} histories, "
    unlimited = "; no --window: nothing is refused"
    window = unlimited if first.window is None else f", window {first.window:,}"
    yield f"{many}{messages:,} messages; budget {first.budget:,}{window}"
    caches = ", ".join(sorted({replay.cache.name for replay in replays}))
    yield f"{printable(_models(replays))}; prefix cache: {caches}"


def _models(replays: Sequence[Replayed]) -> str:
    """The model, or how many are known."""
    known = {replay.model for replay in replays if replay.model}
    if not known:
        return "model not known"
    told = known.pop() if len(known) == 1 else f"{len(known):,} models"
    return told if all(replay.model for replay in replays) else f"{told}, some not known"


_TITLE, _COLUMN, _FIGURE = 17, 11, 9
"""Letters: of a line's title, of a column whose heading is long, and of any other."""


def _chunks(summed: Sequence[dict[str, Any]], width: int) -> Iterator[Sequence[dict[str, Any]]]:
    """As many policies as stand side by side."""
    room = max(1, (width - _TITLE) // (_COLUMN + 1))
    for start in range(0, len(summed), room):
        yield summed[start : start + room]


def _table(replays: Sequence[Replayed], summed: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("", width=_TITLE)
    for one in summed:
        name = printable(one["name"])
        least = min(_COLUMN, max(_FIGURE, len(name)))
        # As text: what a name holds is no markup.
        table.add_column(Text(name), justify="right", min_width=least)
    for line in _lines(replays):
        if line is None:
            table.add_row()
        else:
            table.add_row(Text(printable(line.title)), *map(Text, line.cells(summed)))
    return table


def _lines(replays: Sequence[Replayed]) -> Iterator[_Line | None]:
    if replays[0].window is not None:
        yield _Line("finished", lambda rows: list(map(_finished, rows)))
        yield _figure("refused", "refused")
    yield _figure("over budget", "over_budget")
    yield _figure("requests", "requests")
    yield None
    yield _figure("tokens sent", "tokens_sent")
    yield _figure("from cache", "cache_read")
    if any(replay.cache.counts_writes for replay in replays):
        yield _figure("written to cache", "cache_written")
    yield _figure("uncached", "uncached")
    yield _Line("share from cache", lambda rows: list(map(_share, rows)))
    currency = replays[0].currency
    if currency is not None:
        yield _Line(
            f"cost in {currency}"[:_TITLE], lambda rows: [f"{one['cost']:,.2f}" for one in rows]
        )
    yield None
    for title, key in (
        ("results cleared", "cleared"),
        ("turns dropped", "dropped_turns"),
        ("rounds dropped", "dropped_rounds"),
        ("start changed", "start_changes"),
        ("reasoning lost", "stale_reasoning"),
        ("fetched again", "exposed"),
        ("results unread", "unread"),
    ):
        yield _figure(title, key)
    yield _Line("seconds fitting", lambda rows: [f"{one['seconds']:,.3f}" for one in rows])


def _figure(title: str, key: str) -> _Line:
    return _Line(title, partial(_counts, key))


def _counts(key: str, rows: Rows) -> list[str]:
    """Whole numbers; in millions where one of them would be too long."""
    values = [int(one[key]) for one in rows]
    if max(values) < 10_000_000:
        return [f"{value:,}" for value in values]
    digits = 2 if max(values) < 1_000_000_000 else 0
    return [f"{value / 1e6:,.{digits}f}M" for value in values]


def _finished(one: dict[str, Any]) -> str:
    if one["histories"] == 1:
        return "yes" if one["finished"] else "no"
    return f"{one['finished']:,} of {one['histories']:,}"


def _share(one: dict[str, Any]) -> str:
    return f"{one['cache_read'] / one['tokens_sent']:.1%}" if one["tokens_sent"] else "-"
