"""Anthropic's Messages API.

Rules: https://platform.claude.com/docs/en/api/messages and
https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use
"""

from __future__ import annotations

from turnfit.messages import rules
from turnfit.messages.formats.marks import IN_THE_BLOCK
from turnfit.messages.formats.stripping import is_thinking, without_blocks
from turnfit.messages.formats.table import Format, Shape, Signs
from turnfit.messages.reading import Message, Row

__all__ = ["ANTHROPIC"]

_FREE_IN_BLOCKS = {"type": "free", "cache_control": "free"}

_MESSAGE = Shape(
    "plain",
    {
        "role": "free",
        "content": "body",
        # What an answer bears and a request doesn't send.
        "id": "free",
        "type": "free",
        "model": "free",
        "stop_reason": "free",
        "stop_sequence": "free",
        "usage": "free",
        "container": "free",
    },
)

_CALL_FIELDS = {**_FREE_IN_BLOCKS, "id": "id", "name": "name", "input": "body"}
_RESULT_FIELDS = {
    **_FREE_IN_BLOCKS,
    "tool_use_id": "id",
    "content": "body",
    "is_error": "free",
}
_SOURCE = {**_FREE_IN_BLOCKS, "source": "source", "title": "text", "context": "text"}


def _answer(_: Message, call: Row, wording: str) -> Message:
    result = {"type": "tool_result", "tool_use_id": call.id, "content": wording}
    return {"role": "user", "content": [result]}


ANTHROPIC = Format(
    name="anthropic",
    url="https://platform.claude.com/docs/en/api/messages",
    roles={
        "system": ("system", _MESSAGE),
        "user": ("user", _MESSAGE),
        "assistant": ("assistant", _MESSAGE),
    },
    parts={
        "text": Shape("plain", {**_FREE_IN_BLOCKS, "text": "text"}),
        "image": Shape("plain", _SOURCE),
        "document": Shape("plain", _SOURCE),
        "thinking": Shape(
            "plain", {**_FREE_IN_BLOCKS, "thinking": "text", "signature": "text"}, thought=True
        ),
        "redacted_thinking": Shape("plain", {**_FREE_IN_BLOCKS, "data": "text"}, thought=True),
        "tool_use": Shape("call", _CALL_FIELDS),
        "tool_result": Shape("result", _RESULT_FIELDS),
        # The provider replaced what was before by it, and wants it back as it is
        # (https://platform.claude.com/docs/en/build-with-claude/compaction).
        "compaction": Shape(
            "marker",
            {
                **_FREE_IN_BLOCKS,
                "content": "text",
                "encrypted_content": "text",
                "signature": "free",
            },
        ),
        # Tools that the provider runs: it wants their results back as they were.
        "*_tool_use": Shape("call", {**_CALL_FIELDS, "server_name": "text"}, clearable=False),
        "*_tool_result": Shape("result", _RESULT_FIELDS, clearable=False),
    },
    signs=Signs(
        keys=("stop_reason",),
        refused=("tool_result",),
        parts=(
            "image",
            "document",
            "thinking",
            "redacted_thinking",
            "tool_use",
            "tool_result",
            "server_tool_use",
            "mcp_tool_use",
            "search_result",
            "compaction",
        ),
    ),
    merges=True,
    note=lambda wording: {"role": "user", "content": wording},
    answer=_answer,
    answers_in="content",
    marks=IN_THE_BLOCK,
    strip=without_blocks("content", is_thinking),
    rules=(
        rules.results_have_calls,
        rules.calls_are_answered_at_once,
        rules.calls_are_answered_once,
        rules.results_stand_first,
        rules.results_are_the_users,
        rules.ids_are_unique,
        rules.nothing_is_empty,
        rules.starts_with_a_user_message,
    ),
)
