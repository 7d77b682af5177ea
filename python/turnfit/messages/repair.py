"""Answers calls that nothing will answer any more, and leaves out results without calls.

A provider refuses both (OpenAI: "An assistant message with 'tool_calls' must be followed
by tool messages responding to each 'tool_call_id'"; Anthropic: "`tool_use` ids were found
without `tool_result` blocks immediately after"). Only the request is repaired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnfit import _core
from turnfit.messages.formats import table_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, Row

__all__ = ["Repaired", "repaired"]

Spots = Mapping[int, Sequence[int]]
"""Places among the calls and results of messages, by the messages' indices."""


@dataclass(frozen=True)
class Repaired:
    """A history that a provider takes.

    Attributes:
        messages: the messages; what needed no repair is the very object.
        origins: each message's place in the history; None for one that was added.
    """

    messages: list[Message]
    origins: list[int | None]


def repaired(
    messages: list[Message], format_: Format, ledger: _core.Ledger, wording: str
) -> Repaired:
    """The messages with dead calls answered by a note, without results of no call.

    What the provider runs itself it pairs itself: such calls and results stay.
    """
    dead, orphans = by_message(ledger.dead_calls()), by_message(ledger.orphans())
    work = _Work(format_, wording)
    for index, message in enumerate(messages):
        rows = work.rows(index, message) if index in dead or index in orphans else []
        lost = {place for place in orphans.get(index, ()) if work.is_ours(rows[place])}
        kept = work.without(message, lost) if lost else message
        if kept is not None:
            work.take(kept, index)
        unanswered = [rows[place] for place in dead.get(index, ())]
        work.close(message, [call for call in unanswered if work.is_ours(call)])
    return work.finish()


def by_message(spots: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """The places of spots, by message."""
    places = defaultdict(list)
    for message, place in spots:
        places[message].append(place)
    return places


class _Work:
    def __init__(self, format_: Format, wording: str) -> None:
        self.format = format_
        self.wording = wording
        self.messages: list[Message] = []
        self.origins: list[int | None] = []
        self.waiting: list[Message] = []
        """Answers to the calls of the message taken last."""

    def rows(self, index: int, message: Message) -> list[Row]:
        read = _core.read_message(table_of(self.format), index, message)[2]
        return [Row(index, kind, id_, name, not mine) for kind, id_, name, mine, _ in read]

    def take(self, message: Message, index: int) -> None:
        if self.waiting:
            message = self.answered(message, index)
        self.messages.append(message)
        self.origins.append(index)

    def is_ours(self, row: Row) -> bool:
        """Whether it is not for the provider to pair."""
        return self.format.flat or not row.by_provider

    def close(self, message: Message, dead: Sequence[Row]) -> None:
        if self.format.answer is not None:
            message = self.format.plain(message)
            answers = [self.format.answer(message, call, self.wording) for call in dead]
            self.waiting += [answer for answer in answers if answer is not None]

    def answered(self, message: Message, index: int) -> Message:
        """The message behind the calls, with answers in it where results stand in it."""
        key, rows = self.format.answers_in, self.rows(index, message)
        if key is None:
            if (rows and rows[0].kind == "result") or self._goes_on(message):
                return message
            self.add_waiting()
            return message
        if not any(row.kind == "result" and not row.by_provider for row in rows):
            self.add_waiting()
            return message
        answers = [part for answer in self.waiting for part in answer[key]]
        self.waiting = []
        message = self.format.plain(message)
        parts = list(message[key])
        last = max(place for place, part in enumerate(parts) if self.holds_row(message, part))
        return {**message, key: [*parts[: last + 1], *answers, *parts[last + 1 :]]}

    def _goes_on(self, message: Message) -> bool:
        """Whether the response goes on: its calls are answered behind all of it."""
        if not self.format.flat:
            return False
        both = (self.messages[-1], message)
        roles = {_core.read_message(table_of(self.format), 0, item)[0] for item in both}
        return roles == {"assistant"}

    def add_waiting(self) -> None:
        self.messages += _joined(self.waiting, self.format.answers_in)
        self.origins += [None] * (len(self.messages) - len(self.origins))
        self.waiting = []

    def holds_row(self, message: Message, part: Any) -> bool:
        alone = {**message, self.format.answers_in: [part]}
        return bool(_core.read_message(table_of(self.format), 0, alone)[2])

    def without(self, message: Message, lost: set[int]) -> Message | None:
        """A copy without these results; None where nothing is left."""
        key, message = self.format.answers_in, self.format.plain(message)
        if key is None or not isinstance(message.get(key), list | tuple):
            return None
        kept, place = [], 0
        for part in message[key]:
            is_row = self.holds_row(message, part)
            if not (is_row and place in lost):
                kept.append(part)
            place += is_row
        return {**message, key: kept} if kept else None

    def finish(self) -> Repaired:
        self.add_waiting()
        return Repaired(self.messages, self.origins)


def _joined(answers: list[Message], key: str | None) -> list[Message]:
    """Answers to the calls of one message: one message where the format wants it so."""
    if key is None or not answers:
        return answers
    return [{**answers[0], key: [part for answer in answers for part in answer[key]]}]
