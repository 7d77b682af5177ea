"""Parts of a stored text, within what one reading may take."""

from __future__ import annotations

from turnfit import _core
from turnfit.outputs.cutting import Piece, under
from turnfit.outputs.limiting import encodable
from turnfit.outputs.spec import NativeLimit, OutputLimit

__all__ = ["fitted", "matching", "note_of"]

_WIDEST = 10**12


def note_of(start: int, end: int, total: int) -> str:
    """What part of a text this is, and how to go on; nothing of a whole text."""
    if (start, end) == (0, total):
        return ""
    if start == end:
        return f"[turnfit: nothing at offset {start}; the text has {total} characters.]"
    shown = f"[turnfit: characters {start} to {end} of {total}"
    return f"{shown}; read on at offset {end}.]" if end < total else f"{shown}; this is the end.]"


def fitted(text: str, start: int, end: int, spec: OutputLimit, from_end: bool) -> tuple[int, int]:
    """As much of a range as the limit allows beside the note, and never nothing of it."""
    if start >= end:
        return start, end
    asked = text[start:end]
    if spec.allows(f"{asked[: _most(spec)]}\n{note_of(start, end, _WIDEST)}") and len(
        asked
    ) <= _most(spec):
        return start, end
    note = "\n" + note_of(_WIDEST, _WIDEST + 1, _WIDEST + 2)
    share = 0.0 if from_end else 1.0

    def part(limit: NativeLimit) -> Piece:
        head, tail = _core.cut_text(asked, 0, limit, note, share)
        kept = asked[tail:] if from_end else asked[:head]
        return Piece(kept + note, len(kept), "")

    piece = under(spec, part, len(asked) + len(note))
    length = max(piece.kept if piece else 0, 1)
    return (end - length, end) if from_end else (start, start + length)


def _most(spec: OutputLimit) -> int:
    """More characters than these can't be allowed; no token of any vocabulary in use
    covers more than so many on the whole."""
    return spec.size * (1 if spec.max_tokens is None else 64)


def matching(
    text: str, pattern: str, offset: int, spec: OutputLimit
) -> tuple[str, int | None, str]:
    """The lines where a pattern is found, as many as the limit allows; where to look on."""
    lines: list[str] = []
    left = spec.size - spec.price(_matches(_WIDEST, _WIDEST, _WIDEST)) - 1
    following = None
    for number, start, end in _core.find_lines(text, pattern, min(offset, len(text)), spec.size):
        line, _ = encodable(f"{number}: {text[start:end]}")
        price = spec.price(f"{line}\n")
        if price > left:
            following = start
            break
        lines.append(line)
        left -= price
    if following is not None and not lines:
        return _long_line(text, following, spec)
    return "\n".join(lines), following, _matches(len(lines), following, len(text))


def _long_line(text: str, start: int, spec: OutputLimit) -> tuple[str, int | None, str]:
    """The start of a line that is too long by itself; the next matches are behind it."""
    newline = text.find("\n", start)
    end = len(text) if newline < 0 else newline
    start, shown = fitted(text, start, end, spec, from_end=False)
    following = end + 1 if end + 1 < len(text) else None
    note = f"[turnfit: characters {start} to {shown} of a line to {end}"
    told = f"{note}; look on at offset {following}.]" if following else f"{note}.]"
    return encodable(text[start:shown])[0], following, told


def _matches(count: int, following: int | None, total: int) -> str:
    if following is not None:
        return f"[turnfit: {count} matching lines; look on at offset {following} of {total}.]"
    return f"[turnfit: {count} matching lines, and no more to the end.]"
