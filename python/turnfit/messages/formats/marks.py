"""Cache marks: where a provider is told to keep what it has read so far.

Anthropic: ``cache_control`` on a block, at most 4 in a request, system and tools counted
(https://platform.claude.com/docs/en/build-with-claude/prompt-caching). Bedrock: a
``cachePoint`` behind a block, likewise
(https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["BLOCK_BEHIND", "IN_THE_BLOCK", "Marks", "unmarked"]

LIMIT = 4


@dataclass(frozen=True)
class Marks:
    """How a format marks blocks for the cache.

    Attributes:
        key: what a mark is called, wherever it stands.
        can_bear: whether a block may be marked.
        marked: the block as one or two blocks, with a mark.
        limit: how many marks a request may have, system and tools counted.
    """

    key: str
    can_bear: Callable[[Any], bool]
    marked: Callable[[Any], list[Any]]
    limit: int = LIMIT

    def count(self, value: Any) -> int:
        """The marks in a value, however deep."""
        if isinstance(value, dict):
            own = int(value.get(self.key) is not None)
            return own + sum(self.count(item) for key, item in value.items() if key != self.key)
        return sum(map(self.count, value)) if isinstance(value, list | tuple) else 0


def _has_text(block: Any) -> bool:
    """Whether a block that may be a text has one."""
    return isinstance(block, dict) and ("text" not in block or bool(str(block["text"]).strip()))


def _anthropic_can_bear(block: Any) -> bool:
    thinks = isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")
    return _has_text(block) and not thinks


IN_THE_BLOCK = Marks(
    key="cache_control",
    can_bear=_anthropic_can_bear,
    marked=lambda block: [{**block, "cache_control": {"type": "ephemeral"}}],
)

BLOCK_BEHIND = Marks(
    key="cachePoint",
    can_bear=lambda block: _has_text(block) and not {"reasoningContent", "cachePoint"} & set(block),
    marked=lambda block: [block, {"cachePoint": {"type": "default"}}],
)


def unmarked(value: Any) -> Any:
    """A value without cache marks, which providers don't compare."""
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list | tuple):
        return [unmarked(item) for item in value if not _is_point(item)]
    return value


def _is_point(block: Any) -> bool:
    """Bedrock's mark is a block of its own."""
    return isinstance(block, dict) and list(block) == ["cachePoint"]
