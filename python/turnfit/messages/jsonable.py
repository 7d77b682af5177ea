"""Values as JSON holds them, and bytes in them, so that every value comes back as it was."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["from_jsonable", "from_line", "to_jsonable", "to_line"]

BYTES = "$bytes"
ESCAPED = "$object"
"""Around an object that looks like one of these two."""


def to_jsonable(value: Any, path: str) -> Any:
    """The value with what JSON can't hold replaced; tuples become lists.

    Args:
        value: the value.
        path: what errors call it.

    Raises:
        ValueError: for what can't be replaced, with its path.

    >>> to_jsonable({"source": {"bytes": b"png"}}, "message 0")
    {'source': {'bytes': {'$bytes': 'cG5n'}}}
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float() if value - value == 0:
            return value
        case bytes():
            return {BYTES: base64.b64encode(value).decode("ascii")}
        case list() | tuple():
            return [to_jsonable(item, f"{path}[{at}]") for at, item in enumerate(value)]
        case Mapping():
            return _object(value, path)
    what = repr(value) if isinstance(value, float) else f"a {type(value).__name__}"
    raise ValueError(f"{path} is {what}, which JSON can't hold")


def _object(value: Mapping[Any, Any], path: str) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise ValueError(f"{path} has the key {key!r}, but JSON's keys are texts")
    made = {key: to_jsonable(item, f"{path}.{key}") for key, item in value.items()}
    return {ESCAPED: made} if _is_special(made) else made


def _is_special(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and (BYTES in value or ESCAPED in value)


def from_jsonable(value: Any) -> Any:
    """The value of which `to_jsonable` made this.

    >>> from_jsonable({"source": {"bytes": {"$bytes": "cG5n"}}})
    {'source': {'bytes': b'png'}}
    """
    if isinstance(value, list):
        return [from_jsonable(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _is_special(value):
        [(key, inner)] = value.items()
        if key == BYTES and isinstance(inner, str):
            return base64.b64decode(inner)
        if key == ESCAPED and isinstance(inner, dict):
            return {name: from_jsonable(item) for name, item in inner.items()}
    return {key: from_jsonable(item) for key, item in value.items()}


def to_line(value: Any, path: str) -> str:
    """The value as a line of JSON, which `from_line` reads; see `to_jsonable`.

    >>> to_line({"source": {"bytes": b"png"}}, "message 0")
    '{"source":{"bytes":{"$bytes":"cG5n"}}}'
    """
    try:
        line = _compact(value)
        if not _may_be_special(line) and json.loads(line) == value:
            return line
    except (TypeError, ValueError):
        pass
    return _compact(to_jsonable(value, path))


def from_line(line: str) -> Any:
    """The value of which `to_line` made this line."""
    value = json.loads(line)
    return from_jsonable(value) if _may_be_special(line) else value


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _may_be_special(line: str) -> bool:
    """Most lines hold no bytes, and needn't be walked through."""
    return f'"{BYTES}"' in line or f'"{ESCAPED}"' in line or "\\u0024" in line
