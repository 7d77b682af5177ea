"""LangChain's message objects, and the dicts that stand for them.

Messages: https://docs.langchain.com/oss/python/langchain/messages. An object's fields are
read where pydantic keeps them; a changed copy has the class and the id of its original.
Calls stand in ``tool_calls`` and often once more, in the content or in
``additional_kwargs``, as the provider sent them: they count once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from turnfit.messages import rules
from turnfit.messages.formats.table import Format, Shape, Signs
from turnfit.messages.reading import Message, Row
from turnfit.messages.unfinished import Open, each_by_itself, is_json

__all__ = ["LANGCHAIN", "is_langchain"]


@cache
def is_langchain(cls: type) -> bool:
    """Whether a class is one of LangChain's messages; LangChain is not imported for it."""
    return any(
        base.__name__ == "BaseMessage" and base.__module__ == "langchain_core.messages.base"
        for base in cls.__mro__
    )


_FREE_IN_PARTS = {
    "type": "free",
    "id": "free",
    "index": "free",
    "extras": "free",
    "cache_control": "free",
}

_CALL = Shape("call", {"type": "free", "id": "id", "name": "name", "args": "body"})
_RAW_CALL = Shape(
    "call",
    {
        "type": "free",
        "index": "free",
        "id": "id",
        "function": {"name": "name", "arguments": "body"},
    },
    unless="tool_calls",
)
_USE = Shape(
    "call", {**_FREE_IN_PARTS, "id": "id", "name": "name", "input": "body"}, unless="tool_calls"
)

_FREE = {
    "type": "free",
    "role": "free",
    "id": "free",
    "response_metadata": "free",
    "usage_metadata": "free",
    "example": "free",
    "tool_call_chunks": "free",
    "chunk_position": "free",
}

_MESSAGE = Shape(
    "plain",
    {
        **_FREE,
        "content": "body",
        "name": "text",
        "tool_calls": _CALL,
        # Integrations send these too.
        "invalid_tool_calls": Shape(
            "call",
            {"type": "free", "error": "free", "id": "id", "name": "name", "args": "body"},
            clearable=False,
        ),
        "additional_kwargs": {
            "tool_calls": _RAW_CALL,
            "function_call": Shape("call", {"name": "name", "arguments": "body"}),
            "refusal": "text",
            "reasoning_content": "text",
            "audio": "medium",
            # What the providers' integrations note for themselves.
            "parsed": "free",
            "__openai_function_call_ids__": "free",
            "__gemini_function_call_thought_signatures__": "free",
        },
    },
)

_RESULT = Shape(
    "result",
    {
        **_FREE,
        "content": "body",
        "name": "name",
        "tool_call_id": "id",
        # Never sent.
        "artifact": "free",
        "status": "free",
        "additional_kwargs": {},
    },
)


def _note(wording: str) -> Message:
    from langchain_core.messages import HumanMessage

    return HumanMessage(wording)


def _answer(_: Message, call: Row, wording: str) -> Message:
    from langchain_core.messages import ToolMessage

    return ToolMessage(wording, tool_call_id=call.id or "", name=call.name)


def _rebuild(message: Any, fields: dict[str, Any]) -> Message:
    """A copy with other fields; calls that stand in several places change in all."""
    calls = fields.get("tool_calls")
    if calls is not None and calls is not message.tool_calls:
        cleared = _changed_arguments(message.tool_calls, calls)
        fields["content"] = _content(fields["content"], cleared)
        fields["additional_kwargs"] = _raw(fields["additional_kwargs"], cleared)
    return _copied(message, fields)


_new, _set = object.__new__, object.__setattr__


def _copied(message: Any, fields: dict[str, Any]) -> Message:
    """What pydantic's ``__copy__`` does, with these fields; that takes six times as long."""
    copied = _new(message.__class__)
    extra, private = message.__pydantic_extra__, message.__pydantic_private__
    _set(copied, "__dict__", fields)
    _set(copied, "__pydantic_fields_set__", message.__pydantic_fields_set__.copy())
    _set(copied, "__pydantic_extra__", extra if extra is None else extra.copy())
    _set(copied, "__pydantic_private__", private and private.copy())
    return copied


def _changed_arguments(before: list[Any], after: list[Any]) -> dict[str, Any]:
    pairs = zip(before, after, strict=True)
    return {new["id"]: new["args"] for old, new in pairs if old is not new}


def _content(content: Any, cleared: Mapping[str, Any]) -> Any:
    if not isinstance(content, list):
        return content
    return [_part(part, cleared) if isinstance(part, dict) else part for part in content]


def _part(part: dict[str, Any], cleared: Mapping[str, Any]) -> dict[str, Any]:
    """The same call as a block of Anthropic, of OpenAI's Responses, or of LangChain itself."""
    arguments = cleared.get(part.get("call_id") or part.get("id") or "")
    match part.get("type"):
        case "tool_use" if arguments:
            return {**part, "input": arguments}
        case "tool_call" if arguments:
            return {**part, "args": arguments}
        case "function_call" if arguments:
            return {**part, "arguments": _compact(arguments)}
    return part


def _raw(extra: Mapping[str, Any], cleared: Mapping[str, Any]) -> Mapping[str, Any]:
    calls = extra.get("tool_calls")
    if not isinstance(calls, list):
        return extra
    return {**extra, "tool_calls": [_raw_call(call, cleared.get(call.get("id"))) for call in calls]}


