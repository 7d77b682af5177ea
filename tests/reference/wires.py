"""The wire formats besides chat completions and Anthropic's, as the rules see them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from reference.pricing import (
    MEDIUM,
    Message,
    compact,
    price,
    unknown_block_price,
    unknown_keys_price,
    value_price,
)
from reference.rows import Call, Notes, Read, Result

Keys = Mapping[str, Any]
Priced = tuple[int, list[str | None]]
"""What a content costs, and its pieces: texts, and None for what is no text."""


def text(value: Any) -> int:
    if isinstance(value, bytes):
        value = base64.b64encode(value).decode()
    return value_price(value)


def only(pieces: list[str | None]) -> str | None:
    return pieces[0] if len(pieces) == 1 else None


def plain(content: Any) -> Priced:
    """A content that is no list: a text, or JSON."""
    if content is None:
        return 0, []
    return text(content), [content if isinstance(content, str) else None]


def summed(priced: list[Priced]) -> Priced:
    return sum(cost for cost, _ in priced), [piece for _, pieces in priced for piece in pieces]


# --- OpenAI's Responses -------------------------------------------------------------------------

RESPONSES_FREE = {"type", "id", "status", "caller"}
RESPONSES_ROLES = {"system", "developer", "user", "assistant"}
RESPONSES_CALLS: dict[str, tuple[str, str]] = {
    "function_call": ("call_id", "arguments"),
    "custom_tool_call": ("call_id", "input"),
    "local_shell_call": ("id", "action"),
    "shell_call": ("call_id", "action"),
    "apply_patch_call": ("call_id", "operation"),
}
"""The keys of the id and of the arguments."""
RESPONSES_RESULTS = {f"{name}_output": key for name, (key, _) in RESPONSES_CALLS.items()}
RESPONSES_FIXED = {"local_shell_call", "shell_call", "apply_patch_call"}
"""Their arguments are never cleared."""
RESPONSES_HOSTED = {"web_search_call", "file_search_call", "mcp_call", "configuration_update"}


def read_responses(item: Message, notes: Notes) -> Read:
    kind = item.get("type")
    if kind in RESPONSES_CALLS:
        return read_responses_call(item, kind)
    if kind in RESPONSES_RESULTS:
        return read_responses_result(item, kind, notes)
    if kind in (None, "message") and item.get("role") in RESPONSES_ROLES:
        return read_responses_message(item, notes)
    return read_responses_other(item, kind)


def read_responses_message(item: Message, notes: Notes) -> Read:
    row = Read(item["role"])
    cost, pieces = responses_content(item.get("content"))
    row.cost += cost + unknown_keys_price(item, {"role", "type", "id", "status", "content"})
    row.is_note = row.role == "user" and notes.is_trimmed(only(pieces))
    return row


def responses_content(content: Any) -> Priced:
    if isinstance(content, list):
        return summed([responses_part(part) for part in content])
    return plain(content)


def responses_part(part: Any) -> Priced:
    kind = part.get("type")
    if kind in ("input_text", "output_text", "text"):
        known = {"type", "text", "annotations", "logprobs"}
        return text(part.get("text")) + unknown_keys_price(part, known), [part.get("text")]
    if kind == "refusal":
        return text(part["refusal"]), [part["refusal"]]
    if kind in ("input_image", "input_file"):
        return MEDIUM, [None]
    return unknown_block_price(part), [None]


def read_responses_call(item: Message, kind: str) -> Read:
    row = Read("assistant")
    id_key, body_key = RESPONSES_CALLS[kind]
    arguments = text(item.get(body_key))
    id, name = item.get(id_key), item.get("name")
    row.cost += text(id) + text(name) + arguments
    known = RESPONSES_FREE | {"call_id", "name", body_key}
    row.cost += unknown_keys_price(item, known)
    row.calls.append(Call(0, id, name, arguments, fixed=kind in RESPONSES_FIXED))
    return row


def read_responses_result(item: Message, kind: str, notes: Notes) -> Read:
    row = Read("tool")
    output = item.get("output")
    if kind == "shell_call_output":
        cost, pieces = summed([shell_part(part) for part in output])
    else:
        cost, pieces = responses_content(output)
    id = item.get(RESPONSES_RESULTS[kind])
    row.cost += text(id) + cost
    row.cost += unknown_keys_price(item, RESPONSES_FREE | {"call_id", "output"})
    row.results.append(Result(0, id, None, cost, True, notes.is_cleared(only(pieces))))
    return row


def shell_part(part: Keys) -> Priced:
    texts = [part[key] for key in ("stdout", "stderr") if part.get(key) is not None]
    return sum(map(text, texts)), [piece for piece in texts if piece]


def read_responses_other(item: Message, kind: str | None) -> Read:
    row = Read("system" if kind == "configuration_update" else "assistant")
    match kind:
        case "reasoning":
            texts = [*item.get("summary", []), *(item.get("content") or [])]
            row.cost += sum(text(part["text"]) for part in texts)
            row.cost += text(item.get("encrypted_content"))
        case "compaction":
            row.marker = True
            row.cost += text(item.get("encrypted_content"))
        case "item_reference" | None:
            row.cost += text(item["id"])
            row.calls.append(Call(0, None, None, 0, is_reference=True))
        case "image_generation_call":
            row.cost += MEDIUM
        case _:
            row.cost += unknown_block_price(item)
    return row


# --- Gemini -------------------------------------------------------------------------------------

GEMINI_ROLES = {None: "user", "user": "user", "model": "assistant", "function": "tool"}


def either(keys: Keys, camel: str, snake: str) -> Any:
    return keys.get(camel, keys.get(snake))


def read_gemini(content: Message, notes: Notes) -> Read:
    row = Read(GEMINI_ROLES[content.get("role")])
    pieces: list[str | None] = []
    for place, part in enumerate(content.get("parts") or []):
        read_gemini_part(row, place, part, notes, pieces)
    row.cost += unknown_keys_price(content, {"role", "parts"})
    nothing_else = not row.calls and not row.results
    row.is_note = nothing_else and row.role == "user" and notes.is_trimmed(only(pieces))
    return row


def read_gemini_part(
    row: Read, place: int, part: Keys, notes: Notes, pieces: list[str | None]
) -> None:
    call = either(part, "functionCall", "function_call")
    response = either(part, "functionResponse", "function_response")
    signature = either(part, "thoughtSignature", "thought_signature")
    row.cost += text(part.get("text")) + text(signature)
    pieces += [value for value in (part.get("text"), signature) if value is not None]
    if either(part, "inlineData", "inline_data") is not None:
        row.cost += MEDIUM
        pieces.append(None)
    if call is not None:
        arguments = text(call.get("args"))
        row.cost += text(call.get("id")) + text(call.get("name")) + arguments
        row.calls.append(Call(place, call.get("id"), call.get("name"), arguments))
    if response is not None:
        read_gemini_response(row, place, response, notes)
    known = {
        *("text", "thought", "thoughtSignature", "thought_signature", "inlineData", "inline_data"),
        *("functionCall", "function_call", "functionResponse", "function_response"),
    }
    row.cost += unknown_keys_price(part, known)


def read_gemini_response(row: Read, place: int, response: Keys, notes: Notes) -> None:
    """A response is an object; one with a text under `output` alone costs the text."""
    content = response.get("response")
    output = content.get("output") if isinstance(content, dict) and len(content) == 1 else None
    cost, pieces = plain(output if isinstance(output, str) else content)
    media = MEDIUM * len(response.get("parts") or [])
    row.cost += text(response.get("id")) + text(response.get("name")) + cost + media
    noted = notes.is_cleared(only(pieces)) and not media
    row.results.append(
        Result(place, response.get("id"), response.get("name"), cost + media, True, noted)
    )


# --- Bedrock's Converse -------------------------------------------------------------------------


def read_bedrock(message: Message, notes: Notes) -> Read:
    row = Read(message["role"])
    pieces: list[str | None] = []
    for place, block in enumerate(message["content"]):
        read_bedrock_block(row, place, block, notes, pieces)
    nothing_else = not row.calls and not row.results
    row.is_note = nothing_else and row.role == "user" and notes.is_trimmed(only(pieces))
    return row


def read_bedrock_block(
    row: Read, place: int, block: Keys, notes: Notes, pieces: list[str | None]
) -> None:
    if "toolUse" in block:
        use = block["toolUse"]
        arguments = text(use["input"])
        row.cost += text(use["toolUseId"]) + text(use["name"]) + arguments
        row.calls.append(Call(place, use["toolUseId"], use["name"], arguments))
    elif "toolResult" in block:
        result = block["toolResult"]
        cost, inner = summed([bedrock_part(part) for part in result["content"]])
        row.cost += text(result["toolUseId"]) + cost
        noted = notes.is_cleared(only(inner))
        row.results.append(Result(place, result["toolUseId"], None, cost, True, noted))
    else:
        cost, inner = bedrock_part(block)
        row.cost += cost
        pieces += inner


def bedrock_part(block: Keys) -> Priced:
    """An object of one key, which tells what it is."""
    [(key, value)] = block.items()
    match key:
        case "text":
            return text(value), [value]
        case "json":
            return price(compact(value)), [None]
        case "image":
            return MEDIUM, [None]
        case "cachePoint":
            return 0, []
        case "reasoningContent" if "reasoningText" in value:
            inner = value["reasoningText"]
            texts = [inner["text"], *([inner["signature"]] if "signature" in inner else [])]
            return sum(map(text, texts)), list(texts)
        case "reasoningContent":
            return text(value["redactedContent"]), [None]
    return unknown_keys_price(block, set()), []


# --- LangChain ----------------------------------------------------------------------------------

LANGCHAIN_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def read_langchain(message: Any, notes: Notes) -> Read:
    row = Read(LANGCHAIN_ROLES[message.type])
    cost, pieces = langchain_content(message)
    row.cost += cost + text(message.name)
    if row.role == "tool":
        row.cost += text(message.tool_call_id)
        noted = notes.is_cleared(only(pieces))
        row.results.append(Result(0, message.tool_call_id, message.name, cost, True, noted))
    for place, call in enumerate(getattr(message, "tool_calls", [])):
        arguments = text(call["args"])
        row.cost += text(call["id"]) + text(call["name"]) + arguments
        row.calls.append(Call(place, call["id"], call["name"], arguments))
    nothing_else = not row.calls and not row.results
    row.is_note = nothing_else and row.role == "user" and notes.is_trimmed(only(pieces))
    return row


def langchain_content(message: Any) -> Priced:
    """Calls that stand in the content as well count in `tool_calls`."""
    if isinstance(message.content, str):
        return plain(message.content)
    return summed([langchain_part(part) for part in message.content])


def langchain_part(part: Any) -> Priced:
    if isinstance(part, str):
        return plain(part)
    match part.get("type"):
        case "text":
            return text(part["text"]), [part["text"]]
        case "image_url":
            return MEDIUM, [None]
        case "tool_use":
            return 0, []
    return unknown_block_price(part), [None]


READERS: dict[str, Callable[[Any, Notes], Read]] = {
    "openai-responses": read_responses,
    "gemini": read_gemini,
    "bedrock-converse": read_bedrock,
    "langchain": read_langchain,
}
