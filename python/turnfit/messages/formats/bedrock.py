"""Amazon Bedrock's Converse.

Messages and blocks: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html
and API_runtime_ContentBlock.html; tools:
https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html. A block
is an object of one key, which tells what it is. Roles alternate: where two messages of one
role would meet, a request has them as one, in a copy. A ``cachePoint`` is neither priced
nor compared.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

from turnfit import _core
from turnfit.messages import rules
from turnfit.messages.formats.marks import BLOCK_BEHIND
from turnfit.messages.formats.stripping import without_blocks
from turnfit.messages.formats.table import Body, Field, Format, Shape, Signs
from turnfit.messages.reading import Message, Row
from turnfit.messages.unfinished import Parts, each_by_itself

__all__ = ["BEDROCK_CONVERSE"]

_DOCUMENT: dict[str, Field] = {
    "name": "text",
    "format": "free",
    "context": "text",
    "citations": "free",
    "source": {
        "bytes": "medium",
        "s3Location": "medium",
        "text": "text",
        "content": Shape("plain", {"text": "text"}),
    },
}

_SEARCH_RESULT: dict[str, Field] = {
    "source": "text",
    "title": "text",
    "content": Shape("plain", {"text": "text"}),
    "citations": "free",
}

_BLOCKS: dict[str, Field] = {
    "text": "text",
    "image": "medium",
    "video": "medium",
    "document": _DOCUMENT,
    "searchResult": _SEARCH_RESULT,
    "cachePoint": "free",
}

_CALL = Shape("call", {"toolUseId": "id", "name": "name", "input": "body", "type": "free"})

_RESULT = Shape(
    "result",
    {
        "toolUseId": "id",
        "content": Body(
            of=Shape("plain", {**_BLOCKS, "json": "text"}), note=lambda wording: [{"text": wording}]
        ),
        "status": "free",
        "type": "free",
    },
)

_BLOCK = Shape(
    "plain",
    {
        **_BLOCKS,
        "audio": "medium",
        "toolUse": _CALL,
        "toolResult": _RESULT,
        "guardContent": {"text": {"text": "text", "qualifiers": "free"}, "image": "medium"},
        "reasoningContent": {
            "reasoningText": Shape(
                "plain", {"text": "text", "signature": "sealed"}, signed="signature"
            ),
            "redactedContent": "sealed",
        },
    },
    thought="reasoningContent",
)

_MESSAGE = Shape("plain", {"role": "free", "content": Body(of=_BLOCK)})


def _answer(_: Message, call: Row, wording: str) -> Message:
    result = {"toolUseId": call.id, "content": [{"text": wording}]}
    return {"role": "user", "content": [{"toolResult": result}]}


def _join(messages: Sequence[Message]) -> list[Message]:
    """Neighbours of one role as one message, in a copy."""
    joined: list[Message] = []
    for _, run in groupby(messages, key=lambda message: _core.plain(message)["role"]):
        first, *others = run
        if others:
            merged = [_core.plain(message) for message in (first, *others)]
            contents = [message.get("content") or () for message in merged]
            first = {**merged[0], "content": [block for content in contents for block in content]}
        joined.append(first)
    return joined


def _split(messages: Sequence[Message], notes: Collection[str]) -> list[Message]:
    """Notes that stand among other blocks of a user message, by themselves again."""
    parts: list[Message] = []
    for message in messages:
        fields = _core.plain(message)
        content = fields.get("content") if isinstance(fields, dict) else None
        if isinstance(content, list | tuple) and len(content) > 1 and fields.get("role") == "user":
            parts += _parted(message, content, notes)
        else:
            parts.append(message)
    return parts


def _parted(message: Message, content: Sequence[Any], notes: Collection[str]) -> list[Message]:
    def is_note(block: Any) -> bool:
        return isinstance(block, dict) and list(block) == ["text"] and block["text"] in notes

    if not any(map(is_note, content)):
        return [message]
    return [
        {**_core.plain(message), "content": list(run)} for _, run in groupby(content, key=is_note)
    ]


def _is_unsigned(block: Any) -> bool:
    reasoning = block.get("reasoningContent")
    told = reasoning.get("reasoningText") if isinstance(reasoning, dict) else None
    return isinstance(told, dict) and not told.get("signature")


_PARTS = Parts(
    key="content",
    is_row=lambda block: "toolUse" in block or "toolResult" in block,
    is_broken=lambda _, block: not isinstance(block["toolUse"].get("input"), dict),
    is_thinking=lambda block: "reasoningContent" in block,
    is_unsigned=_is_unsigned,
)


BEDROCK_CONVERSE = Format(
    name="bedrock-converse",
    url="https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html",
    roles={
        "user": ("user", _MESSAGE),
        "assistant": ("assistant", _MESSAGE),
        "system": ("system", _MESSAGE),
    },
    signs=Signs(
        part_keys=(
            *_BLOCKS,
            "audio",
            "toolUse",
            "toolResult",
            "guardContent",
            "reasoningContent",
            "citationsContent",
        ),
    ),
    merges=True,
    note=lambda wording: {"role": "user", "content": [{"text": wording}]},
    answer=_answer,
    answers_in="content",
    finished=each_by_itself(_PARTS.whole),
    marks=BLOCK_BEHIND,
    strip=without_blocks("content", lambda block: "reasoningContent" in block),
    join=_join,
    split=_split,
    rules=(
        rules.results_have_calls,
        rules.calls_are_answered_at_once,
        rules.calls_are_answered_once,
        rules.results_are_the_users,
        rules.ids_are_unique,
        rules.roles_alternate,
        rules.blocks_are_not_blank,
        rules.starts_with_a_user_message,
    ),
)
