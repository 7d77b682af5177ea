"""One policy's requests over time: kept, notes, and above them what was taken out."""

from __future__ import annotations

from collections.abc import Iterator

from turnfit.replay.page.figures import many, whole
from turnfit.replay.page.frame import chart, limits, stretched
from turnfit.replay.page.markup import NOTHING, Markup, join, tag, text
from turnfit.replay.page.reading import Replay, Run
from turnfit.replay.page.scale import HEIGHT, WIDTH, Scale

__all__ = ["LAYERS", "stacked", "summary"]

LAYERS = {
    "kept": "sent as recorded",
    "notes": "notes in place of results",
    "cleared": "cleared: left out behind notes",
    "dropped": "dropped: turns and rounds left out",
}
"""From the axis upwards, and what they are."""
_CROSSES, _TICKS = 24, 120
"""As many as have room side by side; of more, some stand for those beside them."""


def stacked(key: str, replay: Replay, run: Run, scale: Scale) -> Markup:
    """The chart of a policy."""
    tops = run.layers()
    areas = {layer: scale.area(top) for layer, top in zip(LAYERS, tops, strict=True)}
    # A layer without anything in it is what lies under it.
    shown = [layer for layer in LAYERS if layer == "kept" or any(run.steps[layer])]
    return chart(
        key,
        f"{run.name}: size of each request",
        summary(run),
        scale,
        tag("defs", *(_area(key, layer, areas[layer]) for layer in shown)),
        *(_fill(key, layer) for layer in reversed(shown)),
        *_outlines(key, shown),
        *_broken(scale, run),
        limits(scale, run.budget, replay.window, run.refusals),
        *_refused(scale, run),
    )


def summary(run: Run) -> str:
    """What there is to see, in words."""
    parts = [
        f"{many(len(run), 'request')}, the largest of {many(run.largest, 'token')}",
        f"{many(run.sums['cleared'], 'result')} cleared" if run.sums["cleared"] else "",
        _dropped(run),
        _changed(run.sums["start_changes"]),
        f"{whole(run.sums['refused'])} refused" if run.sums["refused"] else "",
        "" if run.finished else "did not finish",
    ]
    return "; ".join(part for part in parts if part)


def _changed(times: float) -> str:
    return f"start changed {many(times, 'time')}" if times else "start never changed"


def _dropped(run: Run) -> str:
    turns, rounds = run.sums["dropped_turns"], run.sums["dropped_rounds"]
    parts = [many(turns, "turn")] * bool(turns) + [many(rounds, "round")] * bool(rounds)
    return f"{' and '.join(parts)} dropped" if parts else ""


def _area(key: str, layer: str, path: str) -> Markup:
    """The layer's outline, and for a pattern, which mustn't be stretched, a clip of it."""
    outline = tag("path", id=f"{key}-{layer}", d=path)
    if layer in ("kept", "notes"):
        return outline
    shape = tag("use", href=f"#{key}-{layer}", transform=f"scale({1 / WIDTH} {1 / HEIGHT})")
    units = "objectBoundingBox"
    return join([outline, tag("clipPath", shape, id=f"{key}-{layer}-clip", clipPathUnits=units)])


def _fill(key: str, layer: str) -> Markup:
    if layer in ("kept", "notes"):
        return stretched(tag("use", href=f"#{key}-{layer}", class_=layer))
    clip = f"url(#{key}-{layer}-clip)"
    pattern = f"url(#pattern-{layer})"
    return tag("rect", width="100%", height="100%", fill=pattern, clip_path=clip)


def _outlines(key: str, shown: list[str]) -> Iterator[Markup]:
    """Lines around what was sent, and around the whole history."""
    sent = "notes" if "notes" in shown else "kept"
    if shown[-1] != sent:
        yield stretched(tag("use", href=f"#{key}-{shown[-1]}", class_="whole"))
    yield stretched(tag("use", href=f"#{key}-{sent}", class_="sent"))


def _broken(scale: Scale, run: Run) -> Iterator[Markup]:
    """A tick under the axis for each request that broke the cache, or for some side by side."""
    few = len(run.breaks) <= _TICKS
    steps = run.breaks if few else scale.marks(run.breaks, _TICKS)
    if not steps:
        yield NOTHING
        return
    middles = "".join(f"M{scale.x(step + 0.5)} 0v6" for step in steps)
    box = {"viewBox": f"0 0 {WIDTH} 6", "preserveAspectRatio": "none"}
    ticks = tag(
        "svg", tag("path", d=middles, class_="broke"), y="100%", width="100%", height="6", **box
    )
    yield tag("g", ticks, transform="translate(0 4)")


def _refused(scale: Scale, run: Run) -> Iterator[Markup]:
    """A cross on each request that was refused, or on the first of those that would touch."""
    for step in scale.marks(run.refusals, _CROSSES):
        at = {"x": scale.across(step), "y": scale.down(run.steps["tokens"][step])}
        yield tag("svg", tag("use", href="#mark-refused"), **at, overflow="visible")
    first = run.refusals[0] if run.refusals else 0
    # Farther to the left it would stand on the limits' names.
    if first > scale.steps / 2:
        at = {"x": scale.across(first), "y": scale.down(run.steps["tokens"][first])}
        yield tag("text", text("refused"), **at, dy="-10", class_="label strong up")
