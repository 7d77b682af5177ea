"""Times in recordings."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

__all__ = ["seconds"]


def seconds(text: Any) -> float | None:
    """An ISO time as seconds; None for anything else.

    >>> seconds("1970-01-01T00:01:00Z"), seconds(None)
    (60.0, None)
    """
    if not isinstance(text, str):
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
