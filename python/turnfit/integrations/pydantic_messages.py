"""pydantic-ai's messages as a `turnfit.Format`.

Messages: https://pydantic.dev/docs/ai/core-concepts/message-history. A request holds prompts and
tool returns in one message, a response the model's texts, thinking and calls. They are read
by their ``kind``, so that this needs no pydantic-ai until it builds a note.

Calls and returns of the provider's own tools stand in one response and go back unchanged:
they are priced as texts and stay with it. Returns of a special kind (a tool search, a loaded
capability) are what pydantic-ai finds the state of a run by: they are never cleared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from turnfit.messages import rules
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, Row

__all__ = ["PYDANTIC_AI", "compactions"]

_RETURNS = ("tool-return", "retry-prompt")
_START = datetime(1970, 1, 1, tzinfo=UTC)
"""A note bears no time of its own: it must stay the same from request to request."""


def _read(message: Any) -> Any:
    match getattr(message, "kind", None):
        case "response":
            return "assistant", [row for part in message.parts for row in _rows(part)]
        case "request":
            return _role(message.parts), [row for part in message.parts for row in _rows(part)]
    return None


def _role(parts: Any) -> str:
    """A first request with a system prompt and a user's prompt is the user's: it stays."""
    kinds = {part.part_kind for part in parts}
    if any(map(_is_return, parts)):
        return "tool"
    return "system" if kinds and kinds <= {"system-prompt"} else "user"


def _is_return(part: Any) -> bool:
    """A retry that answers no call is a prompt."""
    return part.part_kind in _RETURNS and part.tool_name is not None


def _rows(part: Any) -> Iterator[tuple[Any, ...]]:
    match part.part_kind:
        case "tool-call":
            yield ("call", part.tool_call_id, part.tool_name, part.args or {})
        case "tool-return" | "retry-prompt" if _is_return(part):
            yield ("result", part.tool_call_id, part.tool_name, *_returned(part))
        case "builtin-tool-call":
            yield from (("text", part.tool_name), ("text", part.args_as_json_str()))
        case "builtin-tool-return" | "retry-feedback" | "retry-prompt":
            told = getattr(part, "model_response_str", None) or part.model_response
            yield ("text", told())
        case "user-prompt":
            content = part.content
            yield from map(_item, [content] if isinstance(content, str) else content)
        case "file" | "speech":
            yield ("medium",)
        case _:
            yield from (("text", text) for text in _texts(part))


def _returned(part: Any) -> tuple[str | tuple[str | None, ...], bool]:
    """What a return says, None for a file; and whether it may be cleared."""
    if part.part_kind == "retry-prompt":
        return part.model_response(), True
    items = (item if isinstance(item, str) else None for item in part.content_items(mode="str"))
    said = part.content if isinstance(part.content, str) else tuple(items)
    return said, part.tool_kind is None


def _item(item: Any) -> tuple[Any, ...]:
    if isinstance(item, str):
        return ("text", item)
    match item.kind:
        case "text-content" | "structured-content":
            return ("text", item.content)
        case "cache-point":
            return ("text", "")
    return ("medium",)


def _texts(part: Any) -> Iterator[str]:
    """Of texts, thinking, changed instructions and what is to come: what is said."""
    for field in ("content", "signature"):
        text = getattr(part, field, None)
        if isinstance(text, str):
            yield text


def _rewrite(message: Any, bodies: Mapping[int, Any]) -> Message:
    numbers = count()
    parts = [_rewritten(part, numbers, bodies) for part in message.parts]
    return replace(message, parts=parts)


def _rewritten(part: Any, numbers: Iterator[int], bodies: Mapping[int, Any]) -> Any:
    calls = part.part_kind == "tool-call"
    if not (calls or _is_return(part)) or (number := next(numbers)) not in bodies:
        return part
    return replace(part, **{"args" if calls else "content": bodies[number]})


def _note(wording: str) -> Message:
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    return ModelRequest(parts=[UserPromptPart(wording, timestamp=_START)])


def _answer(_: Message, call: Row, wording: str) -> Message:
    from pydantic_ai.messages import ModelRequest, ToolReturnPart

    told: dict[str, Any] = {"timestamp": _START, "outcome": "interrupted"}
    return ModelRequest(parts=[ToolReturnPart(call.name or "", wording, call.id or "", **told)])


def compactions(messages: list[Any]) -> list[int]:
    """The responses in which a provider has summed up what was before: these must stay."""
    return [
        at
        for at, message in enumerate(messages)
        if any(part.part_kind == "compaction" for part in message.parts)
    ]


PYDANTIC_AI = Format(
    name="pydantic-ai",
    url="https://pydantic.dev/docs/ai/core-concepts/message-history",
    note=_note,
    answer=_answer,
    rules=(rules.results_have_calls, rules.calls_are_answered_at_once),
    reader=_read,
    rewriter=_rewrite,
)
"""The messages of ``result.all_messages()``, for ``format=`` in all of turnfit."""
