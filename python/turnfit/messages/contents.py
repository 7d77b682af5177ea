"""What a message says, in any wire format: its texts, its calls, what tools gave back.

Fitting needs only prices and pairs; whoever asks what was *done* needs the calls'
arguments and the results' texts. They are found by the same tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from turnfit import _core
from turnfit.errors import FormatError
from turnfit.messages.formats import table_of
from turnfit.messages.formats.table import Format
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


class Contents(NamedTuple):
    """What a message says.

    Attributes:
        role: who speaks, as the fitting has it.
        texts: what is said in words; no reasoning, nothing of calls and results.
        calls: the calls, in order.
        results: the results, in order.
    """

    role: Role
    texts: list[str]
    calls: list[SeenCall]
    results: list[SeenResult]

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
    message = format_.plain(message)
    role, texts, calls, results = _core.read_contents(table_of(format_), index, message)
    said = _made(Contents, (role, texts, [], []))
    for id_, name, given in calls:
        said.calls.append(_made(SeenCall, (id_, name, _arguments(given))))
    for result in results:
        said.results.append(_made(SeenResult, result))
    return said


_made = tuple.__new__
"""Their own way takes three times as long."""


def _native(message: NativeMessage) -> Contents:
    said = Contents(message.role, [], [], [])
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
    said = Contents(role, [], [], [])
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


_encoded = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str).encode


def as_json(value: Any) -> str:
    """A value as JSON in one order; what is nested too deeply to be written is left out.

    >>> as_json({"b": 1, "a": "é"})
    '{"a": "é", "b": 1}'
    """
    try:
        return _encoded(value)
    except (ValueError, TypeError, RecursionError):
        return "..."


_decoded = json.JSONDecoder().raw_decode
"""Half of what ``json.loads`` takes for a few arguments."""


def _arguments(value: Any) -> Mapping[str, Any]:
    """A call's arguments as an object; what isn't one stands under ``input``."""
    if isinstance(value, str):
        try:
            value = _loaded(value)
        except (ValueError, RecursionError):
            return {"input": value}
    # To ask first whether it is a dict spares most the slower question.
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
        return value
    return {} if value is None else {"input": value}


def _loaded(text: str) -> Any:
    if text[:1] == "{":
        value, end = _decoded(text)
        if end == len(text):
            return value
    return json.loads(text)
