"""What a message says, in any wire format: its texts, its calls, what tools gave back.

Fitting needs only prices and pairs; whoever asks what was *done* needs the calls'
arguments and the results' texts. They are found by the same tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from turnfit import _core
from turnfit.errors import FormatError
from turnfit.messages.formats.table import Body, Field, Format, Shape
from turnfit.messages.native import Call, Result, Text
from turnfit.messages.native import Message as NativeMessage
from turnfit.messages.reading import Message, Role

__all__ = ["Contents", "SeenCall", "SeenResult", "as_json", "contents"]


class SeenCall(NamedTuple):
    """A call: its id, the tool's name, and its arguments as an object."""

    id: str | None
    name: str
    arguments: Mapping[str, Any]


class SeenResult(NamedTuple):
    """What a tool gave back: the texts of it, and whether it is marked as an error."""

    id: str | None
    name: str | None
    text: str
    is_error: bool


@dataclass(slots=True)
class Contents:
    """What a message says.

    Attributes:
        role: who speaks, as the fitting has it.
        texts: what is said in words; no reasoning, nothing of calls and results.
        calls: the calls, in order.
        results: the results, in order.
    """

    role: Role
    texts: list[str] = field(default_factory=list)
    calls: list[SeenCall] = field(default_factory=list)
    results: list[SeenResult] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All texts, a line each."""
        return "\n".join(self.texts)


def contents(message: Message, format_: Format, index: int = 0) -> Contents:
    """What a message of this format says.

    Raises:
        FormatError: with the index, if it is no message of the format.
    """
    if isinstance(message, NativeMessage):
        return _native(message)
    if format_.reader is not None:
        read = format_.reader(message)
        if read is None:
            raise FormatError(f"message {index}: not a message of {format_.name}", index)
        return _rows(*read)
    if format_.is_class is None:
        message = _core.plain(message)
    fields = message if isinstance(message, dict) else getattr(message, "__dict__", None)
    told = _told(format_, fields) if isinstance(fields, Mapping) else None
    if told is None or fields is None:
        raise FormatError(f"message {index}: not a message of {format_.name}", index)
    name, (role, shape) = told
    walk = _Walk(format_, fields, Contents(role))
    if name != "reasoning":
        walk.thing(fields, shape, None, name)
    return walk.said


def _native(message: NativeMessage) -> Contents:
    said = Contents(message.role)
    for part in message.parts:
        match part:
            case Text(text):
                said.texts.append(text)
            case Call(id_, name, arguments):
                said.calls.append(SeenCall(id_, name, _arguments(arguments)))
            case Result(id_, content, name, is_error):
                texts = [content] if isinstance(content, str) else _texts_of(content)
                said.results.append(SeenResult(id_, name, "\n".join(texts), is_error))
    return said


def _texts_of(parts: Sequence[Any]) -> list[str]:
    return [part.text for part in parts if isinstance(part, Text)]


def _rows(role: Role, rows: Sequence[tuple[Any, ...]]) -> Contents:
    """From the rows of a format of one's own."""
    said = Contents(role)
    for row in rows:
        match row:
            case ("text", text):
                said.texts.append(text)
            case ("call", id_, name, arguments):
                said.calls.append(SeenCall(id_, name or "", _arguments(arguments)))
            case ("result", id_, name, content, *_):
                texts = [content] if isinstance(content, str) else content
                text = "\n".join(text for text in texts if isinstance(text, str))
                said.results.append(SeenResult(id_, name, text, False))
    return said


def _told(format_: Format, fields: Mapping[str, Any]) -> tuple[str, tuple[Role, Shape]] | None:
    """The role or type of a message, and what the table says of it."""
    names = [fields[key] for key in format_.told_by if isinstance(fields.get(key), str)]
    for name in names:
        found = format_.roles.get(name)
        if found:
            return name, found
    for name in names or [format_.default or ""]:
        found = _ending(format_, name) or format_.roles.get(name)
        if found:
            return name, found
    return (names[0], format_.roles["*"]) if names and "*" in format_.roles else None


def _ending(format_: Format, name: str) -> tuple[Role, Shape] | None:
    ends = (key for key in format_.roles if key.startswith("*_") and name.endswith(key[1:]))
    return next((format_.roles[key] for key in ends), None)


