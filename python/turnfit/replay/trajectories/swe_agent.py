"""SWE-agent's ``.traj`` files (https://swe-agent.com/latest/usage/trajectories)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnfit.compaction.presets import SWE_AGENT
from turnfit.replay.recordings import Recording

__all__ = ["TITLE", "is_it", "read"]

TITLE = "SWE-agent's trajectory"

_SENT = ("role", "content", "tool_calls", "tool_call_id")


def is_it(value: Any) -> bool:
    """Whether a document is such a file."""
    history = value.get("history") if isinstance(value, dict) else None
    return isinstance(history, list) and bool(history) and all(map(_is_message, history))


def _is_message(row: Any) -> bool:
    return isinstance(row, dict) and "role" in row and "content" in row


def read(value: Any, name: str) -> Iterator[Recording]:
    """What the model was sent, without what the agent noted for itself."""
    messages = [_plain(row) for row in value["history"]]
    yield Recording(
        name=name,
        messages=messages,
        format="openai-chat",
        model=_model(value),
        effects=SWE_AGENT,
    )


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    message = {key: row[key] for key in _SENT if row.get(key) is not None}
    ids = row.get("tool_call_ids")
    return {**message, "tool_call_id": ids[0]} if ids and row["role"] == "tool" else message


def _model(value: dict[str, Any]) -> str | None:
    settings: Any = value.get("replay_config")
    for key in ("agent", "model", "name"):
        settings = settings.get(key) if isinstance(settings, dict) else None
    # Recordings that were played by hand name what played them.
    known = isinstance(settings, str) and settings not in ("replay", "human", "human_thought")
    return settings if known else None
