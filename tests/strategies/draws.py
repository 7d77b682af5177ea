"""What is drawn for a message: texts, values, chances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol, TypeVar, cast

from hypothesis import strategies as st
from reference import (
    Notes,
)

NOTES = Notes(
    cleared="[Cleared to save context. Run the tool again if needed.]",
    cleared_done="[Carried out. Output cleared; do not repeat the call to see it.]",
    trimmed="[Earlier conversation was trimmed here.]",
    older=(Notes("[cleared@0]", "[done@0]", "[trimmed@0]"),),
)
TOOLS = ("read", "bash", "mail", "search")


PNG = "data:image/png;base64,iVBORw0KGgo="
UNITS = (
    "lorem ipsum ",
    "a",
    "0123456789abcdef",
    '{"k":"v\\n"}\n',
    "привет ",
    "日本語。",
    "한국어",
    "é",
    "مرحبا",
    "😀",
    "\ud800",
    "data: 1,2 ",
)


T = TypeVar("T")


class Draw(Protocol):
    """What `st.composite` hands out."""

    def __call__(self, strategy: st.SearchStrategy[Any]) -> Any: ...


@cache
def below(n: int) -> st.SearchStrategy[int]:
    """Strategies are made once: making them is what takes the time."""
    return st.integers(0, n - 1)


def chance(draw: Draw, one_in: int) -> bool:
    """True once in so many draws; shrinks to False."""
    return cast(int, draw(below(one_in))) == one_in - 1


def pick(draw: Draw, options: Sequence[T]) -> T:
    """One of them; shrinks to the first."""
    return options[cast(int, draw(below(len(options))))]


def count(draw: Draw, most: int) -> int:
    return cast(int, draw(below(most + 1)))


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]


def text(draw: Draw, lengths: Sequence[int]) -> str:
    """A text in some script of about one of the lengths."""
    longest = pick(draw, lengths)
    return repeated(pick(draw, UNITS), longest - count(draw, longest // 4))


SMALL = (0, 5, 12, 40)
RESULT = (120, 0, 30, 400, 900, 1_500)

LEAVES = (None, True, 7, -1_000_000, 0.5, -2.25, "", "näive\n", "\ud800", PNG)
JSON_KEYS = ("path", "cache_control", "é", 'q"')


def json_value(draw: Draw) -> Any:
    """The value of an unknown key, or of an argument given as an object."""
    leaves = [pick(draw, LEAVES) for _ in range(count(draw, 3))]
    values = {"path": text(draw, (60, 0, 300)), **dict(zip(JSON_KEYS, leaves, strict=False))}
    return pick(draw, (text(draw, SMALL), *leaves, leaves, values))


def marked(draw: Draw, block: dict[str, Any]) -> dict[str, Any]:
    """The block, now and then with a cache mark or a key that no format knows."""
    if chance(draw, 12):
        block = {**block, "cache_control": {"type": "ephemeral"}}
    if chance(draw, 20):
        block = {**block, "x_unknown": json_value(draw)}
    return block


# --- ids ----------------------------------------------------------------------------------------
