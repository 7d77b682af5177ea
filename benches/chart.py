"""Draws `docs/scan.svg`: how fast each script is read, by route, and the read limit."""

from __future__ import annotations

from collections.abc import Iterator

from benches.levels import LIMIT, MEMORY, STR
from benches.record import Bench, Run
from benches.texts import KINDS

__all__ = ["draw"]

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 760, 190, 70, 44, 44
BAR, GAP = 14, 12
SCALE = 1.1
"""Shares of the read limit across the whole width."""

ROUTES = (("str", STR, "best"), ("bytes", MEMORY, "best"), ("bytes, AVX2", MEMORY, "avx2"))

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #57606a }
  .kind { font-size: 13px; font-weight: 600 }
  .axis { stroke: #8c959f; stroke-width: 1 }
  .limit { stroke: #57606a; stroke-width: 1.5; stroke-dasharray: 5 4 }
  .route0 { fill: #0969da } .route1 { fill: #54aeff }
  .route2 { fill: none; stroke: #54aeff; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 } .limit { stroke: #9198a1 }
    .route0 { fill: #1f6feb } .route1 { fill: #79c0ff } .route2 { stroke: #79c0ff }
  }
"""


def draw(run: Run) -> str:
    """The chart; bars are shares, each measured by turns with its own sum."""
    limit = read_limit(run)
    height = TOP + len(KINDS) * (len(ROUTES) * BAR + GAP) + BOTTOM
    bars = "\n".join(part for row, kind in enumerate(KINDS) for part in group(run, row, kind))
    line, base = across(1), height - BOTTOM
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">
<title>{alternative(run, limit)}</title>
<style>{STYLE}</style>
{bars}
<line class="axis" x1="{LEFT}" y1="{TOP - 8}" x2="{LEFT}" y2="{base}"/>
<line class="limit" x1="{line}" y1="{TOP - 8}" x2="{line}" y2="{base}"/>
<text class="kind" x="{line}" y="{TOP - 28}" text-anchor="middle">read limit</text>
<text x="{line}" y="{TOP - 13}" text-anchor="middle">{limit:.3g} GB/s</text>
<text x="{LEFT}" y="{base + 18}">estimating 64 MB of text from memory, one core, GB/s;</text>
<text x="{LEFT}" y="{base + 34}">the read limit is a plain sum of as many bytes</text>
</svg>
"""


def read_limit(run: Run) -> float:
    """GB/s; the bars' places say their share of it, measured round by round."""
    plain = [bench for task in (STR, MEMORY) for bench in run.task(task)]
    sums = [speed(bench) for bench in plain if bench.contender.startswith(LIMIT)]
    return sorted(sums)[len(sums) // 2] if sums else 0


def speed(bench: Bench) -> float:
    return (bench.nbytes or 0) / bench.median / 1e9


def group(run: Run, row: int, kind: str) -> Iterator[str]:
    """A kind's bars, under each other."""
    top = TOP + row * (len(ROUTES) * BAR + GAP)
    yield f'<text class="kind" x="0" y="{top + 1.5 * BAR + 4}">{kind}</text>'
    limit = read_limit(run)
    for number, (name, task, level) in enumerate(ROUTES):
        y = top + number * BAR
        yield f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{name}</text>'
        bench = run.find(task, kind, level)
        if bench and bench.gain:
            yield bar(number, y, bench.gain, f"{bench.gain * limit:.3g}")
        else:
            yield f'<text x="{LEFT + 6}" y="{y + 11}">{unread(kind)}</text>'


def unread(kind: str) -> str:
    return "nothing to read: its length is known" if kind == "English" else "no str"


def bar(route: int, y: float, share: float, figure: str) -> str:
    width = round(across(share) - LEFT, 1)
    end = LEFT + width + 6
    if share < 1 < share + 0.08:
        end = across(1) + 6  # The figure must not stand on the line.
    return (
        f'<rect class="route{route}" x="{LEFT}" y="{y + 2}" width="{width}" height="{BAR - 4}"/>'
        f'<text x="{end}" y="{y + 11}">{figure}</text>'
    )


def across(share: float) -> float:
    """Across, in pixels."""
    return round(LEFT + (WIDTH - LEFT - RIGHT) * share / SCALE, 1)


def alternative(run: Run, limit: float) -> str:
    """The chart in a sentence."""
    parts = []
    for name, task, level in ROUTES:
        found = [bench.gain for bench in run.task(task) if bench.contender == level and bench.gain]
        if found:
            parts.append(f"{name} at {min(found):.2f} to {max(found):.2f}")
    return f"Shares of the read limit of {limit:.3g} GB/s, by route: {'; '.join(parts)}."
