"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from turnfit.replay.page.markup import Markup, join

__all__ = ["cut", "listed", "many", "money", "share", "short", "whole"]

_TOGETHER = "\N{NO-BREAK SPACE}"


def whole(number: float) -> str:
    """All digits, in groups.

    >>> whole(1234567)
    '1,234,567'
    """
    return f"{round(number):,}"


def short(number: float) -> str:
    """Three digits at most, for axes and small cells.

    >>> [short(number) for number in (0, 950, 1200, 400_000, 1_250_000, 37_000_000_000)]
    ['0', '950', '1.2k', '400k', '1.25M', '37B']
    """
    for size, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        # What would be rounded up to 1000 of its unit is one of the next.
        if number >= 0.9995 * size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


def money(cost: float | None, currency: str) -> str:
    r"""A cost with its currency; a dash where it isn't known.

    >>> [money(cost, "USD") for cost in (12.5, 0.00123, None)]
    ['12.50\xa0USD', '0.00123\xa0USD', '–']
    """
    if cost is None:
        return "–"
    figure = f"{cost:,.2f}" if cost >= 0.1 or not cost else f"{cost:.3g}"
    return f"{figure}{_TOGETHER}{currency}" if currency else figure


def share(part: float, of: float) -> str:
    r"""Percent; 100 % only where it is all, and 0 % only where it is nothing.

    >>> share(1, 3), share(9_999, 10_000), share(1, 10_000), share(0, 0)
    ('33\xa0%', 'over 99\xa0%', 'under 1\xa0%', '0\xa0%')
    """
    percent = 100 * part / of if of else 0
    if 99 < percent < 100:
        return f"over 99{_TOGETHER}%"
    if 0 < percent < 1:
        return f"under 1{_TOGETHER}%"
    return f"{percent:.0f}{_TOGETHER}%"


def many(count: float, thing: str, things: str | None = None) -> str:
    """A count and what it counts.

    >>> many(1, "history", "histories"), many(1200, "request")
    ('1 history', '1,200 requests')
    """
    return f"{whole(count)} {thing if count == 1 else things or thing + 's'}"


def cut(name: str, most: int) -> str:
    """A name with so many letters at most; what is left out is its middle.

    >>> cut("policies/strict.toml", 12), cut("default", 12)
    ('polic…t.toml', 'default')
    """
    if len(name) <= most:
        return name
    end = most // 2
    return f"{name[: most - end - 1]}…{name[-end:]}"


def listed(parts: Sequence[Markup]) -> Markup:
    """Things named after each other.

    >>> listed([Markup(name) for name in "abc"])
    'a, b and c'
    """
    if len(parts) < 2:
        return join(parts)
    return join([join(parts[:-1], ", "), parts[-1]], " and ")
