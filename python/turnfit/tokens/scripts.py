"""The characters of a text by script class."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from turnfit import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

__all__ = ["ScriptCounts", "count_scripts"]


class ScriptCounts(NamedTuple):
    """How many characters of a text are of each script class."""

    ascii: int
    """U+0000 to U+007F."""
    cjk: int
    """Chinese, Japanese and Korean, with their punctuation and full-width forms."""
    other: int
    """Everything else: Cyrillic, Arabic, Devanagari, accented letters, emoji, ..."""

    @property
    def tokens(self) -> int:
        """The estimate of a text with these counts.

        >>> count_scripts("привет мир").tokens
        5
        """
        return _core.price(*self)


def count_scripts(text: str | Buffer | NDArray[np.uint8], /) -> ScriptCounts:
    """Count the characters of a text by script class, in one pass and without a copy.

    Args:
        text: a str, or UTF-8 in bytes or any other buffer of bytes. A lone surrogate of
            a str is one *other*; so is each maximal invalid sequence of bytes, as
            ``bytes.decode("utf-8", "replace")`` marks it.

    Returns:
        The counts; they add up to the number of characters.

    Raises:
        TypeError: for anything else.

    >>> count_scripts("Hello, мир, 世界")
    ScriptCounts(ascii=9, cjk=2, other=3)
    """
    return ScriptCounts(*_core.count_scripts(text))
