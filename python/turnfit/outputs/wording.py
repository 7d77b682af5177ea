"""What is put where something was left out. The wording is constant."""

from __future__ import annotations

import json

__all__ = ["DEFAULT_HINT", "STORED_HINT", "fill", "marker", "opening", "row_marker", "widest"]

DEFAULT_HINT = "Narrow the call; repeating it gives the same."
STORED_HINT = "Stored whole as {handle}: read it by ranges."

_WIDEST = 10**10
_HANDLE = "out_" + "x" * 42
"""As long as a store's handles are."""


def fill(hint: str | None, offset: int | None, end: int, handle: str | None) -> str:
    """A hint with its places filled in; other braces stay as they are, and so does an
    offset that isn't known yet.

    >>> fill("read({offset}, {end}) {x}", 5, 9, None)
    'read(5, 9) {x}'
    """
    if hint is None:
        hint = DEFAULT_HINT if handle is None else STORED_HINT
    filled = hint.replace("{end}", str(end))
    if offset is not None:
        filled = filled.replace("{offset}", str(offset))
    return filled.replace("{handle}", handle or "(not stored)")


def marker(start: int, end: int, total: int, hint: str) -> str:
    """Where characters of a text were left out.

    >>> marker(100, 900, 1000, "Use a filter.")
    '[turnfit: 800 of 1000 characters left out at offset 100. Use a filter.]'
    """
    told = f"{end - start} of {total} characters left out at offset {start}."
    return f"[turnfit: {told}{hint and ' '}{hint}]"


def opening(shown: int, total: int) -> str:
    """At the start of a text that is cut further down, so that nobody takes it for whole.

    >>> opening(200, 1000)
    '[turnfit: incomplete, 200 of 1000 characters shown.]'
    """
    return f"[turnfit: incomplete, {shown} of {total} characters shown.]"


def row_marker(shown: int, total: int, next_row: int, hint: str) -> str:
    """Where rows were left out.

    >>> row_marker(20, 1000, 10, "")
    '[turnfit: 20 of 1000 rows shown; the next is row 10.]'
    """
    told = f"{shown} of {total} rows shown; the next is row {next_row}."
    return f"[turnfit: {told}{hint and ' '}{hint}]"


def json_row_marker(shown: int, total: int, next_row: int, hint: str) -> str:
    """The same, as a line of JSON.

    >>> json_row_marker(20, 1000, 10, "")
    '{"_omitted":{"shown":20,"total":1000,"next":10}}'
    """
    told = {"shown": shown, "total": total, "next": next_row, **({"hint": hint} if hint else {})}
    return json.dumps({"_omitted": told}, separators=(",", ":"), ensure_ascii=False)


def widest(hint: str | None) -> tuple[str, ...]:
    """The longest that a lone marker can be, as a text and as JSON."""
    longest = fill(hint, _WIDEST, _WIDEST, None)
    if hint is None or "{handle}" in hint:
        stored = fill(hint, _WIDEST, _WIDEST, _HANDLE)
        longest = max(longest, stored, key=len)
    stub = {"_omitted": {"chars": _WIDEST, "hint": longest}}
    return (
        marker(_WIDEST, 2 * _WIDEST, _WIDEST, longest) + "\n",
        json.dumps(stub, separators=(",", ":"), ensure_ascii=False),
    )
