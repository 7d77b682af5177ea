"""OpenAI's chat completions, and the many servers that speak the same.

Rules: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from turnfit.messages import rules
from turnfit.messages.formats.table import Format, Shape, Signs
from turnfit.messages.reading import Message, Row
from turnfit.messages.unfinished import Open, each_by_itself, is_json

__all__ = ["OPENAI_CHAT"]

_FREE_IN_PARTS = {"type": "free", "cache_control": "free"}

_CALL = Shape(
    "call",
    {
        "type": "free",
        "index": "free",
        "cache_control": "free",
        "id": "id",
        "function": {"name": "name", "arguments": "body"},
        "custom": {"name": "name", "input": "body"},
    },
)

_LEGACY_CALL = Shape("call", {"name": "name", "arguments": "body"})

_MESSAGE = Shape(
    "plain",
    {
        "role": "free",
        "cache_control": "free",
        "content": "body",
        "name": "text",
        "refusal": "text",
        "reasoning_content": "text",
        "reasoning": "text",
        "audio": {"id": "text", "data": "medium", "transcript": "text", "expires_at": "free"},
        "images": "medium",
        "tool_calls": _CALL,
        "function_call": _LEGACY_CALL,
        # Where LangChain's dicts have calls as the provider sent them.
        "additional_kwargs": {"tool_calls": replace(_CALL, unless="tool_calls")},
    },
)

_ELSE = ("content", "refusal", "audio", "tool_calls", "function_call")
"""What an assistant's message can't do without, one of them."""


def _whole(message: Message, open_: Open) -> Message | None:
    """Without calls whose arguments are pieces of JSON; a custom tool's input is free."""
    kept, place = dict(message), 0
    for key in ("tool_calls", "function_call"):
        calls = _calls(message, key)
        whole = [
            call for at, call in enumerate(calls, place) if at not in open_ or not _is_broken(call)
        ]
        place += len(calls)
        if len(whole) < len(calls):
            del kept[key]
            kept |= {key: whole} if whole else {}
    if len(kept) == len(message) and all(kept[key] is message[key] for key in message):
        return message
    return kept if any(kept.get(key) for key in _ELSE) else None


def _calls(message: Message, key: str) -> list[Any]:
    """The calls under a key, as those in `tool_calls` are built."""
    if key == "function_call":
        return [{"function": message[key]}] if message.get(key) is not None else []
    calls = message.get(key)
    return list(calls) if isinstance(calls, list | tuple) else []


def _is_broken(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and not is_json(function.get("arguments"))


_RESULT = Shape(
    "result",
    {
        "role": "free",
        "cache_control": "free",
        "content": "body",
        "name": "name",
        "tool_call_id": "id",
    },
)


def _answer(_: Message, call: Row, wording: str) -> Message:
    if call.id is None:
        return {"role": "function", "name": call.name, "content": wording}
    return {"role": "tool", "tool_call_id": call.id, "content": wording}


OPENAI_CHAT = Format(
    name="openai-chat",
    url="https://platform.openai.com/docs/api-reference/chat/create",
    roles={
        "system": ("system", _MESSAGE),
        "developer": ("system", _MESSAGE),
        "user": ("user", _MESSAGE),
        "assistant": ("assistant", _MESSAGE),
        "tool": ("tool", _RESULT),
        "function": ("tool", _RESULT),
    },
    parts={
        "text": Shape("plain", {**_FREE_IN_PARTS, "text": "text"}),
        "refusal": Shape("plain", {**_FREE_IN_PARTS, "refusal": "text"}),
        "image_url": Shape("plain", {**_FREE_IN_PARTS, "image_url": "medium"}),
        "input_audio": Shape("plain", {**_FREE_IN_PARTS, "input_audio": "medium"}),
        "file": Shape("plain", {**_FREE_IN_PARTS, "file": "medium"}),
        # What servers and frameworks send besides: MCP's pictures, Mistral's thoughts.
        "image": Shape("plain", {**_FREE_IN_PARTS, "data": "medium", "mimeType": "free"}),
        "audio": Shape("plain", {**_FREE_IN_PARTS, "data": "medium", "mimeType": "free"}),
    },
    signs=Signs(
        roles=("developer", "tool", "function"),
        keys=("tool_calls", "function_call", "tool_call_id"),
        parts=("refusal", "image_url", "input_audio", "file"),
        refused=("tool_calls", "function_call", "tool_call_id"),
    ),
    note=lambda wording: {"role": "user", "content": wording},
    answer=_answer,
    finished=each_by_itself(_whole),
    rules=(
        rules.results_have_calls,
        rules.calls_are_answered_at_once,
        rules.contents_are_there,
    ),
)
