"""Messages with their results cleared, in whichever format."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

from turnfit import _core
from turnfit.fitting.frame import new_ledger
from turnfit.fitting.policy import Policy
from turnfit.messages.formats import table_of
from turnfit.messages.reading import Message
from turnfit.replay.track import Track

__all__ = ["Clearing"]


class Clearing:
    """A history's messages, with results cleared.

    Args:
        track: the history.
        policy: its notes are used, and what it never clears stays.
    """

    def __init__(self, track: Track, policy: Policy) -> None:
        self._track = track
        self._policy = policy

    def form(self, index: int, places: Collection[int]) -> Message:
        """A message with some of its results cleared, by their places among its calls and
        results; the message itself where none of them can be.
        """
        whole, cleared = self._track.messages[index], self._cleared[index]
        results = self._track.results[index]
        if not places or cleared is whole:
            return whole
        return cleared if len(results) == 1 else self._partly(index, cleared, places)

    def _partly(self, index: int, cleared: Message, places: Collection[int]) -> Message:
        plain, bare = _core.plain(self._track.messages[index]), _core.plain(cleared)
        key = "parts" if "parts" in plain else "content"
        blocks = list(plain[key])
        bearing = [at for at, block in enumerate(blocks) if self._is_result(plain, key, block)]
        for at, place in zip(bearing, self._track.results[index], strict=True):
            if place in places:
                blocks[at] = bare[key][at]
        return {**plain, key: blocks}

    def _is_result(self, message: Any, key: str, block: Any) -> bool:
        table = table_of(self._track.format)
        rows = _core.read_message(table, 0, {**message, key: [block]})[2]
        return any(row[0] == "result" for row in rows)

    @cached_property
    def places(self) -> frozenset[tuple[int, int]]:
        """The results that can be cleared, by message and place."""
        ledger, plan = self._all
        return frozenset((index, place) for index, place, _, _ in ledger.cleared(plan))

    @cached_property
    def _cleared(self) -> Sequence[Message]:
        """All messages, with all results cleared."""
        ledger, plan = self._all
        return ledger.request(self._track.messages, plan)

    @cached_property
    def _all(self) -> tuple[_core.Ledger, _core.Plan]:
        ledger = new_ledger(self._policy, self._track.format)
        ledger.fill(self._track.messages)
        return ledger, _plan_of_most_clearing(ledger)


def _plan_of_most_clearing(ledger: _core.Ledger) -> _core.Plan:
    """The plan that clears all it can and drops nothing: that of the least room for one."""
    least, most = 0, ledger.tokens
    while least < most:
        room = (least + most) // 2
        if ledger.plan(room, "results", 0, 0, 0).step in ("whole", "results"):
            most = room
        else:
            least = room + 1
    return ledger.plan(least, "results", 0, 0, 0)
