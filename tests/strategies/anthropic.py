"""Histories of Anthropic's messages."""

from __future__ import annotations

from typing import Any

from reference import (
    Message,
)

from strategies.draws import PNG, RESULT, SMALL, chance, count, json_value, marked, pick, text
from strategies.writing import Call, Writer


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
