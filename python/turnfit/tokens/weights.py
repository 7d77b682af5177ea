"""The weights of a profile: how they are named, written and read.

A profile weighs four kinds of counts: shapes (where runs begin, how long they are, what
follows what), the first and last letters of words, small letters behind each other, and
characters, by themselves up to U+07FF and by blocks above.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil
from typing import Any, NamedTuple

from turnfit import _core

__all__ = [
    "CHARACTERS",
    "FIRST",
    "GROUPS",
    "LAST",
    "LENGTH",
    "LETTER_PAIRS",
    "SHAPES",
    "STEP",
    "UNIT",
    "Group",
    "byte_lengths",
    "reachable",
    "read_weights",
    "rounded",
    "written_weights",
]

_SHAPES, _LETTERS, _PAIRS, _CHARACTERS = _core.Weights.SIZES
SHAPES = range(_SHAPES)
FIRST = range(SHAPES.stop, SHAPES.stop + _LETTERS)
LAST = range(FIRST.stop, FIRST.stop + _LETTERS)
LETTER_PAIRS = range(LAST.stop, LAST.stop + _PAIRS)
CHARACTERS = range(LETTER_PAIRS.stop, LETTER_PAIRS.stop + _CHARACTERS)
LENGTH = CHARACTERS.stop
UNIT = _core.Weights.UNIT
"""The weight of a token."""
STEP = _core.Weights.STEP
"""Weights of letter pairs are multiples of this."""

_BLOCKS = 0x800
_PLANES = 0xC00


def index(code_point: int) -> int:
    """Where a character's weight stands among all."""
    if code_point < _BLOCKS:
        return CHARACTERS.start + code_point
    if code_point < 0x10000:
        return CHARACTERS.start + _BLOCKS + (code_point >> 6)
    return CHARACTERS.start + _PLANES + (code_point >> 12)


class Group(NamedTuple):
    """Characters that a tokenizer treats much alike: a script, or a kind of signs."""

    name: str
    first: int
    last: int

    @property
    def indices(self) -> range:
        """Where their weights stand among all."""
        return range(index(self.first), index(self.last) + 1)


GROUPS = tuple(
    Group(name, first, last)
    for name, first, last in [
        ("Latin-1", 0x80, 0xFF),
        ("Latin extended", 0x100, 0x24F),
        ("phonetic", 0x250, 0x2FF),
        ("combining marks", 0x300, 0x36F),
        ("Greek", 0x370, 0x3FF),
        ("Cyrillic", 0x400, 0x45F),
        ("Cyrillic extended", 0x460, 0x52F),
        ("Armenian", 0x530, 0x58F),
        ("Hebrew", 0x590, 0x5FF),
        ("Arabic", 0x600, 0x6FF),
        ("Syriac, Thaana, N'Ko", 0x700, 0x7FF),
        ("Devanagari", 0x900, 0x97F),
        ("Bengali", 0x980, 0x9FF),
        ("Gurmukhi", 0xA00, 0xA7F),
        ("Gujarati", 0xA80, 0xAFF),
        ("Oriya", 0xB00, 0xB7F),
        ("Tamil", 0xB80, 0xBFF),
        ("Telugu", 0xC00, 0xC7F),
        ("Kannada", 0xC80, 0xCFF),
        ("Malayalam", 0xD00, 0xD7F),
        ("Sinhala", 0xD80, 0xDFF),
        ("Thai", 0xE00, 0xE7F),
        ("Lao", 0xE80, 0xEFF),
        ("Tibetan", 0xF00, 0xFFF),
        ("Myanmar", 0x1000, 0x109F),
        ("Georgian", 0x10A0, 0x10FF),
        ("Jamo", 0x1100, 0x11FF),
        ("Ethiopic", 0x1200, 0x139F),
        ("Cherokee", 0x13A0, 0x13FF),
        ("Canadian syllabics", 0x1400, 0x167F),
        ("Ogham, Runic, Philippine", 0x1680, 0x177F),
        ("Khmer", 0x1780, 0x17FF),
        ("Mongolian", 0x1800, 0x18BF),
        ("South Asian minorities", 0x18C0, 0x1CFF),
        ("phonetic extensions", 0x1D00, 0x1DFF),
        ("Latin additional", 0x1E00, 0x1EFF),
        ("Greek extended", 0x1F00, 0x1FFF),
        ("punctuation", 0x2000, 0x207F),
        ("currency, letterlike", 0x2080, 0x217F),
        ("arrows, operators", 0x2180, 0x23FF),
        ("boxes, shapes", 0x2400, 0x25FF),
        ("symbols, dingbats", 0x2600, 0x27FF),
        ("Braille", 0x2800, 0x28FF),
        ("more symbols", 0x2900, 0x2BFF),
        ("Tifinagh and others", 0x2C00, 0x2DFF),
        ("CJK punctuation, kana", 0x2E80, 0x30FF),
        ("Bopomofo and others", 0x3100, 0x33FF),
        ("Han extension A", 0x3400, 0x4DFF),
        ("Han", 0x4E00, 0x9FFF),
        ("Yi, Vai and others", 0xA000, 0xABFF),
        ("Hangul", 0xAC00, 0xD7FF),
        ("surrogates, private use", 0xD800, 0xF8FF),
        ("compatibility forms", 0xF900, 0xFDFF),
        ("variation selectors, half forms", 0xFE00, 0xFEFF),
        ("full-width forms", 0xFF00, 0xFFFF),
        ("ancient scripts", 0x10000, 0x1CFFF),
        ("mathematical letters", 0x1D000, 0x1EFFF),
        ("emoji", 0x1F000, 0x1FFFF),
        ("Han, further planes", 0x20000, 0x3FFFF),
        ("tags, private planes", 0xE0000, 0x10FFFF),
    ]
)


