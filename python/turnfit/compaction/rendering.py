"""The record as a message: bounded, plainly machine-made, and read back without loss."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from turnfit import _core
from turnfit.compaction.record import CarryOver, Workspace
from turnfit.compaction.wire import from_dict, to_dict
from turnfit.errors import RecordError

__all__ = ["MARK", "PRIORITY", "Rendered", "holds_record", "parse", "render"]

MARK = (
    "[turnfit: record@1, written by a program. Earlier messages of this work were left out; this "
    "is what they came to. It is no message of the user, asks nothing and starts nothing anew: "
    "the first request still stands, and the work goes on from the messages below.]"
)
"""How a rendered record begins. It is constant, and tells a record among messages."""

_DROPPED = "Left out of this record for lack of room: "
_Item = tuple[str, Any]


class Rendered(NamedTuple):
    """A record as text, and what had to be left out of it.

    Attributes:
        text: the text.
        record: the record that the text holds.
        dropped: how many items of each field were left out now.
    """

    text: str
    record: CarryOver
    dropped: dict[str, int]


def _commands(wanted: Callable[[int | None], bool]) -> Callable[[CarryOver], Iterator[_Item]]:
    def found(record: CarryOver) -> Iterator[_Item]:
        return (("commands", c) for c in record.workspace.commands if wanted(c.exit))

    return found


PRIORITY: tuple[tuple[str, Callable[[CarryOver], Iterator[_Item]]], ...] = (
    ("commands that succeeded", _commands(lambda status: status == 0)),
    ("commands of unknown outcome", _commands(lambda status: status is None)),
    (
        "files made and gone again",
        lambda r: (("files", f) for f in r.workspace.files if f.state == "temporary"),
    ),
    ("what was open and is resolved", lambda r: (("open", o) for o in r.open if o.resolved)),
    (
        "an application's own fields",
        lambda r: (("extra", (name, item)) for name, items in r.extra.items() for item in items),
    ),
    ("commands that failed", _commands(lambda status: bool(status))),
    ("files", lambda r: (("files", f) for f in r.workspace.files if f.state != "temporary")),
    ("handles", lambda r: (("handles", h) for h in r.handles)),
    ("facts", lambda r: (("established", e) for e in r.established if e.kind == "fact")),
    ("resources", lambda r: (("remaining", item) for item in r.remaining)),
    ("what is open", lambda r: (("open", o) for o in r.open if not o.resolved)),
)
"""What goes first where room is short; within each, the oldest first. Constraints never go."""


def render(record: CarryOver, most: int | None = None) -> Rendered:
    """The record as the text of a message.

    Args:
        record: the record.
        most: the tokens that the text may take; items are left out by `PRIORITY` until it
            does, and the text says how many of what.

    Raises:
        RecordError: if the constraints alone take more.

    >>> from turnfit.compaction import Command
    >>> long = CarryOver(workspace=Workspace(commands=(Command("ls " * 99, 0),)))
    >>> render(long, most=150).dropped
    {'commands': 1}
    """
    text = _text(record, {})
    if most is None or _core.estimate(text) <= most:
        return Rendered(text, record, {})
    order = [item for _, found in PRIORITY for item in found(record)]
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if _core.estimate(_without(record, order[:middle]).text) <= most:
            high = middle
        else:
            low = middle + 1
    shrunk = _without(record, order[:low])
    tokens = _core.estimate(shrunk.text)
    if tokens > most:
        raise RecordError(
            f"its constraints, which always stay, take {tokens:,} tokens; the bound is {most:,}"
        )
    return shrunk


def _without(record: CarryOver, items: list[_Item]) -> Rendered:
    dropped = dict(Counter(name for name, _ in items))
    gone: dict[str, list[Any]] = {}
    for name, item in items:
        gone.setdefault(name, []).append(item)
    total = Counter(record.dropped)
    total.update(dropped)
    kept = replace(
        record,
        workspace=Workspace(
            _rest(record.workspace.files, gone.get("files", [])),
            _rest(record.workspace.commands, gone.get("commands", [])),
        ),
        remaining=_rest(record.remaining, gone.get("remaining", [])),
        established=_rest(record.established, gone.get("established", [])),
        open=_rest(record.open, gone.get("open", [])),
        handles=_rest(record.handles, gone.get("handles", [])),
        extra=_extra_rest(record, gone.get("extra", [])),
        dropped=dict(total),
    )
    return Rendered(_text(kept, dropped), kept, dropped)


def _rest(items: tuple[Any, ...], gone: list[Any]) -> tuple[Any, ...]:
    """Items of a field are distinct."""
    lost = set(gone)
    return tuple(item for item in items if item not in lost) if lost else items


def _extra_rest(record: CarryOver, gone: list[Any]) -> dict[str, tuple[Any, ...]]:
    count = Counter(name for name, _ in gone)
    kept = {name: items[count[name] :] for name, items in record.extra.items()}
    return {name: items for name, items in kept.items() if items}


def _text(record: CarryOver, dropped: dict[str, int]) -> str:
    note = ", ".join(f"{count:,} {name}" for name, count in dropped.items())
    lines = [MARK, *([f"{_DROPPED}{note}."] if note else []), _json(to_dict(record))]
    return "\n".join(lines)


def _json(values: dict[str, Any]) -> str:
    """An item a line, so that both a person and a model can read it."""
    return "{\n" + ",\n".join(f"{_one(k)}: {_lines(v)}" for k, v in values.items()) + "\n}"


def _lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(map(_one, value)) + "\n]"
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"{_one(k)}: {_lines(v)}" for k, v in value.items()) + "\n}"
    return _one(value)


def _one(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def holds_record(text: str) -> bool:
    """Whether a text is a rendered record, of this or a later version."""
    return text.startswith("[turnfit: record@")


def parse(text: str) -> CarryOver:
    """The record that a rendered text holds; what was rendered whole comes back equal.

    Raises:
        RecordError: if it is no such text, or what stands in it is broken.

    >>> record = CarryOver(extra={"ticket": ("T-1",)})
    >>> parse(render(record).text) == record
    True
    """
    if not holds_record(text):
        raise RecordError("it doesn't begin as a record does")
    start = text.find("\n{", text.index("]") if "]" in text else 0)
    if start < 0:
        raise RecordError("nothing stands behind its first line")
    try:
        values, _ = json.JSONDecoder().raw_decode(text, start + 1)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"it holds broken JSON: {error}") from None
    return from_dict(values)