def _raw_call(call: dict[str, Any], arguments: Any) -> dict[str, Any]:
    if not arguments or "function" not in call:
        return call
    return {**call, "function": {**call["function"], "arguments": _compact(arguments)}}


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


_CALLS = ("tool_calls", "invalid_tool_calls", "tool_call_chunks")


def _whole(message: Any, open_: Open) -> Message | None:
    """Without calls that could not be parsed, and without thinking that was never signed."""
    fields = message if isinstance(message, dict) else message.__dict__
    broken = _broken_ids(fields) & set(open_.values())
    kept = _without(fields, broken)
    if kept is None:
        return message
    if not (kept.get("content") or kept.get("tool_calls") or kept.get("invalid_tool_calls")):
        return None
    return kept if isinstance(message, dict) else _copied(message, kept)


def _broken_ids(fields: Mapping[str, Any]) -> set[str | None]:
    """Of chunks that were added up, ``tool_calls`` has what could be made of the pieces."""
    ids = {call.get("id") for call in fields.get("invalid_tool_calls") or ()}
    chunks = fields.get("tool_call_chunks") or ()
    return ids | {chunk.get("id") for chunk in chunks if not is_json(chunk.get("args") or "{}")}


def _without(fields: Mapping[str, Any], broken: set[str | None]) -> dict[str, Any] | None:
    """The fields without these calls, wherever they stand; None where nothing changes."""
    content, extra = fields.get("content"), fields.get("additional_kwargs") or {}
    kept: dict[str, Any] = {
        key: [call for call in fields[key] if call.get("id") not in broken]
        for key in _CALLS
        if broken and fields.get(key)
    }
    if isinstance(content, list):
        whole = [part for part in content if not _is_of(part, broken)]
        calls = kept.get("tool_calls", fields.get("tool_calls"))
        if whole and not calls and _is_unsigned(whole[-1]):
            whole.pop()
        kept |= {"content": whole} if len(whole) < len(content) else {}
    if broken and extra.get("tool_calls"):
        raw = [call for call in extra["tool_calls"] if call.get("id") not in broken]
        kept["additional_kwargs"] = {**extra, "tool_calls": raw}
    return {**fields, **kept} if kept else None


def _is_of(part: Any, broken: set[str | None]) -> bool:
    if not isinstance(part, dict) or not broken:
        return False
    return (part.get("call_id") or part.get("id") or None) in broken


def _is_unsigned(part: Any) -> bool:
    if not isinstance(part, dict) or part.get("type") != "thinking":
        return False
    return not part.get("signature")


def _to_json(message: Any) -> Any:
    if isinstance(message, dict):
        return message
    from langchain_core.messages import message_to_dict

    return {_SAVED: message_to_dict(message)}


def _from_json(saved: Any) -> Message:
    if _SAVED not in saved:
        return saved
    from langchain_core.messages import messages_from_dict

    return messages_from_dict([saved[_SAVED]])[0]


_SAVED = "langchain"
"""The key that tells a message object from a dict that stands for one."""


def _named(role: str, shape: Shape, *names: str) -> dict[str, tuple[Any, Shape]]:
    return dict.fromkeys(names, (role, shape))


LANGCHAIN = Format(
    name="langchain",
    url="https://docs.langchain.com/oss/python/langchain/messages",
    told_by=("type", "role"),
    roles={
        **_named("system", _MESSAGE, "system", "SystemMessageChunk", "developer"),
        **_named("user", _MESSAGE, "human", "HumanMessageChunk", "user"),
        **_named("assistant", _MESSAGE, "ai", "AIMessageChunk", "assistant"),
        **_named("tool", _RESULT, "tool", "ToolMessageChunk", "function", "FunctionMessageChunk"),
    },
    parts={
        "text": Shape("plain", {**_FREE_IN_PARTS, "text": "text", "annotations": "text"}),
        "image_url": Shape("plain", {**_FREE_IN_PARTS, "image_url": "medium"}),
        **{
            kind: Shape(
                "plain",
                {
                    **_FREE_IN_PARTS,
                    "source": "medium",
                    "source_type": "free",
                    "mime_type": "free",
                    **dict.fromkeys(("data", "base64", "url", "file_id"), "medium"),
                    kind: "medium",
                },
            )
            for kind in ("image", "audio", "video", "file", "input_image", "input_audio")
        },
        "thinking": Shape(
            "plain",
            {**_FREE_IN_PARTS, "thinking": "text", "signature": "sealed"},
            signed="signature",
        ),
        "redacted_thinking": Shape("plain", {**_FREE_IN_PARTS, "data": "sealed"}),
        "tool_use": _USE,
        "tool_call": Shape(
            "call",
            {**_FREE_IN_PARTS, "id": "id", "name": "name", "args": "body"},
            unless="tool_calls",
        ),
        "function_call": Shape(
            "call",
            {**_FREE_IN_PARTS, "call_id": "id", "name": "name", "arguments": "body"},
            unless="tool_calls",
        ),
        "input_json_delta": Shape("plain", {**_FREE_IN_PARTS, "partial_json": "free"}),
    },
    signs=Signs(types=("human", "ai", "AIMessageChunk", "HumanMessageChunk")),
    note=_note,
    answer=_answer,
    finished=each_by_itself(_whole),
    rules=(rules.results_have_calls, rules.calls_are_answered_at_once),
    is_class=is_langchain,
    rebuild=_rebuild,
    to_json=_to_json,
    from_json=_from_json,
)
