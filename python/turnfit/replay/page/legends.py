"""What the charts' fills, lines and marks stand for; what isn't there isn't explained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from turnfit.replay.page.bars import KINDS
from turnfit.replay.page.lines import ROOM, STYLES, Line
from turnfit.replay.page.markup import Markup, tag, text
from turnfit.replay.page.reading import Replay
from turnfit.replay.page.stacked import LAYERS
from turnfit.replay.page.totals import badge

__all__ = ["kinds", "layers", "names"]


def kinds() -> Markup:
    """How the prefix cache prices what a bar shows."""
    return _legend(_filled(css, name) for _, css, name in KINDS)


def names(lines: Sequence[Line]) -> Markup:
    """Which line is which, for where there is no room for names beside them."""
    box = {"x1": "0", "x2": "28", "y1": "7", "y2": "7"}
    keys = (
        _key(tag("line", **box, class_=f"line style{place % STYLES}"), f"{badge(place)} {run.name}")
        for place, run, _ in lines
    )
    return _legend(keys, "legend narrow" if len(lines) <= ROOM else "legend")


def layers(replay: Replay) -> Markup:
    """What stands in the charts of the single policies."""
    keys = [
        _filled(layer, meaning)
        for layer, meaning in LAYERS.items()
        if layer == "kept" or any(any(run.steps[layer]) for run in replay.runs)
    ]
    if any(run.breaks for run in replay.runs):
        ticks = tag("path", d="M8 3v8M14 3v8M20 3v8", class_="broke")
        keys.append(_key(ticks, "the cache broke: the request's start changed"))
    if any(run.refusals for run in replay.runs):
        cross = tag("use", href="#mark-refused", x="14", y="7")
        keys.append(_key(cross, "refused: over the window"))
    return _legend(keys)


def _legend(keys: Iterable[Markup], css: str = "legend") -> Markup:
    return tag("ul", *keys, class_=css)


def _filled(css: str, meaning: str) -> Markup:
    return _key(tag("rect", width="28", height="14", class_=f"{css} part"), meaning)


def _key(drawn: Markup, meaning: str) -> Markup:
    swatch = tag("svg", drawn, width="28", height="14", aria_hidden="true")
    return tag("li", swatch, text(f" {meaning}"))
