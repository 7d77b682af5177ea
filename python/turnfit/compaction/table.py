"""Regret by kind of task: counts of many sessions in SQLite, asked for with intervals."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from types import TracebackType
from typing import Literal, NamedTuple, TypeAlias

from turnfit.compaction.regret import Measure, Regret, What

__all__ = ["Rate", "RegretTable", "wilson"]

Column: TypeAlias = Literal["task_type", "session"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS regret (
    session TEXT NOT NULL,
    task_type TEXT NOT NULL,
    measure TEXT NOT NULL,
    what TEXT NOT NULL,
    again INTEGER NOT NULL,
    chances INTEGER NOT NULL,
    view_again INTEGER NOT NULL,
    view_chances INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (session, measure, what)
)
"""

_Z = 1.959964
"""Of the normal distribution, for 95 %."""


def wilson(again: int, chances: int) -> tuple[float, float]:
    """The 95 % interval of a share (E. B. Wilson, 1927, doi:10.2307/2276774).

    >>> [round(bound, 3) for bound in wilson(1, 10)]
    [0.018, 0.404]
    """
    if not chances:
        return 0.0, 1.0
    share, z = again / chances, _Z**2 / chances
    middle = (share + z / 2) / (1 + z)
    half = _Z / (1 + z) * sqrt(share * (1 - share) / chances + z / (4 * chances))
    return max(0.0, middle - half), min(1.0, middle + half)


class Rate(NamedTuple):
    """How often something was fetched or asked again: of what was gone, and of what wasn't.

    A chance is one thing at one answer of the model.

    Attributes:
        group: the kind of task, or the session.
        measure: ``regret`` or ``exposed``.
        what: ``read``, ``call`` or ``question``.
        again: how often, after it had gone.
        chances: how often it could have been.
        low: the lower end of the rate's 95 % interval.
        high: the upper end.
        view_again: how often, while it was in view.
        view_chances: how often it could have been.
        view_low: the lower end of that rate's interval.
        view_high: the upper end.
        tokens: what came back again cost, of what had gone.
    """

    group: str
    measure: Measure
    what: What
    again: int
    chances: int
    low: float
    high: float
    view_again: int
    view_chances: int
    view_low: float
    view_high: float
    tokens: int

    @property
    def rate(self) -> float:
        """The share of the chances at which it was fetched again."""
        return self.again / self.chances if self.chances else 0.0

    @property
    def view_rate(self) -> float:
        """Likewise, for what was in view."""
        return self.view_again / self.view_chances if self.view_chances else 0.0


class RegretTable:
    """Counts of many sessions, in a SQLite file or in memory.

    Args:
        path: the file; it is made where there is none.

    >>> with RegretTable() as table:
    ...     table.add(Regret(), session="s1", task_type="bug fix")
    ...     table.by("task_type")
    []
    """

    def __init__(self, path: str = ":memory:") -> None:
        # Few who compact measure at once; the import costs more than all the rest.
        import sqlite3

        self._connection = sqlite3.connect(path)
        self._connection.execute(_SCHEMA)

    def __enter__(self) -> RegretTable:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, regret: Regret, *, session: str, task_type: str) -> None:
        """Write a session's counts; those it already has are replaced."""
        found = Counter(one.what for one in regret.findings)
        tokens: Counter[What] = Counter()
        for one in regret.findings:
            tokens[one.what] += one.tokens
        rows = [
            (
                *(session, task_type, regret.measure, what),
                *(found[what], regret.lost_chances[what]),
                *(regret.in_view[what], regret.view_chances[what], tokens[what]),
            )
            for what in sorted({*regret.lost_chances, *regret.view_chances})
        ]
        with self._connection:
            statement = "REPLACE INTO regret VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            self._connection.executemany(statement, rows)

    def by(self, column: Column = "task_type") -> list[Rate]:
        """The rates by kind of task or by session, the highest first.

        Raises:
            ValueError: for another column.
        """
        if column not in ("task_type", "session"):
            raise ValueError(f"column must be task_type or session, not {column!r}")
        query = (
            f"SELECT {column}, measure, what, SUM(again), SUM(chances), SUM(view_again), "
            f"SUM(view_chances), SUM(tokens) FROM regret GROUP BY {column}, measure, what"
        )
        rates = [_rate(*row) for row in self._connection.execute(query)]
        return sorted(rates, key=lambda rate: (-rate.rate, rate[:3]))


def _rate(
    group: str,
    measure: Measure,
    what: What,
    again: int,
    of: int,
    seen: int,
    in_view: int,
    cost: int,
) -> Rate:
    gone, view = wilson(again, of), wilson(seen, in_view)
    return Rate(group, measure, what, again, of, *gone, seen, in_view, *view, cost)
