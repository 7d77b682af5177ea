"""What turnfit writes in place of what it took out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from turnfit import _core

__all__ = ["ARGUMENTS_CLEARED", "NOTES", "Notes", "refuse_unknown"]

ARGUMENTS_CLEARED = {"_cleared": "arguments left out to save context"}
"""What cleared arguments become."""


@dataclass(frozen=True, kw_only=True)
class Notes:
    """The wording of all notes. It is constant, so that the request's start is.

    Attributes:
        cleared: in place of a tool result that can be had again.
        cleared_done: in place of the result of a tool that must not run again for it.
        trimmed: a user message behind the first one, where later ones were dropped.
        unanswered: as the result of a call that was never answered, where that is repaired.
    """

    cleared: str = (
        "[turnfit: this older tool result was cleared to keep the conversation inside the "
        "context window. Run the tool again if you need the output.]"
    )
    cleared_done: str = (
        "[turnfit: this call was carried out; its output was cleared to keep the conversation "
        "inside the context window. Do not repeat the call in order to see it.]"
    )
    trimmed: str = (
        "[turnfit: automatic note. Earlier parts of this conversation were left out to keep it "
        "inside the context window. The work goes on from the messages below.]"
    )
    unanswered: str = (
        "[turnfit: automatic note. No result of this call was recorded; nothing is known of "
        "its outcome.]"
    )

    def __post_init__(self) -> None:
        for entry in fields(self):
            wording = getattr(self, entry.name)
            if not isinstance(wording, str):
                raise TypeError(f"notes.{entry.name} must be a str, not {type(wording).__name__}")
            if not wording.strip():
                raise ValueError(f"notes.{entry.name} must not be blank")
            if len(wording) >= _core.NOTE_LENGTH:
                raise ValueError(
                    f"notes.{entry.name} must be shorter than {_core.NOTE_LENGTH:,} characters"
                )

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


def refuse_unknown(what: str, values: Mapping[str, Any], known: Sequence[str]) -> None:
    """A ``ValueError`` with the nearest name, if a value's name is not among the known."""
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"{what} {name!r}; {hint}")


NOTES: tuple[Notes, ...] = (Notes(),)
"""Every version that was ever shipped, the newest last. What was shipped stays here
unchanged: histories bear these notes, and they are recognised by their wording."""
