"""The scenario of the subagents in full, and what replaying costs: writes docs/replay.md.

    PYTHONPATH=tests python -m benches.replay

Eight generated subagents, each with one instruction, read files in four languages past
1,000,000 tokens on a budget of 400,000. Then one reads forty long chapters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import turnfit as tf
from support.subagents import Message, opening, rounds
from turnfit.replay import Fitting, Recording, Replayed, Totals, replay, totals

PAGE = Path(__file__).parents[1] / "docs" / "replay.md"
TABLE = re.compile(r"^\|.*(?:\n\|.*)+", flags=re.MULTILINE)
WINDOW, BUDGET, MODEL = 1_000_000, 400_000, "claude-opus-5"
HEADINGS = ("The eight subagents", "Forty chapters", "What it costs")
ROUNDS = 2_000


def subagent(seed: int) -> list[Message]:
    """One instruction, and reads until the history no longer fits the window."""
    history, work = opening(seed), rounds(seed)
    tokens = tf.estimate_request(history, model=MODEL)
    while tokens <= WINDOW:
        more = next(work)
        history += more
        tokens += tf.estimate_request(more, model=MODEL)
    return history


def chapters(count: int) -> list[Message]:
    """One instruction, and so many long chapters."""
    history, work = opening(0), rounds(0, (2_000, 3_000))
    for _ in range(count):
        history += next(work)
    return history


def replayed(name: str, history: list[Message], **options: Any) -> Replayed:
    """A history under the policies."""
    recording = Recording(name=name, messages=history, model=MODEL)
    return replay(recording, BUDGET, window=WINDOW, steps=False, **options)


def rows(found: list[Totals]) -> Iterator[str]:
    """A row for each policy."""
    titles = ("finished", "refused", "over budget", "tokens sent", "from cache", "paid as")
    yield f"| policy | {' | '.join((*titles, 'unread'))} |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for one in found:
        sums: dict[str, Any] = one.sums
        share = sums["cache_read"] / sums["tokens_sent"]
        paid = 0.1 * sums["cache_read"] + 1.25 * sums["cache_written"] + sums["uncached"]
        cells = (
            f"{one.finished} of {one.histories}",
            f"{sums['refused']:,}",
            f"{sums['over_budget']:,}",
            f"{sums['tokens_sent'] / 1e6:,.1f} M",
            f"{share:.1%}",
            f"{paid / 1e6:,.1f} M",
            f"{sums['unread']:,} of {sums['results']:,}",
        )
        yield f"| {one.name} | {' | '.join(cells)} |"


def scenario(histories: list[list[Message]]) -> str:
    """The table of several subagents together."""
    got = (replayed(f"subagent {number}", one) for number, one in enumerate(histories))
    return "\n".join(rows(totals(one.as_dict() for one in got)))


def costs() -> str:
    """What a step takes, policy by policy, at two lengths of history."""
    lines = ["| rounds | messages | policies | seconds | µs per step and policy |"]
    lines.append("|--:|--:|--:|--:|--:|")
    for count in (ROUNDS // 4, ROUNDS):
        work = rounds(0, (10, 60))
        history = [*opening(0), *(message for _ in range(count) for message in next(work))]
        whole = tf.estimate_request(history)
        own = Fitting("own", tf.Policy(budget=whole * 2 // 5))
        started = perf_counter()
        got = replay(
            Recording(name="long", messages=history), whole * 2 // 5, window=whole, policies=[own]
        )
        seconds = perf_counter() - started
        each = seconds / sum(played.requests for played in got.policies)
        policies = len(got.policies)
        lines.append(
            f"| {count:,} | {len(history):,} | {policies} | {seconds:.1f} | {each * 1e6:.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Puts the tables of a run in the place of those that stand there."""
    made = [scenario([subagent(seed) for seed in range(8)]), scenario([chapters(40)]), costs()]
    text = PAGE.read_text("utf-8")
    for heading, table in zip(HEADINGS, made, strict=True):
        start = text.index(f"## {heading}\n")
        text = text[:start] + TABLE.sub(table, text[start:], count=1)
        print(table, end="\n\n")
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
