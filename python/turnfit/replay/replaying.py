"""A recording replayed under policies, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from time import perf_counter

from turnfit.errors import BudgetError
from turnfit.replay.caching import CacheUse, PrefixCache, cache_of, marks_of
from turnfit.replay.contenders import Contender, Sent, contenders
from turnfit.replay.losses import Losses, Unread
from turnfit.replay.prefix import Change, Row
from turnfit.replay.prices import Price, Prices
from turnfit.replay.recordings import Recording
from turnfit.replay.replayed import Played, Replayed, Steps
from turnfit.replay.rules import CacheRules, cache_rules
from turnfit.replay.track import Track

__all__ = ["replay", "share_of"]

_BREATH = 100
"""Requests between two reports."""


def replay(
    recording: Recording,
    budget: int,
    *,
    window: int | None = None,
    model: str | None = None,
    policies: Sequence[Contender] = (),
    prices: Prices | None = None,
    seconds_per_step: float | None = None,
    steps: bool = True,
    progress: Callable[[float], object] | None = None,
) -> Replayed:
    """What policies would have done to recorded work, request by request.

    Those that `contenders` names are tried, and then `policies`. All requests are priced by
    one measure, the model's, whatever a policy prices by itself.

    Args:
        recording: the work.
        budget: the tokens that a request may take.
        window: what the model accepts at all; what is over it is refused.
        model: the model's name; that of the recording where it isn't given.
        policies: more policies, such as `Fitting("mine", turnfit.Policy(...))`.
        prices: by which it is told what all would have cost.
        seconds_per_step: how long a step took, for the lifetimes of caches; without it the
            recorded times tell, and without them nothing ages.
        steps: keep the figures of each request.
        progress: told now and then what share is done.

    Raises:
        HistoryError: if a message can't be read, with the recording's name.
        BudgetError: if a policy's budget has no room for any message, with its name.
        PriceError: if there is no price for the model.
        ValueError: if `seconds_per_step` is negative or no finite number.

    >>> call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    >>> messages = [{"role": "user", "content": "Read."}]
    >>> for _ in range(9):
    ...     messages.append({"role": "assistant", "tool_calls": [call]})
    ...     messages.append({"role": "tool", "tool_call_id": "a", "content": "word " * 400})
    >>> got = replay(Recording(name="nine reads", messages=messages), budget=2_000)
    >>> [(one.name, one.requests, one.over_budget) for one in got.policies][-1]
    ('default', 10, 0)
    """
    if seconds_per_step is not None and not 0 <= seconds_per_step < inf:
        raise ValueError(f"seconds_per_step must be 0 or more, not {seconds_per_step}")
    model = recording.model if model is None else model
    price = prices.of(model) if prices is not None else None
    track = Track.of(recording, model)
    rules = cache_rules(model, track.format.name)
    stage = _Stage(track, window, rules, price, list(track.times(seconds_per_step)), steps)
    tried = contenders(budget, window=window, model=model, own=policies)
    played = [
        stage.play(one, share_of(progress, number, len(tried))) for number, one in enumerate(tried)
    ]
    return Replayed(
        recording.name,
        track.format.name,
        model,
        len(track.messages),
        budget,
        window,
        rules,
        prices.currency if prices is not None else None,
        played,
    )


def share_of(
    progress: Callable[[float], object] | None, number: int, count: int
) -> Callable[[float], object]:
    """Reports the progress of one of several parts as that of all."""
    return lambda share: progress and progress((number + share) / count)


class _Stage:
    """On which policies are tried, one after the other."""

    def __init__(
        self,
        track: Track,
        window: int | None,
        rules: CacheRules,
        price: Price | None,
        times: Sequence[float],
        steps: bool,
    ) -> None:
        self.track = track
        self.window = window
        self.rules = rules
        self.price = price
        self.times = times
        self.steps = steps
        # Split here, so that it counts as no policy's fitting.
        track.parts  # noqa: B018
        self.opening = track.blocks.opening(track.recording.system, track.recording.tools)

    def play(self, contender: Contender, told: Callable[[float], object]) -> Played:
        """Plays a whole recording."""
        try:
            return _Play(self, contender).to_the_end(told)
        except BudgetError as error:
            what = f"policy {contender.name!r}: {error}"
            raise BudgetError(what, error.parts) from error


class _Play:
    """One policy on one recording: all that is counted on the way."""

    def __init__(self, stage: _Stage, contender: Contender) -> None:
        self._stage = stage
        self._track = track = stage.track
        self._contender = contender
        self._played = Played(contender.name, contender.budget)
        if stage.price is not None:
            self._played.cost = 0.0
        self._steps = Steps()
        self._row = Row(stage.opening)
        self._cache: PrefixCache = cache_of(stage.rules)
        self._change: Change = self._row.unchanged
        self._still: int | None = None
        self._opening = next(
            (at for at in range(self._row.count - 1, -1, -1) if self._row.blocks[at].bears), None
        )
        self._losses = Losses(track)
        self._unread = Unread(track)

    def to_the_end(self, told: Callable[[float], object]) -> Played:
        """Makes all requests, and sums up."""
        player, requests = self._contender.play(self._track), self._track.requests
        for number, at in enumerate(requests):
            if number % _BREATH == _BREATH - 1:
                told(number / len(requests))
            started = perf_counter()
            sent = player.request(at)
            self._played.seconds += perf_counter() - started
            self._take(number, at, sent)
        self._sum_up()
        return self._played

    def _take(self, number: int, at: int, sent: Sent) -> None:
        before = len(self._row.parts)
        first, change = self._row.go_on(sent.same, sent.tail)
        self._change = change.after(self._change)
        self._set_still(sent)
        window = self._stage.window
        refused = window is not None and self._row.tokens + self._contender.output > window
        use = CacheUse(0, 0, 0) if refused else self._use(number)
        self._losses.take(at, sent, self._row)
        self._unread.take(at, self._losses, refused)
        self._count(number, use, refused)
        first_changed = first if first < before else -1
        self._played.start_changes += first_changed >= 0
        if self._stage.steps:
            self._note(at, first_changed, use, refused)

    def _set_still(self, sent: Sent) -> None:
        if sent.still is None:
            self._still = None
            return
        index, block = sent.still
        head = self._row.parts[index].head
        self._still = self._row.starts[index] + (0 if block is None else head + block)

    def _use(self, number: int) -> CacheUse:
        marks = marks_of(self._row, self._opening, self._still) if self._stage.rules.marked else []
        use = self._cache.read(self._row, self._change, marks, self._stage.times[number])
        self._change = self._row.unchanged
        return use

    def _count(self, number: int, use: CacheUse, refused: bool) -> None:
        played = self._played
        played.requests += 1
        played.refused += refused
        played.over_budget += self._row.tokens > played.budget
        played.tokens_sent += 0 if refused else self._row.tokens
        played.cache_read += use.read
        played.cache_written += use.written
        played.uncached += use.uncached
        price = self._stage.price
        if price is not None and played.cost is not None and not refused:
            played.cost += price.of(use, self._track.outputs[number])

    def _note(self, at: int, first_changed: int, use: CacheUse, refused: bool) -> None:
        row, steps = self._row, self._steps
        whole = self._track.fixed + self._track.sums[at]
        dropped = self._track.sums[at] - self._losses.held
        # What a note costs was not saved, and may be more than what it stands for.
        left = max(0, whole - row.tokens)
        cleared = max(0, left - dropped)
        steps.at.append(at)
        steps.tokens.append(row.tokens)
        steps.kept.append(row.own)
        steps.notes.append(row.tokens - row.own)
        steps.cleared.append(cleared)
        steps.dropped.append(left - cleared)
        steps.first_changed.append(first_changed)
        steps.read.append(use.read)
        steps.written.append(use.written)
        steps.refused.append(refused)

    def _sum_up(self) -> None:
        played, losses = self._played, self._losses
        played.cleared = len(losses.cleared)
        played.dropped_turns, played.dropped_rounds = losses.dropped()
        played.stale_reasoning = len(losses.stale & self._track.thinking)
        played.exposed = losses.exposed()
        played.results, played.unread = self._unread.counted()
        if self._stage.steps:
            played.steps = self._steps
