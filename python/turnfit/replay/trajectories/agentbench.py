"""AgentBench's example dialogues (https://github.com/THUDM/AgentBench), each under its name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnfit.replay.recordings import Recording

__all__ = ["TITLE", "is_it", "read"]

TITLE = "AgentBench's dialogues"

_ROLES = {"agent": "assistant"}
_SPEAKERS = ("user", "assistant")
_BODY = {"messages", "contents", "input"}


def is_it(value: Any) -> bool:
    """Whether a document holds dialogues, each under its name."""
    if not isinstance(value, dict) or not value or _BODY & set(value):
        return False
    return all(map(_is_dialogue, value.values()))


def _is_dialogue(turns: Any) -> bool:
    if not isinstance(turns, list) or not turns:
        return False
    return _is_spoken(turns) or all(map(_is_message, turns))


def _is_spoken(turns: list[Any]) -> bool:
    """Whether texts may be a dialogue: many a settings file holds lists of words by name."""
    if len(turns) < 2 or not all(isinstance(turn, str) for turn in turns):
        return False
    return len(turns[0].split()) > 1


def _is_message(turn: Any) -> bool:
    return isinstance(turn, dict) and set(turn) == {"role", "content"}


def read(value: Any, name: str) -> Iterator[Recording]:
    """The dialogues: of mere texts, the world speaks first and then by turns with the agent."""
    for turns in value.values():
        messages = [_message(turn, number) for number, turn in enumerate(turns)]
        yield Recording(name=name, messages=messages, format="openai-chat")


def _message(turn: Any, number: int) -> dict[str, Any]:
    if isinstance(turn, str):
        return {"role": _SPEAKERS[number % 2], "content": turn}
    return {**turn, "role": _ROLES.get(turn["role"], turn["role"])}
