"""The calls of recorded Claude Code sessions: what was estimated, what was reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import turnfit as tf

from support.trajectories import FOLDER


def sessions(by_model: bool = False) -> Iterator[list[tuple[int, Any]]]:
    """Each session's calls: the estimate of all messages before a call, and its usage;
    by script, or as the session's model is priced.

    System prompt and tools are not in the files. Where a session was compacted, its
    messages begin anew with the summary, as they did for the client.
    """
    for path in sorted(FOLDER.glob("claudecode-spotter-*.jsonl")):
        yield list(_calls(path, by_model))


def _calls(path: Path, by_model: bool) -> Iterator[tuple[int, Any]]:
    estimated, seen = 0, set()
    model = _model(path) if by_model else None
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        if row.get("subtype") == "compact_boundary":
            estimated = 0
        message = row.get("message")
        if row["type"] not in ("user", "assistant") or not isinstance(message, dict):
            continue
        # A message comes in several rows, one for each of its blocks.
        if message["role"] == "assistant" and message["id"] not in seen:
            seen.add(message["id"])
            yield estimated, message["usage"]
        kept = {"role": message["role"], "content": message["content"]}
        estimated += tf.estimate_message(kept, format="anthropic", model=model)


def _model(path: Path) -> str:
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    messages = (row.get("message") or {} for row in rows)
    return str(next(message["model"] for message in messages if "model" in message))
