"""What was sent under each policy, by how the prefix cache prices it."""

from __future__ import annotations

from collections.abc import Sequence

from turnfit.replay.page.figures import money, share, short, whole
from turnfit.replay.page.markup import Markup, tag, text
from turnfit.replay.page.tables import badged
from turnfit.replay.page.totals import Total

__all__ = ["KINDS", "bars"]

KINDS = (
    ("uncached", "uncached", "not in the prefix cache"),
    ("cache_written", "written", "written to it"),
    ("cache_read", "read", "read from it"),
)
"""Of tokens, as they are stacked from the left: the figure, its style, its name."""


def bars(given: Sequence[Total]) -> Markup:
    """A bar for each policy; what is said beside it stands for it."""
    most = max([total.sum("tokens_sent") for total in given] + [1])
    return tag("dl", *(part for total in given for part in _bar(total, most)), class_="bars")


def _bar(total: Total, most: float) -> tuple[Markup, Markup]:
    sent = total.sum("tokens_sent")
    rects, left = [], 0.0
    for key, css, name in KINDS:
        part = total.sum(key)
        title = tag("title", text(f"{name}: {whole(part)} tokens"))
        width = f"{100 * part / most:.4g}%"
        box = {"x": f"{100 * left / most:.4g}%", "width": width, "height": "100%"}
        rects += [tag("g", title, tag("rect", **box, class_=f"{css} part"))] * bool(part)
        left += part
    told = f"{short(sent)} tokens, {share(total.sum('cache_read'), sent)} read from the cache"
    cost = f"; {money(total.cost, total.currency)}" if total.cost is not None else ""
    svg = tag("svg", *rects, width="100%", height="18", aria_hidden="true")
    return tag("dt", badged(total)), tag("dd", svg, tag("p", text(told + cost)))
