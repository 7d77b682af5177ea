"""Replayed histories as `Replayed.as_dict()` gives them, checked and made easy to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

__all__ = ["SUMS", "Replay", "Run", "read", "size_of"]

SUMS = (
    "requests",
    "tokens_sent",
    "over_budget",
    "refused",
    "cleared",
    "dropped_turns",
    "dropped_rounds",
    "start_changes",
    "cache_read",
    "cache_written",
    "uncached",
    "seconds",
    "stale_reasoning",
    "exposed",
)
"""The figures of a policy that can be summed over histories."""
_ALSO = ("results", "unread")
"""Those that not every replay tells."""

_COLUMNS = (
    "tokens",
    "at",
    "kept",
    "notes",
    "cleared",
    "dropped",
    "first_changed",
    "read",
    "refused",
)


@dataclass(frozen=True)
class Run:
    """A history under one policy.

    Attributes:
        name: the policy's.
        budget: the tokens that a request may take.
        sums: the totals by name, those of `SUMS` and what else is told.
        finished: whether the work came to its end.
        cost: in `currency`; None where no prices are known.
        steps: columns by name, a value per request; empty where they weren't kept.
    """

    name: str
    budget: int | None
    sums: Mapping[str, float]
    finished: bool
    cost: float | None
    currency: str
    steps: Mapping[str, Sequence[int]]

    def __len__(self) -> int:
        return len(self.steps["tokens"])

    def layers(self) -> list[list[int]]:
        """What was kept, and above it notes, what was cleared, and what was dropped."""
        parts = zip(
            *(self.steps[key] for key in ("kept", "notes", "cleared", "dropped")), strict=True
        )
        sums = [tuple(accumulate(part)) for part in parts]
        return [[row[layer] for row in sums] for layer in range(4)]

    @cached_property
    def whole(self) -> int:
        """Tokens of the longest history that stood before a request, as it was recorded."""
        return max(self.layers()[-1], default=0)

    @cached_property
    def largest(self) -> int:
        """Tokens of the largest request."""
        return max(self.steps["tokens"], default=0)

    @cached_property
    def paid(self) -> list[int]:
        """Tokens so far that the prefix cache didn't give, request by request."""
        columns = (self.steps[key] for key in ("tokens", "read", "refused"))
        rows = zip(*columns, strict=True)
        # What is refused is not paid for.
        return list(accumulate(0 if refused else tokens - read for tokens, read, refused in rows))

    @cached_property
    def breaks(self) -> list[int]:
        """The requests in which something stands before the end that isn't as it was sent."""
        return [step for step, place in enumerate(self.steps["first_changed"]) if place != -1]

    @cached_property
    def refusals(self) -> list[int]:
        """The requests over the window."""
        return [step for step, refused in enumerate(self.steps["refused"]) if refused]


@dataclass(frozen=True)
class Replay:
    """A history, and what each policy made of it."""

    name: str
    format: str
    model: str | None
    messages: int
    budget: int | None
    window: int | None
    runs: tuple[Run, ...]

    @cached_property
    def whole(self) -> int:
        """Tokens of the history as it was recorded, as far as a policy came."""
        return max((run.whole for run in self.runs), default=0)

    @cached_property
    def largest(self) -> int:
        """Tokens of the largest request under any policy."""
        return max((run.largest for run in self.runs), default=0)

    @cached_property
    def steps(self) -> int:
        """The requests of the policy that came farthest."""
        return max(map(len, self.runs), default=0)


def size_of(replay: Replay) -> tuple[float, ...]:
    """By what histories are ordered: their length, or else what is sent of them."""
    return (replay.whole, max((run.sums["tokens_sent"] for run in replay.runs), default=0))


def read(replays: Sequence[Mapping[str, Any]]) -> list[Replay]:
    """The histories, checked.

    Raises:
        ValueError: for one that lacks something, whose columns differ in length, or whose
            policies are named alike, with the place named.
    """
    return [_replay(f"replays[{number}]", replay) for number, replay in enumerate(replays)]


def _replay(where: str, replay: Mapping[str, Any]) -> Replay:
    name, format_, messages, policies = (
        _of(where, replay, key) for key in ("name", "format", "messages", "policies")
    )
    model, budget, window = (replay.get(key) for key in ("model", "budget", "window"))
    runs = tuple(_run(f"{where}.policies[{n}]", one, budget) for n, one in enumerate(policies))
    for named, count in Counter(run.name for run in runs).items():
        if count > 1:
            raise ValueError(f"{where} has {count} policies named {named!r}")
    return Replay(name, format_, model, messages, budget, window, runs)


def _run(where: str, policy: Mapping[str, Any], budget: int | None) -> Run:
    sums = {key: _of(where, policy, key) for key in SUMS}
    return Run(
        name=_of(where, policy, "name"),
        budget=policy.get("budget", budget),
        sums=sums | {key: policy[key] for key in _ALSO if key in policy},
        finished=bool(_of(where, policy, "finished")),
        cost=policy.get("cost"),
        currency=policy.get("currency") or "",
        steps=_columns(f"{where}.steps", policy.get("steps")),
    )


def _columns(where: str, steps: Mapping[str, Sequence[int]] | None) -> Mapping[str, Sequence[int]]:
    if steps is None:
        return dict.fromkeys(_COLUMNS, ())
    columns = {key: _of(where, steps, key) for key in _COLUMNS}
    for key, column in columns.items():
        if len(column) != len(columns["tokens"]):
            lengths = f"{len(column)} values, but 'tokens' has {len(columns['tokens'])}"
            raise ValueError(f"{where}: {key!r} has {lengths}")
    return columns


def _of(where: str, mapping: Mapping[str, Any], key: str) -> Any:
    try:
        return mapping[key]
    except KeyError:
        raise ValueError(f"{where} has no {key!r}") from None
