"""Originals, kept outside the context."""

from __future__ import annotations

import base64
import hmac
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from turnfit.errors import TurnfitError
from turnfit.outputs.limiting import encodable
from turnfit.outputs.shelves import Bounds, MemoryShelf, Shelf
from turnfit.outputs.spec import OutputLimit
from turnfit.outputs.sqlite import CorruptStoreError, SqliteShelf

if TYPE_CHECKING:
    from turnfit.outputs.meter import Meter

__all__ = [
    "CorruptStoreError",
    "HandleError",
    "Original",
    "Read",
    "Store",
    "handles_in",
]

_HANDLE = re.compile(r"\bout_[a-z2-7]{42}")
_KEY, _MAC = 16, 10
READ_LIMIT = OutputLimit(max_tokens=2_000)
"""What one reading takes if nothing else is said."""


class HandleError(TurnfitError, LookupError):
    """A handle under which there is nothing to read.

    Attributes:
        handle: the handle.
        reason: "evicted" for one that this store gave out and whose text is gone by now,
            "unknown" for one that it never gave out under this namespace.
    """

    def __init__(self, message: str, handle: str, reason: Literal["evicted", "unknown"]) -> None:
        super().__init__(message)
        self.handle = handle
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.handle, self.reason)


@dataclass(frozen=True, kw_only=True)
class Read:
    """A part of an original.

    Attributes:
        text: the part; with `pattern` the lines that match, each behind its number.
        offset: where it begins, in characters.
        next_offset: where to read on; None at the end.
        total_chars: characters of the original.
        note: what part it is and how to go on; empty if it is all there is.
    """

    text: str
    offset: int
    next_offset: int | None
    total_chars: int
    note: str

    def __str__(self) -> str:
        """The part as a text for the model, its note at the end."""
        gap = "\n" if self.text and self.note else ""
        return f"{self.text}{gap}{self.note}"


@dataclass(frozen=True, kw_only=True)
class Original:
    """What a store knows of an original.

    Attributes:
        handle: its handle.
        size: its bytes in UTF-8.
        meta: what was said of it when it was put.
        used: when it was last put or read, in seconds since the epoch.
    """

    handle: str
    size: int
    meta: dict[str, Any]
    used: float


