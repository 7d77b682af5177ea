"""Sizes of images out of their files' headers.

- PNG: https://www.w3.org/TR/png-3/#11IHDR
- JPEG: https://www.w3.org/Graphics/JPEG/itu-t81.pdf, B.2.2
- GIF: https://www.w3.org/Graphics/GIF/spec-gif89a.txt, 18
- WebP: https://developers.google.com/speed/webp/docs/riff_container
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["image_size"]

_Read: TypeAlias = Callable[[int, int], bytes]
"""Bytes from an offset on, so many; fewer at the end."""
_Size: TypeAlias = tuple[int, int]

_DATA_URL = re.compile(r"\s*data:[^,]{0,200};base64,", re.IGNORECASE)
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG's frame header; the three others define tables."""
_BARE = frozenset((0x01, *range(0xD0, 0xD8)))
"""Markers without a length."""
_MOST_SEGMENTS = 4_096
_URL_SAFE = str.maketrans("-_", "+/")


def image_size(data: Buffer | str) -> tuple[int, int] | None:
    """The width and height of an image in pixels, or None where they can't be read.

    Only the header is read, and of base64 only what it needs is decoded.

    Args:
        data: a PNG, JPEG, GIF or WebP file, or its beginning, in bytes; or base64 of it
            in a str, plain or as a data URL.

    Raises:
        TypeError: for anything else.

    >>> image_size(b"GIF89a" + (640).to_bytes(2, "little") + (480).to_bytes(2, "little"))
    (640, 480)
    >>> image_size("data:image/gif;base64,R0lGODlhgALgAQ==")
    (640, 480)
    >>> image_size(b"%PDF-1.7") is None
    True
    """
    read = _base64_reader(data) if isinstance(data, str) else _reader(data)
    head = read(0, 32)
    for starts, size_of in _FORMATS:
        if starts.match(head):
            size = size_of(head, read)
            return size if size and all(size) else None
    return None


def _reader(data: Buffer) -> _Read:
    view = memoryview(data).cast("B")
    return lambda start, length: view[start : start + length].tobytes()


def _base64_reader(text: str) -> _Read:
    url = _DATA_URL.match(text)
    begin = url.end() if url else len(text) - len(text.lstrip())
    if re.search(r"\s", text[begin : begin + 200].rstrip()):
        # In lines. Their breaks would put the places of bytes out of step.
        text, begin = re.sub(r"\s+", "", text[begin:]), 0

    def read(start: int, length: int) -> bytes:
        first = start // 3 * 4
        last = -(-(start + length) // 3) * 4
        return _decoded(text[begin + first : begin + last])[start % 3 :][:length]

    return read


def _decoded(part: str) -> bytes:
    part = part.rstrip().rstrip("=").translate(_URL_SAFE)
    # A single character behind whole groups holds no byte.
    part = part[: len(part) - (len(part) % 4 == 1)]
    try:
        return b64decode(part + "=" * (-len(part) % 4), validate=True)
    except ValueError:
        return b""


def _png(head: bytes, read: _Read) -> _Size | None:
    if len(head) < 24 or head[12:16] != b"IHDR":
        return None
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def _gif(head: bytes, read: _Read) -> _Size | None:
    if len(head) < 10:
        return None
    return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")


def _webp(head: bytes, read: _Read) -> _Size | None:
    if len(head) < 30:
        return None
    match head[12:16]:
        case b"VP8 " if head[23:26] == b"\x9d\x01\x2a":
            return _low14(head[26:28]), _low14(head[28:30])
        case b"VP8L" if head[20] == 0x2F:
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            sides = head[24:27], head[27:30]
            return (_plus1(sides[0]), _plus1(sides[1]))
    return None


def _low14(field: bytes) -> int:
    return int.from_bytes(field, "little") & 0x3FFF


def _plus1(field: bytes) -> int:
    return int.from_bytes(field, "little") + 1


def _jpeg(head: bytes, read: _Read) -> _Size | None:
    """Segment by segment, each skipped by its length, to the frame header."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        mark = read(at, 9)
        if len(mark) < 4 or mark[0] != 0xFF:
            return None
        if mark[1] == 0xFF:
            at += 1
        elif mark[1] in _BARE:
            at += 2
        elif mark[1] in _FRAMES:
            sides = int.from_bytes(mark[7:9], "big"), int.from_bytes(mark[5:7], "big")
            return sides if len(mark) == 9 else None
        else:
            at += 2 + max(2, int.from_bytes(mark[2:4], "big"))
    return None


_FORMATS: tuple[tuple[re.Pattern[bytes], Callable[[bytes, _Read], _Size | None]], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), _png),
    (re.compile(rb"\xff\xd8\xff"), _jpeg),
    (re.compile(rb"GIF8[79]a"), _gif),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), _webp),
)
