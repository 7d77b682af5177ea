"""A history as a table, and where its tokens are."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Literal

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnfit.cli.printing import printable
from turnfit.cli.telling import problems_line
from turnfit.fitting.fitted import Fitted
from turnfit.fitting.policy import Policy
from turnfit.histories import History
from turnfit.messages.estimate import estimate_message, system_tokens, tools_tokens
from turnfit.messages.formats import read_history
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message

__all__ = ["explain_fit"]

_HEAD = _TAIL = 12
_KINDS = ("system", "tools", "user", "assistant", "calls", "results")
_STYLES = {"kept": "", "cleared": "yellow", "dropped": "red"}
_WIDTHS = {"index": 6, "role": 9, "tokens": 9, "bar": 10, "fate": 7}
_GAPS = 2 * (len(_WIDTHS) + 1)
_NARROWEST, _WIDEST = 12, 60
_AT_ONCE = 1_000


@dataclass(frozen=True)
class _Row:
    """A message as the table shows it."""

    index: int
    role: str
    what: str
    kind: str
    tokens: int


@dataclass(frozen=True)
class _Fate:
    """What fitting does to a message: a word, and the tokens that go."""

    word: Literal["kept", "cleared", "dropped"]
    goes: int


_KEPT = _Fate("kept", 0)


def explain_fit(
    history: History, fitted: Fitted, policy: Policy, format_: Format, whole: bool
) -> None:
    """Print a history, what fitting would do to it, and where its tokens are.

    Args:
        history: the history.
        fitted: what was made of it.
        policy: by which it is priced.
        format_: its format.
        whole: print every message, not only head and tail.
    """
    console = Console(highlight=False)
    rows = list(_rows(history.messages, format_, policy))
    after = _by_kind(_rows(fitted.messages, format_, policy), history, policy)
    # Captured, because a console that prints to a broken pipe ends the process itself.
    with console.capture() as printed:
        _print_messages(rows, _fates(rows, fitted), whole, console)
        console.print()
        console.print(_kinds_table(_by_kind(rows, history, policy), after, console))
        console.print()
        console.print(Text(str(fitted)))
        for line in problems_line(fitted):
            console.print(Text(line))
    sys.stdout.write(printed.get())


def _rows(messages: Sequence[Message], format_: Format, policy: Policy) -> Iterator[_Row]:
    price = partial(
        estimate_message, format=format_.name, profile=policy.profile, model=policy.model
    )
    reading = read_history(format_, messages)
    names: dict[str | None, str] = {}
    for index, message in enumerate(messages):
        # Ids repeat in real histories: a result is of the newest call with its id.
        names |= {row.id: row.name for row in reading.rows[index] if row.name}
        tools = [(row.kind, row.name or names.get(row.id) or "?") for row in reading.rows[index]]
        role = reading.roles[index]
        tokens = ceil(policy.scale * price(message))
        yield _Row(index, role, _what(tools), _kind(role, tools), tokens)


def _kind(role: str, tools: Sequence[tuple[str, str]]) -> str:
    """Under what a message's tokens are counted, its text along with its calls or results."""
    return f"{tools[-1][0]}s" if tools else role


def _what(tools: Sequence[tuple[str, str]]) -> str:
    told = []
    for kind in ("call", "result"):
        names = [printable(name) for own, name in tools if own == kind]
        if names:
            told.append(f"{kind}{'s' if len(names) > 1 else ''} of {', '.join(names)}")
    return "; ".join(told) or "text"


def _fates(rows: Sequence[_Row], fitted: Fitted) -> dict[int, _Fate]:
    freed: Counter[int] = Counter()
    for cleared in fitted.cleared:
        freed[cleared.index] += cleared.tokens
    fates = {index: _Fate("cleared", tokens) for index, tokens in freed.items()}
    gone = (index for gap in fitted.dropped for index in gap)
    return fates | {index: _Fate("dropped", rows[index].tokens) for index in gone}


def _print_messages(
    rows: Sequence[_Row], fates: dict[int, _Fate], whole: bool, console: Console
) -> None:
    lines = _Lines(rows, fates, console)
    lines.print_head()
    between = rows[_HEAD:-_TAIL]
    if whole or len(between) <= 1:
        lines.print(rows)
        return
    lines.print(rows[:_HEAD])
    console.print(Text(_folded(between, fates), style="dim"))
    lines.print(rows[-_TAIL:])


