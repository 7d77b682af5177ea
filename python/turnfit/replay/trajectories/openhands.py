"""OpenHands' events: a list of actions and observations, or a document that holds one.

They become the messages that the model was sent: its calls, and what these gave back. Calls
of one answer are one message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from turnfit.compaction.presets import OPENHANDS
from turnfit.replay.recordings import Recording
from turnfit.replay.trajectories.times import seconds

__all__ = ["TITLE", "is_it", "read"]

TITLE = "OpenHands' events"

_KNOWN_ARGUMENTS = ("command", "path", "file_text", "old_str", "new_str", "insert_line")


def is_it(value: Any) -> bool:
    """Whether a document is such a list, or holds one."""
    events = _events(value)
    return isinstance(events, list) and bool(events) and all(map(_is_event, events))


def _events(value: Any) -> Any:
    return value.get("history") if isinstance(value, dict) else value


def _is_event(event: Any) -> bool:
    return isinstance(event, dict) and bool({"action", "observation"} & set(event))


def read(value: Any, name: str) -> Iterator[Recording]:
    """The history, in OpenAI's chat shape."""
    made = _Made()
    for event in _events(value):
        made.take(event)
    yield Recording(
        name=name,
        messages=made.messages,
        system=made.system,
        tools=made.tools,
        format="openai-chat",
        model=made.model,
        times=made.times,
        effects=OPENHANDS,
    )


@dataclass
class _Made:
    """A history as it is made of events."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    times: list[float | None] = field(default_factory=list)
    system: str | None = None
    tools: Sequence[Any] | None = None
    model: str | None = None
    _answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    def take(self, event: dict[str, Any]) -> None:
        """Takes an event; most that the model was not sent are passed over."""
        told = event.get("tool_call_metadata")
        if event.get("action") == "system":
            self.system, self.tools = event["args"]["content"], _tools(event["args"].get("tools"))
        elif event.get("action") == "message":
            role = "user" if event.get("source") == "user" else "assistant"
            self._add(event, {"role": role, "content": event["args"]["content"]})
        elif told and "action" in event:
            self._call(event, told)
        elif told and "observation" in event:
            self._add(event, _result(event, told))

    def _add(self, event: dict[str, Any], message: dict[str, Any]) -> None:
        self.messages.append(message)
        self.times.append(seconds(event.get("timestamp")))

    def _call(self, event: dict[str, Any], told: dict[str, Any]) -> None:
        response = told.get("model_response") or {}
        self.model = self.model or _model(response)
        function = {"name": told["function_name"], "arguments": json.dumps(_arguments(event, told))}
        call = {"id": told["tool_call_id"], "type": "function", "function": function}
        answer = self._answers.get(response.get("id") or "")
        if answer is not None:
            answer["tool_calls"].append(call)
            return
        thought = event["args"].get("thought")
        message = {"role": "assistant", "content": thought, "tool_calls": [call]}
        if response.get("id"):
            self._answers[response["id"]] = message
        self._add(event, message)


def _tools(tools: Any) -> Sequence[Any] | None:
    if not isinstance(tools, list | None):
        raise TypeError(f"tools are {tools!r}, not a list")
    return tools


def _result(event: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    exit_ = (event.get("extras") or {}).get("metadata", {}).get("exit_code")
    status = "" if exit_ is None else f"\n[The command completed with exit code {exit_}.]"
    content = event.get("content", "") + status
    return {"role": "tool", "tool_call_id": told["tool_call_id"], "content": content}


def _arguments(event: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """As the model gave them, where the log has that; else as the log notes them."""
    for choice in (told.get("model_response") or {}).get("choices", ()):
        for call in choice["message"].get("tool_calls") or ():
            if call["id"] == told["tool_call_id"]:
                return dict(json.loads(call["function"]["arguments"]))
    arguments = {key: event["args"][key] for key in _KNOWN_ARGUMENTS if event["args"].get(key)}
    return {"command": "view", **arguments} if event["action"] == "read" else arguments


def _model(response: dict[str, Any]) -> str | None:
    model = response.get("model")
    return model if isinstance(model, str) and model not in ("", "default") else None
