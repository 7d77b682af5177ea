"""Messages whose stream was broken off, in every format, and what is left of them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import turnfit as tf


class Broken(NamedTuple):
    """What the pieces of a stream add up to.

    `left` is what is sent of it, None where that is nothing; `rule` is how it is told.
    """

    message: Any
    left: Any
    rule: str


PIECE = '{"path": "src/a'
WHOLE = {"type": "text", "text": "I read it."}
THINKS = {"type": "thinking", "thinking": "First the", "signature": ""}
SIGNED = {"type": "thinking", "thinking": "First.", "signature": "c2ln"}


def said(*content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(content), **more}


def chat(*calls: Any, content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def function(id: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}


def use(input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": "b1", "name": "read", "input": input}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def converse(input: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": "b1", "name": "read", "input": input}}


CALL, THINKING = "unfinished-call", "unfinished-thinking"
TEXT = {"text": "I read it."}
REASONS = {"reasoningContent": {"reasoningText": {"text": "First"}}}
IS_SIGNED = {"reasoningContent": {"reasoningText": {"text": "First", "signature": "c2ln"}}}
ENDLESS = {"name": "read", "id": "b1", "args": {"path": "src/a"}, "willContinue": True}
PIECES = {"name": "read", "partial_args": [{"json_path": "$.path", "string_value": "src/a"}]}

BROKEN: dict[str, list[Broken]] = {
    "openai-chat": [
        Broken(chat(function("b1", PIECE)), None, CALL),
        Broken(chat(function("b1", "")), None, CALL),
        Broken(
            chat(function("b1", PIECE), content="I read it."),
            {"role": "assistant", "content": "I read it."},
            CALL,
        ),
        Broken(
            {"role": "assistant", "function_call": {"name": "read", "arguments": PIECE}}, None, CALL
        ),
    ],
    "openai-responses": [
        Broken(
            {"type": "function_call", "call_id": "b1", "name": "read", "arguments": PIECE},
            None,
            CALL,
        ),
        Broken(
            {
                "type": "custom_tool_call",
                "call_id": "b1",
                "name": "read",
                "input": "sr",
                "status": "in_progress",
            },
            None,
            CALL,
        ),
        Broken(
            {"type": "reasoning", "id": "rs_b1", "summary": [], "status": "incomplete"},
            None,
            THINKING,
        ),
    ],
    "anthropic": [
        Broken(said(WHOLE, THINKS), said(WHOLE), THINKING),
        Broken(said({"type": "thinking", "thinking": "First"}), None, THINKING),
        Broken(said(SIGNED, WHOLE, use(PIECE)), said(SIGNED, WHOLE), CALL),
        Broken(said(SIGNED, use("")), None, CALL),
        Broken(
            said(WHOLE, use({"path": "src/a"}), stop_reason="max_tokens"),
            said(WHOLE, stop_reason="max_tokens"),
            CALL,
        ),
    ],
    "gemini": [
        Broken(model(TEXT, {"functionCall": ENDLESS}), model(TEXT), CALL),
        Broken(model({"function_call": PIECES}), None, CALL),
    ],
    "bedrock-converse": [
        Broken(said(TEXT, REASONS), said(TEXT), THINKING),
        Broken(said(REASONS), None, THINKING),
        Broken(said(IS_SIGNED, TEXT, converse(PIECE)), said(IS_SIGNED, TEXT), CALL),
    ],
    "turnfit": [
        Broken(tf.Message("assistant", tf.Call("b1", "read", PIECE)), None, CALL),
        Broken(
            tf.Message("assistant", "I read it.", tf.Call("b1", "read", PIECE)),
            tf.Message("assistant", "I read it."),
            CALL,
        ),
    ],
}


def langchain() -> list[Broken]:
    """Chunks that were added up, and calls that could not be parsed."""
    messages: Any = import_module("langchain_core.messages")
    chunk = {"id": "b1", "name": "read", "args": PIECE, "index": 0, "type": "tool_call_chunk"}
    invalid = {"id": "b1", "name": "read", "args": PIECE, "error": None}
    return [
        Broken(
            messages.AIMessageChunk("I read it.", tool_call_chunks=[chunk]),
            messages.AIMessageChunk("I read it."),
            CALL,
        ),
        Broken(messages.AIMessage("", invalid_tool_calls=[invalid]), None, CALL),
        Broken(messages.AIMessage([WHOLE, THINKS]), messages.AIMessage([WHOLE]), THINKING),
    ]


if find_spec("langchain_core"):
    BROKEN["langchain"] = langchain()

RESULTS: dict[str, Any] = {
    "openai-chat": {"role": "tool", "tool_call_id": "b1", "content": "ok"},
    "openai-responses": {"type": "function_call_output", "call_id": "b1", "output": "ok"},
    "anthropic": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "b1", "content": "ok"}],
    },
    "gemini": {
        "role": "user",
        "parts": [{"functionResponse": {"name": "read", "id": "b1", "response": {"output": "ok"}}}],
    },
    "bedrock-converse": said({"toolResult": {"toolUseId": "b1", "content": [{"text": "ok"}]}})
    | {"role": "user"},
    "turnfit": tf.Message("tool", tf.Result("b1", "ok")),
}
"""A result for the call, in each format."""
