"""What policies did to a recording."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from turnfit.replay.rules import CacheRules

__all__ = ["VERSION", "Played", "Replayed", "Steps", "Totals", "totals"]

VERSION = 1
"""Of what `Replayed.as_dict` gives."""


@dataclass
class Steps:
    """A policy's requests, as columns: one value for each.

    Attributes:
        at: how many messages of the history stood before it.
        tokens: what it costs.
        kept: of that, what is sent as it was recorded; system, tools and frame among it.
        notes: of that, notes in the place of what was taken out.
        cleared: tokens that clearing took out of it.
        dropped: tokens of the turns and rounds that were left out of it. What notes take is
            off: `tokens`, `cleared` and `dropped` are the history's, unless a request has more.
        first_changed: the index in the request before of the first message that is not the
            same in this one; -1 where it only grew.
        read: tokens read from the prefix cache.
        written: tokens written to it.
        refused: whether it was over the window.
    """

    at: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    notes: list[int] = field(default_factory=list)
    cleared: list[int] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    first_changed: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    refused: list[bool] = field(default_factory=list)


@dataclass
class Played:
    """What one policy did.

    Attributes:
        name: the policy's.
        budget: the tokens that a request may take.
        requests: how many were sent.
        tokens_sent: what all cost that were not refused.
        over_budget: how many were over the budget.
        refused: how many were over the window; these cost nothing, and nothing of them is
            kept in a cache.
        cleared: how many tool results were cleared, at some time.
        dropped_turns: how many turns were dropped, at some time.
        dropped_rounds: how many rounds of other turns.
        start_changes: how often a request did not begin with the one before.
        cache_read: tokens read from the prefix cache.
        cache_written: tokens written to it.
        uncached: tokens processed only.
        cost: what all of it costs, answers too; None without prices.
        seconds: the time spent on fitting.
        results: how many tool results there were to read.
        unread: how many of these no request held whole that was not refused.
        stale_reasoning: how many messages' reasoning was lost to changed prefixes.
        exposed: how often the agent fetched again what was not in the request.
        steps: the requests one by one; None where they were not wanted.
    """

    name: str
    budget: int
    requests: int = 0
    tokens_sent: int = 0
    over_budget: int = 0
    refused: int = 0
    cleared: int = 0
    dropped_turns: int = 0
    dropped_rounds: int = 0
    start_changes: int = 0
    cache_read: int = 0
    cache_written: int = 0
    uncached: int = 0
    cost: float | None = None
    seconds: float = 0.0
    results: int = 0
    unread: int = 0
    stale_reasoning: int = 0
    exposed: int = 0
    steps: Steps | None = None

    @property
    def finished(self) -> bool:
        """Whether no request was refused: an agent comes to its end."""
        return self.refused == 0

    def as_dict(self) -> dict[str, Any]:
        """All figures, as JSON has them."""
        values = {name: value for name, value in vars(self).items() if name != "steps"}
        steps = {} if self.steps is None else {"steps": vars(self.steps)}
        return {**values, "finished": self.finished, **steps}


@dataclass(frozen=True)
class Replayed:
    """What policies did to one recording.

    Attributes:
        name: the recording's.
        format: its wire format.
        model: the model by which it was priced and cached; None where none was known.
        messages: how many there were.
        budget: the tokens that a request may take.
        window: what the model accepts at all; None where none was given.
        cache: the rules of the cache.
        currency: in what costs are; None without prices.
        policies: what each did, in their order.
    """

    name: str
    format: str
    model: str | None
    messages: int
    budget: int
    window: int | None
    cache: CacheRules
    currency: str | None
    policies: Sequence[Played]

    def __getitem__(self, name: str) -> Played:
        """What the policy of this name did; a ``KeyError`` where there is none."""
        found = next((one for one in self.policies if one.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each policy, for tables: its figures, with the recording's beside."""
        shared = {
            "history": self.name,
            "format": self.format,
            "model": self.model,
            "messages": self.messages,
            "currency": self.currency,
        }
        told = ({**one.as_dict(), "policy": one.name} for one in self.policies)
        left_out = ("name", "steps")
        return [
            {**shared, **{key: value for key, value in row.items() if key not in left_out}}
            for row in told
        ]

    def as_dict(self) -> dict[str, Any]:
        """All figures, as JSON has them."""
        policies = [{**one.as_dict(), "currency": self.currency} for one in self.policies]
        return {
            "version": VERSION,
            "name": self.name,
            "format": self.format,
            "model": self.model,
            "messages": self.messages,
            "budget": self.budget,
            "window": self.window,
            "cache": self.cache.name,
            "policies": policies,
        }


@dataclass
class Totals:
    """What one policy did to several recordings: sums of what `Played` holds.

    Attributes:
        name: the policy's.
        histories: how many there were.
        finished: how many of them came to their end without a refusal.
    """

    name: str
    histories: int = 0
    finished: int = 0
    sums: dict[str, float | None] = field(default_factory=dict)

    def add(self, played: dict[str, Any]) -> None:
        """Counts a recording, by `Played.as_dict`."""
        self.histories += 1
        self.finished += played["finished"]
        for key in _SUMMED:
            value = played[key]
            before = self.sums.get(key, 0)
            # A sum that lacks a part is none.
            self.sums[key] = None if value is None or before is None else before + value

    def as_dict(self) -> dict[str, Any]:
        """All figures, as JSON has them."""
        return {
            "name": self.name,
            "histories": self.histories,
            "finished": self.finished,
            **self.sums,
        }


_SUMMED = (
    *("requests", "tokens_sent", "over_budget", "refused", "cleared", "dropped_turns"),
    *("dropped_rounds", "start_changes", "cache_read", "cache_written", "uncached", "cost"),
    *("seconds", "results", "unread", "stale_reasoning", "exposed"),
)


def totals(replays: Iterable[dict[str, Any]]) -> list[Totals]:
    """The sums over recordings, by policy, from what `Replayed.as_dict` gave of each."""
    found: dict[str, Totals] = {}
    for replay in replays:
        for played in replay["policies"]:
            found.setdefault(played["name"], Totals(played["name"])).add(played)
    return list(found.values())
