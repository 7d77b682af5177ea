"""What can be printed of a name that comes from elsewhere."""

from __future__ import annotations

__all__ = ["printable"]


def printable(name: str) -> str:
    """A name out of a history without what would steer a terminal."""
    return "".join(character if character.isprintable() else "?" for character in name)
