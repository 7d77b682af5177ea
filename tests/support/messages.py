"""Messages in few words: OpenAI's chat completions, and Anthropic's blocks."""

from __future__ import annotations

from typing import Any

import turnfit as tf

Message = dict[str, Any]


def user(text: str = "Go on.") -> Message:
    return {"role": "user", "content": text}


def says(text: str = "Ok.") -> Message:
    return {"role": "assistant", "content": text}


def calls(*ids: str, name: str = "read", arguments: str = "{}") -> Message:
    function = {"name": name, "arguments": arguments}
    tool_calls = [{"id": id_, "type": "function", "function": function} for id_ in ids]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls}


def result(id_: str, text: Any) -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": text}


def rounds(count: int, length: int = 800) -> list[Message]:
    return [m for n in range(count) for m in (calls(f"c{n}"), result(f"c{n}", "word " * length))]


def use(id_: str, **more: Any) -> Message:
    return {"type": "tool_use", "id": id_, "name": "read", "input": {}, **more}


def used(id_: str, content: Any = "ok") -> Message:
    return {"type": "tool_result", "tool_use_id": id_, "content": content}


def blocks(role: str, *content: Message) -> Message:
    return {"role": role, "content": list(content)}


def roles(messages: list[Any]) -> list[str]:
    return [message["role"] for message in messages]


def rules(messages: list[Any], **more: Any) -> list[str]:
    return [problem.rule for problem in tf.check(messages, **more)]
