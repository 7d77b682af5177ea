"""Conversations in files: JSON lines that pin what decides a request.

The first line holds the versions, the policy and what is sent beside the messages; then comes a
line for each message, in its wire format; at the end, where they were wanted, the estimates.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, TypeAlias

from turnfit import _core
from turnfit.errors import HistoryError
from turnfit.fitting.policy import Policy
from turnfit.messages.formats import FORMATS, PLAIN
from turnfit.messages.formats.table import Format
from turnfit.messages.jsonable import from_jsonable, from_line, to_jsonable, to_line
from turnfit.messages.reading import Message
from turnfit.tokens.exact import ExactCounter
from turnfit.writing import write_file

__all__ = ["File", "Saved", "read_saved", "write_saved"]

File: TypeAlias = "str | PathLike[str] | IO[Any]"
"""A path, or an open file."""

KIND = "conversation"
LAYOUT = 1
"""The version of the lines' layout."""


@dataclass(frozen=True)
class Saved:
    """What a file holds of a conversation.

    Attributes:
        policy: the policy.
        told: the format; None where no message has told it yet.
        is_given: whether the caller has named it.
        system: the system prompt beside the messages.
        tools: the tool definitions.
        messages: the messages.
        costs: what the messages were read to cost, as a ledger gives it.
        stale_before: reasoning before this message is stale.
    """

    policy: Policy
    told: Format | None
    is_given: bool
    system: Any
    tools: Any
    messages: Sequence[Message]
    costs: list[int] | None
    stale_before: int


def write_saved(file: File, saved: Saved) -> None:
    """Write a conversation; see `Conversation.save`."""
    messages = [_line_of(saved.told, index, one) for index, one in enumerate(saved.messages)]
    lines = [_json(_head(saved)), *messages]
    if saved.costs is not None:
        lines.append(_json(_costs(saved, messages)))
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    _write(file, data)


def _head(saved: Saved) -> dict[str, Any]:
    policy, unwritten = _policy_of(saved.policy)
    return {
        "turnfit": KIND,
        "layout": LAYOUT,
        **saved.policy.versions,
        "policy": policy,
        **({"unwritten": unwritten} if unwritten else {}),
        "format": saved.told.name if saved.told else None,
        "given": saved.is_given,
        "system": to_jsonable(_core.plain(saved.system), "system"),
        "tools": to_jsonable(_core.plain(saved.tools), "tools"),
        "messages": len(saved.messages),
        "stale_before": saved.stale_before,
    }


def _policy_of(policy: Policy) -> tuple[dict[str, Any] | None, str | None]:
    """The policy as plain values, or why it can't be written."""
    try:
        return policy.to_dict(), None
    except ValueError as error:
        return None, str(error)


def _line_of(format_: Format | None, index: int, message: Message) -> str:
    told = format_ or PLAIN
    to_json = told.to_json or told.plain
    try:
        return to_line(to_json(message), f"message {index}")
    except RecursionError:
        raise ValueError(f"message {index} is nested too deeply to be saved") from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _costs(saved: Saved, lines: Sequence[str]) -> dict[str, Any]:
    by = _priced_by(saved.policy)
    return {"costs": saved.costs, "priced_by": by, "digest": _digest(lines)}


def _priced_by(policy: Policy) -> str | None:
    """What tells that prices are the same; None for a callable that nothing is known of."""
    if isinstance(policy.profile, ExactCounter):
        return repr(policy.profile)
    profile = policy.versions["profile"]
    return None if profile is None else str(profile)


def _digest(lines: Sequence[str]) -> str:
    """Tells the messages that costs are of."""
    return sha256("\n".join(lines).encode("utf-8", "backslashreplace")).hexdigest()


def _write(file: File, data: bytes) -> None:
    if isinstance(file, str | PathLike):
        write_file(fspath(file), data)
    elif isinstance(file, io.TextIOBase):
        file.write(data.decode())
    else:
        file.write(data)


