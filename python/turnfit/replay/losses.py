"""What requests had less than the history, and what that would have cost the agent."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

import numpy as np

from turnfit.compaction.effects import Effects
from turnfit.compaction.event import Event, gone
from turnfit.compaction.regret import Regret
from turnfit.errors import MissingExtraError
from turnfit.replay.contenders import Place, Sent, Span
from turnfit.replay.prefix import Row
from turnfit.replay.track import Track

__all__ = ["Losses", "Unread"]


class Losses:
    """What requests had less than the history, at some time or now.

    Attributes:
        cleared: the results that were cleared at some time.
        now: tells which are cleared now.
        spans: what of the history is in the request.
        held: what these messages cost as they were recorded.
        stale: the messages whose reasoning was made stale.
    """

    def __init__(self, track: Track) -> None:
        self._track = track
        self.cleared: set[Place] = set()
        self.now: Container[Place] = ()
        self.spans: Sequence[Span] = ()
        self.held = 0
        self.stale: set[int] = set()
        self._gone = np.zeros(len(track.messages), bool)
        self._events: list[Event] = []

    def take(self, at: int, sent: Sent, row: Row) -> None:
        """Takes a request."""
        newly = self._newly_dropped(at, sent)
        self.stale.update(sent.stale)
        lost = set(sent.lost) - self.cleared
        self.cleared |= lost
        if sent.cleared is not None:
            self.now = sent.cleared
        if newly or lost:
            indices = tuple(sorted({index for index, _ in lost}))
            event = Event(
                kind="clearing", at=at, dropped=tuple(newly), cleared=indices, after=row.tokens
            )
            self._events.append(event)

    def _newly_dropped(self, at: int, sent: Sent) -> Sequence[range]:
        self.spans = sent.spans
        self.held = sum(self._track.tokens_of(start, end) for start, end in self.spans)
        newly: list[int] = []
        end = 0
        for start, stop in (*self.spans, (at, at)):
            if end < start:
                found = np.flatnonzero(~self._gone[end:start]) + end
                newly += found.tolist()
                self._gone[end:start] = True
            end = max(end, stop)
        return gone(newly)

    def dropped(self) -> tuple[int, int]:
        """The turns and, of other turns, the rounds that were dropped at some time."""
        turns = [at for at in self._track.turns if self._gone[at]]
        whole = set(turns)
        rounds = 0
        opened = iter([*self._track.turns, len(self._gone)])
        turn, following = -1, next(opened)
        for at in self._track.rounds:
            while following <= at:
                turn, following = following, next(opened)
            rounds += bool(self._gone[at]) and turn not in whole
        return len(turns), rounds

    def exposed(self) -> int:
        """How often something was fetched again that was gone."""
        if not self._events:
            return 0
        effects = self._track.recording.effects
        try:
            return self._regret(effects)
        except MissingExtraError as error:
            warnings.warn(f"{error}; what commands read again isn't counted", stacklevel=2)
            return self._regret(_without_commands(effects))

    def _regret(self, effects: Effects) -> int:
        messages, format_ = self._track.messages, self._track.format
        return len(Regret.of(messages, self._events, effects=effects, format=format_).findings)


def _without_commands(effects: Effects) -> Effects:
    """What tools do, but for shell commands, which it takes a parser to understand."""
    tools = {
        name: tuple(one for one in does if one.kind != "runs")
        for name, does in effects.tools.items()
    }
    return replace(effects, tools=tools)


class Unread:
    """Which results no request held whole: each is looked for in the first one behind it that
    was not refused, since what is taken out later has been read.
    """

    def __init__(self, track: Track) -> None:
        self._track = track
        self._from = 0
        self._unread = 0

    def take(self, at: int, losses: Losses, refused: bool) -> None:
        """Takes a request."""
        if refused:
            return
        for place in self._new(self._from, at):
            held = any(start <= place[0] < end for start, end in losses.spans)
            self._unread += not held or place in losses.now
        self._from = at

    def counted(self) -> tuple[int, int]:
        """How many results there were before the last request, and how many went unread."""
        last = max(self._track.requests, default=0)
        never = sum(1 for _ in self._new(self._from, last))
        return sum(1 for _ in self._new(0, last)), self._unread + never

    def _new(self, start: int, end: int) -> Iterator[Place]:
        for index in range(start, end):
            for place in self._track.results[index]:
                yield index, place