class Store:
    """Keeps originals outside the context, and gives them back by parts.

    Any number of threads and processes may use the same file at once. The same text is
    stored once. Beyond its bounds the store forgets what was used least; a handle of such
    a text answers that it was evicted.

    Args:
        place: a path of a SQLite file, or None for memory, or anything with the methods
            of `Shelf`: another database, an object store.
        namespace: keeps sessions apart: a handle of one is unknown in every other.
        max_bytes: how much all namespaces of the place may hold together.
        max_age: how long a text is kept since it was last put or read.
        read_limit: what one reading may take at most, with its note.
        meter: counts what is read back.

    Raises:
        CorruptStoreError: if the file is damaged; it is set aside, not overwritten.
        ValueError: for bounds that leave no room, or a file of something else.

    >>> store = Store()
    >>> handle = store.put("first line\\nsecond line\\n", {"tool": "read_file"})
    >>> store.read(handle, lines=(2, 2)).text
    'second line\\n'
    >>> store.read(handle, pattern="^first").text
    '1: first line'
    """

    def __init__(
        self,
        place: str | os.PathLike[str] | Shelf | None = None,
        *,
        namespace: str = "",
        max_bytes: int = 256 * 2**20,
        max_age: timedelta = timedelta(days=7),
        read_limit: OutputLimit = READ_LIMIT,
        meter: Meter | None = None,
    ) -> None:
        if max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {max_bytes}")
        if max_age <= timedelta():
            raise ValueError(f"max_age must be positive, not {max_age}")
        if place is None:
            self._shelf: Shelf = MemoryShelf()
        else:
            self._shelf = SqliteShelf(place) if isinstance(place, str | os.PathLike) else place
        self.namespace = namespace
        self._bounds = Bounds(max_bytes, max_age.total_seconds())
        self._read_limit = read_limit
        self._meter = meter
        self._secret = self._shelf.secret()

    def put(self, text: str, meta: Mapping[str, Any] | None = None) -> str:
        """Keep a text; when this returns, it is stored.

        Args:
            text: the text.
            meta: what is worth knowing of it, such as the tool that gave it; of a text
                that is there already the newest is kept.

        Returns:
            Its handle: 46 characters, the same for the same text.

        Raises:
            ValueError: for a text larger than the store.

        >>> store = Store()
        >>> store.put("text") == store.put("text")
        True
        """
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > self._bounds.max_bytes:
            most = self._bounds.max_bytes
            raise ValueError(f"text has {len(data):,} bytes, and the store holds {most:,}")
        key = blake2b(data, digest_size=_KEY, person=b"turnfit-out").digest()
        now = time.time()
        self._shelf.put(self.namespace, key, data, dict(meta or {}), now)
        self._shelf.evict(self._bounds, now)
        return self._handle(key)

    def holds(self, text: str) -> bool:
        """Whether a text is small enough for this store.

        >>> Store(max_bytes=10).holds("eleven bytes")
        False
        """
        return len(text.encode("utf-8", "surrogatepass")) <= self._bounds.max_bytes

    def text(self, handle: str) -> str:
        """The whole original, whatever its size.

        Raises:
            HandleError: if there is nothing under this handle.

        >>> store = Store()
        >>> store.text(store.put("all of it"))
        'all of it'
        """
        return self._get(handle)[0]

    def read(
        self,
        handle: str,
        offset: int = 0,
        limit: int | None = None,
        *,
        lines: tuple[int, int] | None = None,
        pattern: str | None = None,
        from_end: bool = False,
    ) -> Read:
        """Read a part of an original, never more than the store's `read_limit`.

        Args:
            handle: what `put` gave.
            offset: the character to begin with; with `from_end`, so many before the end.
            limit: characters to read at most.
            lines: the first and the last line to read, from 1, in place of offset and
                limit; more of them than one reading takes go on at `next_offset`.
            pattern: a regular expression (https://docs.rs/regex/latest/regex/#syntax, in
                time linear in the text): only lines where it is found, from `offset` on.
            from_end: count `offset` from the end, and read up to it; the default of 0
                reads the end.

        Returns:
            The part, and where to read on.

        Raises:
            HandleError: if there is nothing under this handle.
            ValueError: for a range or a pattern that can't be.

        >>> store = Store()
        >>> store.read(store.put("0123456789"), 2, 3).text
        '234'
        """
        _check_range(offset, limit, lines)
        text, meta = self._get(handle)
        if pattern is not None:
            read = self._matching(text, pattern, offset)
        else:
            start, end = _span(text, offset, limit, lines, from_end)
            read = self._part(text, start, end, from_end)
        if self._meter is not None:
            self._meter.record_read(str(meta.get("tool", "")), read.text)
        return read

    def _part(self, text: str, start: int, end: int, from_end: bool) -> Read:
        """As much of a range as one reading takes."""
        from turnfit.outputs.reading import fitted, note_of

        room = self._read_limit
        start, end = fitted(text, start, end, room, from_end)
        content, _ = encodable(text[start:end])
        following = end if end < len(text) else None
        note = note_of(start, end, len(text))
        return Read(
            text=content, offset=start, next_offset=following, total_chars=len(text), note=note
        )

    def _matching(self, text: str, pattern: str, offset: int) -> Read:
        from turnfit.outputs.reading import matching

        content, following, note = matching(text, pattern, offset, self._read_limit)
        return Read(
            text=content, offset=offset, next_offset=following, total_chars=len(text), note=note
        )

    def entries(self) -> Iterator[Original]:
        """What the namespace holds, the last used first.

        >>> store = Store()
        >>> handle = store.put("text", {"tool": "read"})
        >>> [(entry.size, entry.meta) for entry in store.entries()]
        [(4, {'tool': 'read'})]
        """
        for kept in self._shelf.entries(self.namespace):
            handle = self._handle(kept.key)
            yield Original(handle=handle, size=kept.size, meta=kept.meta, used=kept.used)

    def gc(self) -> int:
        """Forget what is out of bounds now; says how many texts went.

        >>> Store().gc()
        0
        """
        return self._shelf.evict(self._bounds, time.time())

    def close(self) -> None:
        """Let go of the file."""
        self._shelf.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _handle(self, key: bytes) -> str:
        packed = key + self._mac(key)
        return "out_" + base64.b32encode(packed).decode().rstrip("=").lower()

    def _mac(self, key: bytes) -> bytes:
        """Binds a handle to this store and namespace, so that none can be guessed."""
        said = self.namespace.encode("utf-8", "surrogatepass") + b"\0" + key
        return hmac.digest(self._secret, said, "sha256")[:_MAC]

    def _get(self, handle: str) -> tuple[str, dict[str, Any]]:
        key = self._key_of(handle)
        found = None if key is None else self._shelf.get(self.namespace, key, time.time())
        if key is None:
            raise HandleError(f"no such handle in this session: {handle!r}", handle, "unknown")
        if found is None:
            raise HandleError(
                f"evicted: {handle} was stored here and has been removed to make room; "
                "call the tool again if you need it",
                handle,
                "evicted",
            )
        data, meta = found
        return data.decode("utf-8", "surrogatepass"), meta

    def _key_of(self, handle: str) -> bytes | None:
        """The key of a genuine handle."""
        if not isinstance(handle, str) or not _HANDLE.fullmatch(handle):
            return None
        packed = base64.b32decode(handle[4:].upper() + "=" * (-42 % 8))
        key = packed[:_KEY]
        return key if hmac.compare_digest(handle, self._handle(key)) else None


