"""The providers' prefix caches by their published rules, without a provider.

    cache = cache_for("claude-opus-5", count)
    cache.read({"model": "claude-opus-5", "messages": [...]})   # CacheUse(read, written, uncached)

`AnthropicCache` (https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read
in November 2026; Bedrock's marks likewise): each marked block writes one entry, of all that
stands up to it; a read looks back from each marked block over at most 20 positions, itself
the first, where neighbouring calls count as one and so do neighbouring results; at most 4
marks; nothing shorter than the model's minimum; an entry lives 5 minutes or an hour from
the start of the request that wrote or read it.

`AutomaticCache` keeps every beginning of every request, in steps: OpenAI's
(https://developers.openai.com/api/docs/guides/prompt-caching) and Gemini's
(https://ai.google.dev/gemini-api/docs/caching, which publishes no lifetime; five minutes
are assumed). With a step of one token it is the cache that no mark can beat, `ideal_cache`.

Beginnings are compared block by block, so that of a block that differs nothing is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any, Protocol, TypeAlias

from servers.requests import FIVE_MINUTES, ONE_HOUR, Block, Body, blocks, refused

Count: TypeAlias = Callable[[Any], int]
Clock: TypeAlias = Callable[[], float]

MOST_MARKS = 4
LOOK_BACK = 20


@dataclass(frozen=True)
class CacheUse:
    """Where a request's input tokens came from.

    Attributes:
        read: from the cache.
        written: processed, and written to the cache.
        uncached: processed only.
    """

    read: int
    written: int
    uncached: int

    @property
    def total(self) -> int:
        """All input tokens."""
        return self.read + self.written + self.uncached

    def as_anthropic(self) -> dict[str, int]:
        """The fields of Anthropic's ``usage``."""
        return {
            "input_tokens": self.uncached,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
        }

    def as_openai(self) -> dict[str, Any]:
        """The fields of the ``usage`` of OpenAI's Responses."""
        return {
            "input_tokens": self.total,
            "input_tokens_details": {"cached_tokens": self.read},
        }


class PrefixCache(Protocol):
    """What remembers the beginnings of requests."""

    def read(self, request: Body) -> CacheUse:
        """Takes a request's body as it is sent, and remembers it."""


@dataclass
class Shelf:
    """Beginnings of requests, and until when they are kept."""

    clock: Clock
    until: dict[bytes, float] = field(default_factory=dict)

    def holds(self, key: bytes) -> bool:
        return self.until.get(key, float("-inf")) > self.clock()

    def keep(self, key: bytes, lifetime: float) -> None:
        self.until[key] = max(self.until.get(key, 0.0), self.clock() + lifetime)


def _always_now() -> float:
    return 0.0


def _beginnings(model: str, row: Sequence[Block]) -> list[bytes]:
    """A key for the beginning up to and with each block."""
    keys, last = [], sha256(model.encode()).digest()
    for block in row:
        last = sha256(last + block.text.encode("utf-8", "surrogatepass")).digest()
        keys.append(last)
    return keys


class AnthropicCache:
    """Reads and writes at marks; see the module.

    Args:
        count: from a block to its tokens.
        minimum: no beginning shorter than so many tokens is kept.
        clock: the time in seconds; without one, nothing ages.
    """

    def __init__(self, count: Count, minimum: int = 1024, clock: Clock = _always_now) -> None:
        self._count = count
        self._minimum = minimum
        self._shelf = Shelf(clock)

    def read(self, request: Body) -> CacheUse:
        """See `PrefixCache.read`; a `RefusedError` for marks that the provider refuses."""
        row = blocks(request)
        sums = [0, *accumulate(self._count(block.value) for block in row)]
        keys = _beginnings(str(request.get("model")), row)
        marks = [at for at, block in enumerate(row) if block.lifetime is not None]
        _refuse_wrong_marks([row[at] for at in marks])
        hit = max((self._found(row, keys, at) for at in marks), default=-1)
        long = [at for at in marks if sums[at + 1] >= self._minimum]
        if hit >= 0:
            self._shelf.keep(keys[hit], row[hit].lifetime or FIVE_MINUTES)
        for at in long:
            self._shelf.keep(keys[at], row[at].lifetime or FIVE_MINUTES)
        read = sums[hit + 1]
        cached = max(sums[long[-1] + 1] if long else 0, read)
        return CacheUse(read, cached - read, sums[-1] - cached)

    def _found(self, row: Sequence[Block], keys: Sequence[bytes], mark: int) -> int:
        """The last block before or at a mark up to which the beginning is kept; else -1."""
        positions = 1
        for at in range(mark, -1, -1):
            if at < mark and not _are_one(row[at], row[at + 1]):
                positions += 1
            if positions > LOOK_BACK:
                break
            if self._shelf.holds(keys[at]):
                return at
        return -1


