"""An output given page by page."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from turnfit import _core
from turnfit.outputs.cursors import CursorError, Fingerprint, decode, encode, written
from turnfit.outputs.cutting import Piece, under
from turnfit.outputs.limiting import limit
from turnfit.outputs.spec import NativeLimit, OutputLimit

__all__ = ["CursorError", "Page", "PageBudget", "paginate"]

_WIDEST = 10**12


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of an output.

    Attributes:
        items: what is on it; of a text, the one part of it, or nothing.
        start: the number of the first item, or of the first character of a text.
        total: how many there are in all; None if that isn't known yet.
        next_cursor: what to ask for the next page with; None on the last.
        note: how many of how many these are, and what to do; empty if it is all there is.
    """

    items: list[Any]
    start: int
    total: int | None
    next_cursor: str | None
    note: str

    def __str__(self) -> str:
        """The page as a text for the model, its note at the end."""
        lines = [*map(written, self.items), *([self.note] if self.note else [])]
        return "\n".join(lines)


class PageBudget:
    """How many pages a task may read, so that paging ends.

    Give the same budget to every `paginate` of a task. It may be shared by threads.

    Args:
        max_pages: how many.

    >>> budget = PageBudget(max_pages=2)
    >>> budget.take(), budget.take(), budget.take(), budget.used
    (True, True, False, 2)
    """

    def __init__(self, max_pages: int) -> None:
        if isinstance(max_pages, bool) or not isinstance(max_pages, int):
            raise TypeError(f"max_pages must be an int, not {type(max_pages).__name__}")
        if max_pages < 1:
            raise ValueError(f"max_pages must be at least 1, not {max_pages}")
        self.max_pages = max_pages
        self._used = 0
        self._lock = threading.Lock()

    @property
    def used(self) -> int:
        """How many were read."""
        return self._used

    def take(self) -> bool:
        """Count one more page; false if there are none left."""
        with self._lock:
            left = self._used < self.max_pages
            self._used += left
            return left


def paginate(
    items: str | Iterable[Any],
    cursor: str | int | None = None,
    spec: OutputLimit | None = None,
    *,
    max_items: int | None = None,
    budget: PageBudget | None = None,
) -> Page:
    """One page of a list, of a text, or of what an iterator gives.

    Every item is on one page and no other, whatever its size: one that is larger than a
    page stands alone on one, cut down with a marker. A text goes on where it was cut, so
    that its pages joined are the text; one endless line is paged like any other.

    Args:
        items: a text; a list or tuple; or an iterator **from its beginning**, of which no
            more is read than this page needs. Items that are no texts count as JSON.
        cursor: `Page.next_cursor` of the page before; None for the first page. A number
            begins there.
        spec: what a page may take, with its note.
        max_items: how many items a page may have at most.
        budget: how many pages the task may read.

    Returns:
        The page. Past the end it has no items, and its note says so.

    Raises:
        CursorError: for a cursor that was never given out, or was for other data. Of an
            iterator only what was read is compared.
        ValueError: if there is no room for anything beside the note.

    >>> page = paginate(["a", "b", "c"], None, OutputLimit(max_tokens=200), max_items=2)
    >>> page.items, page.total
    (['a', 'b'], 3)
    >>> paginate(["a", "b", "c"], page.next_cursor, OutputLimit(max_tokens=200)).items
    ['c']
    """
    if spec is None:
        spec = OutputLimit(max_tokens=2_000)
    _check(items, cursor, max_items)
    if budget is not None and not budget.take():
        return _used_up(budget)
    if isinstance(items, str):
        return _text_page(items, cursor, spec)
    if isinstance(items, Sequence):
        return _list_page(items, cursor, spec, max_items)
    return _stream_page(iter(items), cursor, spec, max_items)


def _check(items: Any, cursor: Any, max_items: Any) -> None:
    if isinstance(items, bytes | bytearray | memoryview | dict) or not isinstance(items, Iterable):
        raise TypeError(f"items must be a text, a list or an iterator, not {type(items).__name__}")
    if not isinstance(cursor, str | int | None) or isinstance(cursor, bool):
        raise TypeError(f"cursor must be a str, a number or None, not {type(cursor).__name__}")
    if isinstance(cursor, int) and cursor < 0:
        raise ValueError(f"cursor must not be negative, but is {cursor}")
    if max_items is not None and (not isinstance(max_items, int) or max_items < 1):
        raise ValueError(f"max_items must be a number of at least 1, not {max_items!r}")


def _used_up(budget: PageBudget) -> Page:
    note = (
        f"[turnfit: no more pages: this task may read {budget.max_pages} and has. "
        "Work with what you have, or narrow the query.]"
    )
    return Page(items=[], start=0, total=None, next_cursor=None, note=note)


def _note(what: str, start: int, end: int, total: int | None, cursor: str | None) -> str:
    """How many of how many; a narrower query is put before more pages."""
    of = "" if total is None else f" of {total}"
    if start == end:
        return f"[turnfit: nothing from {what} {start} on; there are {total}. This is the end.]"
    shown = f"[turnfit: {what} {start} to {end - 1}{of}"
    if cursor is None:
        return f"{shown}; this is the end.]"
    return (
        f"{shown}. A narrower query may spare you the rest; "
        f'for the next page give cursor="{cursor}", offset {end}.]'
    )


