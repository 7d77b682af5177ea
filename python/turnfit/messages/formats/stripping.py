"""Messages without the model's reasoning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from turnfit.messages.reading import Message

__all__ = ["is_thinking", "without_blocks"]


def is_thinking(block: Any) -> bool:
    """Whether a block of Anthropic's is thinking."""
    return block.get("type") in ("thinking", "redacted_thinking")


def without_blocks(
    key: str, goes: Callable[[Any], bool]
) -> Callable[[Sequence[Message]], list[Message | None]]:
    """A `Format.strip` that leaves blocks out of the list under a key, in copies."""

    def strip(messages: Sequence[Message]) -> list[Message | None]:
        return [_without(message, key, goes) for message in messages]

    return strip


def _without(message: Message, key: str, goes: Callable[[Any], bool]) -> Message | None:
    blocks = message.get(key)
    # Without a list there is no block that could go.
    if not isinstance(blocks, list | tuple):
        return message
    left = [block for block in blocks if not (isinstance(block, dict) and goes(block))]
    return {**message, key: left} if left else None
