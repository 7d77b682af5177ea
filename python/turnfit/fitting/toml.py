"""Writes plain values as TOML, which the standard library only reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["to_toml"]


def to_toml(values: Mapping[str, Any]) -> str:
    """A TOML document with these values; mappings become tables behind the rest.

    Raises:
        ValueError: for a value that TOML can't hold, with its name.

    >>> print(to_toml({"budget": 1000, "notes": {"cleared": "[gone]"}}))
    budget = 1000
    <BLANKLINE>
    [notes]
    cleared = "[gone]"
    <BLANKLINE>
    """
    lines = [_line(key, value) for key, value in values.items() if not isinstance(value, Mapping)]
    for key, table in values.items():
        if isinstance(table, Mapping):
            entries = [_line(name, value, key + ".") for name, value in table.items()]
            lines += ["", f"[{_key(key)}]", *entries]
    return "\n".join(lines) + "\n"


def _line(key: str, value: Any, above: str = "") -> str:
    try:
        return f"{_key(key)} = {_value(value)}"
    except TypeError as error:
        raise ValueError(f"{above}{key} can't be written as TOML: {error}") from None


def _key(key: str) -> str:
    is_bare = key.isascii() and key.replace("_", "a").replace("-", "a").isalnum()
    return key if is_bare else _string(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case Mapping():
            entries = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
            return f"{{{entries}}}"
        case Sequence():
            return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"a {type(value).__name__} is no plain value")


def _string(text: str) -> str:
    """TOML's escapes are JSON's, but for one control character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
