"""Histories with a message whose stream was broken off: what is left out of their requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnfit import _core
from turnfit.messages.formats import table_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, Problem
from turnfit.messages.unfinished import Open

__all__ = ["Broken", "broken_off", "pieces", "problems_of"]

Broken = Mapping[int, Message | None]
"""Broken messages by their index: what is left of each, in a copy, or None."""


def broken_off(
    format_: Format, history: Sequence[Message], ledger: _core.Ledger, whole: set[int]
) -> Broken:
    """What of a history never came to its end.

    Args:
        format_: the history's format.
        history: the messages.
        ledger: has read them all.
        whole: suspects that were found to be whole; this adds to them.
    """
    if format_.finished is None:
        return {}
    waiting = defaultdict(list)
    for message, place in ledger.unanswered():
        waiting[message].append(place)
    suspects = {*ledger.unfinished(), *waiting} - whole
    if not suspects:
        return {}
    open_ = {index: _open(format_, history[index], waiting[index]) for index in sorted(suspects)}
    broken = format_.finished(_Plain(format_, history), open_)
    whole |= suspects - broken.keys()
    return broken


class _Plain(Sequence[Message]):
    """A history in which the SDKs' objects are the dicts that they are sent as."""

    def __init__(self, format_: Format, history: Sequence[Message]) -> None:
        self._format, self._history = format_, history
        self._plain: dict[int, Message] = {}

    def __len__(self) -> int:
        return len(self._history)

    def __getitem__(self, index: Any) -> Any:
        if index not in self._plain:
            self._plain[index] = self._format.plain(self._history[index])
        return self._plain[index]


def _open(format_: Format, message: Message, places: Iterable[int]) -> Open:
    rows = _core.read_message(table_of(format_), 0, message)[2]
    return {place: rows[place][1] for place in places}


@dataclass(frozen=True)
class Piece:
    """A stretch of a history: messages as they are, or what is left of a broken one.

    Attributes:
        messages: the messages.
        origin: where the first of them stands in the history.
        is_changed: whether it is what is left of a broken one.
    """

    messages: list[Message]
    origin: int
    is_changed: bool

    @property
    def origins(self) -> range:
        """Where each of them stands in the history."""
        return range(self.origin, self.origin + len(self.messages))


def pieces(history: Sequence[Message], broken: Broken) -> list[Piece]:
    """What is sent of a history, in order."""
    made, start = [], 0
    for index in sorted(broken):
        left = broken[index]
        made.append(Piece(list(history[start:index]), start, False))
        made.append(Piece([] if left is None else [left], index, True))
        start = index + 1
    made.append(Piece(list(history[start:]), start, False))
    return [piece for piece in made if piece.messages]


def problems_of(format_: Format, history: Sequence[Message], broken: Broken) -> list[Problem]:
    """What was left out, for a person."""
    found: list[Problem] = []
    for index, left in broken.items():
        calls = _calls(format_, history[index]) - (set() if left is None else _calls(format_, left))
        found += [Problem(index, "unfinished-call", _CALL.format(call)) for call in sorted(calls)]
        if not calls:
            found.append(Problem(index, "unfinished-thinking", _THINKING))
    return found


_CALL = "the call {} was broken off before its arguments were complete; it is not sent"
_THINKING = "the message was broken off while thinking; that is not sent"


def _calls(format_: Format, message: Message) -> set[str]:
    rows = _core.read_message(table_of(format_), 0, message)[2]
    return {
        repr(id_ if id_ is not None else name) for kind, id_, name, *_ in rows if kind == "call"
    }
