"""Recorded work, whatever wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from turnfit import _core
from turnfit.compaction.effects import Effects
from turnfit.compaction.presets import CODING
from turnfit.messages.formats import format_of, table_of
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

    def split(self) -> list[Recording]:
        """Apart where the provider has compacted: what was before, nobody sends any more.

        Each later part begins with the message that stands for those before it.

        >>> work = Recording(name="work", messages=[{"role": "user", "content": "Hello!"}])
        >>> work.split() == [work]
        True
        """
        edges = [0, *self._markers(), len(self.messages)]
        parts = [span for span in pairwise(edges) if span[0] < span[1]]
        if len(parts) < 2:
            return [self]
        return [self._part(start, end, number) for number, (start, end) in enumerate(parts)]

    def _markers(self) -> list[int]:
        table = table_of(format_of(self.messages, self.format))
        found, end = list[int](), len(self.messages)
        while (marker := _core.last_marker(table, self.messages[:end])) is not None:
            found.insert(0, marker)
            end = marker
        return found

    def _part(self, start: int, end: int, number: int) -> Recording:
        name = f"{self.name} after compaction {number}" if number else self.name
        times = None if self.times is None else self.times[start:end]
        return replace(self, name=name, messages=self.messages[start:end], times=times)