_CURSOR = "x" * 31
"""As long as cursors are."""


def _room(spec: OutputLimit, what: str) -> tuple[str, OutputLimit]:
    """The widest note, and what is left beside it."""
    note = "\n" + _note(what, _WIDEST, _WIDEST + 2, _WIDEST, _CURSOR)
    left = spec.size - spec.price(note) - 1
    try:
        return note, spec.part(left)
    except ValueError as error:
        raise ValueError(f"no room for an item beside a page's note: {error}") from error


def _place(cursor: str | int | None, fingerprint: bytes) -> int:
    if not isinstance(cursor, str):
        return cursor or 0
    offset, made_for = decode(cursor)
    if made_for != fingerprint:
        raise CursorError(
            "the data changed since this cursor was given out: begin again without one", "changed"
        )
    return offset


def _text_page(text: str, cursor: str | int | None, spec: OutputLimit) -> Page:
    total = len(text)
    if not cursor and spec.allows(text):
        items = [text] if text else []
        return Page(items=items, start=0, total=total, next_cursor=None, note="")
    fingerprint = Fingerprint([text]).digest()
    start = min(_place(cursor, fingerprint), total)
    end = _text_end(text, start, spec)
    following = encode(end, fingerprint) if end < total else None
    note = _note("characters", start, end, total, following)
    items = [text[start:end]] if end > start else []
    return Page(items=items, start=start, total=total, next_cursor=following, note=note)


def _text_end(text: str, start: int, spec: OutputLimit) -> int:
    """Where a page of a text ends: behind a whole line or cluster, but always further on."""
    note, _ = _room(spec, "characters")

    def page(limit: NativeLimit) -> Piece:
        end, _ = _core.cut_text(text, start, limit, note, 1.0)
        return Piece(text[start:end] + note, end, "")

    piece = under(spec, page, len(text) - start + len(note))
    end = piece.kept if piece else start
    if end > start or start == len(text):
        return end
    # A cluster without end, such as a letter with a thousand marks: a part of it.
    end = min(_core.safe_place(text, start + 1, True), start + max(1, spec.size // 8))
    return end


def _list_page(
    items: Sequence[Any], cursor: str | int | None, spec: OutputLimit, max_items: int | None
) -> Page:
    total = len(items)
    fingerprint = Fingerprint(items).digest() if isinstance(cursor, str) else b""
    start = min(_place(cursor, fingerprint), total)
    if start == 0 and (max_items is None or total <= max_items) and _all_fit(items, spec):
        return Page(items=list(items), start=0, total=total, next_cursor=None, note="")
    _, room = _room(spec, "items")
    shown = _fill(islice(items, start, None), room, max_items)
    end = start + len(shown)
    following = None
    if end < total:
        following = encode(end, fingerprint or Fingerprint(items).digest())
    note = _note("items", start, end, total, following)
    return Page(items=shown, start=start, total=total, next_cursor=following, note=note)


def _all_fit(items: Iterable[Any], spec: OutputLimit) -> bool:
    left = spec.size
    for item in items:
        left -= spec.price(f"{written(item)}\n")
        if left < 0:
            return False
    return True


def _fill(items: Iterator[Any], room: OutputLimit, max_items: int | None) -> list[Any]:
    """As many as there is room for; the first in any case, cut where it must be."""
    shown: list[Any] = []
    left = room.size
    for item in islice(items, max_items):
        price = room.price(f"{written(item)}\n")
        if price > left:
            return shown or [limit(item, room).content]
        left -= price
        shown.append(item)
    return shown


def _stream_page(
    items: Iterator[Any], cursor: str | int | None, spec: OutputLimit, max_items: int | None
) -> Page:
    start, fingerprint = _skip(items, cursor)
    _, room = _room(spec, "items")
    taken: list[Any] = []
    shown = _fill(_noting(items, taken), room, max_items)
    end = start + len(shown)
    for item in taken[: len(shown)]:
        fingerprint.add(item)
    # What was read too much says that there is more; else one has to look.
    more = len(taken) > len(shown) or next(items, _END) is not _END
    total = None if more else end
    following = encode(end, fingerprint.digest()) if more else None
    whole = start == 0 and not more
    note = "" if whole else _note("items", start, end, total, following)
    return Page(items=shown, start=start, total=total, next_cursor=following, note=note)


_END = object()


def _skip(items: Iterator[Any], cursor: str | int | None) -> tuple[int, Fingerprint]:
    """Over what earlier pages had; it must be what they had."""
    offset, made_for = decode(cursor) if isinstance(cursor, str) else (cursor or 0, b"")
    fingerprint = Fingerprint()
    passed = 0
    for item in islice(items, offset):
        fingerprint.add(item)
        passed += 1
    if made_for and fingerprint.digest() != made_for:
        raise CursorError(
            "the data changed since this cursor was given out, or the iterator is not at its "
            "beginning: begin again without one",
            "changed",
        )
    return passed, fingerprint


def _noting(items: Iterator[Any], taken: list[Any]) -> Iterator[Any]:
    for item in items:
        taken.append(item)
        yield item
