"""Recorded coding work as the agents' models saw it, with the effects of their tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from turnfit.compaction import Effects

from support.trajectories import recorded

Message = dict[str, Any]

AGENTS = ("claudecode-", "sweagent-", "openhands-", "aider-")


class Coding(NamedTuple):
    """A coding session, and what its tools do."""

    name: str
    messages: list[Message]
    effects: Effects


def coding() -> Iterator[Coding]:
    """Every recorded coding session of the corpus."""
    for one in recorded():
        if one.name.startswith(AGENTS):
            yield Coding(one.name.split("[")[0], one.messages, one.effects)


def coding_named(start: str) -> Coding:
    return next(one for one in coding() if one.name.startswith(start))
