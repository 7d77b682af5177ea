"""A request as a row of blocks, kept from one request to the next.

Each beginning of the row has a key of 64 bits: the sum of its blocks' digests, each times a
power that its place has. So a row that goes on costs what is added, and one that changes
costs what stands from the change on; nothing that stayed is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from turnfit.replay.blocks import Block, Parts

__all__ = ["Change", "Keys", "Row"]

Keys: TypeAlias = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
"""Odd, so that no power of it is lost."""


class Change(NamedTuple):
    """What a request has no more of the one before.

    Attributes:
        same: how many blocks both begin with.
        left: the keys of the beginnings that only the one before has.
    """

    same: int
    left: Keys

    def after(self, before: Change) -> Change:
        """Both changes as one, seen from the request before the first."""
        if self.same >= before.same:
            return before
        between = self.left[: before.same - self.same]
        return Change(self.same, np.concatenate([between, before.left]))


class Row:
    """The blocks of the last request, and what all of its beginnings are.

    Attributes:
        parts: the messages' blocks, behind those of the opening.
        starts: for each of `parts` the number of its first block.
        count: how many blocks there are.
    """

    def __init__(self, opening: Parts) -> None:
        self.parts: list[Parts] = []
        self.starts: list[int] = []
        self.count = 0
        self._blocks: list[Block] = []
        self._own: list[int] = []
        self._keys: Keys = np.zeros(0, np.uint64)
        self._sums = np.zeros(0, np.int64)
        self._powers: Keys = np.zeros(0, np.uint64)
        self._opening = opening
        self.opening = len(opening.blocks)
        self._put(0, list(opening.blocks))

    @property
    def keys(self) -> Keys:
        """The keys of the beginnings up to and with each block."""
        return self._keys[: self.count]

    @property
    def tokens(self) -> int:
        """What the whole request costs."""
        return self.sum_to(self.count) + (0 if self.opening else self._opening.tokens)

    @property
    def own(self) -> int:
        """What of that the history has just so, the opening among it."""
        return (self._own[-1] if self._own else 0) + self._opening.tokens

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks themselves."""
        return self._blocks

    def sum_to(self, count: int) -> int:
        """What the first blocks cost."""
        return int(self._sums[count - 1]) if count else 0

    def key(self, at: int) -> int:
        """The key of the beginning that ends with a block."""
        return int(self._keys[at])

    @property
    def unchanged(self) -> Change:
        """No change: the next request begins with all of this one."""
        return Change(self.count, self._keys[:0])

    def go_on(self, same: int, tail: Sequence[Parts]) -> tuple[int, Change]:
        """The next request: so many messages as they were, then these.

        Returns:
            The number of the first message that is not the same as in the request before,
            and what of that one is gone.
        """
        parts = self.parts
        before = parts[same : same + len(tail)]
        more = 0
        while more < len(before) and before[more].same_as(tail[more]):
            more += 1
        first = same + more
        at = self.starts[first] if first < len(parts) else self.count
        now = tail[more:]
        same_blocks = at + _common(parts[first : first + 1], now[:1])
        left = self._keys[same_blocks : self.count].copy()
        self._replace(first, at, now)
        return first, Change(same_blocks, left)

    def _replace(self, first: int, at: int, parts: Sequence[Parts]) -> None:
        del self.parts[first:], self.starts[first:], self._own[first:]
        own = self._own[-1] if self._own else 0
        start = at
        for one in parts:
            own += one.own
            self._own.append(own)
            self.starts.append(start)
            start += len(one.blocks)
        self.parts += parts
        self._put(at, [block for one in parts for block in one.blocks])

    def _put(self, at: int, blocks: list[Block]) -> None:
        self._blocks[at:] = blocks
        end = at + len(blocks)
        self._reserve(end)
        digests = np.array([block.digest for block in blocks], np.uint64)
        self._keys[at:end] = np.cumsum(digests * self._powers[at:end], dtype=np.uint64)
        self._sums[at:end] = np.cumsum([block.tokens for block in blocks], dtype=np.int64)
        if at:
            self._keys[at:end] += self._keys[at - 1]
            self._sums[at:end] += self._sums[at - 1]
        self.count = end

    def _reserve(self, end: int) -> None:
        if end <= len(self._keys):
            return
        size = 2 * end + 64
        self._keys = _grown(self._keys, size)
        self._sums = _grown(self._sums, size)
        steps = np.full(size, _BASE, np.uint64)
        self._powers = np.cumprod(steps, dtype=np.uint64)


def _common(before: Sequence[Parts], now: Sequence[Parts]) -> int:
    """The blocks with which both begin, where their first messages differ."""
    if not before or not now:
        return 0
    pairs = zip(before[0].blocks, now[0].blocks, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0].digest == pair[1].digest, pairs))


def _grown(column: NDArray[Any], size: int) -> NDArray[Any]:
    grown = np.zeros(size, column.dtype)
    grown[: len(column)] = column
    return grown
