"""Questions to the user, and which of them is asked again, in any script."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Iterator
from typing import Generic, TypeVar

__all__ = ["Alike", "plain_question", "questions_in"]

T = TypeVar("T")

_MARKS = "?？؟՞፧⁇﹖︖꘏⳺"
"""Question marks of many scripts; those of Latin, Arabic, Armenian, Ethiopic and others."""

_SENTENCE = re.compile(rf"[^.!。！॥।\n{_MARKS}]+[{_MARKS}]+")


def questions_in(text: str) -> Iterator[str]:
    """The sentences of a text that end with a question mark, code left out.

    >>> list(questions_in("Done. Which branch? 次はどうしますか？"))
    ['Which branch?', '次はどうしますか？']
    """
    prose = re.sub(r"```.*?(?:```|\Z)|`[^`\n]*`", " ", text, flags=re.DOTALL)
    for found in _SENTENCE.finditer(prose):
        question = found[0].strip()
        if len(plain_question(question)) > 3:
            yield question


def plain_question(question: str) -> str:
    """A question without what doesn't tell it from another: case, spaces, marks.

    >>> plain_question("Which  Branch?") == plain_question("which branch ？")
    True
    """
    folded = unicodedata.normalize("NFKC", question).casefold()
    kept = (char if unicodedata.category(char)[0] in "LNM" else " " for char in folded)
    return " ".join("".join(kept).split())


_BANDS, _ROWS = 8, 2
_LIKE = 0.8
"""The share of common trigrams from which two questions are the same one."""


class Alike(Generic[T]):
    """Finds what was kept for a question like another, in constant time.

    Questions are compared by their trigrams (Jaccard). Candidates are found by the smallest
    hashes of these, in bands: of two that share four fifths, hardly any pair is missed.

    >>> alike = Alike()
    >>> alike.put("which branch should i use for this", 1)
    >>> alike.get("which branch should i use for this"), alike.get("why")
    (1, None)
    """

    def __init__(self) -> None:
        self._same: dict[str, T] = {}
        self._near: dict[tuple[int, ...], tuple[frozenset[str], T]] = {}

    def put(self, question: str, value: T) -> None:
        """Keep a value for a plain question."""
        self._same[question] = value
        grams = _trigrams(question)
        for band in _bands(grams):
            self._near[band] = (grams, value)

    def get(self, question: str) -> T | None:
        """What was kept for the same question, or else for one like it."""
        if question in self._same:
            return self._same[question]
        grams = _trigrams(question)
        near = (self._near[band] for band in _bands(grams) if band in self._near)
        return next((value for other, value in near if _share(grams, other) >= _LIKE), None)


def _trigrams(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[at : at + 3] for at in range(max(1, len(padded) - 2)))


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _bands(grams: frozenset[str]) -> Iterator[tuple[int, ...]]:
    hashed = [zlib.crc32(gram.encode("utf-8", "surrogatepass")) for gram in grams]
    least = [min(map(salt.__xor__, hashed)) for salt in _SALTS]
    for band in range(_BANDS):
        yield (band, *least[band * _ROWS : (band + 1) * _ROWS])


_SALTS = [zlib.crc32(bytes([number])) for number in range(_BANDS * _ROWS)]
