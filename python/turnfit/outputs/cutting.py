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
    if not spec.is_native:
        return _searched(spec, cutter, longest)
    size, in_tokens, weights = spec.native
    piece = cutter((size, in_tokens, weights))
    # Parts may be priced a little lower than what they make together.
    while piece is not None and (over := spec.price(piece.content) - spec.size) > 0:
        size -= over
        piece = cutter((size, in_tokens, weights)) if size > 0 else None
    return piece


_CLOSE_ENOUGH = 0.01
"""Of the limit: so much is not worth another call of the tokenizer."""


def _searched(spec: OutputLimit, cutter: Cutter, longest: int) -> Piece | None:
    """The greatest number of characters whose price is allowed, by halving."""
    best = None
    fits, over = 0, longest
    tried = min(3 * spec.size, longest)
    while over - fits > _CLOSE_ENOUGH * fits + 1:
        piece = cutter((tried, False, None))
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
    hint = wording.fill(spec.hint, None, len(text), handle)
    escaped = json.dumps(hint, ensure_ascii=False)[1:-1]
    trimmed = _core.trim_json(text, limit, escaped, spec.shares)
    if trimmed is None:
        return None
    content, kept, repaired, said, rows = trimmed
    omissions = tuple(Omission(*row) for row in rows)
    place = omissions[0].shown if omissions else None
    return Piece(content, kept, json.loads(f'"{said}"'), place, omissions, repaired)


def _as_text(
    text: str, spec: OutputLimit, handle: str | None, limit: NativeLimit, *, with_opening: bool
) -> Piece | None:
    total = len(text)
    widest = wording.marker(total, 2 * total, total, wording.fill(spec.hint, total, total, handle))
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
    return _price(reserved, limit) <= limit[0] * (1 - least_share)


def _price(text: str, limit: NativeLimit) -> int:
    """What a text takes of a limit."""
    _, in_tokens, weights = limit
    return _core.estimate(text, profile=weights) if in_tokens else len(text)


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
    if not kept[2] + kept[3] and 0 < spec.shares < 1:
        # A row may have room where a half of it has none.
        kept = _core.cut_rows(text, table.body, limit, reserved, 1.0, table.quoted)
    if not kept[2] + kept[3] and structure == "jsonl":
        return _part_of_a_row(text, kept[4], table, limit, spec, handle)
    head, tail, head_rows, tail_rows, total = kept
    tail = max(head, tail)
    hint = wording.fill(spec.hint, head_rows, total - tail_rows, handle)
    shown = head_rows + tail_rows
    told = table.marker(shown, total, head_rows, hint)
    return Piece(
        _lines([text[:head], told, text[tail:]]),
        head + len(text) - tail,
        hint,
        head_rows,
        (Omission("", "rows", shown, total),),
    )


def _part_of_a_row(
    text: str,
    total: int,
    table: tables.Table,
    limit: NativeLimit,
    spec: OutputLimit,
    handle: str | None,
) -> Piece:
    """Of JSON lines, where not even one has room: a part of the first, or of the last if
    only the end is kept."""
    size, in_tokens, weights = limit
    last = spec.keep == "tail"
    following = 0 if last else 1
    hint = wording.fill(spec.hint, following, total, handle)
    told = table.marker(1, total, following, hint)
    left = size - _price(f"{told}\n", limit) - 1
    row = text.rstrip("\n").rpartition("\n")[2] if last else text.partition("\n")[0]
    trimmed = _core.trim_json(row, (max(left, 0), in_tokens, weights), "", spec.shares)
    rows = Omission("", "rows", 1, total)
    if trimmed is None:
        told = table.marker(0, total, 0, hint)
        return Piece(told, 0, hint, 0, (rows._replace(shown=0),))
    content, kept, repaired, _, cuts = trimmed
    place = total - 1 if last else 0
    inner = [Omission(f"/{place}{path}", of, shown, of_all) for path, of, shown, of_all in cuts]
    parts = [told, content] if last else [content, told]
    return Piece(_lines(parts), kept, hint, following, (rows, *inner), repaired)
