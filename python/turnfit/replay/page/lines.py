"""Policies laid over each other: a line each, told apart by colour, dashes and a letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnfit.replay.page.figures import cut, short
from turnfit.replay.page.frame import chart, stretched
from turnfit.replay.page.markup import Markup, join, tag, text
from turnfit.replay.page.reading import Run
from turnfit.replay.page.scale import Scale
from turnfit.replay.page.totals import badge

__all__ = ["STYLES", "Line", "laid_over"]

STYLES = 7
"""Colours, and as many ways to dash a line."""
_APART = 16
"""Pixels from one label to the next."""
_PIXELS = 300
"""Of the chart's height, as the style sheet has it."""
_LONG = 20
"""Letters of a name that have room beside the chart."""

Line = tuple[int, Run, Sequence[float]]
"""A policy's place, the policy, and its values."""


def laid_over(
    key: str, title: str, scale: Scale, lines: Sequence[Line], *more: Markup, refused: bool = False
) -> Markup:
    """The chart of all policies.

    Args:
        more: what is drawn over the lines.
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
    return chart(key, title, told, scale, stretched(*paths), *crosses, *names, *more, tall=True)


def _crosses(scale: Scale, lines: Sequence[Line]) -> Iterator[Markup]:
    for _, run, values in lines:
        for step in run.refusals[:1]:
            at = {"x": scale.across(step), "y": scale.down(values[step])}
            yield tag("svg", tag("use", href="#mark-refused"), **at, overflow="visible")


def _labels(scale: Scale, lines: Sequence[Line]) -> Iterator[Markup]:
    """Each line's name at the right, led to from its end, none upon another."""
    ends = sorted(
        (scale.y(values[-1]) * _PIXELS / 1000, line) for line in lines if (values := line[2])
    )
    for (end, (place, run, values)), y in zip(ends, _spread([end for end, _ in ends]), strict=True):
        x = f"{100 * len(values) / scale.steps:.4g}%"
        low, high = f"{end / _PIXELS:.2%}", f"{y / _PIXELS:.2%}"
        lead = [
            tag("line", x1=x, x2="100%", y1=low, y2=low, class_="lead"),
            tag(
                "svg",
                tag("line", x1="0", x2="12", y1="0", y2=round(y - end, 1), class_="lead"),
                x="100%",
                y=low,
                overflow="visible",
            ),
        ]
        name = tag("tspan", text(cut(run.name, _LONG)), class_="name", dx="5")
        letter = tag("tspan", text(badge(place)), class_="strong")
        css = f"label ink{place % STYLES}"
        yield join(
            [*lead, tag("text", letter, name, x="100%", dx="15", y=high, dy="0.32em", class_=css)]
        )


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
