"""The wire formats, and how a history's own is recognised."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from turnfit import _core
from turnfit.messages.formats.anthropic import ANTHROPIC
from turnfit.messages.formats.bedrock import BEDROCK_CONVERSE
from turnfit.messages.formats.gemini import GEMINI
from turnfit.messages.formats.langchain import LANGCHAIN, is_langchain
from turnfit.messages.formats.native import TURNFIT
from turnfit.messages.formats.openai_chat import OPENAI_CHAT
from turnfit.messages.formats.openai_responses import OPENAI_RESPONSES
from turnfit.messages.formats.table import Format
from turnfit.messages.native import Message as NativeMessage
from turnfit.messages.reading import Message, Reading, Row

__all__ = [
    "FORMATS",
    "PLAIN",
    "format_named",
    "format_of",
    "read_history",
    "recognise",
    "table_of",
]

FORMATS: dict[str, Format] = {
    format_.name: format_
    for format_ in (
        OPENAI_CHAT,
        OPENAI_RESPONSES,
        ANTHROPIC,
        GEMINI,
        BEDROCK_CONVERSE,
        LANGCHAIN,
        TURNFIT,
    )
}

PLAIN = OPENAI_CHAT
"""The format of plain text, until a message tells another."""

SignTable: TypeAlias = dict[str, dict[str, str]]


def format_named(name: str | Format) -> Format:
    """The format of this name, or itself; a ``ValueError`` that lists the names otherwise."""
    if isinstance(name, Format):
        return name
    try:
        return FORMATS[name]
    except KeyError:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {name!r}") from None


def recognise(messages: Sequence[Message]) -> Format | None:
    """The format that the first telling message has, or None where none tells."""
    told = _core.recognise(messages, _recogniser())
    return FORMATS[told] if told else None


def format_of(messages: Sequence[Message], name: str | Format | None = None) -> Format:
    """The format called `name`, or the one that the messages tell."""
    if name is not None:
        return format_named(name)
    return recognise(messages) or PLAIN


@cache
def table_of(format_: Format) -> _core.Table:
    """The format's table, compiled, with what of the other formats it refuses."""
    others = (other for other in FORMATS.values() if other is not format_)
    signs = _signs(*others)
    refused = {sign for other in FORMATS.values() for sign in other.signs.refused}
    foreign = {
        which: {sign: name for sign, name in told.items() if which == "types" or sign in refused}
        for which, told in signs.items()
    }
    foreign["keys"] |= format_.refuses
    return _core.Table(format_, foreign)


def read_history(format_: Format, messages: Sequence[Message]) -> Reading:
    """The roles and rows of a history."""
    table = table_of(format_)
    read = [_core.read_message(table, index, message) for index, message in enumerate(messages)]
    rows = [
        [Row(index, kind, id_, name, not mine) for kind, id_, name, mine, _ in message_rows]
        for index, (_, _, message_rows) in enumerate(read)
    ]
    messages = [format_.plain(message) for message in messages]
    return Reading(messages, [role for role, _, _ in read], rows, format_.merges)


@cache
def _recogniser() -> _core.Recogniser:
    return _core.Recogniser(_signs(*FORMATS.values()), _of_object)


def _of_object(message: Message) -> str | None:
    """The format of a message that is no dict."""
    if isinstance(message, NativeMessage):
        return TURNFIT.name
    return LANGCHAIN.name if is_langchain(message.__class__) else None


def _signs(*formats: Format) -> SignTable:
    return {
        which: {sign: format_.name for format_ in formats for sign in getattr(format_.signs, which)}
        for which in ("roles", "types", "keys", "parts", "part_keys")
    }
