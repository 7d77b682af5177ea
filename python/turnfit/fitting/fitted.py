"""A fitted request, and what was done to make it fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Literal

from turnfit import _core
from turnfit.fitting.caching import CachePoint, points_of
from turnfit.fitting.frame import Frame, new_ledger
from turnfit.fitting.interrupted import Broken, problems_of
from turnfit.messages.check import check
from turnfit.messages.formats import table_of
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
    ) -> None:
        self._history = history
        self._source = source
        self._format = format_
        self._ledger = ledger
        self._plan = plan
        self._frame = frame
        self._build = build or (lambda: ledger.request(history, plan))
        self.tokens: int = plan.tokens + frame.fixed
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
    def first_changed(self) -> int | None:
        """The first message of the request that isn't the history's at that place."""
        if self.step == "whole" and self._source is None:
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

    def cache_kept(self, previous: Fitted) -> int:
        """The tokens of the messages with which both requests start.

        These the provider can read from its prefix cache, if the system prompt and the
        tools are the same.
        """
        kept = 0
        pairs = zip(previous.messages, self.messages, strict=False)
        for index, (before, now) in enumerate(pairs):
            if before is not now and _unmarked(before) != _unmarked(now):
                break
            kept += _core.read_message(table_of(self._format), index, now)[1]
        return kept

    def __str__(self) -> str:
        count, freed = self._ledger.cleared_totals(self._plan)
        dropped = sum(map(len, self.dropped))
        done = [
            f"{count:,} results cleared ({freed:,} tokens)" if count else "",
            f"{dropped:,} of {self._count:,} messages dropped" if dropped else "",
            f"over the budget by {self.over:,}" if self.over else "",
        ]
        what = "; ".join(part for part in done if part) or "sent whole"
        return f"{self.tokens:,} of {self.budget:,} tokens: {what}"

    def __repr__(self) -> str:
        return f"<Fitted {self.step}: {self}>"

    def explain(self) -> str:
        """A table of what was done, for a person to read."""
        lines = [str(self), f"{'message':>8}  {'what':<24} {'tokens':>12}"]
        lines += [
            f"{row.index:>8}  {'cleared ' + (row.tool or 'result'):<24} {-row.tokens:>12,}"
            for row in self.cleared
        ]
        lines += [
            f"{_span(gap):>8}  {'dropped':<24} {-self._tokens_of(gap):>12,}" for gap in self.dropped
        ]
        return "\n".join(lines)

    def _tokens_of(self, gap: Sequence[int]) -> int:
        if self._source is None:
            return sum(map(self._ledger.message_tokens, gap))
        read = (_core.read_message(table_of(self._format), at, self._came[at]) for at in gap)
        return sum(tokens for _, tokens, _ in read)

    def as_dict(self) -> dict[str, Any]:
        """Flat figures without any text of a message, for logs and traces."""
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


def _unmarked(value: Any) -> Any:
    """A message without its cache marks, which the provider doesn't compare."""
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_unmarked(item) for item in value if not _is_mark(item)]
    return value


def _is_mark(block: Any) -> bool:
    """Bedrock's mark is a block of its own."""
    return isinstance(block, dict) and list(block) == ["cachePoint"]


def _span(gap: range) -> str:
    return str(gap.start) if len(gap) == 1 else f"{gap.start}-{gap.stop - 1}"
