"""Histories of Gemini."""

from __future__ import annotations

from typing import Any

from reference import (
    Message,
)

from strategies.draws import NOTES, SMALL, chance, pick, text
from strategies.writing import Call, Writer


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