def handles_in(*texts: str | Iterable[Any] | Mapping[str, Any]) -> list[str]:
    """The handles that are mentioned anywhere in texts, messages or whole histories.

    What leaves a history out, such as a compaction, can carry them over: with its handle
    an original stays readable.

    Returns:
        Each handle once, in the order of their first mention.

    >>> store = Store()
    >>> handle = store.put("text")
    >>> handles_in([{"role": "tool", "content": f"cut; the whole is {handle}"}]) == [handle]
    True
    """
    found: dict[str, None] = {}
    rest: list[Any] = list(reversed(texts))
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            found.update(dict.fromkeys(_HANDLE.findall(value)))
        elif isinstance(value, Mapping):
            rest.extend(reversed(list(value.values())))
        elif isinstance(value, list | tuple):
            rest.extend(reversed(value))
        elif hasattr(value, "content"):
            rest.append(value.content)
    return list(found)


def _check_range(offset: Any, limit: Any, lines: Any) -> None:
    for name, value in (("offset", offset), ("limit", limit)):
        if name == "limit" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, not {type(value).__name__}")
        if value < 0:
            raise ValueError(f"{name} must not be negative, but is {value}")
    if lines is not None:
        first, last = lines
        if not 1 <= first <= last:
            raise ValueError(f"lines must be a first and a last line from 1, not {lines!r}")


def _span(
    text: str, offset: int, limit: int | None, lines: tuple[int, int] | None, from_end: bool
) -> tuple[int, int]:
    """The range that is asked for, in characters."""
    total = len(text)
    if lines is not None:
        return _span_of_lines(text, *lines)
    length = total if limit is None else limit
    if from_end:
        end = max(0, total - offset)
        return max(0, end - length), end
    start = min(offset, total)
    return start, min(total, start + length)


def _span_of_lines(text: str, first: int, last: int) -> tuple[int, int]:
    start = 0
    for _ in range(first - 1):
        start = text.find("\n", start) + 1
        if not start:
            return len(text), len(text)
    end = start
    for _ in range(last - first + 1):
        end = text.find("\n", end) + 1
        if not end:
            return start, len(text)
    return start, end
