"""Cutting one text down to a limit: as JSON, by rows, or by characters."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from turnfit import _core
from turnfit.outputs import tables, wording
from turnfit.outputs.limited import Omission
from turnfit.outputs.spec import NativeLimit, OutputLimit

__all__ = ["Piece", "cut", "under"]


@dataclass(frozen=True)
class Piece:
    """What is left of a text."""

    content: str
    kept: int
    """Characters of the text that it still has."""
    hint: str
    next_offset: int | None = None
    omissions: tuple[Omission, ...] = ()
    repaired: int = 0


Cutter = Callable[[NativeLimit], Piece | None]


def cut(text: str, spec: OutputLimit, handle: str | None) -> Piece:
    """What is left of a text that is over its limit."""
    for cutter in _cutters(text, spec, handle):
        piece = under(spec, cutter, len(text))
        if piece is not None:
            return piece
    hint = wording.fill(spec.hint, 0, len(text), handle)
    return Piece(wording.marker(0, len(text), len(text), hint), 0, hint, 0)


def _cutters(text: str, spec: OutputLimit, handle: str | None) -> list[Cutter]:
    """The ways to cut this text, the best first."""
    structure = tables.structure_of(text) if spec.structure == "auto" else spec.structure
    ways: list[Cutter] = []
    if structure == "json":
        ways.append(lambda limit: _as_json(text, spec, handle, limit))
    elif structure != "text":
        ways.append(lambda limit: _by_rows(text, spec, handle, limit, structure))
    ways.append(lambda limit: _as_text(text, spec, handle, limit, with_opening=True))
    ways.append(lambda limit: _as_text(text, spec, handle, limit, with_opening=False))
    return ways


def under(spec: OutputLimit, cutter: Cutter, longest: int) -> Piece | None:
    """What a cutter leaves under a limit, whatever it is counted in."""
    if spec.is_native:
        return cutter(spec.native)
    return _searched(spec, cutter, longest)


_CLOSE_ENOUGH = 0.01
"""Of the limit: so much is not worth another call of the tokenizer."""


def _searched(spec: OutputLimit, cutter: Cutter, longest: int) -> Piece | None:
    """The greatest number of characters whose price is allowed, by halving."""
    best = None
    fits, over = 0, longest
    tried = min(3 * spec.size, longest)
    while over - fits > _CLOSE_ENOUGH * fits + 1:
        piece = cutter((tried, False))
        if piece is None or spec.allows(piece.content):
            best = piece or best
            fits = tried
            tried = min(2 * tried, (tried + over) // 2)
        else:
            over = tried
            tried = (fits + tried) // 2
        tried = max(fits + 1, min(tried, over - 1))
    return best


def _as_json(text: str, spec: OutputLimit, handle: str | None, limit: NativeLimit) -> Piece | None:
    hint = wording.fill(spec.hint, 0, len(text), handle)
    escaped = json.dumps(hint, ensure_ascii=False)[1:-1]
    trimmed = _core.trim_json(text, limit, escaped, spec.shares)
    if trimmed is None:
        return None
    content, kept, repaired, rows = trimmed
    return Piece(content, kept, hint, None, tuple(Omission(*row) for row in rows), repaired)


def _as_text(
    text: str, spec: OutputLimit, handle: str | None, limit: NativeLimit, *, with_opening: bool
) -> Piece | None:
    total = len(text)
    widest = wording.marker(0, total, total, wording.fill(spec.hint, total, total, handle))
    first = f"{wording.opening(total, total)}\n" if with_opening and spec.keep != "tail" else ""
    reserved = f"{first}\n{widest}\n"
    if not _leaves_room(reserved, limit, least_share=0.5 if with_opening else 0.0):
        return None
    head, tail = _core.cut_text(text, 0, limit, reserved, spec.shares)
    hint = wording.fill(spec.hint, head, tail, handle)
    kept = head + total - tail
    told = wording.marker(head, tail, total, hint)
    parts = [text[:head], told, text[tail:]]
    if first and head:
        parts.insert(0, wording.opening(kept, total))
    return Piece(_lines(parts), kept, hint, head)


def _lines(parts: list[str]) -> str:
    """Each part on lines of its own."""
    filled = [part for part in parts if part]
    gaps = ["" if part.endswith("\n") else "\n" for part in filled[:-1]]
    return "".join(part + gap for part, gap in zip(filled, [*gaps, ""], strict=True))


def _leaves_room(reserved: str, limit: NativeLimit, least_share: float) -> bool:
    """Whether what must be said leaves at least that share to what is shown."""
    size, in_tokens = limit
    taken = _core.estimate(reserved) if in_tokens else len(reserved)
    return taken <= size * (1 - least_share)


def _by_rows(
    text: str, spec: OutputLimit, handle: str | None, limit: NativeLimit, structure: str
) -> Piece | None:
    table = tables.table_of(text, structure)
    if table is None:
        return None
    rows = len(text)
    widest = table.marker(rows, rows, rows, wording.fill(spec.hint, rows, rows, handle))
    reserved = f"{text[: table.body]}\n{widest}\n"
    if not _leaves_room(reserved, limit, least_share=0.25):
        return None
    kept = _core.cut_rows(text, table.body, limit, reserved, spec.shares, table.quoted)
    head, tail, head_rows, tail_rows, total = kept
    tail = max(head, tail)
    hint = wording.fill(spec.hint, head_rows, total - tail_rows, handle)
    shown = head_rows + tail_rows
    told = table.marker(shown, total, head_rows, hint)
    piece = Piece(
        _lines([text[:head], told, text[tail:]]),
        head + len(text) - tail,
        hint,
        head_rows,
        (Omission("", "rows", shown, total),),
    )
    return piece if shown or structure != "jsonl" else _part_of_a_row(text, piece, limit, spec)


def _part_of_a_row(text: str, piece: Piece, limit: NativeLimit, spec: OutputLimit) -> Piece:
    """The first row of JSON lines cut by itself, where even that one has no room."""
    size, in_tokens = limit
    told = f"\n{piece.content}"
    left = size - (_core.estimate(told) + 1 if in_tokens else len(told))
    end = text.find("\n")
    row = text if end < 0 else text[:end]
    trimmed = _core.trim_json(row, (max(left, 0), in_tokens), "", spec.shares)
    if trimmed is None:
        return piece
    content, kept, repaired, rows = trimmed
    inner = tuple(Omission(f"/0{path}", of, shown, total) for path, of, shown, total in rows)
    omissions = (*piece.omissions, *inner)
    return Piece(content + told, kept, piece.hint, 0, omissions, repaired)
