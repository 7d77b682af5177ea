"""Claude Code's sessions: JSON lines, each with a message in Anthropic's shape.

What a model answers at once stands in several lines with the same id, perhaps with results
between them; it is one message again here. A subagent's lines are a history of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from turnfit.compaction.presets import CLAUDE_CODE
from turnfit.replay.recordings import Recording
from turnfit.replay.trajectories.times import seconds

__all__ = ["TITLE", "is_row", "read"]

TITLE = "Claude Code's session"


def is_row(value: Any) -> bool:
    """Whether a line is one of such a session, with a message."""
    if not isinstance(value, dict) or value.get("type") not in ("user", "assistant"):
        return False
    message = value.get("message")
    return isinstance(message, dict) and "role" in message and "content" in message


def read(rows: Sequence[Any], name: str) -> Iterator[Recording]:
    """The session's own history, and those of subagents in the same file."""
    threads: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        if is_row(row):
            threads.setdefault((row.get("isSidechain", False), row.get("agentId")), []).append(row)
    for thread in threads.values():
        yield _history(thread, name)


def _history(rows: Sequence[dict[str, Any]], name: str) -> Recording:
    messages: list[dict[str, Any]] = []
    times: list[float | None] = []
    answers: dict[str, list[Any]] = {}
    for row in rows:
        message = row["message"]
        role, content = message["role"], message["content"]
        known = answers.get(message.get("id", ""))
        if known is not None and isinstance(content, list):
            known += content
            continue
        if role == "assistant" and isinstance(content, list) and message.get("id"):
            content = answers[message["id"]] = list(content)
        messages.append({"role": role, "content": content})
        times.append(seconds(row.get("timestamp")))
    return Recording(
        name=name,
        messages=messages,
        format="anthropic",
        model=_model(rows),
        times=times,
        effects=CLAUDE_CODE,
    )


def _model(rows: Sequence[dict[str, Any]]) -> str | None:
    """The one that answered most; what the client says itself names none."""
    named = Counter(
        model
        for row in rows
        if isinstance(model := row["message"].get("model"), str) and model[:1] not in ("", "<")
    )
    return max(named, key=lambda model: named[model], default=None)