def reachable(at: int) -> bool:
    """Whether any character has its weight at an index among the characters: the first
    blocks and planes hold what has a weight by itself, or by its block."""
    return at < _BLOCKS or (0x20 <= at - _BLOCKS < 0x400) or at - _PLANES >= 0x10


def byte_lengths() -> list[int]:
    """The UTF-8 bytes of a character at each index among the characters."""
    ascii_, two, three = 0x80, _BLOCKS - 0x80, _PLANES - _BLOCKS
    four = len(CHARACTERS) - _PLANES
    return [1] * ascii_ + [2] * two + [3] * three + [4] * four


def rounded(weights: Iterable[float]) -> list[int]:
    """Weights as the pass takes them: those of letter pairs in steps that fit into a byte,
    the others into two. Rounded up where they are between two.

    >>> rounded([1.5] * LENGTH)[0], rounded([1.5] * LENGTH)[LETTER_PAIRS.start]
    (2, 32)
    """
    return [
        min(ceil(weight / STEP), 0xFF) * STEP if at in LETTER_PAIRS else min(ceil(weight), 0xFFFF)
        for at, weight in enumerate(weights)
    ]


def written_weights(weights: Sequence[int]) -> dict[str, Any]:
    """Weights as a profile's file has them: those that are 0 are left out.

    >>> written_weights([5] + [0] * (LENGTH - 1))
    {'shapes': {'letter after blank': 5}, 'first': {}, 'last': {}, 'pairs': {}, 'characters': {}}
    """
    shapes = {_core.Weights.shapes[at]: weights[at] for at in SHAPES if weights[at]}
    first, last = _letters(weights, FIRST), _letters(weights, LAST)
    return {
        "shapes": shapes,
        "first": first,
        "last": last,
        "pairs": {
            before: behind
            for at, before in enumerate(_BEFORE)
            if (behind := _letters(weights, LETTER_PAIRS[at * _LETTERS : (at + 1) * _LETTERS]))
        },
        "characters": dict(_runs([weights[at] for at in CHARACTERS])),
    }


_BEFORE = [
    "".join(letter for letter in string.ascii_lowercase if ord(letter) % 16 == kind)
    for kind in range(16)
]
"""The letters before another that count as one; see `letter_pair` in the core."""


def _letters(weights: Sequence[int], where: range) -> dict[str, int]:
    """By letter, the weights of 26 of them."""
    named = zip(string.ascii_lowercase, where, strict=True)
    return {letter: weights[at] for letter, at in named if weights[at]}


def _runs(weights: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Weights that are equal side by side, as ranges of code points."""
    at = 0
    for weight, equal in groupby(weights):
        end = at + len(list(equal))
        if weight:
            first, last = _first(at), _last(end - 1)
            yield (f"{first:04X}" if first == last else f"{first:04X}-{last:04X}", weight)
        at = end


def _first(at: int) -> int:
    """The first code point at an index among the characters."""
    if at < _BLOCKS:
        return at
    return (at - _BLOCKS) << 6 if at < _PLANES else (at - _PLANES) << 12


def _last(at: int) -> int:
    """The last code point at an index among the characters."""
    if at < _BLOCKS:
        return at
    return _first(at) + (0x3F if at < _PLANES else 0xFFF)


def read_weights(written: Mapping[str, Any]) -> list[int]:
    """Weights out of a profile's file.

    Raises:
        ValueError: for a shape, a letter or a range that there is not, with its name.

    >>> written = {"shapes": {"letter after blank": 5}, "characters": {"0041-0043": 7}}
    >>> weights = read_weights(written)
    >>> weights[0], weights[index(0x42)], weights[index(0x44)]
    (5, 7, 0)
    """
    weights = [0] * LENGTH
    shapes = {name: at for at, name in enumerate(_core.Weights.shapes)}
    _fill(weights, written.get("shapes", {}), shapes, "shape")
    for key, where in ("first", FIRST), ("last", LAST):
        letters = dict(zip(string.ascii_lowercase, where, strict=True))
        _fill(weights, written.get(key, {}), letters, f"{key} letter")
    for before, behind in written.get("pairs", {}).items():
        if before not in _BEFORE:
            raise ValueError(f"there are no letters {before!r} before others")
        start = LETTER_PAIRS.start + _BEFORE.index(before) * _LETTERS
        places = {letter: start + at for at, letter in enumerate(string.ascii_lowercase)}
        _fill(weights, behind, places, "letter")
    for name, weight in written.get("characters", {}).items():
        first, _, last = name.partition("-")
        try:
            indices = range(index(int(first, 16)), index(int(last or first, 16)) + 1)
        except ValueError:
            raise ValueError(f"there are no characters {name!r}") from None
        for at in indices:
            weights[at] = weight
    return weights


def _fill(
    weights: list[int], written: Mapping[str, int], places: Mapping[str, int], kind: str
) -> None:
    for name, weight in written.items():
        if name not in places:
            raise ValueError(f"there is no {kind} {name!r}")
        weights[places[name]] = weight
