"""Inspect's logs as JSON (https://inspect.aisi.org.uk/eval-logs.html), sample by sample."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from turnfit.replay.recordings import Recording

__all__ = ["TITLE", "is_it", "read"]

TITLE = "Inspect's log"

_SENT = ("role", "content", "tool_call_id")


def is_it(value: Any) -> bool:
    """Whether a document is such a log."""
    samples = value.get("samples") if isinstance(value, dict) else None
    return isinstance(samples, list) and all(
        isinstance(sample, dict) and "messages" in sample for sample in samples
    )


def read(value: Any, name: str) -> Iterator[Recording]:
    """The samples' histories, in OpenAI's chat shape."""
    run = value.get("eval")
    named = (run.get("model") if isinstance(run, dict) else None) or value.get("model")
    model = named if isinstance(named, str) else None
    for sample in value["samples"]:
        messages = [_plain(message) for message in sample["messages"]]
        yield Recording(name=name, messages=messages, format="openai-chat", model=model)


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """Inspect flattens a call's function; the wire has it nested. A tool's error stands apart."""
    plain = {key: message[key] for key in _SENT if message.get(key) is not None}
    error = message.get("error")
    if isinstance(error, dict) and not plain.get("content"):
        plain["content"] = str(error.get("message", ""))
    calls = message.get("tool_calls")
    return {**plain, "tool_calls": [_call(call) for call in calls]} if calls else plain


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["function"], "arguments": json.dumps(call["arguments"])}
    return {"id": call["id"], "type": "function", "function": function}
