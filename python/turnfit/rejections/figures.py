"""The tokens that a refusal names: the limit, and what the request takes of it.

A number counts only where the words say that it counts tokens of that kind; bytes,
characters, images, statuses and requests per minute are never taken for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from turnfit.rejections.rejection import Kind
from turnfit.rejections.rules import figures as rows
from turnfit.rejections.rules.rule import compiled

__all__ = ["Figures", "read_figures"]


@dataclass
class Figures:
    """Token figures; None for what isn't named."""

    limit: int | None = None
    used: int | None = None
    input: int | None = None
    output: int | None = None
    over: int | None = None
    at_least: bool = False


_PATTERNS: dict[Kind, tuple[str, ...]] = {
    "context_overflow": rows.WINDOWS,
    "output_limit": rows.ANSWERS,
    "rate_limit": rows.RATES,
}
_SEPARATORS = re.compile(r"[,_'’\u00a0\u202f ]|\.(?=\d{3}(?:\D|$))")


def read_figures(kind: Kind, texts: Iterable[str], told: dict[str, int]) -> Figures:
    """The token figures that texts name for a refusal of this kind.

    Args:
        kind: what the refusal was found to be.
        texts: its messages, the most telling first.
        told: figures that the body has under names of their own.
    """
    figures = Figures()
    if kind not in _PATTERNS:
        return figures
    if kind == "context_overflow":
        figures.limit, figures.used = told.get("limit"), told.get("used")
    for text in texts:
        _read(figures, kind, compiled(rows.NOISE).sub(" ", text))
    if kind == "context_overflow":
        _settle(figures)
    return figures


def _read(figures: Figures, kind: Kind, text: str) -> None:
    """Patterns in their order; no number is read twice."""
    taken: set[int] = set()
    if kind == "context_overflow":
        _read_parts(figures, text, taken)
    for pattern in _PATTERNS[kind]:
        for found in compiled(pattern).finditer(text):
            if _take(figures, found, taken):
                break
    figures.at_least = figures.at_least or bool(compiled(rows.AT_LEAST).search(text))


def _take(figures: Figures, found: re.Match[str], taken: set[int]) -> bool:
    """Whether a match gave a figure that was missing, by numbers not read before."""
    named = {name: value for name, value in found.groupdict().items() if value is not None}
    if any(found.start(name) in taken for name in named):
        return False
    missing = [name for name in named if getattr(figures, name) is None]
    for name in missing:
        below = found.string.startswith(" (exclusive)", found.end(name))
        setattr(figures, name, _number(named[name]) - below)
    taken.update(found.start(name) for name in named)
    return bool(missing)


def _read_parts(figures: Figures, text: str, taken: set[int]) -> None:
    """Input named in parts (messages, functions, tools) is their sum."""
    parts = list(compiled(rows.INPUTS).finditer(text))
    if parts and figures.input is None:
        figures.input = sum(_number(part["input"]) for part in parts)
        taken.update(part.start("input") for part in parts)
    for pattern in (rows.OUTPUTS, *rows.OVER):
        found = compiled(pattern).search(text)
        if found:
            _take(figures, found, taken)


def _settle(figures: Figures) -> None:
    """What follows from the rest; what contradicts it goes."""
    if figures.output is None:
        figures.used, figures.input = figures.used or figures.input, None
    elif figures.input is not None and (figures.used or 0) < figures.input + figures.output:
        figures.used = figures.input + figures.output
    if figures.used and figures.limit and figures.used < figures.limit:
        figures.used = None
    if figures.limit == 0:
        figures.limit = None
    figures.at_least = figures.at_least and figures.used is not None


def _number(text: str) -> int:
    """A number as people write it.

    >>> _number("128k"), _number("1,048,576"), _number("1.048.576"), _number("1.5M")
    (128000, 1048576, 1048576, 1500000)
    """
    digits, times = text.strip(), 1
    if digits[-1:].lower() in ("k", "m"):
        times = 1000 if digits[-1].lower() == "k" else 1_000_000
        digits = digits[:-1].strip()
    return int(float(_SEPARATORS.sub("", digits)) * times)
