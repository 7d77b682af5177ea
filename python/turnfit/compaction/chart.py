"""The rates of a `RegretTable` as a picture: SVG, drawn without a library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from turnfit.compaction.table import Rate

__all__ = ["chart"]

_LEFT, _WIDTH, _ROW, _TOP = 240, 420, 44, 48
_GONE, _VIEW, _INK = "#c2410c", "#94a3b8", "#1e293b"


def chart(rates: Sequence[Rate]) -> str:
    """An SVG document: a bar for what was gone, one for what was in view, with intervals.

    >>> chart([]).startswith("<svg")
    True
    """
    most = max([rate.high for rate in rates if rate.chances] + [0.001])
    # What has hardly any chances has an interval that would dwarf the rest.
    most = min(most, 4 * max([max(r.rate, r.view_rate) for r in rates] + [most / 4]))
    height = _TOP + _ROW * len(rates) + 24
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 90} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{_INK}">'
        f"<title>How often the same was fetched or asked again</title>{_legend()}"
    )
    rows = "".join(_row(rate, _TOP + _ROW * n, most) for n, rate in enumerate(rates))
    return f"{head}{rows}</svg>"


def _legend() -> str:
    return (
        f'<rect x="{_LEFT}" y="12" width="12" height="12" fill="{_GONE}"/>'
        f'<text x="{_LEFT + 18}" y="22">had gone</text>'
        f'<rect x="{_LEFT + 100}" y="12" width="12" height="12" fill="{_VIEW}"/>'
        f'<text x="{_LEFT + 118}" y="22">was in view</text>'
        f'<text x="{_LEFT + 210}" y="22">95 % intervals, share of chances</text>'
    )


def _row(rate: Rate, y: int, most: float) -> str:
    name = escape(f"{rate.group}: {rate.what} ({rate.measure})")
    gone = _bar(rate.rate, rate.low, rate.high, y, most, _GONE, rate.again, rate.chances)
    view = (rate.view_rate, rate.view_low, rate.view_high)
    seen = _bar(*view, y + 16, most, _VIEW, rate.view_again, rate.view_chances)
    return f'<text x="{_LEFT - 8}" y="{y + 18}" text-anchor="end">{name}</text>{gone}{seen}'


def _bar(
    rate: float, low: float, high: float, y: int, most: float, colour: str, again: int, of: int
) -> str:
    def at(value: float) -> float:
        return round(_LEFT + _WIDTH * min(value / most, 1), 1)

    line = f'<path d="M{at(low)} {y + 6}H{at(high)}" stroke="{_INK}"/>' if of else ""
    return (
        f'<rect x="{_LEFT}" y="{y}" width="{round(at(rate) - _LEFT, 1)}" height="12" '
        f'fill="{colour}"/>{line}'
        f'<text x="{_LEFT + _WIDTH + 6}" y="{y + 10}">{again:,} of {of:,}</text>'
    )
