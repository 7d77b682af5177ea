"""Conversations in files: JSON lines that pin what decides a request.

The first line holds the versions, the policy and what is sent beside the messages; then comes a
line for each message, in its wire format; at the end, where they were wanted, the estimates.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, TypeAlias

from turnfit.fitting.policy import Policy
from turnfit.histories import HistoryError, write_file
from turnfit.messages.formats import FORMATS
from turnfit.messages.formats.table import Format
from turnfit.messages.plain import from_plain, to_plain
from turnfit.messages.reading import Message

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
        costs: for each message what it was read to cost, unscaled, and each of its bodies.
    """

    policy: Policy
    told: Format | None
    is_given: bool
    system: Any
    tools: Any
    messages: Sequence[Message]
    costs: list[list[int]] | None


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
        "system": to_plain(saved.system, "system"),
        "tools": to_plain(saved.tools, "tools"),
        "messages": len(saved.messages),
    }


def _policy_of(policy: Policy) -> tuple[dict[str, Any] | None, str | None]:
    """The policy as plain values, or why it can't be written."""
    try:
        return policy.to_dict(), None
    except ValueError as error:
        return None, str(error)


def _line_of(format_: Format | None, index: int, message: Message) -> str:
    to_json = format_.to_json if format_ else None
    try:
        return _json(to_plain(to_json(message) if to_json else message, f"message {index}"))
    except RecursionError:
        raise ValueError(f"message {index} is nested too deeply to be saved") from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _costs(saved: Saved, lines: Sequence[str]) -> dict[str, Any]:
    profile = saved.policy.versions["profile"]
    return {"costs": saved.costs, "profile": profile, "digest": _digest(lines)}


def _digest(lines: Sequence[str]) -> str:
    """Tells the messages that costs are of."""
    digest = blake2b(digest_size=16)
    for line in lines:
        digest.update(line.encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


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
    rows = [_loads(line, f"{name}:{number}") for number, line in enumerate(lines, 1)]
    head = _head_of(rows, name)
    count = head["messages"]
    told = _format_of(head["format"], format_, name)
    messages = [_message_of(told, row, name, at) for at, row in enumerate(rows[1 : 1 + count], 2)]
    policy = policy or _saved_policy(head, name)
    costs = _costs_of(rows[1 + count :], policy, lines[1 : 1 + count])
    system, tools = from_plain(head.get("system")), from_plain(head.get("tools"))
    return Saved(policy, told, head["given"], system, tools, messages, costs)


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


def _loads(line: str, place: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise HistoryError(f"{place}: broken JSON: {error}") from None


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
    message = from_plain(row)
    if told is None or told.from_json is None:
        return message
    try:
        return told.from_json(message)
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


def _costs_of(rows: Sequence[Any], policy: Policy, lines: Sequence[str]) -> list[list[int]] | None:
    """The estimates, if they were saved and belong to these messages and this profile."""
    last = rows[0] if rows else None
    if not isinstance(last, dict) or not _are_numbers(last.get("costs"), len(lines)):
        return None
    profile = policy.versions["profile"]
    belongs = profile is not None and (last.get("profile"), last.get("digest")) == (
        profile,
        _digest(lines),
    )
    costs: list[list[int]] = last["costs"]
    return costs if belongs else None


def _are_numbers(costs: Any, count: int) -> bool:
    return (
        isinstance(costs, list)
        and len(costs) == count
        and all(
            isinstance(row, list) and all(isinstance(one, int) and 0 <= one < 2**62 for one in row)
            for row in costs
        )
    )
