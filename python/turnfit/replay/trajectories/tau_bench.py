"""tau-bench's results (https://github.com/sierra-research/tau-bench): a task, and what was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turnfit.histories import history_of
from turnfit.replay.recordings import Recording

__all__ = ["TITLE", "is_it", "read"]

TITLE = "tau-bench's result"


def is_it(value: Any) -> bool:
    """Whether a document is a task's result."""
    return isinstance(value, dict) and "task_id" in value and isinstance(_said(value), list)


def _said(value: dict[str, Any]) -> Any:
    return value.get("messages", value.get("traj"))


def read(value: Any, name: str) -> Iterator[Recording]:
    """The conversation with the simulated user."""
    messages = history_of(_said(value), f"{name}: task {value['task_id']}").messages
    yield Recording(name=name, messages=messages, format="openai-chat")
