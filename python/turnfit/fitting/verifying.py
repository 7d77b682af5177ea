"""Finds messages that were changed after they were appended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from turnfit.errors import FormatError
from turnfit.messages.reading import Message

__all__ = ["Marks"]


class Marks:
    """A digest of each message, as it was when it was appended."""

    def __init__(self, marks: Iterable[bytes] = ()) -> None:
        self._marks = list(marks)

    def of(self, messages: Iterable[Message]) -> list[bytes]:
        """The digests of messages, which `extend` takes."""
        return [_digest(message) for message in messages]

    def extend(self, marks: Iterable[bytes]) -> None:
        """Add those of the messages that were appended."""
        self._marks += marks

    def up_to(self, count: int) -> Marks:
        """Those of the first messages."""
        return Marks(self._marks[:count])

    def verify(self, history: Sequence[Message]) -> None:
        """A `FormatError` for the first message that isn't what it was, with its index."""
        for index, (message, mark) in enumerate(zip(history, self._marks, strict=True)):
            if _digest(message) != mark:
                what = "it was changed after it was appended; append changed copies instead"
                raise FormatError(f"message {index}: {what}", index)


def _digest(message: Message) -> bytes:
    """The order of keys counts: it is the order in which they are sent."""
    try:
        text = json.dumps(message, default=_plain)
    except (TypeError, ValueError, RecursionError):
        text = ascii(message)
    return blake2b(text.encode(), digest_size=16).digest()


def _plain(value: Any) -> Any:
    """What isn't JSON, by its class and what it holds."""
    name = type(value).__qualname__
    if isinstance(value, bytes | bytearray | memoryview):
        return [name, bytes(value).hex()]
    if is_dataclass(value):
        return [
            name,
            {entry.name: getattr(value, entry.name) for entry in fields(value) if entry.compare},
        ]
    if hasattr(value, "__dict__"):
        # What a class of pydantic doesn't declare, its objects keep apart.
        return [name, vars(value), getattr(value, "__pydantic_extra__", None)]
    return [name, repr(value)]
