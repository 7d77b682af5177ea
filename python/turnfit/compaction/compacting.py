"""Compaction: old messages go, a record of them stays, and everything is counted again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from turnfit import _core
from turnfit.compaction.boundary import Boundary, Reached, Situation
from turnfit.compaction.event import Event, gone
from turnfit.compaction.record import CarryOver
from turnfit.compaction.rendering import Rendered, holds_record, parse, render
from turnfit.errors import CompactionError
from turnfit.fitting.conversation import Conversation
from turnfit.fitting.fit import policy_of
from turnfit.fitting.frame import Frame, new_ledger, parted
from turnfit.fitting.policy import Policy
from turnfit.messages.contents import contents
from turnfit.messages.formats import format_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["Compacted", "compact", "is_record"]

_RECORD_SHARE = 8
"""The record may take this part of the budget, where nothing else is said."""

_RECORD_MOST = 16_000
"""More is no record any more, however large the window; and no model could write it."""

_ROOM = 2**60
"""More tokens than any history has."""

_MORE = 2
"""So many times as much is kept behind a milestone that nothing has checked."""


@dataclass(frozen=True)
class Compacted:
    """A compacted history.

    Attributes:
        messages: the preamble, the first user message, the record, what is pinned, and the
            newest messages; what was there is the very object.
        record: the record, whole; the message may hold less of it (`Event.left_out`).
        event: what was done; None where the boundary isn't reached.
        policy: the policy by which to fit `messages`: the record is pinned in it.
        origins: where each message stood in the history; None for the record.
    """

    messages: list[Message]
    record: CarryOver
    event: Event | None
    policy: Policy
    origins: tuple[int | None, ...]


def is_record(message: Message, *, format: str | Format | None = None) -> bool:
    """Whether a message is a record: also a predicate for `Policy.pinned`.

    >>> is_record({"role": "user", "content": "Hello!"})
    False
    """
    said = contents(message, format_of([message], format))
    return said.role == "user" and any(map(holds_record, said.texts))


def compact(
    history: Iterable[Message] | Conversation,
    boundary: Boundary,
    carry_over: CarryOver,
    policy: Policy | None = None,
    *,
    system: Any = None,
    tools: Any = None,
    format: str | Format | None = None,
    record_tokens: int | None = None,
    least_gain: float = 0.1,
) -> Compacted:
    """Replace the older part of a history by a record, if the boundary is reached.

    The history stays as it is; an earlier record in it is merged with the new one, so that
    there is always at most one. Cuts are made only where fitting would: no result loses its
    call. Of the newest rounds stays what `Policy.keep` holds, at least one.

    Args:
        history: the messages in one wire format, or a conversation, whose policy, system
            prompt and tools count.
        boundary: when to compact.
        carry_over: the record of what is known: of a `FactLog`, merged with what the model
            has written.
        policy: how requests are fitted; not beside a conversation.
        system: a system prompt that is sent beside the messages.
        tools: the tool definitions, as they are sent.
        format: the format, or its name; recognised where it is not given.
        record_tokens: what the record may take; an eighth of the budget by default, at most
            16,000.
        least_gain: the share of the request that must be freed; less isn't worth the loss
            and the provider's cache.

    Raises:
        CompactionError: if the record is blank, nothing can be cut, or too little would be
            gained; with the tokens. Nothing has changed then.
        RecordError: if the user's constraints alone don't fit into the record's bound, or if
            a record in the history is broken.
        FormatError: if a message can't be read, with its index.

    >>> from turnfit.compaction import Established
    >>> words = "word " * 2_000
    >>> turn = [{"role": "user", "content": words}, {"role": "assistant", "content": "Ok."}]
    >>> facts = CarryOver(established=(Established("Do NOT push.", "constraint"),))
    >>> import turnfit as tf
    >>> done = compact(turn * 4, Boundary.at_share(0.5), facts, tf.Policy(budget=10_000))
    >>> len(done.messages), done.event.before, done.event.after
    (3, 10031, 2599)
    """
    if not isinstance(boundary, Boundary):
        raise TypeError(f"boundary must be a Boundary, not {type(boundary).__name__}")
    if not isinstance(carry_over, CarryOver):
        raise TypeError(f"carry_over must be a CarryOver, not {type(carry_over).__name__}")
    view = _View.of(history, policy, system, tools, format)
    record = view.record.merge(carry_over)
    reached = boundary.decide(view.situation(record))
    if not reached.reached:
        origins = tuple(range(len(view.messages)))
        return Compacted(view.messages, record, None, view.policy, origins)
    if record.is_blank:
        raise CompactionError("the record is blank; the history stays as it is")
    share = min(view.policy.budget // _RECORD_SHARE, _RECORD_MOST)
    most = max(1, share) if record_tokens is None else record_tokens
    work = _Compaction(view, record, reached, render(record, most))
    return work.done(boundary, least_gain)


@dataclass(frozen=True)
class _View:
    """A history as fitting sees it, with the records that stand in it."""

    messages: list[Message]
    format: Format
    ledger: _core.Ledger
    frame: Frame
    record: CarryOver
    records: list[int]

    @classmethod
    def of(
        cls,
        history: Iterable[Message] | Conversation,
        policy: Policy | None,
        system: Any,
        tools: Any,
        format: str | Format | None,
    ) -> _View:
        if isinstance(history, Conversation):
            if not (policy is None and system is None and tools is None and format is None):
                raise TypeError("a conversation has its own policy, system, tools and format")
            messages, found, ledger, frame = history._view()
        else:
            policy = policy_of(policy)
            messages, frame = as_list(history), Frame.of(policy, system, tools)
            found = format_of(messages, format)
            messages = parted(policy, found, messages)
            ledger = new_ledger(policy, found)
            ledger.fill(messages)
        return cls._with_records(messages, found, ledger, frame)

    @classmethod
    def _with_records(
        cls, messages: list[Message], format_: Format, ledger: _core.Ledger, frame: Frame
    ) -> _View:
        """Records apart from what they were merged with, read and joined to one."""
        texts = _record_texts(messages, format_, ledger)
        if texts and format_.split is not None:
            apart = format_.split(messages, set(texts.values()))
            if len(apart) != len(messages):
                messages, ledger = apart, new_ledger(frame.policy, format_)
                ledger.fill(messages)
                texts = _record_texts(messages, format_, ledger)
        record = CarryOver()
        for text in texts.values():
            record = record.merge(parse(text))
        return cls(messages, format_, ledger, frame, record, list(texts))

    @property
    def policy(self) -> Policy:
        return self.frame.policy

    @property
    def tokens(self) -> int:
        return self.ledger.tokens + self.frame.fixed

    def situation(self, record: CarryOver) -> Situation:
        _, first, turns, _ = self.ledger.cuts()
        begun = self.records[-1] if self.records else -1 if first is None else first - 1
        window = self.policy.window or self.policy.budget
        return Situation(self.tokens, window, len(turns) - bisect_right(turns, begun), record)


def _record_texts(
    messages: Sequence[Message], format_: Format, ledger: _core.Ledger
) -> dict[int, str]:
    """The records by index.

    A record opens a turn, so that only few messages are read; besides those that a
    provider's own compaction has replaced, which count as preamble.
    """
    preamble, first, turns, _ = ledger.cuts()
    found: dict[int, str] = {}
    for index in {*range(preamble), *([] if first is None else [first]), *turns}:
        for text in contents(messages[index], format_, index).texts:
            if holds_record(text):
                found[index] = text
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class _Compaction:
    view: _View
    record: CarryOver
    reached: Reached
    rendered: Rendered

    def done(self, boundary: Boundary, least_gain: float) -> Compacted:
        view, kept = self.view, self.kept(self.start())
        note = view.format.note(self.rendered.text)
        origins: list[int | None] = [index for index in kept if index < self.anchor]
        place = len(origins)
        origins += [None, *(index for index in kept if index >= self.anchor)]
        messages = [note if at is None else view.messages[at] for at in origins]
        messages, origins = self.without_stale_reasoning(messages, origins)
        event = self.event(boundary, messages, place, [at for at in origins if at is not None])
        self.check_gain(event.gained, least_gain)
        policy = self.policy_for(messages, origins, place)
        sent = view.format.join(messages) if view.format.join else messages
        return Compacted(sent, self.record, event, policy, tuple(origins))

    def without_stale_reasoning(
        self, messages: list[Message], origins: list[int | None]
    ) -> tuple[list[Message], list[int | None]]:
        """All reasoning came before the record did: a provider that checks would refuse it.

        OpenAI's items stay as they are; it drops such reasoning by itself.
        """
        strip = self.view.format.strip
        if strip is None or self.view.format.flat or self.view.policy.treatment != "strip":
            return messages, origins
        left = dict(enumerate(messages))
        for index in self.thinking(messages):
            [without] = strip([self.view.format.plain(messages[index])])
            if without is None:
                del left[index]
            else:
                left[index] = without
        return list(left.values()), [origins[index] for index in left]

    def thinking(self, messages: list[Message]) -> list[int]:
        """The messages that hold reasoning."""
        ledger = self.view.frame.ledger(self.view.format, stale_before=len(messages))
        ledger.fill(messages)
        return [index for index, *_ in ledger.stale(ledger.plan(_ROOM, "tokens", _ROOM, 1, 0))]

    def event(
        self, boundary: Boundary, messages: list[Message], place: int, kept: list[int]
    ) -> Event:
        """What was done, counted anew."""
        view = self.view
        ledger = new_ledger(_unpinned(view.policy), view.format)
        ledger.fill(messages)
        after = ledger.tokens + view.frame.fixed
        then = view.situation(self.record)._replace(tokens=after, turns=0)
        return Event(
            kind="compaction",
            at=len(view.messages),
            dropped=gone(sorted({*range(len(view.messages))} - {*kept})),
            before=view.tokens,
            after=after,
            record=ledger.message_tokens(place),
            reasons=self.reached.reasons,
            unverified=self.reached.unverified,
            relieved=not boundary.decide(then).reached,
            empty=self.record.empty,
            left_out=tuple(self.rendered.dropped.items()),
        )

    @property
    def anchor(self) -> int:
        """Where the record stands: behind the first user message, if there is one."""
        preamble, first, _, _ = self.view.ledger.cuts()
        return preamble if first is None else first + 1

    def start(self) -> int:
        """The first of the newest messages that stay: as far back as `keep` allows."""
        _, _, turns, rounds = self.view.ledger.cuts()
        first = max([self.anchor, *(index + 1 for index in self.view.records)])
        starts = sorted({*turns, *rounds})
        starts = starts[bisect_left(starts, first + 1) :]
        fits, chosen = self.fits(), None
        for begin in reversed(starts):
            if self.is_told_after(begin):
                continue
            if not fits(begin) and chosen is not None:
                break
            chosen = begin
        if chosen is None:
            raise CompactionError("there is nothing that could safely be dropped")
        return chosen

    def is_told_after(self, begin: int) -> bool:
        """Whether only words stand there about calls right before, which would be gone.

        A model that reads what was said of calls, without the calls, says such things
        without calling.
        """
        now, before = (
            contents(self.view.messages[index], self.view.format, index)
            for index in (begin, begin - 1)
        )
        return now.role == "assistant" and not now.calls and bool(before.results)

    def fits(self) -> Callable[[int], bool]:
        """Whether what begins at a start is within `keep`; asked from the newest back."""
        policy, ledger = self.view.policy, self.view.ledger
        more = _MORE if self.reached.unverified else 1
        reached, total = len(ledger), 0
        most = policy.keep_tokens
        if most is None:
            most = max(int(policy.keep[1]), policy.keep_at_least)

        def cost(index: int) -> int:
            if policy.keep_tokens is not None:
                return ledger.message_tokens(index)
            return len(contents(self.view.messages[index], self.view.format, index).results)

        def within(start: int) -> bool:
            nonlocal reached, total
            total += sum(cost(index) for index in range(start, reached))
            reached = start
            return total <= most * more

        return within

    def kept(self, start: int) -> list[int]:
        """The indices of all that stays, in order."""
        view = self.view
        preamble, first, turns, rounds = view.ledger.cuts()
        starts = sorted({*turns, *rounds, start})
        kept = {*range(preamble), *([] if first is None else [first])}
        for pin in self.pins(range(preamble, start)):
            at = bisect_right(starts, pin)
            begin = starts[at - 1] if at else preamble
            kept |= {*range(begin, starts[at] if at < len(starts) else start)}
        kept -= {*view.records}
        return [*sorted(kept), *range(start, len(view.messages))]

    def pins(self, among: range) -> list[int]:
        pinned = self.view.policy.pinned
        if callable(pinned):
            return [index for index in among if pinned(self.view.messages[index])]
        return sorted(index for index in pinned if index in among)

    def check_gain(self, gained: int, least: float) -> None:
        wanted = max(1, round(least * self.view.tokens))
        if gained < wanted:
            raise CompactionError(
                f"compaction would free {gained:,} of {self.view.tokens:,} tokens; at least "
                f"{wanted:,} are wanted: the newest rounds, what is pinned and the record of "
                f"{_core.estimate(self.rendered.text):,} tokens stay",
                gained,
            )

    def policy_for(
        self, messages: list[Message], origins: Sequence[int | None], place: int
    ) -> Policy:
        """The policy with pins where they are now, the record among them."""
        policy, join = self.view.policy, self.view.format.join
        old = policy.pinned
        if callable(old):
            name = self.view.format
            return replace(policy, pinned=lambda m: bool(old(m)) or is_record(m, format=name))
        wanted = {*old}
        pins = [at for at, origin in enumerate(origins) if origin in wanted or at == place]
        if join is not None:
            pins = sorted({len(join(messages[: pin + 1])) - 1 for pin in pins})
        return replace(policy, pinned=pins)


def _unpinned(policy: Policy) -> Policy:
    """For counting only."""
    return replace(policy, pinned=())
