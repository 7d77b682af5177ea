"""turnfit's own messages: immutable, and each remembers what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal, TypeAlias

from turnfit import _core

__all__ = ["Call", "Media", "Message", "Part", "Result", "Text"]


@dataclass(frozen=True, slots=True)
class Text:
    """A text."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """A picture, a sound or a file: its media type, and its bytes or its address."""

    media_type: str
    data: bytes | str


@dataclass(frozen=True, slots=True)
class Call:
    """The model calls a tool, with arguments as an object or as JSON text."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gave back to the call with this id."""

    id: str
    content: str | tuple[Text | Media, ...]
    name: str | None = None
    is_error: bool = False


Part: TypeAlias = Text | Media | Call | Result


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A message: who speaks, and in which parts.

    A message can't be changed, so its estimate is made once and remembered.

    >>> from turnfit import Call, Message, Result
    >>> asked = Message("assistant", Call("c1", "read_file", {"path": "a.txt"}))
    >>> answered = Message("tool", Result("c1", "Hello!"))
    >>> answered.tokens
    6

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        parts: the parts, in order; a plain string becomes a `Text`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Part, ...]
    _reading: _core.Reading | None = field(compare=False, repr=False)

    def __init__(
        self,
        role: Literal["system", "user", "assistant", "tool"],
        *parts: str | Part,
    ) -> None:
        if role not in ("system", "user", "assistant", "tool"):
            raise ValueError(f"role must be system, user, assistant or tool, not {role!r}")
        object.__setattr__(self, "role", role)
        object.__setattr__(self, "parts", tuple(_part(part) for part in parts))
        object.__setattr__(self, "_reading", None)

    @property
    def tokens(self) -> int:
        """What the message costs, in tokens, frame included."""
        return self.reading().tokens()

    def reading(self) -> _core.Reading:
        """The message as the fitting reads it; made once."""
        reading = self._reading
        if reading is None:
            reading = _core.Reading(self.role, [_row(part) for part in self.parts])
            object.__setattr__(self, "_reading", reading)
        return reading

    def __reduce__(self) -> tuple[type[Message], tuple[Any, ...]]:
        return Message, (self.role, *self.parts)

    def with_bodies(self, bodies: Mapping[int, Any]) -> Message:
        """A copy in which calls and results have other arguments or contents.

        `bodies` is keyed by their number among the message's calls and results.
        """
        numbers = count()
        return Message(self.role, *(_with_body(part, numbers, bodies) for part in self.parts))


def _part(part: str | Part) -> Part:
    if isinstance(part, str):
        return Text(part)
    if isinstance(part, Result):
        return replace(part, content=_content(part.content))
    if isinstance(part, Part):
        return part
    raise TypeError(f"parts must be str, Text, Media, Call or Result, not {type(part).__name__}")


def _content(content: Any) -> str | tuple[Text | Media, ...]:
    if isinstance(content, str):
        return content
    if not isinstance(content, tuple | list):
        raise TypeError(f"a result's content must be str or a tuple, not {type(content).__name__}")
    parts = tuple(Text(part) if isinstance(part, str) else part for part in content)
    for part in parts:
        if not isinstance(part, Text | Media):
            raise TypeError(f"a result holds str, Text or Media, not {type(part).__name__}")
    return parts


def _row(part: Part) -> tuple[Any, ...]:
    match part:
        case Text(text):
            return ("text", text)
        case Media():
            return ("medium", _medium(part))
        case Call(id_, name, arguments):
            return ("call", id_, name, arguments)
        case Result(id_, content, name):
            return ("result", id_, name, _body(content), True)


def _body(content: str | tuple[Text | Media, ...]) -> str | tuple[str | tuple[Any], ...]:
    if isinstance(content, str):
        return content
    return tuple(part.text if isinstance(part, Text) else (_medium(part),) for part in content)


def _medium(part: Media) -> dict[str, Any]:
    return {"mimeType": part.media_type, "data": part.data}


def _with_body(part: Part, numbers: Iterator[int], bodies: Mapping[int, Any]) -> Part:
    match part:
        case Call() if (number := next(numbers)) in bodies:
            return replace(part, arguments=bodies[number])
        case Result() if (number := next(numbers)) in bodies:
            return replace(part, content=bodies[number])
    return part
