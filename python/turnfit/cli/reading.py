"""Files that commands are given: a history, or recorded work that is one; TOML."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from turnfit.cli.group import InputError
from turnfit.errors import HistoryError, TurnfitError
from turnfit.histories import History, parse_history
from turnfit.messages.formats import format_of

__all__ = ["read_history", "read_toml"]


def read_history(name: str) -> History:
    """A history, or recorded work that `turnfit replay` would read, if it is one history."""
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    shown = "stdin" if name == "-" else name
    try:
        return parse_history(data, shown)
    except HistoryError:
        found = _recorded(data, shown)
        if found is None:
            raise
        return found


def _recorded(data: bytes, name: str) -> History | None:
    # Its readers take time to import, and few files need them.
    from turnfit.replay.reading import read_recordings

    try:
        recordings = list(read_recordings(data, name))
    except TurnfitError:
        return None
    if len(recordings) != 1:
        return None
    [one] = recordings
    format = format_of(one.messages, one.format)
    if format.name not in ("anthropic", "openai-chat"):
        return None
    beside = {"model": one.model, "system": one.system, "tools": one.tools}
    around = {key: value for key, value in beside.items() if value is not None}
    return History(
        list(one.messages),
        "object" if around else "list",
        around,
        system=one.system,
        tools=None if one.tools is None else list(one.tools),
        format=format.name,
    )


def read_toml(path: str) -> dict[str, Any]:
    """A file of TOML; an `InputError` with its name where it is none."""
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
