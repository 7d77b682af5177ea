"""Who writes a history in a wire format, and the ids in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference import (
    Message,
)

from strategies.draws import NOTES, RESULT, SMALL, Draw, chance, pick, text


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
