"""The wire formats, and how a history's own is recognised."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from turnfit import _core
from turnfit.messages.formats.anthropic import ANTHROPIC
from turnfit.messages.formats.native import TURNFIT
from turnfit.messages.formats.openai_chat import OPENAI_CHAT
from turnfit.messages.formats.table import Format, Message
from turnfit.messages.native import Message as NativeMessage

__all__ = ["FORMATS", "PLAIN", "foreign_signs", "format_named", "format_of", "recognise"]

FORMATS: dict[str, Format] = {
    format_.name: format_ for format_ in (OPENAI_CHAT, ANTHROPIC, TURNFIT)
}

PLAIN = OPENAI_CHAT
"""The format of plain text, until a message tells another."""

SignTable: TypeAlias = dict[str, dict[str, str]]


def format_named(name: str) -> Format:
    """The format of this name; a ``ValueError`` that lists the names otherwise."""
    try:
        return FORMATS[name]
    except KeyError:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, not {name!r}") from None


def recognise(messages: Sequence[Message], start: int = 0) -> Format | None:
    """The format that the first telling message from `start` on has, or None."""
    told = _core.recognise(messages, start, _recogniser())
    return FORMATS[told[1]] if told else None


def format_of(messages: Sequence[Message], name: str | None = None) -> Format:
    """The format called `name`, or the one that the messages tell."""
    if name is not None:
        return format_named(name)
    return recognise(messages) or PLAIN


def foreign_signs(own: Format) -> SignTable:
    """The signs of every format but this one."""
    return _signs(*(format_ for format_ in FORMATS.values() if format_ is not own))


@cache
def _recogniser() -> _core.Recogniser:
    return _core.Recogniser(_signs(*FORMATS.values()), NativeMessage)


def _signs(*formats: Format) -> SignTable:
    return {
        which: {sign: format_.name for format_ in formats for sign in getattr(format_.signs, which)}
        for which in ("roles", "keys", "parts")
    }
