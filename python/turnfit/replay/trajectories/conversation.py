"""Conversations that `turnfit.Conversation.save` has written."""

from __future__ import annotations

import io
from typing import Any

from turnfit.fitting.policy import Policy
from turnfit.fitting.saved import KIND, read_saved
from turnfit.replay.recordings import Recording

__all__ = ["TITLE", "is_head", "read"]

TITLE = "a saved conversation"


def is_head(value: Any) -> bool:
    """Whether a line is the first of such a file."""
    return isinstance(value, dict) and value.get("turnfit") == KIND


def read(text: str, head: Any, name: str) -> Recording:
    """The conversation, without its policy."""
    file = io.StringIO(text)
    file.name = name
    # What stands for a policy that couldn't be written down is not used.
    saved = read_saved(file, None if head.get("policy") else Policy(budget=1), None)
    return Recording(
        name=name,
        messages=list(saved.messages),
        system=saved.system,
        tools=saved.tools,
        format=saved.told.name if saved.told else None,
        model=saved.policy.model,
    )
