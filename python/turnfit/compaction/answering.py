"""From a model's answer to the half of a record that only it can write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from turnfit.compaction.record import CarryOver, Established
from turnfit.compaction.wire import answer_values, from_dict
from turnfit.errors import RecordError
from turnfit.messages.contents import Contents, contents
from turnfit.messages.formats import format_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["from_answer"]


def from_answer(
    answer: Any,
    messages: Iterable[Message] = (),
    *,
    format: str | Format | None = None,
    extra: Mapping[str, Any] | None = None,
) -> CarryOver:
    """The half of a record that a model has written.

    A constraint that isn't in the user's own words becomes the line of the user's message
    that its quote is from: "Do NOT push" must not turn into a story about pushing.

    Args:
        answer: the arguments of the tool's call, or the JSON text of a structured output.
        messages: the history in which quotes are looked up; their messages are the sources.
        format: the history's format; recognised where it is not given.
        extra: the application's own fields that were asked for.

    Raises:
        RecordError: for a blank answer, and for one that doesn't follow the schema.

    >>> said = [{"role": "user", "content": "Fix it. Do NOT push!"}]
    >>> entry = {"text": "Told not to push.", "kind": "constraint", "quote": "do not push"}
    >>> from_answer({"established": [entry], "open": []}, said).established[0].text
    'Fix it. Do NOT push!'
    """
    values = answer_values(answer)
    known = ("established", "open", *(extra or ()))
    unknown = [name for name in values if name not in known]
    if unknown:
        raise RecordError("it was not asked for", unknown[0])
    history = as_list(messages)
    found = format_of(history, format)
    said = [contents(message, found, index) for index, message in enumerate(history)]
    rows, quotes = _unquoted(values.get("established", []))
    plain = {"version": 1, "established": rows, "open": values.get("open", [])}
    read = from_dict({**plain, "extra": {name: values.get(name, []) for name in extra or ()}})
    established = [_placed(e, q, said) for e, q in zip(read.established, quotes, strict=True)]
    # Two that come to the same are one.
    return CarryOver().merge(replace(read, established=tuple(established)))


def _unquoted(rows: Any) -> tuple[Any, list[str]]:
    """The entries without their quotes, which a record doesn't keep."""
    if not isinstance(rows, list | tuple):
        return rows, []
    plain = [
        {key: value for key, value in row.items() if key != "quote"}
        if isinstance(row, Mapping)
        else row
        for row in rows
    ]
    quotes = [row.get("quote") if isinstance(row, Mapping) else None for row in rows]
    for place, quote in enumerate(quotes):
        if not isinstance(quote, str | None):
            raise RecordError("a text is wanted", f"established[{place}].quote")
    return plain, [quote or "" for quote in quotes]


def _placed(entry: Established, quote: str, said: Sequence[Contents]) -> Established:
    """With the message it comes from, and a constraint in its words."""
    if entry.kind == "constraint":
        places = [index for index, one in enumerate(said) if one.role == "user"]
        for text in (entry.text, quote):
            at = _find(text, said, places)
            if at is not None:
                words = entry.text if text is entry.text else _line_with(text, said[at].text)
                return replace(entry, text=words, sources=(at,))
        return entry
    at = _find(quote, said, range(len(said)))
    return entry if at is None else replace(entry, sources=(at,))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _find(quote: str, said: Sequence[Contents], places: Iterable[int]) -> int | None:
    wanted = _plain(quote)
    if not wanted:
        return None
    return next((at for at in places if wanted in _plain(_everything(said[at]))), None)


def _everything(said: Contents) -> str:
    return "\n".join((*said.texts, *(result.text for result in said.results)))


def _line_with(quote: str, text: str) -> str:
    """The line of a text that holds the quote; all of it where the quote spans lines."""
    lines = [line.strip() for line in text.splitlines()]
    return next((line for line in lines if _plain(quote) in _plain(line)), text.strip())
