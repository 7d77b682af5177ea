"""What messages and whole requests cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from turnfit import _core
from turnfit.errors import FormatError
from turnfit.messages.formats import format_of, table_of
from turnfit.messages.formats.anthropic import ANTHROPIC
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["FRAME", "estimate_message", "estimate_request"]

FRAME = _core.FRAME
"""Tokens that a provider adds to a message, and to a request."""


def estimate_message(message: Message, *, format: str | Format | None = None) -> int:
    """The tokens of one message: its texts, names, ids and arguments, and its frame.

    Args:
        message: a message in any wire format, or a `turnfit.Message`.
        format: the format, or its name; recognised from the message where it is not given.

    Raises:
        FormatError: if the message can't be read.

    >>> estimate_message({"role": "user", "content": "Read every file."})
    7
    """
    return _core.read_message(table_of(format_of([message], format)), 0, message)[1]


def estimate_request(
    messages: Iterable[Message],
    *,
    system: Any = None,
    tools: Any = None,
    format: str | Format | None = None,
) -> int:
    """The tokens of a whole request, with its frame.

    What the provider has replaced already (by an Anthropic ``compaction`` block, by
    OpenAI's last ``compaction`` item) costs nothing.

    Args:
        messages: the messages, in one wire format.
        system: a system prompt that is sent beside the messages: a text, or blocks.
        tools: the tool definitions, as they are sent.
        format: the format, or its name; recognised from the messages where it is not given.

    Raises:
        FormatError: if a message can't be read.

    >>> estimate_request([{"role": "user", "content": "Read every file."}], system="Be brief.")
    13
    """
    messages = as_list(messages)
    table = table_of(format_of(messages, format))
    tokens = (
        _core.read_message(table, index, message)[1] for index, message in enumerate(messages)
    )
    replaced = _core.last_marker(table, messages) or 0
    priced = (cost for index, cost in enumerate(tokens) if index >= replaced)
    return sum(priced) + FRAME + system_tokens(system) + tools_tokens(tools)


def system_tokens(system: Any) -> int:
    """The tokens of a system prompt: a text, or blocks as messages have them."""
    if system is None:
        return 0
    message = {"role": "system", "content": system}
    try:
        return _core.read_message(table_of(ANTHROPIC), 0, message)[1] - FRAME
    except FormatError as error:
        raise TypeError(f"system must be a text or text blocks: {error}") from None


def tools_tokens(tools: Sequence[Any] | None) -> int:
    """The tokens of tool definitions, each as compact JSON."""
    if isinstance(tools, str | bytes | dict):
        raise TypeError(f"tools must be a sequence of definitions, not {type(tools).__name__}")
    return sum(map(_core.estimate_tool, tools or ()))
