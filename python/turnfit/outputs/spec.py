"""What a tool's output may take: part of the tool's own specification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from turnfit import _core
from turnfit.outputs import wording
from turnfit.tokens.profiles import Profile, pricing_of

if TYPE_CHECKING:
    from turnfit.outputs.summary import Summariser

__all__ = ["Excess", "Keep", "NativeLimit", "OutputLimit", "Price", "Structure"]

Keep: TypeAlias = Literal["head_tail", "head", "tail"]
Excess: TypeAlias = Literal["truncate", "page", "summarise"]
Structure: TypeAlias = Literal["auto", "text", "json", "jsonl", "csv", "markdown"]
Price: TypeAlias = Callable[[str], int]
NativeLimit: TypeAlias = "tuple[int, bool, _core.Weights | None]"
"""How many, whether of tokens or of characters, and the weights that price tokens; None for
the profile "script"."""

_KEEPS = ("head_tail", "head", "tail")
_EXCESSES = ("truncate", "page", "summarise")
_STRUCTURES = ("auto", "text", "json", "jsonl", "csv", "markdown")


@dataclass(frozen=True, kw_only=True)
class OutputLimit:
    """What a tool's output may take, and what is done with more.

    It belongs to the tool, not to the agent's loop: a listing and a log need different
    limits, and only who wrote the tool knows how the rest can be had.

    Attributes:
        max_tokens: the limit in tokens; give this or `max_chars`.
        max_chars: the limit in characters (code points, whatever their bytes).
        keep: what stays of a text or of rows. Head and tail for logs, traces and command
            output: the start has the context, the end has the failure. A JSON document is
            always read from its start.
        head_share: the share that the head gets where both are kept, from 0 to 1.
        on_excess: what is done with an output over the limit: cut it, give its first page,
            or give a summary.
        hint: what to do to see the rest: an action other than the same call again.
            ``{offset}``, ``{end}`` and ``{handle}`` are filled in: where the part that was
            left out begins and ends (in rows for tables), and under which handle the
            original was stored.
        structure: what the output is. "auto" tells JSON, JSON lines, CSV and Markdown
            tables by their looks; a tool that knows better says so.
        profile: how tokens are counted: a profile or its name, "script" if it isn't given; or
            any function from a text to its tokens (a tokenizer's count), which is slower,
            since it is called some ten times on texts of about the limit's size.
        strip_ansi: leave out a terminal's control sequences before measuring.
        collapse_progress: of a line that was drawn over and over (with carriage returns)
            only the last state stays.
        summariser: what makes the summary for "summarise"; the built-in extractive one if
            it is not given.

    Raises:
        TypeError, ValueError: for a value that can't be, with the field named; among them
            a limit smaller than the marker that says what was left out.

    >>> OutputLimit(max_tokens=2_000, hint="read_logs(offset={offset})").max_tokens
    2000
    >>> OutputLimit(max_chars=20)
    Traceback (most recent call last):
    ...
    ValueError: max_chars is 20, but the marker alone can take 164
    """

    max_tokens: int | None = None
    max_chars: int | None = None
    keep: Keep = "head_tail"
    head_share: float = 0.5
    on_excess: Excess = "truncate"
    hint: str | None = None
    structure: Structure = "auto"
    profile: str | Profile | Price | None = None
    strip_ansi: bool = False
    collapse_progress: bool = False
    summariser: Summariser | None = None

    def __post_init__(self) -> None:
        self._check_limits()
        _one_of("keep", self.keep, _KEEPS)
        _one_of("on_excess", self.on_excess, _EXCESSES)
        _one_of("structure", self.structure, _STRUCTURES)
        pricing_of(self.profile)
        if not _is_number(self.head_share) or not 0 <= self.head_share <= 1:
            raise ValueError(f"head_share must be from 0 to 1, not {self.head_share!r}")
        if self.hint is not None and not isinstance(self.hint, str):
            raise TypeError(f"hint must be a str, not {type(self.hint).__name__}")
        if self.summariser is not None and not callable(self.summariser):
            raise TypeError("summariser must be callable")
        self._check_room()

    def _check_limits(self) -> None:
        given = {"max_tokens": self.max_tokens, "max_chars": self.max_chars}
        named = [(name, value) for name, value in given.items() if value is not None]
        if len(named) != 1:
            raise ValueError("give one of max_tokens and max_chars")
        name, value = named[0]
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, not {type(value).__name__}")
        if not 0 < value <= _MOST:
            raise ValueError(f"{name} must be from 1 to {_MOST:,}")

    def _check_room(self) -> None:
        needed = max(map(self.price, wording.widest(self.hint)))
        if needed > self.size:
            name = self.reason
            raise ValueError(f"{name} is {self.size:,}, but the marker alone can take {needed:,}")

    @property
    def size(self) -> int:
        """The limit, in tokens or characters.

        >>> OutputLimit(max_chars=500).size
        500
        """
        return self.max_chars if self.max_tokens is None else self.max_tokens  # type: ignore[return-value]

    @property
    def reason(self) -> Literal["max_tokens", "max_chars"]:
        """Which of the two limits it is.

        >>> OutputLimit(max_chars=500).reason
        'max_chars'
        """
        return "max_chars" if self.max_tokens is None else "max_tokens"

    @property
    def shares(self) -> float:
        """The head's share of what is kept: 1 if only the head is kept, 0 if the tail.

        >>> OutputLimit(max_chars=500, keep="tail").shares
        0.0
        """
        return {"head": 1.0, "tail": 0.0, "head_tail": float(self.head_share)}[self.keep]

    def part(self, size: int, structure: Structure | None = None) -> OutputLimit:
        """The limit of a part of an output: of another size, and what is more is cut.

        >>> OutputLimit(max_chars=500, on_excess="page").part(300).max_chars
        300
        """
        in_tokens = self.max_tokens is not None
        return replace(
            self,
            max_tokens=size if in_tokens else None,
            max_chars=None if in_tokens else size,
            on_excess="truncate",
            structure=structure or self.structure,
        )

    def price(self, text: str) -> int:
        """What a text takes of this limit, in its unit.

        >>> OutputLimit(max_tokens=500).price("twelve chars")
        3
        """
        if self.max_tokens is None:
            return len(text)
        return _core.estimate(text, profile=self.profile)

    def allows(self, text: str) -> bool:
        """Whether a text is within the limit; it is read no further than that.

        >>> OutputLimit(max_chars=500).allows("short")
        True
        """
        if not self.is_native:
            return self.price(text) <= self.size
        return _core.fits(text, self.native)

    @property
    def native(self) -> NativeLimit:
        """The limit as the core takes it, if it can count in its unit."""
        pricing = pricing_of(self.profile)
        weights = pricing if isinstance(pricing, _core.Weights) else None
        return self.size, self.max_tokens is not None, weights

    @property
    def is_native(self) -> bool:
        """Whether the core can count in this limit's unit."""
        return self.max_tokens is None or not callable(pricing_of(self.profile))


_MOST = 2**40


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
