"""Histories of OpenAI's chat completions."""

from __future__ import annotations

from typing import Any

from reference import (
    Message,
    compact,
)

from strategies.draws import PNG, SMALL, chance, count, marked, pick, text
from strategies.writing import Call, Writer


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
