"""Recorded histories, written in another wire format."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from reference import Format


@dataclass(frozen=True)
class Call:
    """A call, with its arguments as an object."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Result:
    """What a call gave back, as text."""

    call: Call
    content: str


@dataclass
class Said:
    """What one message says, whatever its format."""

    role: str
    text: str
    calls: list[Call] = field(default_factory=list)
    results: list[tuple[str, str]] = field(default_factory=list)
    """Ids and contents, as they were recorded."""
    answers: list[Result] = field(default_factory=list)
    """What is left of them: results of the calls right before."""


def said(messages: list[dict[str, Any]]) -> list[Said]:
    """The sound part of a history in OpenAI-chat or Anthropic shape: paired, nothing empty.

    Ids are made unique, and the first message is the user's, as strict formats want it.
    """
    sound: list[Said] = []
    for message in map(_read, messages):
        if message.results and sound and (sound[-1].role == "assistant" or sound[-1].answers):
            _answer(sound, message.results)
        if message.text or message.calls:
            _close(sound)
            sound.append(replace(message, results=[]))
    _close(sound)
    first = next((at for at, m in enumerate(sound) if m.role == "user" and m.text), len(sound))
    return [m for at, m in enumerate(sound) if at >= first or m.role == "system"]


def _answer(sound: list[Said], results: list[tuple[str, str]]) -> None:
    if sound[-1].role == "assistant":
        sound.append(Said("user", ""))
    calls = {call.id: call for call in sound[-2].calls}
    taken = {answer.call.id for answer in sound[-1].answers}
    sound[-1].answers += [
        Result(calls[id_], content or "(nothing)")
        for id_, content in results
        if id_ in calls and id_ not in taken
    ]


def _close(sound: list[Said]) -> None:
    """Calls without a result go, and the rest get ids of their own."""
    if sound and not (sound[-1].text or sound[-1].calls or sound[-1].answers):
        sound.pop()
    at = len(sound) - (2 if sound and sound[-1].answers else 1)
    if at < 0 or not sound[at].calls:
        return
    answered = {answer.call.id for answer in sound[-1].answers}
    renamed = {
        call.id: replace(call, id=f"call_{at}_{number}")
        for number, call in enumerate(sound[at].calls)
        if call.id in answered
    }
    sound[at].calls = list(renamed.values())
    sound[-1].answers = [
        replace(answer, call=renamed[answer.call.id]) for answer in sound[-1].answers
    ]
    sound[at].text = sound[at].text or ("" if renamed else "(nothing)")


def _read(message: dict[str, Any]) -> Said:
    role = "system" if message["role"] == "developer" else message["role"]
    content = message.get("content")
    listed = content if isinstance(content, list) else []
    blocks = [block for block in listed if isinstance(block, dict)]
    text = content if isinstance(content, str) else _text(blocks)
    if role in ("tool", "function"):
        return Said("user", "", results=[(message.get("tool_call_id") or "", text)])
    calls = [_chat_call(call) for call in message.get("tool_calls") or []]
    calls += [
        Call(block["id"], block["name"], block["input"])
        for block in blocks
        if block.get("type") == "tool_use"
    ]
    results = [
        (block["tool_use_id"], _content(block.get("content")))
        for block in blocks
        if block.get("type") == "tool_result"
    ]
    return Said(role, text if text.strip() else "", calls, results)


def _chat_call(call: dict[str, Any]) -> Call:
    body = call.get("function") or call.get("custom") or {}
    return Call(call["id"], body.get("name") or "tool", _arguments(body.get("arguments")))


def _text(blocks: list[Any]) -> str:
    return "".join(block["text"] for block in blocks if block.get("type") == "text")


def _content(content: Any) -> str:
    return content if isinstance(content, str) else _text(content or [])


def _arguments(arguments: Any) -> dict[str, Any]:
    try:
        read = json.loads(arguments)
    except (TypeError, ValueError):
        return {"input": str(arguments)}
    return read if isinstance(read, dict) else {"input": read}


# --- writing ------------------------------------------------------------------------------------


def converted(messages: list[dict[str, Any]], format_: Format) -> list[Any]:
    """The sound part of a recorded history in another format."""
    write = WRITERS[format_]
    return [made for message in said(messages) for made in write(message)]


def chat(message: Said) -> list[Any]:
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in message.calls
    ]
    made: list[Any] = [
        {"role": "tool", "tool_call_id": answer.call.id, "content": answer.content}
        for answer in message.answers
    ]
    if message.text or calls:
        said_ = {"role": message.role, "content": message.text or None}
        made.append({**said_, "tool_calls": calls} if calls else said_)
    return made


def responses(message: Said) -> list[Any]:
    made: list[Any] = [
        {"type": "function_call_output", "call_id": answer.call.id, "output": answer.content}
        for answer in message.answers
    ]
    if message.text:
        made.append({"role": message.role, "content": message.text})
    if message.calls:
        item = {"type": "reasoning", "id": f"rs_{message.calls[0].id}", "summary": []}
        made.append(item)
    made += [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": json.dumps(call.arguments),
        }
        for call in message.calls
    ]
    return made


def anthropic(message: Said) -> list[Any]:
    blocks: list[Any] = [
        {"type": "tool_result", "tool_use_id": answer.call.id, "content": answer.content}
        for answer in message.answers
    ]
    if message.text:
        blocks.append({"type": "text", "text": message.text})
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in message.calls
    ]
    return [{"role": message.role, "content": blocks}]


def gemini(message: Said) -> list[Any]:
    """Calls without ids, as the Gemini API gave them for long."""
    parts: list[Any] = [
        {"functionResponse": {"name": answer.call.name, "response": {"result": answer.content}}}
        for answer in message.answers
    ]
    if message.text:
        parts.append({"text": message.text})
    parts += [
        {"functionCall": {"name": call.name, "args": call.arguments}} for call in message.calls
    ]
    if message.calls:
        parts[-len(message.calls)]["thoughtSignature"] = "c2lnbmF0dXJl"
    role = "model" if message.role == "assistant" else "user"
    return [] if message.role == "system" else [{"role": role, "parts": parts}]


def bedrock(message: Said) -> list[Any]:
    blocks: list[Any] = [
        {"toolResult": {"toolUseId": answer.call.id, "content": [{"text": answer.content}]}}
        for answer in message.answers
    ]
    if message.text:
        blocks.append({"text": message.text})
    blocks += [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}}
        for call in message.calls
    ]
    return [] if message.role == "system" else [{"role": message.role, "content": blocks}]


def langchain(message: Said) -> list[Any]:
    classes = import_module("langchain_core.messages")
    made: list[Any] = [
        classes.ToolMessage(answer.content, tool_call_id=answer.call.id, name=answer.call.name)
        for answer in message.answers
    ]
    if message.role == "assistant":
        calls = [
            {"id": call.id, "name": call.name, "args": call.arguments} for call in message.calls
        ]
        made.append(classes.AIMessage(message.text, tool_calls=calls))
    elif message.text:
        kind = classes.SystemMessage if message.role == "system" else classes.HumanMessage
        made.append(kind(message.text))
    return made


WRITERS: dict[Format, Callable[[Said], list[Any]]] = {
    "openai-chat": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock-converse": bedrock,
    "langchain": langchain,
}