@cache
def _part_shape(format_: Format, kind: str) -> Shape | None:
    if kind in format_.parts:
        return format_.parts[kind]
    ends = (key for key in format_.parts if key.startswith("*_") and kind.endswith(key[1:]))
    return next((format_.parts[key] for key in ends), None)


@dataclass(slots=True)
class _Row:
    """A call or a result while it is read."""

    kind: str
    id: str | None = None
    name: str | None = None
    body: Any = None
    texts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Walk:
    format: Format
    message: Mapping[str, Any]
    said: Contents

    def thing(
        self, fields: Mapping[str, Any], shape: Shape, row: _Row | None, name: str = ""
    ) -> None:
        """A message, a part or a call; one that is a call or a result makes a row."""
        if shape.unless and self.message.get(shape.unless):
            return
        lacks = shape.needs is not None and fields.get(shape.needs) is None
        if row is not None or lacks or shape.kind not in ("call", "result"):
            self.fields(fields, shape.fields, row)
            return
        row = _Row(shape.kind)
        self.fields(fields, shape.fields, row)
        self.close(row, fields, name)

    def close(self, row: _Row, fields: Mapping[str, Any], name: str) -> None:
        if row.kind == "call":
            called = row.name or name
            self.said.calls.append(SeenCall(row.id, called, _arguments(row.body)))
            return
        failed = bool(fields.get("is_error")) or fields.get("status") == "error"
        self.said.results.append(SeenResult(row.id, row.name, "\n".join(row.texts), failed))

    def fields(
        self, fields: Mapping[str, Any], uses: Mapping[str, Field], row: _Row | None
    ) -> None:
        if fields.get("thought"):
            return
        for key, value in fields.items():
            use = uses.get(key)
            if use is None or value is None:
                continue
            if isinstance(use, str):
                self.leaf(key, value, use, row)
            elif isinstance(use, Shape):
                self.things(value, use, row)
            elif isinstance(use, Body):
                self.body(value, use, row)
            elif isinstance(value, dict):
                self.fields(value, use, row)

    def leaf(self, key: str, value: Any, use: str, row: _Row | None) -> None:
        if use == "body":
            self.body(value, None, row)
        elif use == "text":
            # Signatures and thoughts stand under other keys.
            if key in ("text", "output", "stdout", "stderr", "json", "code"):
                self.text(value, row)
        elif row is not None and use == "id":
            row.id = value
        elif row is not None and use == "name":
            row.name = value

    def text(self, value: Any, row: _Row | None) -> None:
        text = value if isinstance(value, str) else as_json(value)
        (self.said.texts if row is None else row.texts).append(text)

    def things(self, value: Any, shape: Shape, row: _Row | None) -> None:
        for thing in value if isinstance(value, list | tuple) else (value,):
            if isinstance(thing, dict):
                self.thing(thing, shape, row)

    def body(self, value: Any, body: Body | None, row: _Row | None) -> None:
        """A content, or the arguments of a call."""
        if row is not None and row.kind == "call":
            row.body = value
        elif isinstance(value, list | tuple):
            for part in value:
                self.part(part, body, row)
        elif isinstance(value, dict) and len(value) == 1:
            # An object that only wraps the text, under whatever key.
            self.text(next(iter(value.values())), row)
        else:
            self.text(value, row)

    def part(self, part: Any, body: Body | None, row: _Row | None) -> None:
        if isinstance(part, str):
            self.text(part, row)
        elif isinstance(part, dict):
            shape = body.of if body is not None and body.of is not None else None
            shape = shape or _part_shape(self.format, str(part.get("type")))
            if shape is not None and shape.kind != "marker":
                self.thing(part, shape, row)


def as_json(value: Any) -> str:
    """A value as JSON in one order; what is nested too deeply to be written is left out.

    >>> as_json({"b": 1, "a": "é"})
    '{"a": "é", "b": 1}'
    """
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return "..."


def _arguments(value: Any) -> Mapping[str, Any]:
    """A call's arguments as an object; what isn't one stands under ``input``."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"input": value}
    if isinstance(value, Mapping):
        return value
    return {} if value is None else {"input": value}
