"""The record as JSON, checked when it is read, and the schema by which a model fills it in.

Tool definitions and structured outputs as the providers take them: OpenAI
(https://platform.openai.com/docs/guides/structured-outputs), Anthropic
(https://platform.claude.com/docs/en/build-with-claude/structured-outputs), Gemini
(https://ai.google.dev/gemini-api/docs/structured-output), Bedrock
(https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from math import isfinite
from typing import Any, TypeVar

from turnfit.compaction.record import (
    CarryOver,
    Command,
    Established,
    FileState,
    Handle,
    Open,
    Remaining,
    Workspace,
)
from turnfit.errors import RecordError
from turnfit.messages.formats import format_named

__all__ = [
    "INSTRUCTION",
    "VERSION",
    "answer_schema",
    "from_dict",
    "structured_output",
    "to_dict",
    "tool",
]

VERSION = 1
"""The version of the JSON; what an older version wrote stays readable."""

T = TypeVar("T")

_KINDS = {
    "path": str,
    "state": ("created", "written", "deleted", "temporary"),
    "digest": (str, None),
    "size": (int, None),
    "command": str,
    "exit": (int, None),
    "at": (int, None),
    "name": str,
    "left": (int, float, None),
    "spent": (int, float),
    "text": str,
    "sources": [int],
    "resolved": bool,
    "id": str,
    "what": str,
}
_KIND_OF: dict[type[Any], tuple[str, ...]] = {
    Established: ("fact", "constraint"),
    Open: ("blocked", "request"),
}


def to_dict(record: CarryOver) -> dict[str, Any]:
    """The record as plain values; what says nothing is left out.

    >>> to_dict(CarryOver(open=(Open("Port 8080 was taken."),)))
    {'version': 1, 'open': [{'text': 'Port 8080 was taken.', 'kind': 'blocked'}]}
    """
    space = {
        "files": [_item(file) for file in record.workspace.files],
        "commands": [_item(command) for command in record.workspace.commands],
    }
    values = {
        "workspace": {name: items for name, items in space.items() if items},
        "remaining": [_item(item) for item in record.remaining],
        "established": [_item(item) for item in record.established],
        "open": [_item(item) for item in record.open],
        "handles": [_item(item) for item in record.handles],
        "extra": {name: list(items) for name, items in record.extra.items() if items},
        "dropped": dict(record.dropped),
    }
    return {"version": VERSION, **{name: value for name, value in values.items() if value}}


def _item(item: Any) -> dict[str, Any]:
    """An item without what is as by default; a tuple becomes a list."""
    said: dict[str, Any] = {}
    for entry in fields(item):
        value = getattr(item, entry.name)
        if value != entry.default or entry.name == "kind":
            said[entry.name] = list(value) if isinstance(value, tuple) else value
    return said


def from_dict(values: Any) -> CarryOver:
    """The record that such values hold.

    Raises:
        RecordError: with the place of what is wrong.

    >>> from_dict({"version": 1, "open": [{"text": "Port 8080 was taken."}]}).open[0].kind
    'blocked'
    """
    found = _object(values, "")
    version = found.pop("version", None)
    if version != VERSION:
        raise RecordError(f"its version is {version!r}; this turnfit reads {VERSION}")
    space = _object(found.pop("workspace", {}), "workspace")
    record = CarryOver(
        workspace=Workspace(
            _items(FileState, space.pop("files", []), "workspace.files"),
            _items(Command, space.pop("commands", []), "workspace.commands"),
        ),
        remaining=_items(Remaining, found.pop("remaining", []), "remaining"),
        established=_items(Established, found.pop("established", []), "established"),
        open=_items(Open, found.pop("open", []), "open"),
        handles=_items(Handle, found.pop("handles", []), "handles"),
        extra=_extra(found.pop("extra", {})),
        dropped=_counts(found.pop("dropped", {})),
    )
    _refuse_unknown(space, "workspace")
    _refuse_unknown(found, "")
    return record


def _object(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise RecordError(f"an object is wanted, not {_named(value)}", path)
    return dict(value)


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise RecordError(f"a list is wanted, not {_named(value)}", path)
    return list(value)


def _named(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=repr)
    return shown if len(shown) <= 40 else f"{shown[:40]}..."


def _refuse_unknown(rest: Mapping[str, Any], path: str) -> None:
    for name in rest:
        raise RecordError("there is no such field", f"{path}.{name}" if path else name)


def _items(cls: type[T], values: Any, path: str) -> tuple[T, ...]:
    listed = enumerate(_list(values, path))
    return tuple(_read(cls, value, f"{path}[{place}]") for place, value in listed)


def _read(cls: type[T], value: Any, path: str) -> T:
    given = _object(value, path)
    known: dict[str, Any] = {}
    for entry in fields(cls):  # type: ignore[arg-type]
        if entry.name in given:
            read = _value(cls, entry.name, given.pop(entry.name), f"{path}.{entry.name}")
            known[entry.name] = read
        elif entry.default is MISSING:
            raise RecordError(f"{entry.name!r} is missing", path)
    _refuse_unknown(given, path)
    return cls(**known)


def _value(cls: type[Any], name: str, value: Any, path: str) -> Any:
    wanted: Any = _KIND_OF[cls] if name == "kind" else _KINDS[name]
    if isinstance(wanted, list):
        return tuple(_plain(item, int, path) for item in _list(value, path))
    return _plain(value, wanted, path)


def _plain(value: Any, wanted: Any, path: str) -> Any:
    options = wanted if isinstance(wanted, tuple) else (wanted,)
    for option in options:
        if option is None or isinstance(option, str):
            if value == option and isinstance(value, type(option)):
                return value
        elif isinstance(value, option) and (option is bool or not isinstance(value, bool)):
            if isinstance(value, str) and not value.strip():
                raise RecordError("it must not be blank", path)
            if isinstance(value, float) and not isfinite(value):
                raise RecordError("a finite number is wanted", path)
            return value
    names = " or ".join(_NAMES.get(o, repr(o)) for o in options)
    raise RecordError(f"{names} is wanted, not {_named(value)}", path)


_NAMES: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    None: "null",
}


def _extra(value: Any) -> dict[str, tuple[Any, ...]]:
    named = _object(value, "extra")
    return {name: tuple(_list(items, f"extra.{name}")) for name, items in named.items()}


def _counts(value: Any) -> dict[str, int]:
    named = _object(value, "dropped")
    return {name: _plain(count, int, f"dropped.{name}") for name, count in named.items()}


# --- what the model fills in --------------------------------------------------------------------

_NAME = "carry_over"
_DESCRIPTION = (
    "Record what the rest of this work relies on before earlier messages are left out. "
    "Write down only what stands in the conversation; invent nothing. Leave a list empty "
    "only if there is nothing to record."
)
INSTRUCTION = f"[turnfit: automatic request.] {_DESCRIPTION}"
"""What to say to the model beside a structured output: as the last message of a request of
its own, which isn't saved in the history. A tool says the same in its description."""

