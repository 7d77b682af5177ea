"""Where a page ends, as a text that means nothing to who carries it."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Literal

from turnfit.errors import TurnfitError

__all__ = ["CursorError", "Fingerprint", "decode", "encode"]

_LAYOUT = struct.Struct(">BQ8s")
_VERSION = 1
_CHECK = 6


class CursorError(TurnfitError, ValueError):
    """A cursor that can't be followed.

    Attributes:
        reason: "forged" for one that was never given out, "changed" if the data are not
            those that it was made for.
    """

    def __init__(self, message: str, reason: Literal["forged", "changed"]) -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.reason)


class Fingerprint:
    """A digest of items, one after the other."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._digest = blake2b(digest_size=8, person=b"turnfit-page")
        for item in items:
            self.add(item)

    def add(self, item: Any) -> None:
        """Take one more item in."""
        text = item if isinstance(item, str) else written(item)
        data = text.encode("utf-8", "surrogatepass")
        self._digest.update(struct.pack(">?Q", isinstance(item, str), len(data)))
        self._digest.update(data)

    def digest(self) -> bytes:
        """Of all items so far."""
        return self._digest.digest()


def written(item: Any) -> str:
    """An item as a page shows it: a text as it is, anything else as compact JSON."""
    if isinstance(item, str):
        return item
    if hasattr(item, "model_dump"):
        item = item.model_dump(mode="json")
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"), default=str)


def encode(offset: int, fingerprint: bytes) -> str:
    """A cursor to a place in data of this fingerprint."""
    packed = _LAYOUT.pack(_VERSION, offset, fingerprint)
    return _as_text(packed + _check_of(packed))


def _as_text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decode(cursor: str) -> tuple[int, bytes]:
    """The place, and the fingerprint of the data it is in."""
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (ValueError, binascii.Error):
        raw = b""
    packed, check = raw[:-_CHECK], raw[-_CHECK:]
    whole = len(raw) == _LAYOUT.size + _CHECK and _as_text(raw) == cursor
    known = whole and check == _check_of(packed)
    if not known or packed[0] != _VERSION:
        raise CursorError(
            "this cursor was not given out: begin again without one, or use the last one as it was",
            "forged",
        )
    _, offset, fingerprint = _LAYOUT.unpack(packed)
    return offset, fingerprint


def _check_of(packed: bytes) -> bytes:
    return blake2b(packed, digest_size=_CHECK, person=b"turnfit-check").digest()
