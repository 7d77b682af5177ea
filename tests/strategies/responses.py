"""Histories of OpenAI's Responses."""

from __future__ import annotations

from typing import Any

from reference import (
    Message,
    compact,
)

from strategies.draws import PNG, SMALL, chance, count, marked, pick, text
from strategies.writing import Call, Writer


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
