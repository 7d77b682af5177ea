"""The usage that a response reports, in any provider's words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Usage", "read_usage"]

_INPUT = ("inputtokens", "prompttokens", "prompttokencount", "promptevalcount", "inputtokencount")
_CACHED_APART = ("cachereadinputtokens", "cachecreationinputtokens", "cachewriteinputtokens")
_OUTPUT = (
    *("outputtokens", "completiontokens", "candidatestokencount", "evalcount"),
    *("outputtokencount", "completiontokencount"),
)


@dataclass(frozen=True)
class Usage:
    """Tokens that went in, cached ones among them, and came out; None where it isn't told."""

    input: int
    output: int | None

    @property
    def total(self) -> int | None:
        """What went in; None where nothing did."""
        return self.input if self.input > 0 else None


def read_usage(usage: object) -> Usage:
    """The usage in a number, a provider's object or a mapping.

    Anthropic and Bedrock report what was read from a cache beside the input, others within it.

    >>> read_usage({"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 0})
    Usage(input=100, output=0)
    """
    if isinstance(usage, int) and not isinstance(usage, bool):
        return Usage(usage, None)
    figures = _figures(usage)
    within = next((figures[name] for name in _INPUT if name in figures), 0)
    beside = sum(figures.get(name, 0) for name in _CACHED_APART)
    return Usage(
        within + beside, next((figures[name] for name in _OUTPUT if name in figures), None)
    )


def _figures(usage: Any) -> dict[str, int]:
    entries = usage if isinstance(usage, Mapping) else getattr(usage, "__dict__", None) or {}
    return {
        re.sub(r"[\W_]", "", str(name)).lower(): value
        for name, value in entries.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }
