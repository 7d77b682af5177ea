"""Hypothesis strategies: histories in a wire format as real ones go wrong, and policies for them.

histories(format)           up to about 40 messages
policies(messages, format)  budgets from nothing to more than the whole
cases(format)               both, with a system prompt and tools
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar, cast

from hypothesis import strategies as st
from reference import (
    REQUEST_FRAME,
    Draft,
    Format,
    Keep,
    Message,
    Notes,
    Policy,
    compact,
    system_price,
    tools_price,
    walk_of,
)

langchain: Any = import_module("langchain_core.messages") if find_spec("langchain_core") else None

NOTES = Notes(
    cleared="[Cleared to save context. Run the tool again if needed.]",
    cleared_done="[Carried out. Output cleared; do not repeat the call to see it.]",
    trimmed="[Earlier conversation was trimmed here.]",
    older=(Notes("[cleared@0]", "[done@0]", "[trimmed@0]"),),
)
TOOLS = ("read", "bash", "mail", "search")
FORMATS: tuple[Format, ...] = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock-converse",
    *(("langchain",) if langchain else ()),
)
MOST_MESSAGES = 40

PNG = "data:image/png;base64,iVBORw0KGgo="
UNITS = (
    "lorem ipsum ",
    "a",
    "0123456789abcdef",
    '{"k":"v\\n"}\n',
    "привет ",
    "日本語。",
    "한국어",
    "é",
    "مرحبا",
    "😀",
    "\ud800",
    "data: 1,2 ",
)


T = TypeVar("T")


class Draw(Protocol):
    """What `st.composite` hands out."""

    def __call__(self, strategy: st.SearchStrategy[Any]) -> Any: ...


@cache
def below(n: int) -> st.SearchStrategy[int]:
    """Strategies are made once: making them is what takes the time."""
    return st.integers(0, n - 1)


def chance(draw: Draw, one_in: int) -> bool:
    """True once in so many draws; shrinks to False."""
    return cast(int, draw(below(one_in))) == one_in - 1


def pick(draw: Draw, options: Sequence[T]) -> T:
    """One of them; shrinks to the first."""
    return options[cast(int, draw(below(len(options))))]


def count(draw: Draw, most: int) -> int:
    return cast(int, draw(below(most + 1)))


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def text(draw: Draw, lengths: Sequence[int]) -> str:
    """A text in some script of about one of the lengths."""
    longest = pick(draw, lengths)
    return repeated(pick(draw, UNITS), longest - count(draw, longest // 4))


SMALL = (0, 5, 12, 40)
RESULT = (120, 0, 30, 400, 900, 1_500)

LEAVES = (None, True, 7, -1_000_000, 0.5, -2.25, "", "näive\n", "\ud800", PNG)
JSON_KEYS = ("path", "cache_control", "é", 'q"')


def json_value(draw: Draw) -> Any:
    """The value of an unknown key, or of an argument given as an object."""
    leaves = [pick(draw, LEAVES) for _ in range(count(draw, 3))]
    values = {"path": text(draw, (60, 0, 300)), **dict(zip(JSON_KEYS, leaves, strict=False))}
    return pick(draw, (text(draw, SMALL), *leaves, leaves, values))


def marked(draw: Draw, block: dict[str, Any]) -> dict[str, Any]:
    """The block, now and then with a cache mark or a key that no format knows."""
    if chance(draw, 12):
        block = {**block, "cache_control": {"type": "ephemeral"}}
    if chance(draw, 20):
        block = {**block, "x_unknown": json_value(draw)}
    return block


# --- ids ----------------------------------------------------------------------------------------


@dataclass
class Ids:
    """Ids as servers give them: unique, restarting per turn or message, or all the same."""

    scheme: str
    count: int = 0

    def new_turn(self) -> None:
        if self.scheme == "per turn":
            self.count = 0

    def new_message(self) -> None:
        if self.scheme == "per message":
            self.count = 0

    def next(self) -> str:
        self.count += 1
        return "call" if self.scheme == "equal" else f"call_{self.count}"


ID_SCHEMES = ("unique", "unique", "per turn", "per message", "equal")


@dataclass
class Call:
    """A call that a result can be written for; legacy calls have no id."""

    id: str | None
    name: str
    kind: str = ""


# --- writers: one per format --------------------------------------------------------------------


@dataclass
class Writer:
    """Writes messages of one format; what they contain is drawn."""

    draw: Draw
    ids: Ids
    messages: list[Message] = field(default_factory=list)

    def system(self) -> None:
        self.messages.append({"role": "system", "content": text(self.draw, SMALL)})

    def trim_note(self) -> None:
        wording = pick(self.draw, [NOTES.trimmed, NOTES.older[0].trimmed])
        content: Any = wording
        if chance(self.draw, 4):
            content = [{"type": "text", "text": wording}]
        self.messages.append({"role": "user", "content": content})

    def user(self) -> None:
        raise NotImplementedError

    def assistant(self, names: list[str]) -> list[Call]:
        raise NotImplementedError

    def results(self, calls: list[Call], huge: bool = False) -> None:
        raise NotImplementedError

    def result_text(self, huge: bool) -> str:
        if huge:
            return text(self.draw, (4_000,))
        if chance(self.draw, 12):
            return pick(self.draw, [NOTES.cleared, NOTES.older[0].cleared])
        return text(self.draw, RESULT)


class OpenAIWriter(Writer):
    def system(self) -> None:
        role = pick(self.draw, ["system", "developer"])
        content: Any = text(self.draw, SMALL)
        if chance(self.draw, 6):
            content = [{"type": "text", "text": content}]
        self.messages.append({"role": role, "content": content})

    def user(self) -> None:
        content: Any = text(self.draw, SMALL)
        if chance(self.draw, 6):
            content = [self.part() for _ in range(count(self.draw, 3))]
        self.messages.append(marked(self.draw, {"role": "user", "content": content}))

    def part(self) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [
            {"type": "text", "text": text(self.draw, SMALL)},
            {"type": "image_url", "image_url": {"url": PNG}},
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            {"type": "file", "file": {"file_id": "file-1"}},
            {"type": "video_url", "video_url": {"url": PNG, "fps": 2}},
            {"type": "text", "text": PNG},
        ]
        return marked(self.draw, pick(self.draw, parts))

    def assistant(self, names: list[str]) -> list[Call]:
        self.ids.new_message()
        content: Any = pick(self.draw, (text(self.draw, SMALL), None))
        if chance(self.draw, 8):
            content = [{"type": pick(self.draw, ["text", "refusal"])}]
            content[0][content[0]["type"]] = text(self.draw, SMALL)
        message: Message = {"role": "assistant", "content": content}
        if len(names) == 1 and chance(self.draw, 5):
            message["function_call"] = {"name": names[0], "arguments": self.encoded_arguments()}
            calls = [Call(None, names[0])]
        else:
            calls = [Call(self.ids.next(), name) for name in names]
            if calls or chance(self.draw, 6):
                message["tool_calls"] = [self.tool_call(call) for call in calls]
        if chance(self.draw, 15):
            message["refusal"] = None
            message["reasoning_content"] = text(self.draw, SMALL)
        self.messages.append(marked(self.draw, message))
        return calls

    def encoded_arguments(self) -> str:
        """Whole: what a stream leaves of arguments is tested by itself."""
        if chance(self.draw, 4):
            return compact({"path": text(self.draw, (0, 60, 400))})
        return '{"path":"a.txt"}'

    def tool_call(self, call: Call) -> dict[str, Any]:
        if chance(self.draw, 10):
            custom = {"name": call.name, "input": self.encoded_arguments()}
            return {"id": call.id, "type": "custom", "custom": custom}
        function = {"name": call.name, "arguments": self.encoded_arguments()}
        wire = {"id": call.id, "type": "function", "function": function}
        return {"index": 0, **wire} if chance(self.draw, 10) else wire

    def results(self, calls: list[Call], huge: bool = False) -> None:
        for call in calls:
            message: Message = {"role": "function", "name": call.name}
            if call.id is not None:
                message = {"role": "tool", "tool_call_id": call.id}
                if chance(self.draw, 4):
                    message["name"] = call.name
            message["content"] = self.result_content(huge)
            self.messages.append(marked(self.draw, message))

    def result_content(self, huge: bool) -> Any:
        shape = "text" if huge else pick(self.draw, ["text"] * 6 + ["parts", "nothing"])
        if shape == "nothing":
            return pick(self.draw, [None, "", [], PNG])
        text = self.result_text(huge)
        if shape == "text":
            return text
        return [{"type": "text", "text": text}, *([self.part()] if chance(self.draw, 2) else [])]


class AnthropicWriter(Writer):
    def user(self) -> None:
        content: Any = text(self.draw, SMALL)
        if chance(self.draw, 5):
            content = [self.block() for _ in range(count(self.draw, 3))]
        self.messages.append({"role": "user", "content": content})

    def block(self) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [
            {"type": "text", "text": text(self.draw, SMALL)},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png"}},
            {"type": "document", "source": {"type": "url", "url": "https://a.b/c.pdf"}},
            {"type": "future_block", "body": {"url": PNG, "n": 1}},
            {"type": "text", "text": PNG},
        ]
        return marked(self.draw, pick(self.draw, blocks))

    def assistant(self, names: list[str]) -> list[Call]:
        self.ids.new_message()
        if not names and chance(self.draw, 3):
            self.messages.append({"role": "assistant", "content": text(self.draw, SMALL)})
            return []
        blocks = [*self.thinking(), {"type": "text", "text": text(self.draw, SMALL)}]
        if chance(self.draw, 8):
            blocks += self.server_tool()
        calls = [Call(self.ids.next(), name) for name in names]
        blocks += [self.tool_use(call) for call in calls]
        message: Message = {"role": "assistant", "content": blocks}
        if chance(self.draw, 10):
            message |= {"id": "msg_1", "type": "message", "usage": {"input_tokens": 5}}
        self.messages.append(message)
        return calls

    def thinking(self) -> list[dict[str, Any]]:
        if chance(self.draw, 60):
            return [{"type": "compaction", "content": text(self.draw, (60,))}]
        if not chance(self.draw, 5):
            return []
        if chance(self.draw, 3):
            return [{"type": "redacted_thinking", "data": text(self.draw, (40,))}]
        thinking = text(self.draw, SMALL)
        return [{"type": "thinking", "thinking": thinking, "signature": "c2lnbmF0dXJl"}]

    def server_tool(self) -> list[dict[str, Any]]:
        """A search by the provider; its result may be missing, as after a pause."""
        id = "srvtoolu_1" if chance(self.draw, 2) else self.ids.next()
        query = {"query": text(self.draw, SMALL)}
        use = {"type": "server_tool_use", "id": id, "name": "web_search", "input": query}
        hits = [{"type": "web_search_result", "encrypted_content": text(self.draw, RESULT)}]
        result = {"type": "web_search_tool_result", "tool_use_id": id, "content": hits}
        return [use] if chance(self.draw, 8) else [use, result]

    def tool_use(self, call: Call) -> dict[str, Any]:
        block = {"type": "tool_use", "id": call.id, "name": call.name}
        return marked(self.draw, {**block, "input": self.arguments()})

    def arguments(self) -> dict[str, Any]:
        keys = ("path", "text", "n")[: count(self.draw, 3)]
        return {key: json_value(self.draw) for key in keys}

    def results(self, calls: list[Call], huge: bool = False) -> None:
        """All in one user message, now and then split over several or beside a text."""
        blocks = [self.tool_result(call, huge) for call in calls]
        split = chance(self.draw, 5)
        for part in [[block] for block in blocks] if split else [blocks]:
            if part:
                if chance(self.draw, 6):
                    part = [*part, {"type": "text", "text": text(self.draw, SMALL)}]
                self.messages.append({"role": "user", "content": part})

    def tool_result(self, call: Call, huge: bool) -> dict[str, Any]:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id}
        shape = "text" if huge else pick(self.draw, ["text"] * 6 + ["blocks", "nothing"])
        if shape == "text":
            block["content"] = self.result_text(huge)
        elif shape == "blocks":
            block["content"] = [{"type": "text", "text": self.result_text(huge)}, self.block()]
        elif chance(self.draw, 2):
            block["content"] = pick(self.draw, [None, "", []])
        if chance(self.draw, 10):
            block["is_error"] = True
        return marked(self.draw, block)


class ResponsesWriter(Writer):
    """Flat items: what one response holds stands one after another."""

    def user(self) -> None:
        content: Any = text(self.draw, SMALL)
        if chance(self.draw, 5):
            content = [self.part() for _ in range(count(self.draw, 3))]
        message = {"role": "user", "content": content}
        self.messages.append({"type": "message", **message} if chance(self.draw, 3) else message)

    def part(self) -> dict[str, Any]:
        parts: list[dict[str, Any]] = [
            {"type": "input_text", "text": text(self.draw, SMALL)},
            {"type": "input_image", "image_url": PNG, "detail": "auto"},
            {"type": "future_part", "body": {"url": PNG, "n": 1}},
        ]
        return pick(self.draw, parts)

    def assistant(self, names: list[str]) -> list[Call]:
        self.ids.new_message()
        if chance(self.draw, 40):
            self.messages.append(
                {"type": "compaction", "encrypted_content": text(self.draw, (60,))}
            )
        if chance(self.draw, 3):
            self.reasoning()
        if chance(self.draw, 8):
            self.hosted()
        if not names or chance(self.draw, 4):
            self.says()
        calls = [Call(self.ids.next(), name) for name in names]
        self.messages += [self.call(call) for call in calls]
        return calls

    def reasoning(self) -> None:
        summary = [{"type": "summary_text", "text": text(self.draw, SMALL)}]
        item: Message = {"type": "reasoning", "id": f"rs_{len(self.messages)}"}
        item["summary"] = pick(self.draw, [[], summary])
        item["encrypted_content"] = pick(self.draw, [None, text(self.draw, SMALL)])
        self.messages.append(item)

    def hosted(self) -> None:
        items: list[Message] = [
            {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"q": "a"}},
            {
                "type": "image_generation_call",
                "id": "ig_1",
                "status": "completed",
                "result": "AAAA",
            },
            {"type": "item_reference", "id": "rs_0"},
            {"id": "rs_1"},
            {"type": "future_item", "x": text(self.draw, SMALL)},
            {"type": "configuration_update", "reasoning": {"effort": "low"}},
        ]
        self.messages.append(pick(self.draw, items))

    def says(self) -> None:
        words = text(self.draw, SMALL)
        parts: list[dict[str, Any]] = [
            {"type": "output_text", "text": words, "annotations": []},
            {"type": "refusal", "refusal": words},
        ]
        item = {"type": "message", "id": f"msg_{len(self.messages)}", "status": "completed"}
        self.messages.append({**item, "role": "assistant", "content": [pick(self.draw, parts)]})

    def call(self, call: Call) -> Message:
        arguments = compact({"path": text(self.draw, (60, 0, 400))})
        items: list[Message] = [
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": arguments,
            },
            {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": arguments},
            {"type": "shell_call", "call_id": call.id, "action": {"commands": [arguments]}},
            {"type": "local_shell_call", "id": call.id, "call_id": "x", "action": {"command": []}},
        ]
        item = pick(self.draw, items) if chance(self.draw, 4) else items[0]
        call.kind = item["type"]
        return item

    def results(self, calls: list[Call], huge: bool = False) -> None:
        for call in calls:
            item: Message = {"type": f"{call.kind or 'function_call'}_output"}
            item["id" if call.kind == "local_shell_call" else "call_id"] = call.id
            item["output"] = self.output(call, huge)
            self.messages.append(marked(self.draw, item))

    def output(self, call: Call, huge: bool) -> Any:
        words = self.result_text(huge)
        if call.kind == "shell_call":
            outcome = {"type": "exit", "exit_code": 1}
            return [{"stdout": words, "stderr": "", "outcome": outcome}]
        if call.kind != "local_shell_call" and chance(self.draw, 5):
            return [{"type": "input_text", "text": words}, *([self.part()] if huge else [])]
        return words


class GeminiWriter(Writer):
    """Contents in camel case or snake case, with ids or without."""

    def system(self) -> None:
        pass

    def trim_note(self) -> None:
        wording = pick(self.draw, [NOTES.trimmed, NOTES.older[0].trimmed])
        self.messages.append({"role": "user", "parts": [{"text": wording}]})

    def user(self) -> None:
        parts: list[dict[str, Any]] = [{"text": text(self.draw, SMALL)}]
        if chance(self.draw, 5):
            parts.append({"inlineData": {"mimeType": "image/png", "data": b"png"}})
        content: Message = {"role": "user", "parts": parts}
        self.messages.append({"parts": parts} if chance(self.draw, 12) else content)

    @property
    def snake(self) -> bool:
        return self.ids.scheme == "per turn"

    def key(self, camel: str, snake: str) -> str:
        return snake if self.snake else camel

    def assistant(self, names: list[str]) -> list[Call]:
        self.ids.new_message()
        without_ids = self.ids.scheme == "equal"
        calls = [Call(None if without_ids else self.ids.next(), name) for name in names]
        parts: list[dict[str, Any]] = []
        if not calls or chance(self.draw, 4):
            parts.append({"text": text(self.draw, SMALL), "thought": chance(self.draw, 3)})
        parts += [self.call(call) for call in calls]
        if calls and chance(self.draw, 2):
            signature = pick(self.draw, ["c2lnbmF0dXJl", b"signature"])
            parts[-1][self.key("thoughtSignature", "thought_signature")] = signature
        self.messages.append({"role": "model", "parts": parts})
        return calls

    def call(self, call: Call) -> dict[str, Any]:
        made: dict[str, Any] = {"name": call.name, "args": {"path": text(self.draw, (60, 0, 400))}}
        if call.id is not None:
            made["id"] = call.id
        return {self.key("functionCall", "function_call"): made}

    def results(self, calls: list[Call], huge: bool = False) -> None:
        parts = [self.response(call, huge) for call in calls]
        if parts and chance(self.draw, 8):
            parts.append({"text": text(self.draw, SMALL)})
        if parts:
            role = "function" if chance(self.draw, 8) else "user"
            self.messages.append({"role": role, "parts": parts})

    def response(self, call: Call, huge: bool) -> dict[str, Any]:
        words = self.result_text(huge)
        contents: list[dict[str, Any]] = [
            {"output": words},
            {"result": words},
            {"a": 1, "b": words},
        ]
        made: dict[str, Any] = {"name": call.name, "response": pick(self.draw, contents)}
        if call.id is not None:
            made["id"] = call.id
        if chance(self.draw, 12):
            made["parts"] = [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]
        return {self.key("functionResponse", "function_response"): made}


class BedrockWriter(Writer):
    """Blocks of one key each; some messages of one role stand side by side."""

    def system(self) -> None:
        pass

    def trim_note(self) -> None:
        wording = pick(self.draw, [NOTES.trimmed, NOTES.older[0].trimmed])
        self.messages.append({"role": "user", "content": [{"text": wording}]})

    def user(self) -> None:
        content: list[dict[str, Any]] = [{"text": text(self.draw, SMALL)}]
        if chance(self.draw, 5):
            content.append({"image": {"format": "png", "source": {"bytes": b"png"}}})
        self.messages.append({"role": "user", "content": self.cached(content)})

    def cached(self, content: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if chance(self.draw, 12):
            content.append({"cachePoint": {"type": "default"}})
        return content

    def assistant(self, names: list[str]) -> list[Call]:
        self.ids.new_message()
        content: list[dict[str, Any]] = []
        if chance(self.draw, 5):
            reasoning: list[dict[str, Any]] = [
                {"reasoningText": {"text": text(self.draw, SMALL), "signature": "c2ln"}},
                {"redactedContent": b"redacted"},
            ]
            content.append({"reasoningContent": pick(self.draw, reasoning)})
        content.append({"text": text(self.draw, SMALL)})
        calls = [Call(self.ids.next(), name) for name in names]
        for call in calls:
            use = {
                "toolUseId": call.id,
                "name": call.name,
                "input": {"path": json_value(self.draw)},
            }
            content.append({"toolUse": use})
        self.messages.append({"role": "assistant", "content": content})
        return calls

    def results(self, calls: list[Call], huge: bool = False) -> None:
        blocks = [self.result(call, huge) for call in calls]
        if blocks and chance(self.draw, 8):
            blocks.append({"text": text(self.draw, SMALL)})
        if blocks:
            self.messages.append({"role": "user", "content": self.cached(blocks)})

    def result(self, call: Call, huge: bool) -> dict[str, Any]:
        words = self.result_text(huge)
        contents: list[list[dict[str, Any]]] = [
            [{"text": words}],
            [{"json": {"lines": [words]}}],
            [{"text": words}, {"image": {"format": "png", "source": {"bytes": b"png"}}}],
        ]
        content = pick(self.draw, contents) if chance(self.draw, 4) else contents[0]
        status = pick(self.draw, ["success", "error"])
        return {"toolResult": {"toolUseId": call.id, "content": content, "status": status}}


class LangchainWriter(Writer):
    """Message objects; calls may stand in the content as well."""

    def system(self) -> None:
        self.messages.append(langchain.SystemMessage(text(self.draw, SMALL)))

    def trim_note(self) -> None:
        wording = pick(self.draw, [NOTES.trimmed, NOTES.older[0].trimmed])
        self.messages.append(langchain.HumanMessage(wording))

    def user(self) -> None:
        content: Any = text(self.draw, SMALL)
        if chance(self.draw, 5):
            content = [
                {"type": "text", "text": content},
                {"type": "image_url", "image_url": {"url": PNG}},
            ]
        self.messages.append(langchain.HumanMessage(content, id=f"m{len(self.messages)}"))

    def assistant(self, names: list[str]) -> list[Call]:
        self.ids.new_message()
        calls = [Call(self.ids.next(), name) for name in names]
        words = text(self.draw, SMALL)
        made = [
            {"id": call.id, "name": call.name, "args": {"path": text(self.draw, (60, 0, 400))}}
            for call in calls
        ]
        content: Any = words
        if chance(self.draw, 3):
            uses = [
                {"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["args"]}
                for c in made
            ]
            content = [{"type": "text", "text": words}, *uses]
        self.messages.append(langchain.AIMessage(content, tool_calls=made))
        return calls

    def results(self, calls: list[Call], huge: bool = False) -> None:
        for call in calls:
            content: Any = self.result_text(huge)
            if chance(self.draw, 6):
                content = [{"type": "text", "text": content}, "more"]
            name = call.name if chance(self.draw, 3) else None
            message = langchain.ToolMessage(content, tool_call_id=call.id, name=name, artifact=[1])
            self.messages.append(message)


# --- histories ----------------------------------------------------------------------------------


@dataclass
class Session:
    """Writes a whole history; `calls` are all calls so far."""

    draw: Draw
    write: Writer
    tidy: bool
    """A tidy history has none of the accidents."""
    calls: list[Call] = field(default_factory=list)

    def accident(self, one_in: int) -> bool:
        return not self.tidy and chance(self.draw, one_in)

    def history(self) -> list[Message]:
        for _ in range(pick(self.draw, [0, 1, 1, 2])):
            self.write.system()
        if self.accident(5):
            self.round()
        if self.accident(10):
            self.rounds(most=12)
        else:
            for _ in range(1 + count(self.draw, 5)):
                self.turn()
        self.ending()
        return self.write.messages[:MOST_MESSAGES]

    def turn(self) -> None:
        self.write.ids.new_turn()
        self.write.user()
        if self.accident(8):
            self.write.trim_note()
        self.rounds(most=5)
        if self.accident(10):
            self.write.system()

    def rounds(self, most: int) -> None:
        for _ in range(count(self.draw, most)):
            self.round()

    def round(self) -> None:
        """An assistant message and its results, with what goes wrong between them."""
        calls = self.call()
        if self.accident(12):
            pick(self.draw, [self.write.user, self.write.system])()
        self.write.results(self.answered(calls))
        if self.accident(25) and self.calls:
            self.write.results([pick(self.draw, self.calls)])
        if self.accident(40):
            self.write.results([Call("nowhere", "read")])

    def call(self) -> list[Call]:
        count = pick(self.draw, [1, 1, 1, 2, 3, 0])
        names = [pick(self.draw, TOOLS) for _ in range(count)]
        calls = self.write.assistant(names)
        self.calls += calls
        return calls

    def answered(self, calls: list[Call]) -> list[Call]:
        """Which calls get their results now, in which order, and which twice."""
        if self.tidy:
            return calls
        if len(calls) > 1:
            calls = self.draw(st.permutations(calls))
        calls = [call for call in calls if not chance(self.draw, 15)]
        return calls + [call for call in calls if chance(self.draw, 20)]

    def ending(self) -> None:
        """The newest round: huge, in flight, or answered in part."""
        ending = pick(self.draw, ["none", "none", "huge", "in flight", "partly"])
        if ending != "none":
            calls = self.call()
            if ending == "huge":
                self.write.results(calls, huge=True)
            elif ending == "partly":
                self.write.results(calls[1:])


WRITERS: dict[Format, Callable[[Draw, Ids], Writer]] = {
    "openai-chat": OpenAIWriter,
    "openai-responses": ResponsesWriter,
    "anthropic": AnthropicWriter,
    "gemini": GeminiWriter,
    "bedrock-converse": BedrockWriter,
    "langchain": LangchainWriter,
}


def writer(format: Format, draw: Draw, ids: Ids) -> Writer:
    return WRITERS[format](draw, ids)


@st.composite
def histories(draw: Draw, format: Format) -> list[Message]:
    """Wire-format histories: now and then tidy, mostly with accidents."""
    ids = Ids(pick(draw, ID_SCHEMES))
    return Session(draw, writer(format, draw, ids), tidy=chance(draw, 4)).history()


# --- policies -----------------------------------------------------------------------------------

JITTERS = (0, 0, 0.02, 0.1, 0.3)


def sizes(messages: list[Message], format: Format) -> list[list[int]]:
    """Budgets at which something changes: the whole, cleared, from each turn, from each round."""
    walk = walk_of(messages, Policy(budget=0), format, NOTES)
    whole: Draft = (0, walk.everything, False, [])
    cleared: Draft = (0, walk.everything, False, walk.worth_clearing)
    turns = [walk.from_start(i, walk.always, walk.worth_clearing) for i in walk.turn_starts]
    opening = set() if walk.newest_turn is None else {walk.newest_turn}
    rounds = [
        walk.from_start(i, walk.always | opening, walk.worth_clearing) for i in walk.round_starts
    ]
    groups = [[whole], [cleared], turns or [cleared], rounds or turns[-1:] or [cleared]]
    return [[walk.cost(draft) for draft in group] for group in groups]


@st.composite
def budgets(draw: Draw, messages: list[Message], format: Format) -> int:
    """Room for the messages: near a size at which something changes, or any share of the whole."""
    groups = sizes(messages, format)
    whole, lean = groups[0][0], groups[1][0]
    if chance(draw, 8):
        return whole * count(draw, 22) // 20
    if chance(draw, 3):
        return max(lean + (whole - lean) * count(draw, 20) // 20, 0)
    size = pick(draw, pick(draw, groups))
    size += int(pick(draw, JITTERS) * size) - pick(draw, (0, 0, 0, 1))
    return max(size, 0)


@st.composite
def keeps(draw: Draw, room: int) -> Keep:
    kind = pick(draw, ("fraction", "tokens", "results"))
    if kind == "tokens":
        return "tokens", room * count(draw, 10) // 20
    if kind == "fraction":
        return "fraction", pick(draw, (0.25, 0, 0.1, 0.5, 1))
    return "results", count(draw, 5)


@st.composite
def policies(
    draw: Draw, messages: list[Message], format: Format, system: Any = None, tools: Any = None
) -> Policy:
    """Policies for this history: its own size decides the budget."""
    room = draw(budgets(messages, format))
    reserve = pick(draw, (0, 0, 0, 1, 100))
    besides = system_price(system) + tools_price(tools) + reserve + REQUEST_FRAME
    return Policy(
        budget=besides + room,
        window=pick(draw, (None, besides + room)),
        output=pick(draw, (0, 10)),
        reserve=reserve,
        keep=draw(keeps(room)),
        keep_at_least=pick(draw, (1, 0, 2, 4)),
        clear_batch=1 + count(draw, 5),
        worth=pick(draw, (2, 1, 1.5, 3, 5)),
        grid=pick(draw, (0.125, 0, 0.05, 0.5)),
        exclude_tools=some_tools(draw, one_in=4),
        no_rerun=some_tools(draw, one_in=3),
        clear_tool_inputs=chance(draw, 2),
        pinned=pins(draw, len(messages)),
    )


def some_tools(draw: Draw, one_in: int) -> tuple[str, ...]:
    if not chance(draw, one_in):
        return ()
    return tuple(tool for tool in TOOLS if chance(draw, 3))


def pins(draw: Draw, messages: int) -> frozenset[int]:
    if not messages or not chance(draw, 4):
        return frozenset()
    return frozenset(count(draw, messages - 1) for _ in range(1 + count(draw, 2)))


# --- cases --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A history and the policy it is fitted by."""

    format: Format
    messages: list[Message]
    policy: Policy
    system: Any
    tools: Any


SYSTEMS = (None, None, "be brief", [{"type": "text", "text": "be brief"}])
SCHEMAS = (None, None, [{"name": "read", "description": "reads", "input_schema": {}}])


@st.composite
def cases(draw: Draw, format: Format | None = None) -> Case:
    """What `fit` is called with, in the format given or in any."""
    form: Format = pick(draw, FORMATS) if format is None else format
    messages = draw(histories(form))
    system, tools = pick(draw, SYSTEMS), pick(draw, SCHEMAS)
    policy = draw(policies(messages, form, system, tools))
    return Case(form, messages, policy, system, tools)
