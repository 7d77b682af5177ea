"""The messages that are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reference.pricing import CLEARED_ARGUMENTS, Format, Message, compact
from reference.reading import openai_call_body
from reference.rows import Notes
from reference.walk import Plan, Policy, Walk, plan, walk_of


def request(
    messages: Sequence[Message], plan: Plan, policy: Policy, format: Format, notes: Notes
) -> list[Message]:
    """The request in the wire format: what is unchanged is the same object, the rest a copy."""
    walk = walk_of(messages, policy, format, notes)
    return [
        trim_note(notes, format) if m is None else changed(messages[m], m, walk, plan, format)
        for m in order(walk, plan)
    ]


def order(walk: Walk, plan: Plan) -> list[int | None]:
    """The indices of the history in the order of the request; None is the trim note.

    It stands 'right after the first' user message; where what was said before that message is
    kept too, or there is no such message, right after the preamble.
    """
    first = walk.first_user
    if first is not None and first <= plan.start:
        last = first
    else:
        last = max(walk.marker_span, default=walk.preamble_end - 1)
    note: list[int | None] = [None] if plan.note else []
    return [*(m for m in plan.kept if m <= last), *note, *(m for m in plan.kept if m > last)]


def trim_note(notes: Notes, format: Format) -> Message:
    match format:
        case "gemini":
            return {"role": "user", "parts": [{"text": notes.trimmed}]}
        case "bedrock-converse":
            return {"role": "user", "content": [{"text": notes.trimmed}]}
        case "langchain":
            from langchain_core.messages import HumanMessage

            return HumanMessage(notes.trimmed)
    return {"role": "user", "content": notes.trimmed}


def joined(messages: Sequence[Message], format: Format) -> list[Message]:
    """'Neighbours of one role are merged, in a copy', where roles must alternate."""
    if format != "bedrock-converse":
        return list(messages)
    made: list[Message] = []
    for message in messages:
        if made and made[-1]["role"] == message["role"]:
            message = {**made[-1], "content": [*made.pop()["content"], *message["content"]]}
        made.append(message)
    return made


def changed(message: Message, m: int, walk: Walk, plan: Plan, format: Format) -> Message:
    """The message with its cleared results and arguments, the very object if it has none."""
    for spot in plan.cleared:
        if spot[0] == m:
            place = walk.result(spot).place
            message = with_result(message, place, walk.note_text(spot), format)
    for spot in plan.cleared_arguments:
        if spot[0] == m:
            message = with_arguments(message, walk.reads[m].calls[spot[1]].place, format)
    return message


def with_result(message: Message, place: int, note: str, format: Format) -> Message:
    """'Status, id, name and position stay'; a cleared block keeps its mark."""
    match format:
        case "openai-chat":
            return {**message, "content": note}
        case "openai-responses" if message["type"] == "shell_call_output":
            outcome = {"type": "exit", "exit_code": 0}
            return {**message, "output": [{"stdout": note, "stderr": "", "outcome": outcome}]}
        case "openai-responses":
            return {**message, "output": note}
        case "gemini":
            return with_response(message, place, note)
        case "bedrock-converse":
            result = {**message["content"][place]["toolResult"], "content": [{"text": note}]}
            return with_block(message, place, {"toolResult": result})
        case "langchain":
            return message.model_copy(update={"content": note})
    return with_block(message, place, {"content": note})


def with_response(content: Message, place: int, note: str) -> Message:
    parts = list(content["parts"])
    key = "functionResponse" if "functionResponse" in parts[place] else "function_response"
    response = {**parts[place][key], "response": {"output": note}}
    if response.get("parts"):
        response["parts"] = []
    parts[place] = {**parts[place], key: response}
    return {**content, "parts": parts}


def with_block(message: Message, place: int, change: Mapping[str, Any]) -> Message:
    blocks = list(message["content"])
    blocks[place] = {**blocks[place], **change}
    return {**message, "content": blocks}


def with_arguments(message: Message, place: int, format: Format) -> Message:
    """'Cleared arguments become an object with the one key `_cleared`, as the format wants.'"""
    match format:
        case "anthropic":
            return with_block(message, place, {"input": dict(CLEARED_ARGUMENTS)})
        case "openai-responses":
            key = "input" if message["type"] == "custom_tool_call" else "arguments"
            return {**message, key: compact(CLEARED_ARGUMENTS)}
        case "gemini":
            parts = list(message["parts"])
            key = "functionCall" if "functionCall" in parts[place] else "function_call"
            call = {**parts[place][key], "args": dict(CLEARED_ARGUMENTS)}
            parts[place] = {**parts[place], key: call}
            return {**message, "parts": parts}
        case "bedrock-converse":
            use = {**message["content"][place]["toolUse"], "input": dict(CLEARED_ARGUMENTS)}
            return with_block(message, place, {"toolUse": use})
        case "langchain":
            return with_langchain_arguments(message, place)
    encoded = compact(CLEARED_ARGUMENTS)
    calls = list(message.get("tool_calls") or [])
    if place == len(calls):
        return {**message, "function_call": {**message["function_call"], "arguments": encoded}}
    body_key, arguments_key = openai_call_body(calls[place])
    calls[place] = {**calls[place], body_key: {**calls[place][body_key], arguments_key: encoded}}
    return {**message, "tool_calls": calls}


def with_langchain_arguments(message: Message, place: int) -> Message:
    """A call that stands in the content as well changes in both places."""
    calls = list(message.tool_calls)
    calls[place] = {**calls[place], "args": dict(CLEARED_ARGUMENTS)}
    content = message.content
    if isinstance(content, list):
        content = [
            {**part, "input": dict(CLEARED_ARGUMENTS)}
            if isinstance(part, dict) and part.get("id") == calls[place]["id"]
            else part
            for part in content
        ]
    return message.model_copy(update={"tool_calls": calls, "content": content})


def fit(
    messages: Sequence[Message],
    policy: Policy,
    format: Format,
    notes: Notes,
    system: Any = None,
    tools: Sequence[Any] | None = None,
) -> tuple[Plan, list[Message]]:
    """The plan and the request in one; neighbours are not merged yet."""
    made = plan(messages, policy, format, notes, system, tools)
    return made, request(messages, made, policy, format, notes)
