"""What each policy comes to over all histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turnfit.replay.page.reading import Replay, Run

__all__ = ["Total", "badge", "totals"]


@dataclass(frozen=True)
class Total:
    """A policy over all the histories that were replayed under it.

    Attributes:
        badge: the letter by which the page's charts call it.
        place: its place among the policies.
        runs: the histories under it.
        histories: how many there are, under whatever policy.
    """

    badge: str
    place: int
    name: str
    runs: tuple[Run, ...]
    histories: int

    def sum(self, key: str) -> float:
        """One of `reading.SUMS` over all histories."""
        return sum(run.sums[key] for run in self.runs)

    def told(self, key: str) -> float | None:
        """The same of what not every replay tells; None where one doesn't."""
        return self.sum(key) if all(key in run.sums for run in self.runs) else None

    @property
    def refused(self) -> int:
        """Histories of which a request was refused."""
        return sum(1 for run in self.runs if run.sums["refused"])

    @property
    def finished(self) -> int:
        """Histories that came to their end."""
        return sum(run.finished for run in self.runs)

    @property
    def finishes(self) -> bool:
        """Whether all there are did."""
        return self.finished == self.histories

    @property
    def largest(self) -> int | None:
        """Tokens of the largest request; None where single requests weren't kept."""
        return max((run.largest for run in self.runs), default=0) or None

    @property
    def cost(self) -> float | None:
        """In `currency`; None where it isn't known for all, or the currencies differ."""
        costs = [run.cost for run in self.runs if run.cost is not None]
        alike = len({run.currency for run in self.runs}) == 1
        return sum(costs) if alike and len(costs) == len(self.runs) else None

    @property
    def currency(self) -> str:
        """What the costs are in."""
        return self.runs[0].currency

    @property
    def anew(self) -> float:
        """Tokens that the prefix cache didn't give."""
        return self.sum("tokens_sent") - self.sum("cache_read")


def totals(replays: Sequence[Replay]) -> list[Total]:
    """The policies by name, in the order in which they come up."""
    runs: dict[str, list[Run]] = {}
    for replay in replays:
        for run in replay.runs:
            runs.setdefault(run.name, []).append(run)
    return [
        Total(badge(place), place, name, tuple(under), len(replays))
        for place, (name, under) in enumerate(runs.items())
    ]


def badge(place: int) -> str:
    """A letter for a place, with a number from the 27th on.

    >>> badge(1), badge(27)
    ('B', 'B2')
    """
    round_, letter = divmod(place, 26)
    return chr(ord("A") + letter) + (str(round_ + 1) if round_ else "")
