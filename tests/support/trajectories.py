"""Recorded agent work, unwrapped from the files that it was recorded in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
FOLDER = CORPUS / "trajectories"

needs_corpus = pytest.mark.skipif(not FOLDER.exists(), reason="the corpus is not here")


class Recorded(NamedTuple):
    """A history, what was sent beside it, and where it comes from."""

    name: str
    messages: list[dict[str, Any]]
    system: Any = None
    tools: Any = None


def recorded() -> Iterator[Recorded]:
    """Every history of the corpus in OpenAI-chat or Anthropic shape."""
    for path in sorted(FOLDER.glob("*")):
        for number, history in enumerate(_histories(path)):
            if len(history.messages) > 1:
                yield history._replace(name=f"{path.name}[{number}]")


def _histories(path: Path) -> Iterator[Recorded]:
    name = path.name
    if name.startswith("tau-"):
        yield from (Recorded(name, row["messages"]) for row in _lines(path))
    elif name.startswith("claudecode-"):
        yield Recorded(name, [row["message"] for row in _lines(path) if _is_message(row)])
    elif name.startswith("sweagent-"):
        yield Recorded(name, [_plain(row) for row in _document(path)["history"]])
    elif name.startswith("inspect-"):
        yield from (
            Recorded(name, [_from_inspect(message) for message in sample["messages"]])
            for sample in _document(path)["samples"]
        )
    elif name.startswith("agentbench-"):
        yield from (Recorded(name, turns) for turns in _document(path).values() if _is_chat(turns))
    elif name.startswith("usagepairs-"):
        yield from _requests(path)


def _requests(path: Path) -> Iterator[Recorded]:
    """Whole requests, where they are of the two shapes."""
    for row in _lines(path):
        request = row["request"]
        chat = row["path"].endswith(("/chat/completions", "/v1/messages"))
        if chat and isinstance(request.get("messages"), list):
            system, tools = request.get("system"), request.get("tools")
            yield Recorded(path.name, request["messages"], system, tools)


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _document(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _is_message(row: dict[str, Any]) -> bool:
    return row.get("type") in ("user", "assistant") and "role" in row.get("message", {})


def _is_chat(turns: Any) -> bool:
    return isinstance(turns, list) and all(isinstance(turn, dict) for turn in turns)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row of an SWE-agent history without what the agent noted for itself."""
    known = ("role", "content", "tool_calls", "tool_call_id")
    message = {key: row[key] for key in known if row.get(key) is not None}
    ids = row.get("tool_call_ids")
    return {**message, "tool_call_id": ids[0]} if ids and row["role"] == "tool" else message


def _from_inspect(message: dict[str, Any]) -> dict[str, Any]:
    """Inspect flattens a call's function; the wire has it nested."""
    known = ("role", "content", "tool_call_id")
    plain = {key: message[key] for key in known if message.get(key) is not None}
    calls = message.get("tool_calls")
    if calls:
        plain["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["function"], "arguments": json.dumps(call["arguments"])},
            }
            for call in calls
        ]
    return plain
