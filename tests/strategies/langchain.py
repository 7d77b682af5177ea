"""Histories of LangChain's messages."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from strategies.draws import NOTES, PNG, SMALL, chance, pick, text
from strategies.writing import Call, Writer

langchain: Any = import_module("langchain_core.messages") if find_spec("langchain_core") else None


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
