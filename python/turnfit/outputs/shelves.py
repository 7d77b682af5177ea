"""Where a store keeps its texts: the protocol, and memory."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Bounds", "Kept", "MemoryShelf", "Shelf"]


@dataclass(frozen=True)
class Bounds:
    """How much a shelf may hold, and for how long."""

    max_bytes: int
    max_age: float
    """Seconds since a text was last put or read."""


@dataclass(frozen=True)
class Kept:
    """What a shelf knows of a text."""

    key: bytes
    size: int
    """Bytes."""
    meta: dict[str, Any]
    used: float
    """When it was last put or read, in seconds since the epoch."""


class Shelf(Protocol):
    """What a store needs of a database or an object store.

    A key is the digest of its text: what is put twice may be stored once. Every call is
    complete when it returns, and may come from any thread.
    """

    def secret(self) -> bytes:
        """32 random bytes, made once for this place and always the same."""
        ...

    def put(self, space: str, key: bytes, data: bytes, meta: dict[str, Any], now: float) -> None:
        """Keep a text; of one that is there already, note its use."""
        ...

    def get(self, space: str, key: bytes, now: float) -> tuple[bytes, dict[str, Any]] | None:
        """The text and what was said of it, and note its use; None if it is not there."""
        ...

    def entries(self, space: str) -> Iterator[Kept]:
        """All texts of a space, the last used first."""
        ...

    def evict(self, bounds: Bounds, now: float) -> int:
        """Remove what is too old, and then the least used until the bytes are within their
        bound; says how many texts went."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


class MemoryShelf:
    """Texts in this process's memory."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._texts: dict[bytes, bytes] = {}
        self._kept: OrderedDict[tuple[str, bytes], Kept] = OrderedDict()
        self._bytes = 0

    def secret(self) -> bytes:
        """Random for each process."""
        return self._secret

    def put(self, space: str, key: bytes, data: bytes, meta: dict[str, Any], now: float) -> None:
        """Keep a text."""
        with self._lock:
            if key not in self._texts:
                self._texts[key] = data
                self._bytes += len(data)
            self._kept[space, key] = Kept(key, len(data), dict(meta), now)
            self._kept.move_to_end((space, key))

    def get(self, space: str, key: bytes, now: float) -> tuple[bytes, dict[str, Any]] | None:
        """The text and what was said of it."""
        with self._lock:
            kept = self._kept.get((space, key))
            if kept is None:
                return None
            self._kept[space, key] = Kept(key, kept.size, kept.meta, now)
            self._kept.move_to_end((space, key))
            return self._texts[key], dict(kept.meta)

    def entries(self, space: str) -> Iterator[Kept]:
        """All texts of a space, the last used first."""
        with self._lock:
            found = [kept for (name, _), kept in self._kept.items() if name == space]
        return reversed(found)

    def evict(self, bounds: Bounds, now: float) -> int:
        """Remove what is out of bounds."""
        gone = 0
        with self._lock:
            while self._kept:
                place, kept = next(iter(self._kept.items()))
                if self._bytes <= bounds.max_bytes and now - kept.used <= bounds.max_age:
                    break
                del self._kept[place]
                gone += 1
                if not any(key == kept.key for _, key in self._kept):
                    self._bytes -= len(self._texts.pop(kept.key))
        return gone

    def close(self) -> None:
        """Nothing is open."""
