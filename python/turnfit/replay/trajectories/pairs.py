"""Lines of recorded requests, as `turnfit.audit` reads them: ``model``, ``request``, ``usage``.

Requests of one conversation, each longer than the one before, are one history.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from turnfit.messages.formats.marks import unmarked
from turnfit.messages.requests import read_request
from turnfit.replay.recordings import Recording

__all__ = ["TITLE", "is_row", "read"]

TITLE = "recorded requests"


def is_row(value: Any) -> bool:
    """Whether a line holds a request's body."""
    return isinstance(value, dict) and isinstance(value.get("request"), dict | str)


def read(rows: Sequence[Any], name: str) -> Iterator[Recording]:
    """The conversations; lines of other requests, such as for embeddings, are passed over."""
    last: Recording | None = None
    for row in rows:
        now = _recording(row, name)
        if now is None:
            continue
        if last is not None and not _goes_on(last, now):
            yield last
        last = now
    if last is not None:
        yield last


def _recording(row: Any, name: str) -> Recording | None:
    try:
        body = row["request"]
        body = json.loads(body) if isinstance(body, str) else body
        if not isinstance(body, Mapping):
            return None
        read = read_request(body)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return None
    model = row.get("model") or body.get("model")
    return Recording(
        name=name,
        messages=read.messages,
        system=read.system,
        tools=read.tools or None,
        format=read.format,
        model=unquote(model) if isinstance(model, str) else None,
    )


def _goes_on(before: Recording, now: Recording) -> bool:
    count = len(before.messages)
    if len(now.messages) <= count or (now.model, now.format) != (before.model, before.format):
        return False
    same = (before.system, before.tools) == (now.system, now.tools)
    return same and bool(unmarked(now.messages[:count]) == unmarked(before.messages))