def read_saved(file: File, policy: Policy | None, format_: Format | None) -> Saved:
    """The conversation in a file; see `Conversation.load`."""
    name, text = _read(file)
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    rows = [_loads(line, name, number) for number, line in enumerate(lines, 1)]
    head = _head_of(rows, name)
    count = head["messages"]
    told = _format_of(head["format"], format_, name)
    messages = [_message_of(told, row, name, at) for at, row in enumerate(rows[1 : 1 + count], 2)]
    is_other = policy is not None and head["policy"] not in (None, _policy_of(policy)[0])
    policy = policy or _saved_policy(head, name)
    costs = _costs_of(rows[1 + count :], policy, lines[1 : 1 + count])
    system, tools = from_jsonable(head.get("system")), from_jsonable(head.get("tools"))
    stale = len(messages) if is_other else head.get("stale_before", 0)
    return Saved(policy, told, head["given"], system, tools, messages, costs, stale)


def _read(file: File) -> tuple[str, str]:
    """What errors call a file, and its text."""
    if isinstance(file, str | PathLike):
        name, data = str(fspath(file)), Path(file).read_bytes()
    else:
        name, data = str(getattr(file, "name", "the file")), file.read()
    if isinstance(data, str):
        return name, data
    try:
        return name, data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HistoryError(f"{name}: not UTF-8 at offset {error.start}") from None


def _loads(line: str, name: str, number: int) -> Any:
    try:
        return json.loads(line) if number == 1 else from_line(line)
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{name}:{number}: broken JSON: {error}") from None


def _head_of(rows: Sequence[Any], name: str) -> dict[str, Any]:
    """The first line, if it is one, and if as many messages follow as it says."""
    head = rows[0] if rows else None
    if not isinstance(head, dict) or head.get("turnfit") != KIND:
        raise HistoryError(f"{name}: holds no saved conversation; Conversation.save writes them")
    if head.get("layout") != LAYOUT:
        known = f"layout {head.get('layout')!r} is unknown to this turnfit, which has {LAYOUT}"
        raise HistoryError(f"{name}:1: {known}; a newer one may have it")
    missing = {"policy", "format", "given", "messages"} - head.keys()
    if missing or not isinstance(head["messages"], int):
        raise HistoryError(f"{name}:1: the first line lacks {', '.join(sorted(missing))}")
    if not 0 <= head["messages"] <= len(rows) - 1:
        raise HistoryError(
            f"{name}: {head['messages']:,} messages were saved, {len(rows) - 1:,} lines are left"
        )
    return head


def _format_of(saved: str | None, given: Format | None, name: str) -> Format | None:
    if saved is None:
        return given
    if given is not None and given.name == saved:
        return given
    if given is not None or saved not in FORMATS:
        wanted = given.name if given else f"one of {', '.join(FORMATS)}, or give your own"
        raise HistoryError(f"{name}:1: the messages are of the format {saved!r}, not {wanted}")
    return FORMATS[saved]


def _message_of(told: Format | None, row: Any, name: str, line: int) -> Message:
    if told is None or told.from_json is None:
        return row
    try:
        return told.from_json(row)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise HistoryError(f"{name}:{line}: no message of {told.name}: {error!r}") from None


def _saved_policy(head: Mapping[str, Any], name: str) -> Policy:
    if head["policy"] is None:
        why = head.get("unwritten", "its policy was left out")
        raise HistoryError(f"{name} was saved without its policy ({why}): give load the policy")
    try:
        return Policy.from_dict(head["policy"])
    except (TypeError, ValueError) as error:
        raise HistoryError(f"{name}:1: {error}") from None


def _costs_of(rows: Sequence[Any], policy: Policy, lines: Sequence[str]) -> list[int] | None:
    """The estimates, if they were saved and belong to these messages and this profile."""
    last = rows[0] if rows else None
    if not isinstance(last, dict) or not _are_numbers(last.get("costs")):
        return None
    by = _priced_by(policy)
    if by is None or last.get("priced_by") != by or last.get("digest") != _digest(lines):
        return None
    costs: list[int] = last["costs"]
    return costs


def _are_numbers(costs: Any) -> bool:
    return isinstance(costs, list) and all(type(one) is int and 0 <= one < 2**62 for one in costs)
