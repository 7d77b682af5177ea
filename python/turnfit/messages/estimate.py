"""What messages and whole requests cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from turnfit import _core
from turnfit.errors import FormatError
from turnfit.messages.formats import format_of, table_of
from turnfit.messages.formats.anthropic import ANTHROPIC
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list
from turnfit.tokens.frames import Frames, descriptions
from turnfit.tokens.profiles import Profile, Tariff, frames_in, tariff_of

__all__ = [
    "estimate_message",
    "estimate_request",
    "message_tokens",
    "request_tokens",
    "system_tokens",
    "tools_tokens",
]


def estimate_message(
    message: Message,
    *,
    format: str | Format | None = None,
    profile: str | Profile | Callable[[str], int] | None = None,
    model: str | None = None,
) -> int:
    """The tokens of one message: its texts, names, ids and arguments, and its frame.

    Args:
        message: a message in any wire format, or a `turnfit.Message`.
        format: the format, or its name; recognised from the message where it is not given.
        profile: by what text is priced: a profile's name, a `turnfit.Profile` or a callable
            from a str to its tokens; by the model, or else by script, where it is not given.
        model: the model's public name, which tells the profile, what its provider adds to
            texts, and its rule for images (see `turnfit.profile_for`).

    Raises:
        FormatError: if the message can't be read.

    >>> estimate_message({"role": "user", "content": "Read every file."})
    7
    """
    return message_tokens(message, format, tariff_of(profile, model))


def message_tokens(message: Message, format_: str | Format | None, tariff: Tariff) -> int:
    """The tokens of one message by a tariff."""
    table = table_of(format_of([message], format_))
    return _core.read_message(table, 0, message, tariff)[1]


def estimate_request(
    messages: Iterable[Message],
    *,
    system: Any = None,
    tools: Any = None,
    format: str | Format | None = None,
    profile: str | Profile | Callable[[str], int] | None = None,
    model: str | None = None,
) -> int:
    """The tokens of a whole request, with its frame.

    What the provider has replaced already (by an Anthropic ``compaction`` block, by
    OpenAI's last ``compaction`` item) costs nothing.

    Args:
        messages: the messages, in one wire format.
        system: a system prompt that is sent beside the messages: a text, or blocks.
        tools: the tool definitions, as they are sent; the schema of an answer may stand
            among them.
        format: the format, or its name; recognised from the messages where it is not given.
        profile: by what text is priced, as in `estimate_message`.
        model: likewise.

    Raises:
        FormatError: if a message can't be read.

    >>> estimate_request([{"role": "user", "content": "Read every file."}], system="Be brief.")
    13
    """
    tariff = tariff_of(profile, model)
    return request_tokens(as_list(messages), system, tools, format, tariff)


def request_tokens(
    messages: list[Message], system: Any, tools: Any, format_: str | Format | None, tariff: Tariff
) -> int:
    """The tokens of a whole request by a tariff."""
    table = table_of(format_of(messages, format_))
    tokens = (
        _core.read_message(table, index, message, tariff)[1]
        for index, message in enumerate(messages)
    )
    replaced = _core.last_marker(table, messages) or 0
    priced = (cost for index, cost in enumerate(tokens) if index >= replaced)
    besides = system_tokens(system, tariff) + tools_tokens(tools, tariff)
    return sum(priced) + frames_in(tariff).request + besides


def system_tokens(system: Any, tariff: Tariff = None) -> int:
    """The tokens of a system prompt: a text, or blocks as messages have them; Gemini's and
    Bedrock's forms too.
    """
    if system is None:
        return 0
    if isinstance(system, Mapping) and "parts" in system:
        system = system["parts"]
    if isinstance(system, list | tuple):
        system = [_typed(block) for block in system]
    message, frames = {"role": "system", "content": system}, frames_in(tariff)
    try:
        tokens = _core.read_message(table_of(ANTHROPIC), 0, message, tariff)[1] - frames.message
    except FormatError as error:
        raise TypeError(f"system must be a text or text blocks: {error}") from None
    return tokens + frames.system if tokens else 0


def _typed(block: Any) -> Any:
    """A block of one key that tells what it is, with a type; a mark costs nothing."""
    if not isinstance(block, dict) or "type" in block:
        return block
    if "cachePoint" in block:
        return {"type": "text", "text": ""}
    return {"type": "text", **block} if "text" in block else block


def tools_tokens(tools: Sequence[Any] | None, tariff: Tariff = None) -> int:
    """The tokens of tool definitions, as compact JSON and with what the provider adds."""
    if isinstance(tools, str | bytes | dict):
        raise TypeError(f"tools must be a sequence of definitions, not {type(tools).__name__}")
    frames = frames_in(tariff)
    return frames.definitions(
        (tool, _core.estimate_tool(tool, tariff), _described(tool, frames, tariff))
        for tool in tools or ()
    )


def _described(tool: Any, frames: Frames, tariff: Tariff) -> int:
    if not frames.described:
        return 0
    return sum(_core.estimate_text(text, tariff) for text in descriptions(tool))
