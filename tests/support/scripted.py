"""An agent with a scripted model: it knows what stands in its request, and nothing else.

Four jobs, one for each way in which "the past doesn't matter any more" fails. Early in each
something happens that is needed late; between the two lies reading that fills the window.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import turnfit as tf
from turnfit.compaction import Effect, Effects
from turnfit.compaction.presets import CLAUDE_CODE

EFFECTS = CLAUDE_CODE | Effects({"query": (Effect.spends("count", "queries"),)})
READS = 60
QUOTA = 10
Message = tf.Message


@dataclass(frozen=True)
class Job:
    """What happens early, what the model does late from what it sees, and what was right."""

    case: str
    early: tuple[Message, ...]
    decide: Callable[[str], str]
    right: str
    writes: Callable[[str], dict[str, Any]]
    """What the model puts into the record, from what it sees."""


def called(name: str, text: str, failed: bool = False, **arguments: Any) -> tuple[Message, ...]:
    return (
        tf.Message("assistant", tf.Call("e", name, arguments)),
        tf.Message("tool", tf.Result("e", text, is_error=failed)),
    )


def first_of(pattern: str, text: str, otherwise: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else otherwise


def queries_left(text: str) -> str:
    """By the record's total, or else by the calls in view."""
    total = re.search(r'"queries", "spent": (\d+)', text)
    spent = int(total[1]) if total else sum(map(int, re.findall(r"query\D+(\d+)", text)))
    return str(min(5, QUOTA - spent))


def nothing(_: str) -> dict[str, Any]:
    return {"established": [], "open": []}


def offset(text: str) -> dict[str, Any]:
    zone = first_of(r"(UTC\+\d+)", text, "")
    fact = {"text": f"The shop's times are {zone}.", "kind": "fact", "quote": f"times are {zone}"}
    return {"established": [fact] if zone else [], "open": []}


def blocked(text: str) -> dict[str, Any]:
    port = first_of(r"port (\d+) is taken", text, "")
    told = f"serve: port {port} is taken on this machine; 8081 was used instead."
    entry = {"text": told, "kind": "blocked", "resolved": False}
    return {"established": [], "open": [entry] if port else []}


JOBS = (
    Job(
        "workspace",
        called(
            "Write",
            "File created successfully at: /repo/migrations/0042_a7f3.sql",
            file_path="/repo/migrations/0042_a7f3.sql",
            content="ALTER TABLE orders ADD COLUMN paid timestamptz;",
        ),
        lambda seen: first_of(r"(/repo/migrations/\w+\.sql)", seen, "/repo/migrations/new.sql"),
        "/repo/migrations/0042_a7f3.sql",
        nothing,
    ),
    Job("remaining", called("query", "ok", count=7), queries_left, "3", nothing),
    Job(
        "established",
        called("Read", "# The API\n\nAll times are UTC+3.", file_path="/repo/docs/api.md"),
        lambda seen: first_of(r"(UTC\+\d+)", seen, "UTC"),
        "UTC+3",
        offset,
    ),
    Job(
        "open",
        called("Bash", "Exit code 1\nport 8080 is taken", True, command="./serve 8080"),
        lambda seen: "8081" if "8080 is taken" in seen else "8080",
        "8081",
        blocked,
    ),
)


def work(job: Job) -> Iterator[Message]:
    """All that happens until the model has to decide."""
    yield tf.Message("user", "Move the shop to the new API.")
    yield from job.early
    for number in range(READS):
        path = f"/repo/src/part_{number:02}.py"
        yield tf.Message("assistant", f"Next is {path}.", tf.Call("r", "Read", {"file_path": path}))
        yield tf.Message("tool", tf.Result("r", f"# part {number}\n" + "value = 1\n" * 60))


def seen_in(messages: list[Message]) -> str:
    """All that a model can read in a request."""
    return "\n".join(_shown(part) for message in messages for part in message.parts)


def _shown(part: Any) -> str:
    match part:
        case tf.Text(text):
            return text
        case tf.Call(_, name, arguments):
            return f"{name} {arguments}"
        case tf.Result(_, content):
            return str(content)
    return ""
