"""Recorded work, whatever wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from turnfit.compaction.effects import Effects
from turnfit.compaction.presets import CODING
from turnfit.messages.reading import Message

__all__ = ["Recording"]


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What an agent did, and what it was told beside.

    Attributes:
        name: what it is called: its file, and its number where a file holds several.
        messages: the messages in their order, in one wire format.
        system: the system prompt that stands beside the messages.
        tools: the tool definitions.
        format: the wire format's name; None where the messages tell it.
        model: the model's name, where the recording tells it.
        times: when each message came, in seconds since any moment; None where it isn't known.
        effects: what the agent's tools do, for telling what it read again.
    """

    name: str
    messages: list[Message]
    system: Any = None
    tools: Sequence[Any] | None = None
    format: str | None = None
    model: str | None = None
    times: Sequence[float | None] | None = None
    effects: Effects = CODING
