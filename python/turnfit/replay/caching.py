"""The providers' prefix caches, fed with requests that go on where the last one stopped.

A provider's rules are in `turnfit.replay.rules`. Without a clock nothing ages.

`MarkedCache` keeps what marks tell it to: each marked block writes one entry, of all that
stands up to it; a read looks back from each marked block over so many positions, itself the
first, where neighbouring calls count as one and so do neighbouring results; nothing shorter
than the minimum is kept; an entry lives from the last request that wrote or read it.
`AutomaticCache` keeps every beginning of every request, and reads it in steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from turnfit.replay.blocks import CALL, RESULT, Block
from turnfit.replay.prefix import Change, Keys, Row
from turnfit.replay.rules import CacheRules

__all__ = ["AutomaticCache", "CacheUse", "MarkedCache", "PrefixCache", "cache_of", "marks_of"]

_MOST_KEPT = 1 << 22
"""Keys of beginnings that no request has any more: those left first are forgotten."""


class CacheUse(NamedTuple):
    """Where a request's input tokens came from.

    Attributes:
        read: from the cache.
        written: processed, and written to the cache.
        uncached: processed only.
    """

    read: int
    written: int
    uncached: int


class PrefixCache(Protocol):
    """What remembers the beginnings of requests."""

    def read(self, row: Row, change: Change, marks: Sequence[int], now: float) -> CacheUse:
        """Takes a request, and remembers it.

        Args:
            row: the request.
            change: what it has no more of the request taken before.
            marks: the blocks that are marked, in rising order.
            now: the time in seconds.
        """


def cache_of(rules: CacheRules) -> PrefixCache:
    """An empty cache that follows these rules."""
    return MarkedCache(rules) if rules.marked else AutomaticCache(rules)


class MarkedCache:
    """Reads and writes at marks; see the module."""

    def __init__(self, rules: CacheRules) -> None:
        self._rules = rules
        self._until: dict[int, float] = {}

    def read(self, row: Row, change: Change, marks: Sequence[int], now: float) -> CacheUse:
        """See `PrefixCache.read`."""
        hit = max((self._found(row, mark, now) for mark in marks), default=-1)
        long = [at for at in marks if row.sum_to(at + 1) >= self._rules.minimum]
        for at in (hit, *long) if hit >= 0 else long:
            self._until[row.key(at)] = now + self._rules.lifetime
        read = row.sum_to(hit + 1)
        cached = max(row.sum_to(long[-1] + 1) if long else 0, read)
        return CacheUse(read, cached - read, row.tokens - cached)

    def _found(self, row: Row, mark: int, now: float) -> int:
        """The last block before or at a mark up to which the beginning is kept; else -1."""
        positions, blocks, until = 1, row.blocks, self._until
        for at in range(mark, -1, -1):
            if at < mark and not _are_one(blocks[at], blocks[at + 1]):
                positions += 1
            if positions > self._rules.look_back:
                break
            if until.get(row.key(at), now) > now:
                return at
        return -1


def _are_one(block: Block, behind: Block) -> bool:
    """Whether neighbours count as one position of the look-back."""
    return block.kind == behind.kind and block.kind in (CALL, RESULT)


class _Branch(NamedTuple):
    """Beginnings that the last request has no more: their keys, one block longer each."""

    until: float
    keys: Keys


class AutomaticCache:
    """Keeps all beginnings; see the module.

    The beginnings of the last request are its own, and live as long as it does. Where a
    request leaves it, what it leaves is kept as a branch under its first key.
    """

    def __init__(self, rules: CacheRules) -> None:
        self._rules = rules
        self._branches: dict[int, _Branch] = {}
        self._kept = 0
        self._until = float("-inf")

    def read(self, row: Row, change: Change, marks: Sequence[int], now: float) -> CacheUse:
        """See `PrefixCache.read`."""
        if now >= self._until:
            # Nothing that was used before can live longer than what was used last.
            self._branches, self._kept, known = {}, 0, 0
        else:
            self._leave(_Branch(self._until, change.left))
            known = self._known(row.keys, change.same, now)
        self._until = now + self._rules.lifetime
        return self._use(row, known)

    def _use(self, row: Row, known: int) -> CacheUse:
        read = self._whole_steps(row.sum_to(known))
        counted = self._rules.counts_writes
        cached = max(read, self._whole_steps(row.sum_to(row.count))) if counted else read
        return CacheUse(read, cached - read, row.tokens - cached)

    def _whole_steps(self, tokens: int) -> int:
        rules = self._rules
        return tokens // rules.step * rules.step if tokens >= rules.minimum else 0

    def _known(self, keys: Keys, same: int, now: float) -> int:
        """How many blocks the longest beginning has that is kept."""
        known = same
        while known < len(keys):
            branch = self._branches.get(int(keys[known]))
            if branch is None or branch.until <= now:
                break
            known += self._follow(branch, keys[known:])
        return known

    def _follow(self, branch: _Branch, keys: Keys) -> int:
        """Goes along a branch; what is behind the place where it is left stays a branch."""
        most = min(len(branch.keys), len(keys))
        differ = np.flatnonzero(branch.keys[:most] != keys[:most])
        length = int(differ[0]) if len(differ) else most
        self._forget(int(branch.keys[0]))
        self._leave(_Branch(branch.until, branch.keys[length:]))
        return length

    def _leave(self, branch: _Branch) -> None:
        if not len(branch.keys):
            return
        first = int(branch.keys[0])
        self._forget(first)
        self._branches[first] = branch
        self._kept += len(branch.keys)
        while self._kept > _MOST_KEPT:
            self._forget(next(iter(self._branches)))

    def _forget(self, first: int) -> None:
        branch = self._branches.pop(first, None)
        if branch is not None:
            self._kept -= len(branch.keys)


def marks_of(row: Row, opening: int | None, still: int | None) -> list[int]:
    """The blocks worth a mark: the opening's end, before what changes next, and the last.

    Args:
        row: the request.
        opening: the last block of tools and system that can bear a mark.
        still: the block before which the request holds still for longest.
    """
    found = {opening, _bearing(row.blocks, still), _bearing(row.blocks, row.count)}
    return sorted(at for at in found if at is not None)


def _bearing(blocks: Sequence[Block], before: int | None) -> int | None:
    """The last block before another that can bear a mark."""
    if before is None:
        return None
    places: Iterable[int] = range(before - 1, -1, -1)
    return next((at for at in places if blocks[at].bears), None)