def _are_one(block: Block, next_block: Block) -> bool:
    """Whether neighbours count as one position of the look-back."""
    return block.kind == next_block.kind and block.kind in ("tool_use", "tool_result")


def _refuse_wrong_marks(marked: Sequence[Block]) -> None:
    if len(marked) > MOST_MARKS:
        raise refused(
            f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. "
            f"Found {len(marked)}."
        )
    for before, behind in pairwise(marked):
        if (before.lifetime or 0) < (behind.lifetime or 0):
            raise refused(
                f"{behind.path}.cache_control.ttl: a ttl='1h' cache_control block must not come "
                "after a ttl='5m' cache_control block."
            )


class AutomaticCache:
    """Keeps all beginnings; see the module.

    Args:
        count: from a block to its tokens.
        minimum: nothing is read of requests shorter than this.
        step: what is read is a multiple of so many tokens.
        lifetime: from the last use of a beginning, in seconds.
        counts_writes: whether what is written is told apart.
        clock: the time in seconds; without one, nothing ages.
    """

    def __init__(
        self,
        count: Count,
        minimum: int = 1024,
        step: int = 128,
        lifetime: float = FIVE_MINUTES,
        counts_writes: bool = False,
        clock: Clock = _always_now,
    ) -> None:
        self._count = count
        self._minimum = minimum
        self._step = step
        self._lifetime = lifetime
        self._counts_writes = counts_writes
        self._shelf = Shelf(clock)

    def read(self, request: Body) -> CacheUse:
        """See `PrefixCache.read`."""
        row = blocks(request)
        sums = [0, *accumulate(self._count(block.value) for block in row)]
        keys = _beginnings(str(request.get("model")), row)
        known = 0
        while known < len(row) and self._shelf.holds(keys[known]):
            known += 1
        for key in keys:
            self._shelf.keep(key, self._lifetime)
        read = self._whole_steps(sums[known])
        cached = max(read, self._whole_steps(sums[-1])) if self._counts_writes else read
        return CacheUse(read, cached - read, sums[-1] - cached)

    def _whole_steps(self, tokens: int) -> int:
        return tokens // self._step * self._step if tokens >= self._minimum else 0


ANTHROPIC_MINIMA = {
    "claude-opus-4-5": 4096,
    "claude-opus-4-6": 4096,
    "claude-haiku-4-5": 4096,
    "claude-opus-4-7": 2048,
    "claude-haiku-3-5": 2048,
    "claude-opus-5": 512,
    "claude-sonnet-5-5": 512,
    "claude-haiku-5-5": 512,
    "claude-fable-5": 512,
    "claude-mythos-5": 512,
}
"""By the beginnings of models' names; 1024 for the others. Published in November 2026."""

GEMINI_MINIMA = {"gemini-2.5": 2048}
"""4096 for the others."""


def minimum_of(model: str) -> int:
    """The shortest beginning that a model's provider caches, in tokens."""
    name = model.rpartition(".")[2] if "claude" in model else model
    minima, other = (GEMINI_MINIMA, 4096) if "gemini" in name else (ANTHROPIC_MINIMA, 1024)
    fitting = [start for start in minima if name.startswith(start)]
    return minima[max(fitting, key=len)] if fitting else other


def cache_for(model: str, count: Count, clock: Clock = _always_now) -> PrefixCache:
    """The cache that a model's provider has."""
    if "claude" in model:
        return AnthropicCache(count, minimum_of(model), clock)
    if "gemini" in model:
        return AutomaticCache(count, minimum_of(model), step=1, clock=clock)
    older = ("o1", "o3", "o4")
    newer = model >= "gpt-5.6" if model.startswith("gpt-") else not model.startswith(older)
    return AutomaticCache(
        count, lifetime=1800.0 if newer else FIVE_MINUTES, counts_writes=newer, clock=clock
    )


def ideal_cache(model: str, count: Count, clock: Clock = _always_now) -> PrefixCache:
    """The cache that reads all that any earlier request began with."""
    return AutomaticCache(
        count, minimum_of(model), step=1, lifetime=ONE_HOUR, counts_writes=True, clock=clock
    )
