"""What every chart has: a title and a text in its place, axes, and the limits as lines.

A chart's svg has no view box, so its texts and marks keep their size at any width: they stand
at shares of it. Only paths are stretched, inside a box of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnfit.replay.page.figures import short, whole
from turnfit.replay.page.markup import Markup, join, tag, text
from turnfit.replay.page.reading import Replay
from turnfit.replay.page.scale import HEIGHT, WIDTH, Scale, ticks

__all__ = ["chart", "limits", "stretched", "top_of"]

_FAR = 1.6
"""A limit that is farther above all that is drawn would flatten it, and is only named."""
_CLOSE = 0.07
"""Shares of the height; labels nearer to each other would touch."""


def top_of(replay: Replay, most: float) -> float:
    """The value at the upper edge: above all that is drawn, and above the limits near it."""
    near = [limit for limit in (replay.budget, replay.window) if limit and limit <= _FAR * most]
    return 1.06 * max(most, *near, 1)


def chart(
    key: str, title: str, told: str, scale: Scale, *drawn: Markup, tall: bool = False
) -> Markup:
    """An svg with axes, and what is drawn between them.

    Args:
        key: makes its ids unique in the page.
        title: its name.
        told: what there is to see, in words.
    """
    names = (
        tag("title", text(title), id=f"{key}-title"),
        tag("desc", text(told), id=f"{key}-desc"),
    )
    svg = tag(
        "svg",
        *names,
        *_axes(scale),
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
        width="100%",
        height="100%",
    )
    return tag("div", svg, class_="plot tall" if tall else "plot")


def stretched(*paths: Markup) -> Markup:
    """Paths in the box of a `Scale`, stretched over the chart."""
    return tag(
        "svg",
        *paths,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        width="100%",
        height="100%",
    )


def _axes(scale: Scale) -> Iterator[Markup]:
    for value in ticks(scale.top):
        y = scale.down(value)
        yield tag("line", x1="0", x2="100%", y1=y, y2=y, class_="axis" if value == 0 else "grid")
        yield tag("text", text(short(value)), x="0", dx="-8", y=y, dy="0.32em", class_="tick up")
    yield tag("text", text("request"), x="0", dx="-8", y="100%", dy="28", class_="tick up")
    for step in _numbered(scale.steps):
        yield tag(
            "text", text(whole(step)), x=scale.across(step - 1), y="100%", dy="28", class_="tick"
        )


def _numbered(steps: int) -> list[int]:
    """The requests whose numbers stand under the axis."""
    return [1, *(round(step) for step in ticks(steps) if step >= max(2, 0.08 * steps))]


def limits(
    scale: Scale, budget: int | None, window: int | None, refusals: Sequence[int] = ()
) -> Markup:
    """Budget and window as labelled lines; a limit out of reach is named at the upper edge.

    Args:
        refusals: the requests with crosses, which stand about the window's line: the names
            are at the end that is farther from the first of them.
    """
    at_end = min(refusals, default=scale.steps) < scale.steps / 2
    given = [(name, limit) for name, limit in (("window", window), ("budget", budget)) if limit]
    drawn = [(name, limit) for name, limit in given if limit <= scale.top]
    above = [f"{name} {short(limit)}" for name, limit in given if limit > scale.top]
    lines = [
        _limit(scale, name, limit, _crowded(scale, limit, drawn), at_end) for name, limit in drawn
    ]
    if above:
        told = text(f"above this chart: {', '.join(above)}")
        lines.append(tag("text", told, x="0", y="0", dx="-8", dy="-8", class_="label faint"))
    return join(lines)


def _crowded(scale: Scale, limit: int, drawn: Sequence[tuple[str, int]]) -> bool:
    """Whether another limit is so close above that its label would touch this one's."""
    return any(0 < other - limit < _CLOSE * scale.top for _, other in drawn)


def _limit(scale: Scale, name: str, limit: int, crowded: bool, at_end: bool) -> Markup:
    y = scale.down(limit)
    at = {"x": "100%", "dx": "-6"} if at_end else {"x": "6"}
    css = "label up" if at_end else "label"
    label = text(f"{name} {whole(limit)}")
    return join(
        [
            tag("line", x1="0", x2="100%", y1=y, y2=y, class_=f"limit {name}"),
            tag("text", label, **at, y=y, dy="14" if crowded else "-5", class_=css),
        ]
    )