_ESTABLISHED = {
    "type": "object",
    "properties": {
        "text": {
            "type": "string",
            "description": "The fact; a constraint in the user's own words, unchanged.",
        },
        "kind": {"type": "string", "enum": ["fact", "constraint"]},
        "quote": {
            "type": "string",
            "description": "A few words of the message that it comes from, unchanged.",
        },
    },
    "required": ["text", "kind", "quote"],
    "additionalProperties": False,
}
_OPEN = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "What it is, and how it was worked around."},
        "kind": {"type": "string", "enum": ["blocked", "request"]},
        "resolved": {"type": "boolean", "description": "Whether it is settled by now."},
    },
    "required": ["text", "kind", "resolved"],
    "additionalProperties": False,
}


def answer_schema(extra: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """The JSON schema of the half of a record that only the model can write.

    Every property is required and none else allowed, as strict modes want it.

    Args:
        extra: an application's own fields: the schema of an item, by the field's name.

    >>> sorted(answer_schema({"tickets": {"type": "string"}})["properties"])
    ['established', 'open', 'tickets']
    """
    properties: dict[str, Any] = {
        "established": {
            "type": "array",
            "description": "Facts that later steps rely on, and every constraint of the user.",
            "items": _ESTABLISHED,
        },
        "open": {
            "type": "array",
            "description": "What blocked once and may come back; requests not finished yet.",
            "items": _OPEN,
        },
    }
    properties |= {
        name: {"type": "array", "items": dict(item)} for name, item in (extra or {}).items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def tool(format: str, extra: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """The tool by whose arguments a model writes its half, as a provider takes it.

    Args:
        format: the wire format's name, as in ``format=``.
        extra: as in `answer_schema`.

    >>> tool("anthropic")["name"]
    'carry_over'
    """
    schema = answer_schema(extra)
    plain = {"name": _NAME, "description": _DESCRIPTION}
    match _known(format):
        case "anthropic":
            return {**plain, "strict": True, "input_schema": schema}
        case "openai-responses":
            return {"type": "function", **plain, "strict": True, "parameters": schema}
        case "gemini":
            return {"functionDeclarations": [{**plain, "parametersJsonSchema": schema}]}
        case "bedrock-converse":
            return {"toolSpec": {**plain, "inputSchema": {"json": schema}}}
    function = {**plain, "strict": True, "parameters": schema}
    return {"type": "function", "function": function}


def structured_output(
    format: str, extra: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """What to add to a request so that the answer itself is the model's half.

    Args:
        format: the wire format's name, as in ``format=``.
        extra: as in `answer_schema`.

    >>> list(structured_output("openai-chat"))
    ['response_format']
    """
    schema = answer_schema(extra)
    match _known(format):
        case "anthropic":
            return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        case "openai-responses":
            told = {"type": "json_schema", "name": _NAME, "strict": True, "schema": schema}
            return {"text": {"format": told}}
        case "gemini":
            told = {"responseMimeType": "application/json", "responseJsonSchema": schema}
            return {"generationConfig": told}
        case "bedrock-converse":
            told = {"jsonSchema": {"name": _NAME, "schema": json.dumps(schema)}}
            return {"outputConfig": {"textFormat": {"type": "json_schema", "structure": told}}}
    told = {"name": _NAME, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": told}}


def _known(format: str) -> str:
    return format_named(format).name


_FENCE = re.compile(r"\A```\w*\n(.*)\n```\Z", flags=re.DOTALL)


def answer_values(answer: Any) -> dict[str, Any]:
    """The values in a model's answer: a tool's arguments, or a JSON text.

    Raises:
        RecordError: for a blank answer, and for what is no JSON object.
    """
    if isinstance(answer, str):
        text = answer.strip()
        if not text:
            raise RecordError("the answer is blank")
        fenced = _FENCE.match(text)
        try:
            answer = json.loads(fenced[1] if fenced else text)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"the answer is no JSON: {error}") from None
    return _object(answer, "")
