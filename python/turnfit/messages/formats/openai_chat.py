"""OpenAI's chat completions, and the many servers that speak the same.

Rules: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from dataclasses import replace

from turnfit.messages import rules
from turnfit.messages.formats.table import Format, Shape, Signs
from turnfit.messages.reading import Message, Row

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
    rules=(
        rules.results_have_calls,
        rules.calls_are_answered_at_once,
        rules.contents_are_there,
    ),
)
