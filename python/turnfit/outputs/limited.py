"""What a limit made of an output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from turnfit import _core

if TYPE_CHECKING:
    from turnfit.outputs.summary import Summary

__all__ = ["Limited", "Omission"]


class Omission(NamedTuple):
    """What was left out at one place of a structure."""

    path: str
    """Where: a JSON Pointer (RFC 6901); empty for the whole."""
    of: str
    """What the figures count: elements, members, rows, parts, characters."""
    shown: int
    """How many were shown."""
    total: int
    """How many there are."""


@dataclass(frozen=True, kw_only=True)
class Limited:
    """An output within its limit, and what is known of what was left out.

    It refers to the original, so that its tokens can be counted when they are asked for:
    keep the figures rather than this, where many are kept.

    Attributes:
        content: what goes to the model, of the kind that came in.
        truncated: whether anything was left out.
        total_chars: characters of the original, as it was measured.
        omitted_chars: of these, how many were left out.
        reason: which limit it was; None if nothing was left out.
        hint: what to do to see the rest, as the marker says it; None if nothing was left out.
        handle: under which the original was stored; None without a store.
        next_offset: where the part that was left out begins: a character, a row of a table,
            or of JSON how many elements the first omission has shown. None if nothing was
            left out, and for blocks, of which `omissions` tells.
        next_cursor: of the next page, if the first one was given.
        omissions: what was left out of a structure, by place: the first 32.
        repaired: lone surrogates that were replaced by U+FFFD, so that the content can be
            encoded.
        summary: what the summary lost, if a summary was given.
    """

    content: Any
    truncated: bool
    total_chars: int
    omitted_chars: int = 0
    reason: Literal["max_tokens", "max_chars"] | None = None
    hint: str | None = None
    handle: str | None = None
    next_offset: int | None = None
    next_cursor: str | None = None
    omissions: tuple[Omission, ...] = ()
    repaired: int = 0
    summary: Summary | None = field(default=None, repr=False)
    original: tuple[str, ...] = field(default=(), repr=False, compare=False)
    rendered: tuple[str, ...] = field(default=(), repr=False, compare=False)
    price: Callable[[str], int] = field(default=_core.estimate, repr=False, compare=False)

    @property
    def kept_chars(self) -> int:
        """Characters of the original that the content still has.

        >>> Limited(content="ab", truncated=True, total_chars=9, omitted_chars=7).kept_chars
        2
        """
        return self.total_chars - self.omitted_chars

    @cached_property
    def total_tokens(self) -> int:
        """Tokens of the original; counted when it is first asked for."""
        return sum(map(self.price, self.original))

    @cached_property
    def tokens(self) -> int:
        """Tokens of the content, markers included; counted when it is first asked for."""
        return sum(map(self.price, self.rendered))

    @property
    def omitted_tokens(self) -> int:
        """Tokens that the context is spared: those of the original beyond the content's."""
        return max(0, self.total_tokens - self.tokens)
