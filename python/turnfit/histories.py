"""Histories in files: one read, and the fitted request written in the same container.

Three containers are known: a JSON list of messages; a request's body, a JSON object with
the list under ``messages``, ``contents`` or ``input``, and perhaps a system prompt and tools
beside it; JSON lines, a message a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from turnfit.errors import HistoryError
from turnfit.messages.reading import Message
from turnfit.messages.requests import read_request

__all__ = ["History", "decode", "history_of", "is_json", "kind_of", "loads", "parse_history"]

_KEYS = ("messages", "contents", "input")
_WANTED = (
    'a list of messages, an object with "messages", "contents" or "input", or JSON lines with a '
    "message a line"
)


@dataclass(frozen=True)
class History:
    """A history as a file holds it.

    Attributes:
        messages: the messages.
        container: ``list``, ``object`` or ``lines``.
        around: the object that holds the messages, where it is one.
        key: under which it holds them.
        indent: by what the file indents its JSON; None where it is on one line.
        system: the system prompt that stands beside the messages, or None.
        tools: the tool definitions that stand beside them, or None.
        format: the wire format, where the object's keys tell it.
    """

    messages: list[Message]
    container: Literal["list", "object", "lines"]
    around: dict[str, Any] = field(default_factory=dict)
    key: str = "messages"
    indent: str | None = None
    system: Any = None
    tools: Any = None
    format: str | None = None

    def to_bytes(self, messages: list[Message]) -> bytes:
        r"""These messages in the container that the history came in, as UTF-8.

        >>> history = parse_history(b'{"model": "m", "messages": []}', "h.json")
        >>> history.to_bytes([{"role": "user", "content": "Привет"}]).decode()
        '{"model": "m", "messages": [{"role": "user", "content": "Привет"}]}\n'
        """
        if self.container == "lines":
            text = "".join(f"{json.dumps(message, ensure_ascii=False)}\n" for message in messages)
        else:
            value = {**self.around, self.key: messages} if self.around else messages
            text = f"{json.dumps(value, ensure_ascii=False, indent=self.indent)}\n"
        # UTF-8 has no lone surrogates. In JSON they stand inside strings only, where
        # Python's escape for them is JSON's too.
        return text.encode("utf-8", "backslashreplace")


def parse_history(data: bytes, name: str) -> History:
    """The history in a file's bytes.

    Args:
        data: the file's content, in UTF-8.
        name: what errors call the file.

    Raises:
        HistoryError: with file, line and column where the JSON is broken, and with what
            was found and what is wanted where it is another kind of file.

    >>> parse_history(b'[{"role": "user", "content": "Hello!"}]', "h.json").messages
    [{'role': 'user', 'content': 'Hello!'}]
    """
    text = decode(data, name)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise HistoryError(f"{name}: the file is empty; wanted is {_WANTED}")
    if len(lines) > 1 and is_json(lines[0][1]):
        rows = [(f"line {number}", loads(line, name, number)) for number, line in lines]
        return History(_plain(rows, name), "lines")
    return history_of(loads(text, name, 1), name, _indent_of(text))


def decode(data: bytes, name: str) -> str:
    """A file's text; a `HistoryError` with line and offset where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise HistoryError(
            f"{name}:{line}: not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None


def is_json(line: str) -> bool:
    """Whether a line is JSON by itself."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def loads(text: str, name: str, line: int) -> Any:
    """The value of a JSON text that begins on this line of the file; a `HistoryError` with
    line and column where it is broken.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{name}:{line + error.lineno - 1}:{error.colno}"
        what = error.msg.removesuffix(" at").removesuffix(" starting")
        raise HistoryError(f"{place}: broken JSON: {what}") from None
    except RecursionError:
        raise HistoryError(f"{name}:{line}: the JSON is nested too deeply") from None
    except ValueError as error:
        raise HistoryError(f"{name}:{line}: {str(error).partition(';')[0]}") from None


def _indent_of(text: str) -> str | None:
    found = re.match(r"\s*[\[{]\r?\n([ \t]+)", text)
    return found[1] if found else None


def history_of(value: Any, name: str, indent: str | None = None) -> History:
    """The history that a JSON value holds; a `HistoryError` tells what it holds instead."""
    key = next((key for key in _KEYS if key in value), None) if isinstance(value, dict) else None
    if key is not None:
        return _from_body(value, key, name, indent)
    if isinstance(value, dict) and "role" in value:
        return History([value], "lines")
    if isinstance(value, list):
        return History(_plain(_numbered(value), name), "list", indent=indent)
    return _refuse(f"{name}: holds {kind_of(value)}; wanted is {_WANTED}")


def _from_body(body: dict[str, Any], key: str, name: str, indent: str | None) -> History:
    if not isinstance(body[key], list) and not (key == "input" and isinstance(body[key], str)):
        _refuse(f'{name}: "{key}" holds {kind_of(body[key])}, not a list of messages')
    _check_around(body, name)
    read = read_request(body)
    messages = _plain(_numbered(read.messages), name)
    beside = {"system": read.system, "tools": read.tools or None, "format": read.format}
    return History(messages, "object", body, key, indent, **beside)


def _check_around(value: dict[str, Any], name: str) -> None:
    if not isinstance(value.get("system"), str | list | None):
        _refuse(
            f'{name}: "system" holds {kind_of(value["system"])}, not a text or a list of blocks'
        )
    if not isinstance(value.get("tools"), list | None):
        _refuse(f'{name}: "tools" holds {kind_of(value["tools"])}, not a list')


def _numbered(messages: list[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"message {index}", message) for index, message in enumerate(messages))


def _plain(rows: Iterable[tuple[str, Any]], name: str) -> list[Message]:
    """The rows' messages, if they are messages and not wrapped in something else."""
    messages = []
    for place, row in rows:
        if isinstance(row, dict) and "role" not in row and "parts" not in row:
            _refuse_wrapped(row, f"{name}: {place}")
        messages.append(row)
    return messages


def _refuse_wrapped(row: dict[str, Any], place: str) -> None:
    if isinstance(row.get("messages"), list):
        _refuse(
            f"{place} is a whole history ({kind_of(row)}); wanted is one history: "
            "take out a line, as with: sed -n 1p"
        )
    if isinstance(row.get("message"), dict):
        _refuse(
            f"{place} has its message wrapped ({kind_of(row)}); wanted are the messages "
            "themselves, as from: jq -c '.message // empty'"
        )
    # Some formats have items without a role, and without a type only a reference by its id.
    is_reference = list(row) == ["id"] and isinstance(row["id"], str)
    if "type" not in row and not is_reference:
        _refuse(f"{place} is no message ({kind_of(row)}); wanted is {_WANTED}")


def _refuse(what: str) -> NoReturn:
    raise HistoryError(what)


def kind_of(value: Any) -> str:
    """What a value is, for a person: an object is told by its first keys."""
    if isinstance(value, dict):
        keys = ", ".join(json.dumps(key, ensure_ascii=False) for key in list(value)[:4])
        return f"an object with {keys}{', ...' if len(value) > 4 else ''}" if value else "{}"
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
