"""What the rules know of a message, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reference.pricing import FRAME


@dataclass(frozen=True)
class Notes:
    """The wording of the notes; `older` are versions that were shipped, only recognised."""

    cleared: str
    cleared_done: str
    trimmed: str
    older: tuple[Notes, ...] = ()

    def versions(self) -> tuple[Notes, ...]:
        return (self, *self.older)

    def is_cleared(self, content: Any) -> bool:
        """Whether a result's content is one of turnfit's notes."""
        text = only_text(content)
        return any(text in (notes.cleared, notes.cleared_done) for notes in self.versions())

    def is_trimmed(self, content: Any) -> bool:
        """Whether a message's content is the note that earlier conversation was trimmed."""
        text = only_text(content)
        return any(text == notes.trimmed for notes in self.versions())


def only_text(content: Any) -> str | None:
    """The text of a content that is one text, as a string or as a single text block."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            text: str = block["text"]
            return text
    return None


@dataclass(frozen=True)
class Call:
    """A tool call; `place` is where it stands in its message."""

    place: int
    id: str | None
    name: str | None
    arguments: int
    fixed: bool = False
    """Its arguments are never cleared."""
    is_reference: bool = False
    """It stands for what the provider holds, perhaps for a call."""


@dataclass(frozen=True)
class Result:
    """A tool result; `content` is the price of its content without id and name."""

    place: int
    id: str | None
    name: str | None
    content: int
    clearable: bool
    noted: bool


@dataclass
class Read:
    """What the rules know of a message."""

    role: str
    cost: int = FRAME
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    is_note: bool = False
    marker: bool = False
    """The provider has replaced by it what stands before it."""
    is_output: bool = False
    """It is an item of a response, which may hold more of them."""
    goes_on: bool = False
    """It is of the same response as the message before."""

    @property
    def is_preamble_kind(self) -> bool:
        return self.role in ("system", "developer")

    @property
    def opens_turn(self) -> bool:
        """A user message; 'a message that carries a tool result opens no turn', nor does a note."""
        return self.role == "user" and not self.results and not self.is_note

    @property
    def opens_round(self) -> bool:
        return self.role == "assistant" and not self.goes_on
