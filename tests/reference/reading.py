"""Wire messages as the rules see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from reference.pricing import (
    MEDIUM,
    Format,
    Message,
    compact,
    price,
    text_block_price,
    unknown_block_price,
    unknown_keys_price,
    value_price,
)
from reference.rows import Call, Notes, Read, Result
from reference.wires import READERS


def read(message: Message, format: Format, notes: Notes) -> Read:
    """A wire message as the rules see it."""
    if format in READERS:
        return READERS[format](message, notes)
    row = read_openai(message, notes) if format == "openai-chat" else read_anthropic(message, notes)
    row.is_note = row.role == "user" and notes.is_trimmed(message.get("content"))
    return row


def read_all(messages: Sequence[Message], format: Format, notes: Notes) -> list[Read]:
    """A history; 'all output items of one response form one unit': those one after another."""
    reads = [read(message, format, notes) for message in messages]
    if format == "openai-responses":
        for row in reads:
            row.is_output = row.role == "assistant"
        for before, row in pairwise(reads):
            row.goes_on = before.is_output and row.is_output
    return reads


OPENAI_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
OPENAI_TEXTS = ("name", "refusal", "reasoning_content", "reasoning")
OPENAI_MEDIA = {"image_url", "input_audio", "file"}


def read_openai(message: Message, notes: Notes) -> Read:
    row = Read(message["role"])
    if row.role not in OPENAI_ROLES:
        raise ValueError(f"unknown role {row.role!r}")
    content = openai_content_price(message.get("content"))
    row.cost += content
    known = {"role", "content", *OPENAI_TEXTS}
    if row.role == "assistant":
        known |= {"tool_calls", "function_call"}
        read_openai_calls(row, message)
    row.cost += sum(value_price(message.get(key)) for key in OPENAI_TEXTS)
    if row.role in ("tool", "function"):
        known |= {"tool_call_id"}
        id = message.get("tool_call_id")
        name = message.get("name")
        row.cost += value_price(id)
        noted = notes.is_cleared(message.get("content"))
        row.results.append(Result(0, id, name, content, True, noted))
    row.cost += unknown_keys_price(message, known)
    return row


def openai_content_price(content: Any) -> int:
    if isinstance(content, list):
        return sum(openai_part_price(part) for part in content)
    return value_price(content)


def openai_part_price(part: Any) -> int:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        return text_block_price(part)
    if kind == "refusal":
        return value_price(part.get("refusal")) + unknown_keys_price(part, {"type", "refusal"})
    if kind in OPENAI_MEDIA:
        return MEDIUM + unknown_keys_price(part, {"type", kind})
    return unknown_block_price(part)


def read_openai_calls(row: Read, message: Message) -> None:
    """`tool_calls`, and the legacy `function_call` behind them."""
    for call in message.get("tool_calls") or []:
        add_openai_call(row, call)
    if message.get("function_call") is not None:
        add_openai_call(row, {"function": message["function_call"]})


def openai_call_body(call: Mapping[str, Any]) -> tuple[str, str]:
    """The key of a call's body, and the key of the arguments in it."""
    return ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")


def add_openai_call(row: Read, call: Mapping[str, Any]) -> None:
    """'In a call: type, index' are free."""
    body_key, arguments_key = openai_call_body(call)
    body = call.get(body_key) or {}
    arguments = value_price(body.get(arguments_key))
    row.cost += value_price(call.get("id")) + value_price(body.get("name")) + arguments
    row.cost += unknown_keys_price(call, {"id", "type", "index", body_key})
    row.cost += unknown_keys_price(body, {"name", arguments_key})
    row.calls.append(Call(len(row.calls), call.get("id"), body.get("name"), arguments))


ANTHROPIC_ROLES = {"system", "user", "assistant"}
ANTHROPIC_FREE = {
    "role",
    "content",
    "id",
    "type",
    "model",
    "stop_reason",
    "stop_sequence",
    "usage",
    "container",
}


def read_anthropic(message: Message, notes: Notes) -> Read:
    row = Read(message["role"])
    if row.role not in ANTHROPIC_ROLES:
        raise ValueError(f"unknown role {row.role!r}")
    content = message.get("content")
    if isinstance(content, list):
        for place, block in enumerate(content):
            read_anthropic_block(row, place, block, notes)
    else:
        row.cost += value_price(content)
    row.cost += unknown_keys_price(message, ANTHROPIC_FREE)
    return row


def read_anthropic_block(row: Read, place: int, block: Any, notes: Notes) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if isinstance(kind, str) and (kind == "tool_use" or kind.endswith("_tool_use")):
        read_anthropic_call(row, place, block)
    elif isinstance(kind, str) and (kind == "tool_result" or kind.endswith("_tool_result")):
        read_anthropic_result(row, place, block, notes)
    elif kind == "thinking":
        row.cost += value_price(block.get("thinking")) + value_price(block.get("signature"))
        row.cost += unknown_keys_price(block, {"type", "thinking", "signature"})
    elif kind == "compaction":
        row.marker = True
        row.cost += value_price(block.get("content")) + value_price(block.get("encrypted_content"))
    elif kind == "redacted_thinking":
        row.cost += value_price(block.get("data")) + unknown_keys_price(block, {"type", "data"})
    else:
        row.cost += anthropic_content_block_price(block)


def read_anthropic_call(row: Read, place: int, block: Mapping[str, Any]) -> None:
    arguments = value_price(block.get("input"))
    row.cost += value_price(block.get("id")) + value_price(block.get("name")) + arguments
    row.cost += unknown_keys_price(block, {"type", "id", "name", "input"})
    row.calls.append(Call(place, block.get("id"), block.get("name"), arguments))


def read_anthropic_result(row: Read, place: int, block: Mapping[str, Any], notes: Notes) -> None:
    """A server-side result is never cleared."""
    clearable = block["type"] == "tool_result"
    content = block.get("content")
    cost = anthropic_content_price(content)
    row.cost += value_price(block.get("tool_use_id")) + cost
    row.cost += unknown_keys_price(block, {"type", "tool_use_id", "content", "is_error"})
    noted = notes.is_cleared(content)
    row.results.append(Result(place, block.get("tool_use_id"), None, cost, clearable, noted))


def anthropic_content_price(content: Any) -> int:
    if isinstance(content, list):
        return sum(anthropic_content_block_price(block) for block in content)
    return value_price(content)


def anthropic_content_block_price(block: Any) -> int:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text":
        return text_block_price(block)
    if kind in ("image", "document"):
        return MEDIUM + unknown_keys_price(block, {"type", "source"})
    return unknown_block_price(block)


def system_price(system: Any) -> int:
    """A system prompt sent besides the messages: a text or text blocks."""
    return anthropic_content_price(system)


def tools_price(tools: Sequence[Any] | None) -> int:
    """Tool schemas: each the JSON of the whole tool."""
    return sum(
        price(compact({k: v for k, v in t.items() if k != "cache_control"})) for t in tools or []
    )
