"""Reasoning that is bound to what stood before it.

Since 2026 providers tie reasoning to its prefix: system prompt, tools, and every message
before it. Where a request changes one of them, what was thought behind the change is refused
or dropped. Which models do what is data: `REASONING_RULES`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from turnfit.tokens.models import plain_model_name

__all__ = [
    "REASONING_RULES",
    "Reasoning",
    "ReasoningRule",
    "StaleReasoning",
    "Treatment",
    "reasoning_rule",
    "treatment_of",
]

Reasoning: TypeAlias = Literal["auto", "strip", "keep"]
Treatment: TypeAlias = Literal["keep", "strip", "strip_but_last_turn"]


@dataclass(frozen=True)
class StaleReasoning:
    """A message's reasoning before which the request has changed since it was given.

    Attributes:
        index: its message's place in the history.
        tokens: what the reasoning costs.
        sent: whether it is in the request all the same.
    """

    index: int
    tokens: int
    sent: bool


class ReasoningRule(NamedTuple):
    """What a provider does with reasoning that comes back.

    Attributes:
        pattern: what the start of a model's plain name matches.
        stale: what is done with stale reasoning: it is refused, or dropped, or not told
            from other.
        holds: whether the turn that waits for results must bring its reasoning.
        source: where that is said, and when it was looked up.
    """

    pattern: str
    stale: Literal["refused", "dropped", "taken"]
    holds: bool
    source: str


_PRESERVED = "https://platform.claude.com/docs/en/build-with-claude/preserved-thinking, 2026-11"
_MYTHOS = (
    "https://docs.aws.amazon.com/bedrock/latest/userguide/"
    "claude-messages-thinking-block-binding.html, 2026-11 (it doesn't run the check)"
)
_EXTENDED = "https://platform.claude.com/docs/en/build-with-claude/extended-thinking, 2026-11"
_PREFIX = "https://developers.openai.com/api/docs/guides/keep-prefix-unchanged, 2026-11"
_SIGNATURES = "https://ai.google.dev/gemini-api/docs/thought-signatures, 2026-11"

_FAMILY = "(?:opus|sonnet|haiku|fable|mythos)"
_END = r"(?![.-]?\d{1,2}(?!\d))"

REASONING_RULES: tuple[ReasoningRule, ...] = tuple(
    ReasoningRule(*row)
    for row in (
        # Anthropic: those before the 5.1 and 5.5 families compare nothing; all later do.
        (rf"claude-{_FAMILY}-(?:3|4|5{_END})", "taken", True, _EXTENDED),
        (rf"claude-(?:3|4|5{_END})", "taken", True, _EXTENDED),
        ("claude-(?:instant|2|mythos-preview)", "taken", True, _EXTENDED),
        (r"claude-mythos-5[.-]1(?!\d)", "taken", False, _MYTHOS),
        ("claude", "refused", False, _PRESERVED),
        # OpenAI: from GPT-6.2 on. The order of a response's items is another matter.
        (r"gpt-?(?:3|4|5|6(?![.-]?[2-9]))", "taken", False, _PREFIX),
        ("o1|o3|o4|codex|gpt-oss|chatgpt", "taken", False, _PREFIX),
        ("gpt", "dropped", False, _PREFIX),
        # Google binds signatures to the calls of the current turn alone.
        ("gemini", "taken", True, _SIGNATURES),
    )
)
"""The first that matches decides."""


@cache
def reasoning_rule(model: str) -> ReasoningRule | None:
    """The rule for a model; None for one that none knows.

    >>> reasoning_rule("claude-opus-5-5").stale, reasoning_rule("gpt-6.2-sol").stale
    ('refused', 'dropped')
    >>> reasoning_rule("claude-opus-5").stale
    'taken'
    """
    name = plain_model_name(model)
    return next((rule for rule in REASONING_RULES if re.match(rule.pattern, name)), None)


def treatment_of(reasoning: Reasoning, model: str | None) -> Treatment:
    """What becomes of stale reasoning under a policy's `reasoning`, for a model.

    >>> treatment_of("auto", "claude-opus-5-5"), treatment_of("auto", "gpt-6.2-sol")
    ('strip', 'keep')
    >>> treatment_of("strip", "claude-haiku-4-5")
    'strip_but_last_turn'
    """
    rule = reasoning_rule(model) if model is not None else None
    refused = rule is not None and rule.stale == "refused"
    if reasoning == "keep" or (reasoning == "auto" and not refused):
        return "keep"
    return "strip_but_last_turn" if rule is not None and rule.holds else "strip"
