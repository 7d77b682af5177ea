"""Telling what a text is, and where the body of a table begins."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from turnfit import _core
from turnfit.outputs import wording

__all__ = ["Found", "Table", "structure_of", "table_of"]

Found = Literal["text", "json", "jsonl", "csv", "markdown"]

_LOOKED_AT = 16_384
"""Characters by which a table is told; what doesn't show in them is a text."""
_LONGEST_ROW = 1 << 20
"""Characters of a row of JSON lines; a longer first line is taken for a document."""
_DELIMITERS = ",;\t"
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")


@dataclass(frozen=True)
class Table:
    """A table's header and how its rows are told."""

    body: int
    """Where the rows begin."""
    marker: Callable[[int, int, int, str], str]
    """The row that says what was left out: from shown, total, the next row and a hint."""
    quoted: bool = False
    """Whether a quoted field may hold a line's end."""


def structure_of(text: str) -> Found:
    """What a text is, by its looks.

    >>> structure_of('{"a": 1}'), structure_of("| a |\\n|---|\\n| 1 |"), structure_of("Hello.")
    ('json', 'markdown', 'text')
    """
    start = text[:_LOOKED_AT]
    first = start.lstrip()[:1]
    if first in ("{", "[") and _is_json_lines(text):
        return "jsonl"
    if first in ("{", "[") or (first == '"' and _core.is_json(text)):
        return "json"
    if _is_markdown(start):
        return "markdown"
    return "csv" if _csv_delimiter(start, len(text) > len(start)) else "text"


def _is_json_lines(text: str) -> bool:
    """Two lines, each of them JSON by itself."""
    end = text.find("\n", 0, _LONGEST_ROW)
    if end < 0 or text[end + 1 : end + 2] not in ("{", "["):
        return False
    following = text.find("\n", end + 1)
    second = text[end + 1 : following if following >= 0 else len(text)]
    return _core.is_json(text[:end]) and _core.is_json(second)


def _is_markdown(start: str) -> bool:
    lines = start.split("\n", 3)
    return (
        len(lines) >= 3
        and "|" in lines[0]
        and "|" in lines[1]
        and "|" in lines[2]
        and _RULE.fullmatch(lines[1]) is not None
    )


def _csv_delimiter(start: str, goes_on: bool) -> str | None:
    """The delimiter under which the first records all have as many fields as a header of
    distinct names."""
    lines = start.split("\n")
    whole = lines[:-1] if goes_on or not lines[-1] else lines
    found = (sign for sign in _DELIMITERS if _is_csv(whole[:_RECORDS], sign))
    return next(found, None)


_RECORDS = 50
_FEWEST_RECORDS = 3
_LONGEST_NAME = 64


def _is_csv(lines: list[str], delimiter: str) -> bool:
    if not lines or delimiter not in lines[0]:
        return False
    try:
        records = list(csv.reader([f"{line}\n" for line in lines], delimiter=delimiter))
    except csv.Error:
        return False
    # The last may be a field that goes on beyond what is looked at.
    records = records[:-1] if len(records) > _FEWEST_RECORDS else records
    if len(records) < _FEWEST_RECORDS or len(records[0]) < 2:
        return False
    names = [name.strip() for name in records[0]]
    named = all(0 < len(name) <= _LONGEST_NAME and not name[0].isdigit() for name in names)
    width = len(names)
    return named and len(set(names)) == width and all(len(row) == width for row in records)


def table_of(text: str, structure: str) -> Table | None:
    """The table that a text is taken for; None if it has no rows."""
    if structure == "jsonl":
        return Table(0, wording.json_row_marker)
    if structure == "markdown":
        body = _line_ends(text, 2)
        columns = max(1, text[:body].split("\n", 1)[0].strip().strip("|").count("|") + 1)
        return Table(body, _markdown_marker(columns)) if body else None
    delimiter = _csv_delimiter(text[:_LOOKED_AT], len(text) > _LOOKED_AT) or ","
    body = _record_end(text)
    columns = len(next(csv.reader([text[:body]], delimiter=delimiter), []))
    return Table(body, _csv_marker(columns, delimiter), quoted=True) if body else None


def _line_ends(text: str, lines: int) -> int:
    """Behind so many lines, or 0 if there aren't as many."""
    place = 0
    for _ in range(lines):
        place = text.find("\n", place) + 1
        if not place:
            return 0
    return place


def _record_end(text: str) -> int:
    """Behind the first record of CSV, or 0 if that is all there is."""
    ends = (match.end() for match in islice(re.finditer("\n", text), _RECORDS))
    return next((end for end in ends if text.count('"', 0, end) % 2 == 0), 0)


def _markdown_marker(columns: int) -> Callable[[int, int, int, str], str]:
    def marker(shown: int, total: int, next_row: int, hint: str) -> str:
        told = wording.row_marker(shown, total, next_row, hint).replace("|", "\\|")
        return f"| {' '.join(told.split())} |{' |' * (columns - 1)}"

    return marker


def _csv_marker(columns: int, delimiter: str) -> Callable[[int, int, int, str], str]:
    def marker(shown: int, total: int, next_row: int, hint: str) -> str:
        told = wording.row_marker(shown, total, next_row, hint).replace('"', '""')
        return f'"{told}"{delimiter * (columns - 1)}'

    return marker
