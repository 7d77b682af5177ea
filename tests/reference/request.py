"""The messages that are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reference.pricing import CLEARED_ARGUMENTS, Format, Message, compact
from reference.reading import Notes, openai_call_body
from reference.walk import Plan, Policy, Walk, plan, walk_of


def request(
    messages: Sequence[Message], plan: Plan, policy: Policy, format: Format, notes: Notes
) -> list[Message]:
    """The request in the wire format: what is unchanged is the same object, the rest a copy."""
    walk = walk_of(messages, policy, format, notes)
    return [
        trim_note(notes) if m is None else changed(messages[m], m, walk, plan, format)
        for m in order(walk, plan)
    ]


def order(walk: Walk, plan: Plan) -> list[int | None]:
    """The indices of the history in the order of the request; None is the trim note.

    It stands 'right after the first' user message; where what was said before that message is
    kept too, or there is no such message, right after the preamble.
    """
    first = walk.first_user
    last = first if first is not None and first <= plan.start else walk.preamble_end - 1
    note: list[int | None] = [None] if plan.note else []
    return [*(m for m in plan.kept if m <= last), *note, *(m for m in plan.kept if m > last)]


def trim_note(notes: Notes) -> Message:
    return {"role": "user", "content": notes.trimmed}


def changed(message: Message, m: int, walk: Walk, plan: Plan, format: Format) -> Message:
    """The message with its cleared results and arguments, the very object if it has none."""
    for spot in plan.cleared:
        if spot[0] == m:
            place = walk.result(spot).place
            message = with_result(message, place, walk.note_text(spot), format)
    for spot in plan.cleared_arguments:
        if spot[0] == m:
            message = with_arguments(message, walk.reads[m].calls[spot[1]].place, format)
    return message


def with_result(message: Message, place: int, note: str, format: Format) -> Message:
    """'Status, id, name and position stay'; a cleared block keeps its mark."""
    if format == "openai-chat":
        return {**message, "content": note}
    return with_block(message, place, {"content": note})


def with_block(message: Message, place: int, change: Mapping[str, Any]) -> Message:
    blocks = list(message["content"])
    blocks[place] = {**blocks[place], **change}
    return {**message, "content": blocks}


def with_arguments(message: Message, place: int, format: Format) -> Message:
    """'Cleared arguments become an object with the one key `_cleared`, as the format wants.'"""
    if format == "anthropic":
        return with_block(message, place, {"input": dict(CLEARED_ARGUMENTS)})
    encoded = compact(CLEARED_ARGUMENTS)
    calls = list(message.get("tool_calls") or [])
    if place == len(calls):
        return {**message, "function_call": {**message["function_call"], "arguments": encoded}}
    body_key, arguments_key = openai_call_body(calls[place])
    calls[place] = {**calls[place], body_key: {**calls[place][body_key], arguments_key: encoded}}
    return {**message, "tool_calls": calls}


def fit(
    messages: Sequence[Message],
    policy: Policy,
    format: Format,
    notes: Notes,
    system: Any = None,
    tools: Sequence[Any] | None = None,
) -> tuple[Plan, list[Message]]:
    """The plan and the request in one."""
    made = plan(messages, policy, format, notes, system, tools)
    return made, request(messages, made, policy, format, notes)
