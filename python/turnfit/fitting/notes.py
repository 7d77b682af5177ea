"""What turnfit writes in place of what it took out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from turnfit import _core
from turnfit.fitting.versions import check_version

__all__ = ["ARGUMENTS_CLEARED", "NOTES", "Notes", "refuse_unknown"]

ARGUMENTS_CLEARED = {"_cleared": "arguments left out to save context"}
"""What cleared arguments become; a part of version 1 of the notes."""

_WORDINGS: Mapping[int, Mapping[str, str]] = {
    1: {
        "cleared": (
            "[turnfit: this older tool result was cleared to keep the conversation inside the "
            "context window. Run the tool again if you need the output.]"
        ),
        "cleared_done": (
            "[turnfit: this call was carried out; its output was cleared to keep the conversation "
            "inside the context window. Do not repeat the call in order to see it.]"
        ),
        "trimmed": (
            "[turnfit: automatic note. Earlier parts of this conversation were left out to keep "
            "it inside the context window. The work goes on from the messages below.]"
        ),
        "unanswered": (
            "[turnfit: automatic note. No result of this call was recorded; nothing is known of "
            "its outcome.]"
        ),
    },
}
"""Every version that was ever shipped. What was shipped stays here unchanged: histories bear
these notes, and they are recognised by their wording."""

_AS_SHIPPED: Any = None


@dataclass(frozen=True, kw_only=True)
class Notes:
    """The wording of all notes. It is constant, so that the request's start is.

    Attributes:
        version: whose wordings stand where none is given; what a version says never changes.
        cleared: in place of a tool result that can be had again.
        cleared_done: in place of the result of a tool that must not run again for it.
        trimmed: a user message behind the first one, where later ones were dropped.
        unanswered: as the result of a call that was never answered, where that is repaired.

    Raises:
        ValueError: for a version that this turnfit doesn't know, and for a blank wording.

    >>> Notes(version=1) == Notes(), Notes(cleared="[gone]").trimmed == Notes().trimmed
    (True, True)
    """

    version: int = max(_WORDINGS)
    cleared: str = _AS_SHIPPED
    cleared_done: str = _AS_SHIPPED
    trimmed: str = _AS_SHIPPED
    unanswered: str = _AS_SHIPPED

    def __post_init__(self) -> None:
        check_version("notes.version", self.version, _WORDINGS)
        for name, shipped in _WORDINGS[self.version].items():
            if getattr(self, name) is _AS_SHIPPED:
                object.__setattr__(self, name, shipped)
            _check_wording(name, getattr(self, name))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Notes:
        """The notes with these wordings, as a TOML or JSON file has them.

        Raises:
            ValueError: for a note that there is not, with the nearest name.

        >>> Notes.from_dict({"cleared": "[gone]"}).cleared
        '[gone]'
        """
        refuse_unknown("there is no note", values, [entry.name for entry in fields(cls)])
        return cls(**values)


def _check_wording(name: str, wording: Any) -> None:
    if not isinstance(wording, str):
        raise TypeError(f"notes.{name} must be a str, not {type(wording).__name__}")
    if not wording.strip():
        raise ValueError(f"notes.{name} must not be blank")
    if len(wording) >= _core.NOTE_LENGTH:
        raise ValueError(f"notes.{name} must be shorter than {_core.NOTE_LENGTH:,} characters")


def refuse_unknown(what: str, values: Mapping[str, Any], known: Sequence[str]) -> None:
    """A ``ValueError`` with the nearest name, if a value's name is not among the known."""
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"{what} {name!r}; {hint}")


NOTES: tuple[Notes, ...] = tuple(Notes(version=version) for version in _WORDINGS)
"""Every version that was ever shipped, the newest last."""
