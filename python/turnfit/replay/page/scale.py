"""From values to places in a chart: ticks, thinning, and paths of steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

__all__ = ["HEIGHT", "WIDTH", "Scale", "columns_of", "ticks"]

WIDTH, HEIGHT = 2000, 1000
"""Of the box that paths are drawn in; the page stretches it to what room there is."""

_ROUND = (1, 2, 2.5, 5, 10)


def ticks(most: float, count: int = 5) -> list[float]:
    """Round numbers from 0 to `most`, no more than `count` after the 0.

    >>> ticks(1_050_000), ticks(3), ticks(0)
    ([0.0, 250000.0, 500000.0, 750000.0, 1000000.0], [0.0, 1.0, 2.0, 3.0], [0.0])
    """
    if most < 1:
        return [0.0]
    power = 10.0 ** floor(log10(most / count))
    step = max(1.0, next(power * one for one in _ROUND if most / (power * one) <= count))
    return [step * n for n in range(floor(most / step) + 1)]


def columns_of(count: int, columns: int) -> Iterator[range]:
    """So many places, as at most so many ranges of nearly equal lengths.

    >>> list(columns_of(5, 2))
    [range(0, 2), range(2, 5)]
    """
    columns = min(count, columns)
    edges = [column * count // columns for column in range(columns + 1)] if columns else [0]
    return (range(start, end) for start, end in itertools.pairwise(edges))


class Scale(NamedTuple):
    """Requests across, values up.

    Attributes:
        steps: requests across the whole width.
        top: the value at the upper edge.
        columns: as many as are told apart across.
    """

    steps: int
    top: float
    columns: int

    def x(self, step: float) -> int:
        """Where a request begins, in the box."""
        return round(WIDTH * step / self.steps)

    def y(self, value: float) -> int:
        """Down, in the box."""
        return round(HEIGHT * (1 - value / self.top))

    def across(self, step: float) -> str:
        """Where a request's middle is, in percent."""
        return f"{100 * (step + 0.5) / self.steps:.4g}%"

    def down(self, value: float) -> str:
        """How far down a value is, in percent."""
        return f"{100 * (1 - value / self.top):.4g}%"

    def shown(self, values: Sequence[float]) -> list[int]:
        """The steps to draw: all, or of each column the first, least, greatest and last.

        A line through these looks as one through all does (U. Jugel et al., M4, 2014,
        doi:10.14778/2732951.2732953).

        >>> Scale(8, 9, 1).shown([3, 9, 3, 3, 0, 3, 3, 4])
        [0, 1, 4, 7]
        """
        if len(values) <= 4 * self.columns:
            return list(range(len(values)))
        # What stopped early has only its part of the columns.
        columns = ceil(self.columns * len(values) / self.steps)
        return [
            step
            for column in columns_of(len(values), columns)
            for step in sorted(
                {
                    column[0],
                    min(column, key=values.__getitem__),
                    max(column, key=values.__getitem__),
                    column[-1],
                }
            )
        ]

    def line(self, values: Sequence[float]) -> str:
        """The path of a line that holds each value for the width of its request."""
        shown = self.shown(values)
        if not shown:
            return ""
        x, y = 0, self.y(values[0])
        path = [f"M0 {y}"]
        for step, after in zip(shown, [*shown[1:], len(values)], strict=True):
            to_x, to_y = self.x(after), self.y(values[step])
            path += [f"v{to_y - y}"] * (to_y != y) + [f"h{to_x - x}"] * (to_x != x)
            x, y = to_x, to_y
        return "".join(path)

    def area(self, values: Sequence[float]) -> str:
        """The path of what is under such a line."""
        line = self.line(values)
        return line and f"{line}V{HEIGHT}H0Z"

    def marks(self, steps: Sequence[int], places: int) -> list[int]:
        """The marked steps, less those closer to one before than places side by side are.

        >>> Scale(100, 1, 100).marks([3, 4, 5, 50, 90], 20)
        [3, 50, 90]
        """
        shown: list[int] = []
        for step in steps:
            if not shown or (step - shown[-1]) * places >= self.steps:
                shown.append(step)
        return shown
