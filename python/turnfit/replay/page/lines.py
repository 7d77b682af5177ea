"""Policies laid over each other: a line each, told apart by colour, dashes and a letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnfit.replay.page.figures import cut, short
from turnfit.replay.page.frame import chart, stretched
from turnfit.replay.page.markup import Markup, join, tag, text
from turnfit.replay.page.reading import Run
from turnfit.replay.page.scale import HEIGHT, Scale
from turnfit.replay.page.totals import badge

__all__ = ["ROOM", "STYLES", "Line", "laid_over"]

STYLES = 7
"""Colours, and as many ways to dash a line."""
_APART = 16
"""Pixels from one label to the next."""
_PIXELS = 300
"""Of the chart's height, as the style sheet has it."""
ROOM = _PIXELS // _APART
"""Lines that can bear their names; of more, only the legend tells."""
_LONG = 20
"""Letters of a name that have room beside the chart."""

Line = tuple[int, Run, Sequence[float]]
"""A policy's place, the policy, and its values."""


def laid_over(
    key: str, title: str, scale: Scale, lines: Sequence[Line], *more: Markup, refused: bool = False
) -> Markup:
    """The chart of all policies.

    Args:
        more: what is drawn over the lines, and under the crosses.
        refused: whether a line ends with a cross where its request was refused.
    """
    told = "; ".join(
        f"{run.name} ends at {short(values[-1])}, at most {short(max(values))}"
        for _, run, values in lines
        if values
    )
    drawn = [line for line in lines if line[2]]
    paths = [
        tag("path", d=scale.line(values), class_=f"line style{place % STYLES}")
        for place, _, values in drawn
    ]
    crosses = _crosses(scale, drawn) if refused else ()
    names = _labels(scale, drawn)
    return chart(key, title, told, scale, stretched(*paths), *more, *crosses, *names, tall=True)


def _crosses(scale: Scale, lines: Sequence[Line]) -> Iterator[Markup]:
    for _, run, values in lines:
        for step in run.refusals[:1]:
            at = {"x": scale.across(step), "y": scale.down(values[step])}
            yield tag("svg", tag("use", href="#mark-refused"), **at, overflow="visible")


def _labels(scale: Scale, lines: Sequence[Line]) -> Iterator[Markup]:
    """Each line's name at the right, led to from its end, none upon another."""
    if len(lines) > ROOM:
        return
    lines = sorted(lines, key=lambda line: scale.y(line[2][-1]))
    ends = [scale.y(values[-1]) * _PIXELS / HEIGHT for _, _, values in lines]
    for (place, run, values), end, y in zip(lines, ends, _spread(ends), strict=True):
        yield _lead(100 * len(values) / scale.steps, end, y)
        letter = tag("tspan", text(badge(place)), class_="strong")
        name = tag("tspan", text(cut(run.name, _LONG)), class_="name", dx="5")
        at = {"x": "100%", "dx": "15", "y": f"{y / _PIXELS:.2%}", "dy": "0.32em"}
        yield tag("text", letter, name, **at, class_=f"label ink{place % STYLES}")


def _lead(percent: float, end: float, y: float) -> Markup:
    """From a line's end to the chart's edge, and from there to its label's height."""
    low, css = f"{end / _PIXELS:.2%}", "lead"
    flat = tag("line", x1=f"{percent:.4g}%", x2="100%", y1=low, y2=low, class_=css)
    bent = tag("line", x1="0", x2="12", y1="0", y2=round(y - end, 1), class_=css)
    return join([flat, tag("svg", bent, x="100%", y=low, overflow="visible")])


def _spread(places: Sequence[float]) -> list[float]:
    """The places, moved down where they would touch, and then up where they would fall out."""
    spread: list[float] = []
    for place in places:
        spread.append(max([place, *(last + _APART for last in spread[-1:])]))
    floor = float(_PIXELS)
    for n in reversed(range(len(spread))):
        spread[n] = min(spread[n], floor)
        floor = spread[n] - _APART
    return spread
