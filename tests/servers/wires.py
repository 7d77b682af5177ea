"""Two wire formats as a model's server speaks them: what it reads of a request, what it answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from typing import Any, Literal, Protocol

from servers.prefix_cache import CacheUse

Body = dict[str, Any]
_numbers = count(1)


@dataclass(frozen=True)
class Entry:
    """A part of a request as the model reads it: for a call its tool, in `text` its arguments."""

    kind: Literal["user", "says", "call", "result"]
    text: str
    tool: str = ""

    @property
    def arguments(self) -> Mapping[str, Any]:
        """What a call is given."""
        given: Mapping[str, Any] = json.loads(self.text)
        return given


@dataclass(frozen=True)
class Seen:
    """All that a model knows: what stands in its request."""

    instructions: str
    tools: Sequence[str]
    entries: Sequence[Entry]

    def of(self, *kinds: str) -> list[Entry]:
        """The entries of some kinds, in order."""
        return [entry for entry in self.entries if entry.kind in kinds]


@dataclass(frozen=True)
class Answer:
    """What a scripted model says: a text, and calls as pairs of tool and arguments."""

    text: str
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


class Wire(Protocol):
    """A wire format."""

    path: str

    def seen(self, body: Body) -> Seen:
        """What the model reads."""

    def content(self, answer: Answer, body: Body) -> list[Body]:
        """The blocks or items of an answer."""

    def answered(self, body: Body, content: list[Body], use: CacheUse, output: int) -> Body:
        """The response, with its usage."""

    def too_long(self, used: int, limit: int) -> Body:
        """The refusal of a request that is longer than the window."""


def _id(start: str, body: Body, *parts: Any) -> str:
    """A call's id, the same at every run, in whatever order threads come."""
    told = json.dumps([len(body["messages"]), *parts])
    return f"{start}_{sha256(told.encode()).hexdigest()[:16]}"


class Chat:
    """OpenAI's chat completions."""

    path = "/v1/chat/completions"

    def seen(self, body: Body) -> Seen:
        """See `Wire.seen`."""
        messages = body["messages"]
        told = [m["content"] for m in messages if m["role"] in ("system", "developer")]
        tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
        entries = [entry for message in messages for entry in self._entries(message)]
        return Seen("\n".join(told), tools, entries)

    def _entries(self, message: Body) -> Iterator[Entry]:
        kinds: dict[str, Literal["user", "says", "result"]] = {
            "user": "user",
            "assistant": "says",
            "tool": "result",
        }
        kind = kinds.get(message["role"])
        if kind and message.get("content"):
            yield Entry(kind, message["content"])
        for call in message.get("tool_calls") or ():
            yield Entry("call", call["function"]["arguments"], call["function"]["name"])

    def content(self, answer: Answer, body: Body) -> list[Body]:
        """See `Wire.content`; one message."""
        message: Body = {"role": "assistant", "content": answer.text or None}
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": _id("call", body, tool, given),
                    "type": "function",
                    "function": {"name": tool, "arguments": json.dumps(given, ensure_ascii=False)},
                }
                for tool, given in answer.calls
            ]
        return [message]

    def answered(self, body: Body, content: list[Body], use: CacheUse, output: int) -> Body:
        """See `Wire.answered`."""
        [message] = content
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {
            "prompt_tokens": use.total,
            "completion_tokens": output,
            "total_tokens": use.total + output,
            "prompt_tokens_details": {"cached_tokens": use.read},
        }
        return {
            "id": f"chatcmpl-{next(_numbers)}",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage,
        }

    def too_long(self, used: int, limit: int) -> Body:
        """See `Wire.too_long`."""
        message = (
            f"This model's maximum context length is {limit} tokens. However, your messages "
            f"resulted in {used} tokens. Please reduce the length of the messages."
        )
        kind = "invalid_request_error"
        code = "context_length_exceeded"
        return {"error": {"message": message, "type": kind, "param": "messages", "code": code}}


class Messages:
    """Anthropic's messages."""

    path = "/v1/messages"

    def seen(self, body: Body) -> Seen:
        """See `Wire.seen`."""
        told = [block["text"] for block in body.get("system") or ()]
        tools = [tool["name"] for tool in body.get("tools") or ()]
        blocks = (
            (message["role"], block)
            for message in body["messages"]
            for block in self._blocks(message["content"])
        )
        entries = [entry for role, block in blocks for entry in self._entries(role, block)]
        return Seen("\n".join(told), tools, entries)

    def _blocks(self, content: Any) -> list[Body]:
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    def _entries(self, role: str, block: Body) -> Iterator[Entry]:
        match block["type"]:
            case "text":
                yield Entry("user" if role == "user" else "says", block["text"])
            case "tool_use":
                given = json.dumps(block["input"], ensure_ascii=False)
                yield Entry("call", given, block["name"])
            case "tool_result":
                texts = (part.get("text", "") for part in self._blocks(block["content"]))
                yield Entry("result", "".join(texts))

    def content(self, answer: Answer, body: Body) -> list[Body]:
        """See `Wire.content`; where thinking is asked for, it stands first."""
        thought = {"type": "thinking", "thinking": f"I weigh: {answer.text}", "signature": ""}
        said = {"type": "text", "text": answer.text}
        calls = [
            {
                "type": "tool_use",
                "id": _id("toolu", body, tool, given),
                "name": tool,
                "input": given,
            }
            for tool, given in answer.calls
        ]
        thinks = (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
        return [*([thought] if thinks else []), *([said] if answer.text else []), *calls]

    def answered(self, body: Body, content: list[Body], use: CacheUse, output: int) -> Body:
        """See `Wire.answered`."""
        calls = any(block["type"] == "tool_use" for block in content)
        return {
            "id": f"msg_{next(_numbers)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {**use.as_anthropic(), "output_tokens": output},
        }

    def too_long(self, used: int, limit: int) -> Body:
        """See `Wire.too_long`."""
        message = f"prompt is too long: {used} tokens > {limit} maximum"
        error = {"type": "invalid_request_error", "message": message}
        return {"type": "error", "error": error, "request_id": f"req_{next(_numbers)}"}


WIRES: dict[str, Wire] = {wire.path: wire for wire in (Chat(), Messages())}
