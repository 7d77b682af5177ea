"""turnfit's own messages as a format: objects, read by a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from turnfit import _core
from turnfit.messages import rules
from turnfit.messages.formats.table import Format, Shape, Signs
from turnfit.messages.native import Call, Media, Part, Result, Text
from turnfit.messages.native import Message as NativeMessage
from turnfit.messages.reading import Message, Row
from turnfit.messages.unfinished import Open, each_by_itself, is_json

__all__ = ["TURNFIT"]

_OBJECT = Shape("plain", {})


def _read(message: Message) -> _core.Reading | None:
    return message.reading() if isinstance(message, NativeMessage) else None


def _rewrite(message: NativeMessage, bodies: Mapping[int, Any]) -> NativeMessage:
    return message.with_bodies(bodies)


def _answer(_: Message, call: Row, wording: str) -> NativeMessage:
    return NativeMessage("tool", Result(call.id or "", wording, name=call.name))


def _whole(message: NativeMessage, open_: Open) -> NativeMessage | None:
    """Without calls whose arguments are pieces of JSON."""
    rows = [part for part in message.parts if isinstance(part, Call | Result)]
    broken = {id(rows[place]) for place in open_ if _is_broken(rows[place])}
    kept = [part for part in message.parts if id(part) not in broken]
    if not broken:
        return message
    return NativeMessage(message.role, *kept) if kept else None


def _is_broken(row: Call | Result) -> bool:
    return isinstance(row, Call) and isinstance(row.arguments, str) and not is_json(row.arguments)


def _to_json(message: NativeMessage) -> Any:
    return {"role": message.role, "parts": [_part_to_json(part) for part in message.parts]}


def _part_to_json(part: Part) -> dict[str, Any]:
    kind = type(part).__name__.lower()
    values = {entry.name: getattr(part, entry.name) for entry in fields(part)}
    if isinstance(values.get("content"), tuple):
        values["content"] = [_part_to_json(inner) for inner in values["content"]]
    if isinstance(values.get("arguments"), Mapping):
        values["arguments"] = dict(values["arguments"])
    return {"type": kind, **values}


_PARTS: dict[str, Any] = {"text": Text, "media": Media, "call": Call, "result": Result}


def _from_json(saved: Any) -> NativeMessage:
    return NativeMessage(saved["role"], *map(_part_from_json, saved["parts"]))


def _part_from_json(saved: dict[str, Any]) -> Any:
    values = {key: value for key, value in saved.items() if key != "type"}
    if isinstance(values.get("content"), list):
        values["content"] = tuple(map(_part_from_json, values["content"]))
    return _PARTS[saved["type"]](**values)


TURNFIT = Format(
    name="turnfit",
    roles={
        "system": ("system", _OBJECT),
        "user": ("user", _OBJECT),
        "assistant": ("assistant", _OBJECT),
        "tool": ("tool", _OBJECT),
    },
    signs=Signs(),
    note=lambda wording: NativeMessage("user", wording),
    answer=_answer,
    finished=each_by_itself(_whole),
    rules=(
        rules.results_have_calls,
        rules.calls_are_answered_at_once,
    ),
    to_json=_to_json,
    from_json=_from_json,
    reader=_read,
    rewriter=_rewrite,
)
