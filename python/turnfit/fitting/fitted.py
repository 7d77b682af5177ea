"""A fitted request, and what was done to make it fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Literal, NoReturn

from turnfit import _core
from turnfit.fitting.caching import CachePoint, points_of
from turnfit.fitting.frame import Frame, new_ledger
from turnfit.fitting.interrupted import Broken, problems_of
from turnfit.fitting.reasoning import StaleReasoning
from turnfit.messages.check import check
from turnfit.messages.formats import table_of
from turnfit.messages.formats.marks import unmarked
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, Problem

__all__ = ["Cleared", "Fitted", "Largest"]

Step = Literal["whole", "results", "turns", "rounds"]


@dataclass(frozen=True)
class Cleared:
    """A tool result whose content was replaced by a note.

    Attributes:
        index: its message's place in the history.
        call_id: the id of the call that it answers.
        tool: the tool's name, where the history tells it.
        tokens: what this freed.
    """

    index: int
    call_id: str | None
    tool: str | None
    tokens: int


@dataclass(frozen=True)
class Largest:
    """The message that takes most of a request.

    Attributes:
        index: its place in the request.
        role: who speaks.
        tokens: what it costs.
    """

    index: int
    role: str
    tokens: int


@dataclass(frozen=True)
class Source:
    """The history that was changed before it was fitted.

    Attributes:
        history: the messages as they came; more may have come since.
        origins: where each message of the changed one stood; None for one that was added.
        count: how many messages of the history there were.
        broken: what was left of messages that were broken off.
    """

    history: list[Message]
    origins: Sequence[int | None]
    count: int
    broken: Broken


class Fitted:
    """A request that was fitted into a budget, and what was done for it.

    Attributes:
        tokens: everything sent: messages, system, tools, reserve and frame.
        budget: the tokens that the request was allowed.
        step: how far the fitting had to go: ``whole``, ``results``, ``turns``, ``rounds``.
        format: the wire format's name, as `check` takes it.
    """

    def __init__(
        self,
        history: list[Message],
        format_: Format,
        ledger: _core.Ledger,
        plan: _core.Plan,
        frame: Frame,
        build: Callable[[], list[Message]] | None = None,
        source: Source | None = None,
        before: tuple[_core.Ledger, _core.Plan] | None = None,
    ) -> None:
        self._history = history
        self._source = source
        self._format = format_
        self._ledger = ledger
        self._plan = plan
        self._frame = frame
        self._build = build or (lambda: ledger.request(history, plan))
        self._before = before
        self.tokens: int = plan.tokens + frame.fixed - plan.stripped[1]
        self.budget: int = frame.policy.budget
        self.step: Step = plan.step
        self.format: str = format_.name

    @cached_property
    def messages(self) -> list[Message]:
        """The request, in the wire format that came in.

        What didn't change are the history's own objects, what did is a copy. The list
        is the caller's.
        """
        request = self._build()
        return self._format.join(request) if self._format.join else request

    @property
    def fits(self) -> bool:
        """Whether the request is within the budget, less the policy's margin."""
        return self.over == 0

    @property
    def over(self) -> int:
        """By how many tokens the request is over the budget, less the policy's margin; 0
        where it fits.
        """
        return max(0, self.tokens + self._frame.held_back - self.budget)

    @property
    def sendable(self) -> bool:
        """Whether request and answer are within the window; true where none is given."""
        policy = self._frame.policy
        return policy.window is None or self.tokens + policy.output <= policy.window

    @cached_property
    def cleared(self) -> tuple[Cleared, ...]:
        """The results whose contents were replaced, of those still in the request."""
        cleared: list[Cleared] = []
        origins = self._source.origins if self._source else range(self._plan.messages)
        for index, rows in groupby(self._ledger.cleared(self._plan), key=itemgetter(0)):
            read = _core.read_message(table_of(self._format), index, self._history[index])[2]
            at = origins[index]
            cleared += [
                Cleared(index if at is None else at, read[place][1], tool, tokens)
                for _, place, tool, tokens in rows
            ]
        return tuple(cleared)

    @cached_property
    def dropped(self) -> tuple[range, ...]:
        """The messages left out, as ranges of indices of the history."""
        kept, messages = self._plan.kept, self._count
        if self._source is not None:
            kept = _spans(
                [
                    origin
                    for start, end in kept
                    for origin in self._source.origins[start:end]
                    if origin is not None
                ]
            )
        edges = [(0, 0), *kept, (messages, messages)]
        gaps = (range(before[1], after[0]) for before, after in pairwise(edges))
        return tuple(gap for gap in gaps if gap)

    @cached_property
    def stale_reasoning(self) -> tuple[StaleReasoning, ...]:
        """The reasoning in the kept messages before which this request has changed since the
        model gave it; `Policy.reasoning` says what becomes of it.

        It is worked out on the assumption that every assistant message answered the request
        that this policy makes of the messages before it.
        """
        origins = self._source.origins if self._source else range(self._plan.messages)
        return tuple(
            StaleReasoning(at, tokens, not left_out)
            for index, tokens, left_out in self._ledger.stale(self._plan)
            if (at := origins[index]) is not None
        )

    @cached_property
    def first_changed(self) -> int | None:
        """The first message of the request that isn't the history's at that place."""
        if self.step == "whole" and self._source is None and not self._plan.stripped[0]:
            return None
        pairs = zip(self.messages, self._came, strict=False)
        changed = (index for index, (sent, saved) in enumerate(pairs) if sent is not saved)
        return next(changed, None)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What a provider would refuse in the history as it came, and what was broken off."""
        problems = check(self._came, format=self._format)
        if self._source is not None:
            problems += problems_of(self._format, self._came, self._source.broken)
        return tuple(sorted(problems, key=lambda problem: problem.index))

    @property
    def _came(self) -> list[Message]:
        """The history as it came."""
        history = self._source.history if self._source else self._history
        return history[: self._count]

    @property
    def _count(self) -> int:
        """How many messages came."""
        return self._source.count if self._source else self._plan.messages

    @cached_property
    def largest(self) -> Largest | None:
        """The message of the request that takes most; None where there is none."""
        read = (
            _core.read_message(table_of(self._format), index, message)
            for index, message in enumerate(self.messages)
        )
        sizes = [Largest(index, role, tokens) for index, (role, tokens, _) in enumerate(read)]
        return max(sizes, key=lambda size: size.tokens, default=None)

    @cached_property
    def cache_points(self) -> tuple[CachePoint, ...]:
        """The blocks of the request worth a cache mark, in order; `mark_cache` marks them.

        One stands just before the next result that clearing can touch: up to there the
        start of later requests holds still. The other is the last block that can bear a
        mark. Thinking and empty texts can't. Empty for formats that need no marks.
        """
        if self._format.marks is None:
            return ()
        ledger = new_ledger(self._frame.policy, self._format)
        ledger.fill(self.messages)
        return points_of(self, ledger.first_clearable())

    def cache_kept(self, previous: Fitted | None = None) -> int:
        """The tokens of the messages with which both requests start.

        These the provider can read from its prefix cache, and reasoning among them and
        right behind them stays valid. 0 where the system prompt or the tools are others.

        Args:
            previous: the request sent before; a `Conversation` knows it, and gives 0
                where there was none.
        """
        if previous is None:
            return self._kept_since_the_last_fit or 0
        if not self._frame.opens_like(previous._frame):
            return 0
        if self._source is previous._source is None and self._ledger is previous._ledger:
            return self._ledger.kept(previous._plan, self._plan)[1]
        kept = 0
        pairs = zip(previous.messages, self.messages, strict=False)
        for index, (before, now) in enumerate(pairs):
            if before is not now and unmarked(before) != unmarked(now):
                break
            kept += _core.read_message(table_of(self._format), index, now)[1]
        return kept

    @cached_property
    def _kept_since_the_last_fit(self) -> int | None:
        if self._before is None or self._before[0] is not self._ledger:
            return None
        return self._ledger.kept(self._before[1], self._plan)[1]

    def __str__(self) -> str:
        count, freed = self._ledger.cleared_totals(self._plan)
        dropped = sum(map(len, self.dropped))
        done = [
            f"{count:,} results cleared ({freed:,} tokens)" if count else "",
            f"{dropped:,} of {self._count:,} messages dropped" if dropped else "",
            self._told_of_reasoning(),
            f"over the budget by {self.over:,}" if self.over else "",
        ]
        what = "; ".join(part for part in done if part) or "sent whole"
        return f"{self.tokens:,} of {self.budget:,} tokens: {what}"

    def _told_of_reasoning(self) -> str:
        left_out, tokens = self._plan.stripped
        if left_out:
            return f"stale reasoning of {left_out:,} messages left out ({tokens:,} tokens)"
        stale = len(self.stale_reasoning)
        return f"reasoning of {stale:,} messages is stale" if stale else ""

    def __repr__(self) -> str:
        return f"<Fitted {self.step}: {self}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Fitted can't be copied or pickled; use its messages and as_dict()")

    def explain(self, previous: Fitted | None = None) -> str:
        """A table of what was done, for a person to read.

        Args:
            previous: as in `cache_kept`.
        """
        lines = [str(self), f"{'message':>8}  {'what':<24} {'tokens':>12}"]
        lines += [
            f"{row.index:>8}  {'cleared ' + (row.tool or 'result'):<24} {-row.tokens:>12,}"
            for row in self.cleared
        ]
        lines += [
            f"{_span(gap):>8}  {'dropped':<24} {-self._tokens_of(gap):>12,}" for gap in self.dropped
        ]
        lines += [
            f"{row.index:>8}  {'stale reasoning' if row.sent else 'reasoning left out':<24} "
            f"{0 if row.sent else -row.tokens:>12,}"
            for row in self.stale_reasoning
        ]
        kept = self._kept(previous)
        if kept is not None:
            lines.append(f"{'':>8}  {'kept from the last fit':<24} {kept:>12,}")
        return "\n".join(lines)

    def _kept(self, previous: Fitted | None) -> int | None:
        return self._kept_since_the_last_fit if previous is None else self.cache_kept(previous)

    def _tokens_of(self, gap: Sequence[int]) -> int:
        if self._source is None:
            return sum(map(self._ledger.message_tokens, gap))
        read = (_core.read_message(table_of(self._format), at, self._came[at]) for at in gap)
        return sum(tokens for _, tokens, _ in read)

    def as_dict(self, previous: Fitted | None = None) -> dict[str, Any]:
        """Flat figures without any text of a message, for logs and traces.

        Args:
            previous: as in `cache_kept`; without it, ``cache_kept`` is None unless a
                `Conversation` knows.
        """
        stale = self.stale_reasoning
        count, freed = self._ledger.cleared_totals(self._plan)
        return {
            **self._frame.policy.versions,
            "tokens": self.tokens,
            "budget": self.budget,
            "over": self.over,
            "fits": self.fits,
            "sendable": self.sendable,
            "step": self.step,
            "messages": len(self.messages),
            "history": self._count,
            "cleared": count,
            "cleared_tokens": freed,
            "dropped": sum(map(len, self.dropped)),
            "first_changed": self.first_changed,
            "stale_reasoning": len(stale),
            "stale_reasoning_tokens": sum(row.tokens for row in stale),
            "stripped_reasoning": sum(not row.sent for row in stale),
            "cache_kept": self._kept(previous),
        }


def _spans(indices: Iterable[int]) -> list[tuple[int, int]]:
    """Indices in rising order, as ranges of start and end."""
    spans: list[tuple[int, int]] = []
    for index in indices:
        if spans and spans[-1][1] == index:
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    return spans


def _span(gap: range) -> str:
    return str(gap.start) if len(gap) == 1 else f"{gap.start}-{gap.stop - 1}"
