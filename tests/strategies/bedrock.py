"""Histories of Bedrock's Converse."""

from __future__ import annotations

from typing import Any

from strategies.draws import NOTES, SMALL, chance, json_value, pick, text
from strategies.writing import Call, Writer


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
