"""What of reasoning and cache is kept: docs/reasoning.md, from recorded and generated work.

    PYTHONPATH=tests python -m benches.reasoning

Each history is played step by step: what the policy makes of it is sent, with
`turnfit.mark_cache`'s marks, to a provider that checks all reasoning, and its answer is
appended with reasoning of its own. The same requests go to the provider's cache as a naive
caller marks them, and to a cache that no mark can beat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import turnfit as tf
from servers.prefix_cache import CacheUse, PrefixCache, cache_for, ideal_cache
from servers.requests import RefusedError
from servers.thinking import checker_for
from support.conversions import converted
from support.subagents import opening, rounds
from support.thinking import WIRES, Played, always, play
from support.trajectories import recorded

PAGE = Path(__file__).parents[1] / "docs" / "reasoning.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
GRIDS: dict[str, dict[str, Any]] = {
    "default": {},
    "grid=0": {"grid": 0},
    "clear_batch=1": {"clear_batch": 1},
}
MODELS = {
    "claude-opus-5-5": ("anthropic", "auto"),
    "anthropic.claude-opus-5-5-v1:0": ("bedrock-converse", "auto"),
    "claude-haiku-4-5": ("anthropic", "strip"),
    "gpt-6.2-sol": ("openai-responses", "keep"),
    "gpt-6.2-sol, stripped": ("openai-responses", "strip"),
    "gemini-3.8-flash": ("gemini", "strip"),
}
MARK = {"cache_control": {"type": "ephemeral"}}


@dataclass
class Cached:
    """What was read from a cache, over all requests."""

    cache: PrefixCache
    use: list[CacheUse] = field(default_factory=list)

    def read(self, request: Any) -> None:
        self.use.append(self.cache.read(request))


@dataclass
class Sums:
    """Sums over histories."""

    histories: int = 0
    requests: int = 0
    refused: int = 0
    dropped: int = 0
    given: int = 0
    lost: int = 0
    carried: int = 0
    stale: int = 0
    sent: int = 0
    moved: int = 0
    read: dict[str, int] = field(default_factory=dict)

    def add(self, played: Played) -> None:
        self.histories += 1
        self.requests += played.requests
        self.dropped += sum(map(len, played.dropped))
        self.given += played.given
        self.lost += len(played.lost)
        self.carried += played.carried
        self.stale += played.stale

    def add_caches(self, caches: dict[str, Cached]) -> None:
        self.sent += sum(use.total for use in caches["ideal"].use)
        for name, cached in caches.items():
            read = sum(use.read for use in cached.use)
            self.read[name] = self.read.get(name, 0) + read


def histories(format_: Any) -> Iterator[list[Any]]:
    """Recorded work, and four subagents that were generated."""
    for one in recorded():
        history = converted(one.messages, format_)
        if len(history) >= 20:
            yield history
    for seed in range(2):
        work = [message for some in islice(rounds(seed, (200, 900)), 60) for message in some]
        yield converted([*opening(seed), *work], format_)


def count(block: Any) -> int:
    """By script, as the policies price."""
    return tf.estimate(str(block))


def naive(request: Any, format_: str) -> Any:
    """What many callers do: a mark on the system prompt and one on the whole."""
    if format_ != "anthropic":
        return request
    return {**request, **MARK}


def run(model: str, format_: Any, reasoning: Any, grid: dict[str, Any], share: float) -> Sums:
    """All histories under one policy, each on a budget of a share of it."""
    sums = Sums()
    name = model.partition(",")[0]
    for history in histories(format_):
        tokens = tf.estimate_request(history, format=format_)
        policy = tf.Policy(
            budget=max(2_000, int(share * tokens)),
            model=name,
            profile="script",
            reasoning=reasoning,
            **grid,
        )
        caches = {
            "marked": Cached(cache_for(name, count)),
            "naive": Cached(cache_for(name, count)),
            "ideal": Cached(ideal_cache(name, count)),
        }
        try:
            played = played_with(history, format_, policy, caches)
        except RefusedError as refused:
            print(model, grid, refused)
            sums.refused += 1
            continue
        sums.add(played)
        sums.add_caches(caches)
    return sums


def played_with(
    history: list[Any], format_: str, policy: tf.Policy, caches: dict[str, Cached]
) -> Played:
    """A history, step by step, with every request read by the caches."""
    wire = WIRES[format_]

    def seen(body: Any, fitted: tf.Fitted, _: tf.Conversation) -> None:
        caches["marked"].read({**body, wire.messages: tf.mark_cache(fitted)})
        caches["naive"].read(naive(body, format_))
        caches["ideal"].read(body)

    checker = checker_for(policy.model or "")
    return play(history, wire, policy, checker, always, seen=seen)


def row(model: str, grid: str, sums: Sums) -> str:
    """A row of the table."""
    kept = sums.carried / max(1, sums.carried + sums.stale)
    best = max(1, sums.read["ideal"])
    figures = [
        f"{sums.requests:,}",
        f"{sums.refused}",
        f"{sums.lost / max(1, sums.given):.1%}",
        f"{kept:.1%}",
        f"{sums.read['ideal'] / max(1, sums.sent):.1%}",
        f"{sums.read['marked'] / best:.1%}",
        f"{sums.read['naive'] / best:.1%}",
    ]
    return f"| {model} | {grid} | {' | '.join(figures)} |"


HEAD = """\
| model | policy | requests | refused | lost | kept | ideal cache | marked | naive |
|---|---|--:|--:|--:|--:|--:|--:|--:|"""


def main() -> None:
    """Writes the table into its page."""
    lines = [HEAD]
    for model, (format_, reasoning) in MODELS.items():
        for name, grid in GRIDS.items():
            lines.append(row(model, name, run(model, format_, reasoning, grid, 1 / 3)))
            print(lines[-1], flush=True)
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    table = "\n".join(lines)
    behind = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{behind}", "utf-8")


if __name__ == "__main__":
    main()
