"""Twenty histories shaped like recorded agent work, made by rule: the same ones everywhere.

They stand for what was recorded: one instruction and a long run of reads (subagents), short
turns with a customer (tau), edits with long arguments (SWE-agent), several calls at once (Claude
Code), interrupted work, texts in many scripts. Nothing here is random, so that the golden
requests of `support.golden` can be told from a change of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import turnfit as tf

from support.conversions import WRITERS, Call, Result, Said
from support.subagents import SENTENCES

__all__ = ["SHAPES", "Shape", "written"]

SYSTEM = Said("system", "You work through a repository with your tools.")
TASK = Said("user", "Read every module and write down what is odd about it.")


@dataclass(frozen=True)
class Shape:
    """A history, and the policies under which its requests are golden."""

    said: Callable[[], Iterator[Said]]
    policies: list[dict[str, Any]] = field(
        default_factory=lambda: [{"budget": 3_000}, {"budget": 1_200}]
    )


def sentences(number: int, count: int, language: str = "en") -> str:
    """A text that depends on its arguments alone."""
    lines = SENTENCES[language]
    return " ".join(lines[(number * 7 + at * 3) % len(lines)] for at in range(count))


def asks(number: int, *calls: tuple[str, dict[str, Any]], text: str = "") -> Said:
    made = [Call(f"c{number}_{at}", *call) for at, call in enumerate(calls)]
    return Said("assistant", text, made)


def answers(asked: Said, *contents: str) -> Said:
    pairs = zip(asked.calls, contents, strict=False)
    return Said("user", "", answers=[Result(call, content) for call, content in pairs])


def round_of(number: int, content: str, name: str = "read", text: str = "") -> Iterator[Said]:
    asked = asks(number, (name, {"path": f"src/part_{number:02}.py"}), text=text)
    yield asked
    yield answers(asked, content)


def reads(count: int, size: Callable[[int], int], language: str = "en") -> Iterator[Said]:
    yield SYSTEM
    yield TASK
    for number in range(count):
        yield from round_of(number, sentences(number, size(number), language))


def turns(count: int, rounds: int, size: int) -> Iterator[Said]:
    yield SYSTEM
    for turn in range(count):
        yield Said("user", f"Now part {turn}. " + sentences(turn, 1))
        for number in range(turn * rounds, (turn + 1) * rounds):
            yield from round_of(number, sentences(number, size), text="Next.")
        yield Said("assistant", sentences(turn + 1, 2))


def at_once() -> Iterator[Said]:
    yield TASK
    for number in range(8):
        calls = [("grep", {"pattern": f"p{at}"}) for at in range(1 + number % 4)]
        asked = asks(number, *calls, text="Together.")
        yield asked
        yield answers(asked, *(sentences(number + at, 9) for at in range(len(calls))))


def talk() -> Iterator[Said]:
    for turn in range(24):
        yield Said("user", sentences(turn, 4))
        yield Said("assistant", sentences(turn + 2, 6))


def edits() -> Iterator[Said]:
    yield TASK
    for number in range(14):
        patch = {"path": f"src/part_{number}.py", "new": sentences(number, 12)}
        asked = asks(number, ("edit", patch))
        yield asked
        yield answers(asked, "The file was changed. " + sentences(number, 8))


def tools() -> Iterator[Said]:
    yield TASK
    for number in range(20):
        yield from round_of(number, sentences(number, 9), ("read", "mail", "search")[number % 3])


def interrupted() -> Iterator[Said]:
    yield TASK
    for number in range(14):
        asked = asks(number, ("read", {"path": f"{number}.py"}), ("bash", {"command": "make"}))
        yield asked
        if number % 5 == 4:
            yield Said("user", "Stop. Go on with the next one.")
        else:
            yield answers(asked, sentences(number, 9), sentences(number + 1, 5))


def in_flight() -> Iterator[Said]:
    yield from reads(12, lambda _: 9)
    yield asks(99, ("bash", {"command": "make"}))


def again() -> Iterator[Said]:
    """Ids that restart with each turn, as some servers give them."""
    for turn in range(6):
        yield Said("user", f"Part {turn}.")
        for number in range(3):
            yield from round_of(number, sentences(turn + number, 9))
        yield Said("assistant", "Done.")


def rows() -> Iterator[Said]:
    yield TASK
    for number in range(14):
        table = [f'{{"id": {at}, "name": "é\\n{number}", "ok": true}}' for at in range(12)]
        yield from round_of(number, "[" + ", ".join(table) + "]", "query")


def languages() -> Iterator[Said]:
    yield TASK
    for number in range(16):
        language = sorted(SENTENCES)[number % len(SENTENCES)]
        yield from round_of(number, sentences(number, 9, language) + " 🚀")


SHAPES: dict[str, Shape] = {
    "whole": Shape(lambda: reads(3, lambda _: 4), [{"budget": 5_000}]),
    "reads": Shape(lambda: reads(24, lambda _: 10)),
    "reads, small and large": Shape(lambda: reads(24, lambda number: 2 + number * 5 % 23)),
    "reads, hardly worth clearing": Shape(lambda: reads(30, lambda _: 2), [{"budget": 900}]),
    "the newest is huge": Shape(lambda: reads(10, lambda number: 150 if number == 9 else 8)),
    "short turns": Shape(lambda: turns(12, 1, 8)),
    "long turns": Shape(lambda: turns(4, 6, 10)),
    "calls at once": Shape(at_once, [{"budget": 2_000}, {"budget": 900, "clear_batch": 2}]),
    "talk": Shape(talk, [{"budget": 1_000}]),
    "edits": Shape(
        edits, [{"budget": 4_000, "clear_tool_inputs": True}, {"budget": 2_500, "grid": 0}]
    ),
    "tools apart": Shape(
        tools,
        [
            {"budget": 2_000, "no_rerun": ["mail"], "exclude_tools": ["search"]},
            {"budget": 1_200, "no_rerun": ["mail"], "worth": 4},
        ],
    ),
    "pins": Shape(
        lambda: reads(24, lambda _: 10), [{"budget": 2_500, "pinned": [5]}, {"budget": 1_500}]
    ),
    "newest kept": Shape(
        lambda: reads(24, lambda _: 10),
        [{"budget": 3_000, "keep": ["results", 2]}, {"budget": 3_000, "keep": ["tokens", 300]}],
    ),
    "interrupted": Shape(interrupted),
    "in flight": Shape(in_flight, [{"budget": 1_500}]),
    "ids again": Shape(again, [{"budget": 1_800}]),
    "rows": Shape(rows),
    "languages": Shape(languages, [{"budget": 2_500}, {"budget": 2_500, "scale": 1.25}]),
    "a model's profile": Shape(
        lambda: reads(24, lambda _: 10, "ru"),
        [
            {"budget": 4_000, "profile": "claude_v4_7@1"},
            {"budget": 4_000, "profile": "o200k_base@1", "reserve": 500},
        ],
    ),
    "one's own notes": Shape(
        lambda: turns(8, 2, 8),
        [{"budget": 1_500, "notes": {"version": 1, "cleared": "[gone]", "trimmed": "[cut]"}}],
    ),
}


def native(message: Said) -> list[Any]:
    made: list[Any] = [
        tf.Message("tool", tf.Result(answer.call.id, answer.content)) for answer in message.answers
    ]
    calls = [tf.Call(call.id, call.name, call.arguments) for call in message.calls]
    if message.text or calls:
        role: Any = message.role
        made.append(tf.Message(role, *([message.text] if message.text else []), *calls))
    return made


def written(shape: Shape, format: str) -> list[Any]:
    """A shape's history in a format."""
    write = native if format == "turnfit" else WRITERS[format]  # type: ignore[index]
    return [made for message in shape.said() for made in write(message)]
