"""Where a boundary would have compacted work that was recorded without it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from turnfit.compaction.boundary import Boundary, Situation
from turnfit.compaction.event import Event
from turnfit.compaction.record import CarryOver
from turnfit.fitting.frame import Frame, new_ledger
from turnfit.fitting.policy import Policy
from turnfit.messages.contents import contents
from turnfit.messages.formats import format_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["simulated"]


def simulated(
    history: Iterable[Message],
    boundary: Boundary,
    policy: Policy,
    *,
    system: Any = None,
    tools: Any = None,
    format: str | Format | None = None,
    record_tokens: int = 1_000,
) -> list[Event]:
    """The compactions that recorded work would have gone through, for `Regret.of`.

    Before every message of the model the boundary is asked about the request as it would
    have been: the preamble, the first user message, a record, and what is left.

    Args:
        history: the recorded messages.
        boundary: when to compact; milestones see an empty record.
        policy: as in `compact`; its `keep` must be in tokens or a fraction.
        system: a system prompt that was sent beside the messages.
        tools: the tool definitions, as they were sent.
        format: the format, or its name; recognised where it is not given.
        record_tokens: what the record is taken to cost.

    Returns:
        The events in order, with indices of the history.

    >>> words = "word " * 2_000
    >>> turn = [{"role": "user", "content": words}, {"role": "assistant", "content": "Ok."}]
    >>> events = simulated(turn * 4, Boundary.at_share(0.8), Policy(budget=10_000))
    >>> [(event.at, event.dropped) for event in events]
    [(7, (range(1, 6),))]
    """
    if policy.keep_tokens is None:
        raise ValueError("policy.keep must be in tokens or a fraction, not in results")
    messages = as_list(history)
    found = format_of(messages, format)
    work = _Work.of(messages, found, policy, Frame.of(policy, system, tools).fixed)
    events: list[Event] = []
    for index in range(work.start, len(messages)):
        if contents(messages[index], found, index).role == "assistant":
            event = work.at(index, boundary, record_tokens)
            events += [event] if event else []
    return events


@dataclass
class _Work:
    """Recorded work, and what of it the model would still be sent."""

    starts: list[int]
    turns: list[int]
    sums: list[int]
    window: int
    keep: int
    head: int
    start: int
    record: int = 0

    @classmethod
    def of(cls, messages: list[Message], format_: Format, policy: Policy, fixed: int) -> _Work:
        ledger = new_ledger(policy, format_)
        ledger.fill(messages)
        preamble, first, turns, rounds = ledger.cuts()
        sums = [0, *accumulate(map(ledger.message_tokens, range(len(ledger))))]
        head = fixed + sums[preamble] + (0 if first is None else ledger.message_tokens(first))
        return cls(
            starts=sorted({*turns, *rounds}),
            turns=turns,
            sums=sums,
            window=policy.window or policy.budget,
            keep=policy.keep_tokens or 0,
            head=head,
            start=preamble if first is None else first + 1,
        )

    def tokens(self, start: int, end: int, record: int) -> int:
        return self.head + record + self.sums[end] - self.sums[start]

    def at(self, index: int, boundary: Boundary, record: int) -> Event | None:
        """The compaction before the model's message of this index, if there is one."""
        before = self.tokens(self.start, index, self.record)
        turned = bisect_left(self.turns, index) - bisect_left(self.turns, self.start)
        reached = boundary.decide(Situation(before, self.window, turned, CarryOver()))
        cut = _cut(self.starts, self.sums, self.start, index, self.keep)
        if not reached.reached or cut is None:
            return None
        after = self.tokens(cut, index, record)
        if after >= before:
            return None
        dropped = range(self.start, cut)
        self.start, self.record = cut, record
        return Event(
            kind="compaction",
            at=index,
            dropped=(dropped,),
            before=before,
            after=after,
            record=record,
            reasons=reached.reasons,
        )


def _cut(starts: list[int], sums: list[int], start: int, end: int, keep: int) -> int | None:
    """The first start whose rest is within `keep`; the last one where none is."""
    low, high = bisect_right(starts, start), bisect_left(starts, end)
    fitting = bisect_left(sums, sums[end] - keep)
    place = min(bisect_left(starts, fitting, low, high), high - 1)
    return starts[place] if low <= place else None