def _folded(between: Sequence[_Row], fates: dict[int, _Fate]) -> str:
    words = Counter[str](fates.get(row.index, _KEPT).word for row in between)
    told = ", ".join(f"{words[word]:,} {word}" for word in _STYLES if words[word])
    tokens = sum(row.tokens for row in between)
    return f"  ... {len(between):,} messages between, {tokens:,} tokens: {told} (--all)"


class _Lines:
    """A line for each message. A history may have a hundred thousand, for which a rich
    table, which measures and wraps every cell, would take half a minute.
    """

    def __init__(self, rows: Sequence[_Row], fates: dict[int, _Fate], console: Console) -> None:
        room = console.width - sum(_WIDTHS.values()) - _GAPS
        longest = max((cell_len(row.what) for row in rows), default=0)
        self._what = max(_NARROWEST, min(longest, _WIDEST, room))
        # Where the terminal is narrow, the bar gives way.
        self._bar = max(0, min(_WIDTHS["bar"], _WIDTHS["bar"] + room - self._what))
        self._most = max((row.tokens for row in rows), default=1)
        self._fates = fates
        self._console = console

    def print_head(self) -> None:
        line = self._line("#", "role", "what", "tokens", "", "")
        self._console.print(Text(line, style="bold"), soft_wrap=True)

    def print(self, rows: Sequence[_Row]) -> None:
        for start in range(0, len(rows), _AT_ONCE):
            text = Text(end="")
            for row in rows[start : start + _AT_ONCE]:
                fate = self._fates.get(row.index, _KEPT)
                text.append(f"{self._of(row, fate)}\n", style=_STYLES[fate.word] or None)
            self._console.print(text, soft_wrap=True, end="")

    def _of(self, row: _Row, fate: _Fate) -> str:
        stays = row.tokens - fate.goes
        bar = _bar(stays, fate.goes, self._most, self._bar, self._console)
        return self._line(f"{row.index}", row.role, row.what, f"{row.tokens:,}", bar, fate.word)

    def _line(self, index: str, role: str, what: str, tokens: str, bar: str, fate: str) -> str:
        if cell_len(what) > self._what:
            what = f"{set_cell_size(what, self._what - 1)}…"
        cells = (
            f"{index:>{_WIDTHS['index']}}",
            f"{role:<{_WIDTHS['role']}}",
            set_cell_size(what, self._what),
            f"{tokens:>{_WIDTHS['tokens']}}",
            f"{bar:<{self._bar}}",
            f"{fate:<{_WIDTHS['fate']}}",
        )
        line = "  ".join(cells)
        wide = cell_len(line) > self._console.width
        return set_cell_size(line, self._console.width) if wide else line


def _plain_table(*, show_header: bool) -> Table:
    return Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=show_header, header_style="bold"
    )


def _by_kind(rows: Iterable[_Row], history: History, policy: Policy) -> Counter[str]:
    tariff, scale = policy.pricing, policy.scale
    kinds = Counter(
        system=ceil(scale * system_tokens(history.system, tariff)),
        tools=ceil(scale * tools_tokens(history.tools, tariff)),
    )
    for row in rows:
        kinds[row.kind] += row.tokens
    return kinds


def _kinds_table(before: Counter[str], after: Counter[str], console: Console) -> Table:
    table = _plain_table(show_header=True)
    table.add_column("kind")
    table.add_column("tokens", justify="right")
    table.add_column("sent", justify="right")
    full, light, _ = _strokes(console)
    table.add_column(f"{full} sent  {light} goes")
    most = max(*before.values(), *after.values(), 1)
    width = min(40, console.width - 36)
    for kind in _KINDS:
        if before[kind] or after[kind]:
            goes = max(0, before[kind] - after[kind])
            bar = _bar(after[kind], goes, most, width, console)
            table.add_row(kind, f"{before[kind]:,}", f"{after[kind]:,}", bar)
    return table


def _bar(stays: int, goes: int, most: int, width: int, console: Console) -> str:
    """A bar of which the full part stays and the light part goes: no colour is needed."""
    full, light, trace = _strokes(console)
    end = round((stays + goes) * width / most)
    filled = min(end, round(stays * width / most))
    return full * filled + light * (end - filled) or trace


def _strokes(console: Console) -> tuple[str, str, str]:
    return ("#", ".", "|") if console.options.ascii_only else ("█", "░", "▏")
