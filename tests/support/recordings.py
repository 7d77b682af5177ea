"""Recorded coding work as the agents' models saw it, with the effects of their tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from turnfit.compaction import Effects
from turnfit.compaction.presets import AIDER, CLAUDE_CODE, OPENHANDS, SWE_AGENT

from support.trajectories import FOLDER, recorded

Message = dict[str, Any]


class Coding(NamedTuple):
    """A coding session, and what its tools do."""

    name: str
    messages: list[Message]
    effects: Effects


def coding() -> Iterator[Coding]:
    """Every recorded coding session of the corpus."""
    for one in recorded():
        if one.name.startswith("claudecode-"):
            yield Coding(one.name.split("[")[0], one.messages, CLAUDE_CODE)
        elif one.name.startswith("sweagent-"):
            yield Coding(one.name.split("[")[0], one.messages, SWE_AGENT)
    for path in sorted(FOLDER.glob("openhands-*")):
        yield Coding(path.name, list(_openhands(path)), OPENHANDS)
    for path in sorted(FOLDER.glob("aider-*")):
        yield Coding(path.name, list(_aider(path)), AIDER)


def coding_named(start: str) -> Coding:
    return next(one for one in coding() if one.name.startswith(start))


def _openhands(path: Path) -> Iterator[Message]:
    """Events become the messages that the model was sent: calls and what they gave back."""
    document = json.loads(path.read_text("utf-8"))
    for event in document["history"] if isinstance(document, dict) else document:
        told = event.get("tool_call_metadata")
        if event.get("action") == "message":
            role = "user" if event["source"] == "user" else "assistant"
            yield {"role": role, "content": event["args"]["content"]}
        elif told and "action" in event:
            yield _openhands_call(event, told)
        elif told and "observation" in event:
            exit_ = (event.get("extras") or {}).get("metadata", {}).get("exit_code")
            status = "" if exit_ is None else f"\n[The command completed with exit code {exit_}.]"
            content = event.get("content", "") + status
            yield {"role": "tool", "tool_call_id": told["tool_call_id"], "content": content}


def _openhands_call(event: dict[str, Any], told: dict[str, Any]) -> Message:
    function = {"name": told["function_name"], "arguments": json.dumps(_arguments(event, told))}
    call = {"id": told["tool_call_id"], "type": "function", "function": function}
    return {"role": "assistant", "content": event["args"].get("thought"), "tool_calls": [call]}


def _arguments(event: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """As the model gave them, where the log has that; else as the log notes them."""
    for choice in (told.get("model_response") or {}).get("choices", ()):
        for call in choice["message"].get("tool_calls") or ():
            if call["id"] == told["tool_call_id"]:
                return dict(json.loads(call["function"]["arguments"]))
    known = ("command", "path", "file_text", "old_str", "new_str", "insert_line")
    arguments = {key: event["args"][key] for key in known if event["args"].get(key)}
    return {"command": "view", **arguments} if event["action"] == "read" else arguments


def _aider(path: Path) -> Iterator[Message]:
    """A chat log: the user's lines bear ``####``, aider's own ``>``, the rest is the answer."""
    for kind, run in _runs(path.read_text("utf-8").splitlines()):
        text = "\n".join(run).strip()
        if text:
            yield {"role": kind, "content": text}


def _runs(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    kind, run = "assistant", list[str]()
    fenced = False
    for line in lines:
        fenced ^= line.startswith("```") and kind == "assistant"
        now = _speaker(line) if not fenced else "assistant"
        if now != kind and line.strip():
            yield kind, run
            kind, run = now, []
        run.append(re.sub(r"^(####|>) ?", "", line) if now != "assistant" else line)
    yield kind, run


def _speaker(line: str) -> str:
    return "user" if line.startswith(("#### ", "> ", "# aider chat")) else "assistant"
