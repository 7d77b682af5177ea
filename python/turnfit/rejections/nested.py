"""Texts within texts: errors wrapped in messages, and what a message only quotes."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

__all__ = ["parse_whole", "split_nested", "without_quotes"]

_DECODER = json.JSONDecoder()
_TRIES = 64
"""Openings looked at in one text, so that an echoed prompt full of brackets costs nothing."""

_LONGEST = 1_000_000
"""Beyond it a text is an echo, whatever stands around it."""

_OPENING = re.compile(r"""(?<![\w)])b(?=['"])|[{\[](?=\s*["'{\[])""")
_BYTES = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""", re.DOTALL)
_UNESCAPED = re.compile(r'\\(["\\/n])')
_EVENT = re.compile(r"^data: ?([{\[].*)$", re.MULTILINE)

_QUOTED = re.compile(
    r"""(?<![\w])'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)"""
    r"""|"(?:[^"\\]|\\.)*"|`[^`]*`|“[^”]*”|«[^»]*»""",
    re.DOTALL,
)
_UNCLOSED = re.compile(r"""(?<![\w])['"“«](?=\w[^'"”»]*$)""", re.DOTALL)
_RELAYS = re.compile(
    r"(?:error|exception|failed|failure|returned|responded|response|upstream|message|said|says)"
    r"\b[^'\"]{0,60}[:=-]?\s*$|^\W*\d{3}\W*$",
    re.IGNORECASE,
)
_ECHOES = re.compile(
    r"pars|decod|invalid|validat|serial|json|schema|\btype\b|\bvalue|content|unexpected|got\b"
    r"|input\b|prompt\b|argument|field|character|received\b",
    re.IGNORECASE,
)


def parse_whole(text: str) -> Any:
    """What a text is as JSON or as Python's repr of data; None where it is neither."""
    text = text.strip()
    if len(text) > _LONGEST or not text.startswith(("{", "[", '"', "b'", 'b"')):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def split_nested(text: str) -> tuple[str, list[Any]]:
    """A text without the data that stand in it, and those data."""
    events = [parse_whole(found[1]) for found in _EVENT.finditer(text)]
    if events:
        return _EVENT.sub(" ", text), [event for event in events if event is not None]
    outside, data, at = [], [], 0
    for _ in range(_TRIES):
        opening = _OPENING.search(text, at)
        if not opening:
            break
        value, end = _read_at(text, opening.start())
        outside.append(text[at : opening.start() if end else opening.end()])
        if end:
            data.append(value)
        at = end or opening.end()
    return " ".join((*outside, text[at:])), data


def _read_at(text: str, start: int) -> tuple[Any, int]:
    """The data that begin here, and where they end; 0 where there are none."""
    if text[start] == "b":
        found = _BYTES.match(text, start)
        value = parse_whole(found[0]) if found else None
        return (value, found.end()) if found and value is not None else (None, 0)
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return _read_balanced(text, start)


def _read_balanced(text: str, start: int) -> tuple[Any, int]:
    """Python's repr of data, or JSON whose quotes are still escaped."""
    end = _closing(text, start)
    part = text[start:end]
    for candidate in (part, _UNESCAPED.sub(r"\1", part)):
        value = parse_whole(candidate) if end else None
        if isinstance(value, dict | list):
            return value, end
    return None, 0


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens here is closed, quotes aside; 0 where it isn't."""
    depth, quote, at = 0, "", start
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            at += 1
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return 0


def without_quotes(text: str) -> str:
    """A text without the sentences that it quotes, unless it relays an error by quoting it.

    >>> without_quotes("Invalid value: 'the prompt is too long' is not an array")
    "Invalid value: '' is not an array"
    >>> without_quotes('error for request 7: "Input is too long for requested model."')
    'error for request 7: "Input is too long for requested model."'
    """
    text = _QUOTED.sub(_quote, text)
    unclosed = _UNCLOSED.search(text)
    if unclosed and _is_echo(text, unclosed.start(), text[unclosed.end() :]):
        return text[: unclosed.end()]
    return text


def _quote(found: re.Match[str]) -> str:
    quoted = found[0]
    if _is_echo(found.string, found.start(), quoted[1:-1]):
        return quoted[0] + quoted[-1]
    return quoted


def _is_echo(text: str, start: int, quoted: str) -> bool:
    """A few words in quotes are a name; more are somebody's text."""
    if len(quoted.split()) < 3:
        return False
    lead = text[max(0, start - 100) : start]
    return not _RELAYS.search(lead) or bool(_ECHOES.search(lead[-40:]))
