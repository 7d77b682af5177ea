"""What turnfit writes in place of what it took out."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ARGUMENTS_CLEARED", "NOTES", "Notes"]

ARGUMENTS_CLEARED = {"_cleared": "arguments left out to save context"}
"""What cleared arguments become."""


@dataclass(frozen=True, kw_only=True)
class Notes:
    """The wording of all notes. It is constant, so that the request's start is.

    Attributes:
        cleared: in place of a tool result that can be had again.
        cleared_done: in place of the result of a tool that must not run again for it.
        trimmed: a user message behind the first one, where later ones were dropped.
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

    def __post_init__(self) -> None:
        for name in ("cleared", "cleared_done", "trimmed"):
            if not getattr(self, name).strip():
                raise ValueError(f"notes.{name} must not be blank")


NOTES: tuple[Notes, ...] = (Notes(),)
"""Every version that was ever shipped, the newest last. What was shipped stays here
unchanged: histories bear these notes, and they are recognised by their wording."""
