"""Draws the README's picture: what an agent's requests weigh, step by step.

    PYTHONPATH=tests python -m benches.picture

One generated subagent (`tests/support/subagents.py`) reads files in four languages until its
history passes 1,000,000 tokens; the budget is 400,000.
"""

from __future__ import annotations

from pathlib import Path

import turnfit as tf
from support.subagents import opening, rounds

ROOT = Path(__file__).parents[1]

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 20, 40
WINDOW, BUDGET, TALLEST = 1_000_000, 400_000, 1_080_000

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #57606a }
  .label { font-weight: 600 }
  .axis { stroke: #8c959f; stroke-width: 1 }
  .limit { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 5 4 }
  .without { fill: none; stroke: #bc4c00; stroke-width: 2.5; stroke-dasharray: 2 3 }
  .with { fill: none; stroke: #0969da; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1 } .with { stroke: #4493f8 } .without { stroke: #db6d28 }
  }
"""


def sizes() -> list[tuple[int, int]]:
    """Per step the tokens of the whole history, and of the fitted request."""
    conversation = tf.Conversation(budget=BUDGET)
    conversation.extend(opening(1))
    work, steps = rounds(1), []
    while conversation.tokens <= WINDOW:
        conversation.extend(next(work))
        steps.append((conversation.tokens, conversation.fit().tokens))
    return steps


def x(step: float, steps: int) -> float:
    """Across, in pixels."""
    return round(LEFT + (WIDTH - LEFT - RIGHT) * step / steps, 1)


def y(tokens: float) -> float:
    """Down, in pixels."""
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * tokens / TALLEST, 1)


def line(css: str, tokens: list[int]) -> str:
    """One line of the chart."""
    points = " ".join(f"{x(step, len(tokens))},{y(size)}" for step, size in enumerate(tokens, 1))
    return f'<polyline class="{css}" points="{points}"/>'


def level(tokens: int, text: str) -> str:
    """A limit across the chart."""
    at = y(tokens)
    return (
        f'<line class="limit" x1="{LEFT}" y1="{at}" x2="{WIDTH - RIGHT}" y2="{at}"/>'
        f'<text x="{LEFT - 8}" y="{at + 4}" text-anchor="end">{tokens // 1000:,}k</text>'
        f'<text x="{LEFT + 6}" y="{at - 5}">{text}</text>'
    )


def draw(steps: list[tuple[int, int]]) -> str:
    """The picture."""
    history, requests = (list(column) for column in zip(*steps, strict=True))
    right, base = WIDTH - RIGHT, HEIGHT - BOTTOM
    alt = (
        f"Tokens per request over {len(steps)} steps: without fitting they grow past the window "
        f"of {WINDOW:,}; with turnfit they stay under the budget of {BUDGET:,}."
    )
    caption = f"tokens per request, tool round by tool round (1 to {len(steps)})"
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">
<title>{alt}</title>
<style>{STYLE}</style>
<line class="axis" x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{base}"/>
<line class="axis" x1="{LEFT}" y1="{base}" x2="{right}" y2="{base}"/>
{level(WINDOW, "the model's window: refused above")}
{level(BUDGET, "the budget")}
{line("without", history)}
{line("with", requests)}
<text class="label" x="{right + 8}" y="{y(history[-1]) + 4}">without fitting</text>
<text class="label" x="{right + 8}" y="{y(requests[-1]) + 4}">with turnfit</text>
<text x="{LEFT}" y="{HEIGHT - 12}">{caption}</text>
</svg>
"""


def main() -> None:
    """Writes `docs/picture.svg`."""
    (ROOT / "docs" / "picture.svg").write_text(draw(sizes()), "utf-8")


if __name__ == "__main__":
    main()
