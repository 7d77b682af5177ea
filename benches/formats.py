"""Figures as people read them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["duration", "rate", "ratio", "table"]


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def duration(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def rate(nbytes: int, seconds: float) -> str:
    return f"{nbytes / seconds / 1e9:.3g} GB/s"


def ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
