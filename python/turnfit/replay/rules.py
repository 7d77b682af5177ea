"""How the providers' prefix caches work, as data: each rule with its source.

Anthropic: https://platform.claude.com/docs/en/build-with-claude/prompt-caching; Bedrock's
marks likewise (https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html).
OpenAI: https://developers.openai.com/api/docs/guides/prompt-caching. Gemini:
https://ai.google.dev/gemini-api/docs/caching. All as read in November 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from turnfit.tokens.models import plain_model_name

__all__ = ["CacheRules", "cache_rules"]

_ANTHROPIC = "https://platform.claude.com/docs/en/build-with-claude/prompt-caching"
_OPENAI = "https://developers.openai.com/api/docs/guides/prompt-caching"
_GEMINI = "https://ai.google.dev/gemini-api/docs/caching"


@dataclass(frozen=True, kw_only=True)
class CacheRules:
    """What a provider keeps of requests, and for how long.

    Attributes:
        name: whose rules these are.
        marked: whether only what is marked is kept; else every beginning is.
        minimum: no beginning shorter than so many tokens is kept.
        step: what is read is a multiple of so many tokens.
        lifetime: seconds from the last use.
        counts_writes: whether what is written is told, and priced, apart.
        look_back: over how many positions a mark looks back for what is kept.
        source: where that is published.
    """

    name: str
    marked: bool
    minimum: int
    step: int = 1
    lifetime: float = 300.0
    counts_writes: bool = True
    look_back: int = 20
    source: str


_ANTHROPIC_MINIMA = (
    (r"claude-(?:opus|haiku)-4-5|claude-opus-4-6", 4096),
    (r"claude-opus-4-7|claude-haiku-3-5|claude-3-5-haiku|claude-3-haiku", 2048),
    (r"claude-(?:opus|fable|mythos)-5|claude-(?:sonnet|haiku)-5-5", 512),
    ("", 1024),
)
"""By the beginnings of models' plain names; the first that matches counts."""

_GEMINI_MINIMA = (("gemini-2[.-]5", 2048), ("", 4096))

_GPT = re.compile(r"gpt-?(\d+)(?:[.](\d+))?(?!\d)")
_WRITES_COUNTED = (5, 6)
"""The version of GPT from which on writing is charged, and what is kept lives for longer."""


def cache_rules(model: str | None, format: str = "openai-chat") -> CacheRules:
    """The rules of the cache that a model's provider has.

    Args:
        model: the model's name; without one, the wire format tells the provider.
        format: the wire format's name.

    >>> cache_rules("claude-opus-5").minimum, cache_rules("gpt-5.1").step
    (512, 128)
    >>> cache_rules(None, "gemini").name
    'Gemini'
    """
    name = plain_model_name(model) if model else _STAND_IN.get(format, "gpt")
    if "claude" in name:
        minimum = _first(_ANTHROPIC_MINIMA, name[name.index("claude") :])
        return CacheRules(name="Anthropic", marked=True, minimum=minimum, source=_ANTHROPIC)
    if "gemini" in name:
        minimum = _first(_GEMINI_MINIMA, name[name.index("gemini") :])
        # No lifetime is published for what is kept without being asked for.
        return CacheRules(
            name="Gemini", marked=False, minimum=minimum, counts_writes=False, source=_GEMINI
        )
    version = _GPT.match(name)
    newer = version is not None and (int(version[1]), int(version[2] or 0)) >= _WRITES_COUNTED
    lifetime = 1800.0 if newer else 300.0
    return CacheRules(
        name="OpenAI",
        marked=False,
        minimum=1024,
        step=128,
        lifetime=lifetime,
        counts_writes=newer,
        source=_OPENAI,
    )


_STAND_IN = {"anthropic": "claude", "bedrock-converse": "claude", "gemini": "gemini"}


def _first(rules: tuple[tuple[str, int], ...], name: str) -> int:
    return next(minimum for pattern, minimum in rules if re.match(pattern, name))
