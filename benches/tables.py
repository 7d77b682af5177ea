"""A run of the benches as a page of tables, and as promises kept or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benches.histories import HISTORIES
from benches.record import Bench, amount

__all__ = ["Run", "page", "promises"]

TRIM = "LangChain trim_messages"

INTRODUCTION = """\
# Benchmarks

Medians of processor time, and in brackets how many times turnfit's median (for texts: that
of its `str` route) they are. All of a row ran on the same input in the same process. The
garbage collector is off while the clock runs. `python -m benches.report` measures anew and
writes this page.
"""

ESTIMATE = """\
## Estimating a text

turnfit scans the string where it lies; of an ASCII string it needs the length alone.
numpy, regex, `translate` and the loop count the same three script classes, and each run
asserts that they count the same. tiktoken (\\*) gives exact counts for one vocabulary,
`o200k_base`: not the same work.
"""

FIT = """\
## Fitting a saved history

Each contender gets half of what the history costs by its own count, so that all have
about the same to leave out; LangChain's messages are made from the dicts beforehand.
The tool results hold 300 to 3,000 tokens in five kinds of text. turnfit reads and prices
every character; the approximate counter of LangChain takes lengths.

- `trim_messages`: `token_counter="approximate"`, `strategy="last"`, `include_system=True`,
  starting on a human message or, where there is but one, also on the model's.
- `ClearToolUsesEdit`: `count_tokens_approximately`, a flat copy of the list, and `keep`
  chosen such that it clears as many results as turnfit does. It drops nothing.
- litellm's `trim_messages`: by `cl100k_base`, its fastest; at 240 messages only, since its
  time grows with the square.
"""

LINEAR = """\
## Long histories of short texts

`fit` remembers nothing from call to call, so it reads the whole history each time. A
long one no longer lies in the processor's caches.
"""

CONVERSATION = """\
## One step of a conversation

Two messages are appended, the conversation is fitted, `messages` is read. The requests
hold about as many messages at each length. The mean includes the steps at which the
request's start moves and the request is built anew.
"""


@dataclass(frozen=True)
class Run:
    """A run: where and with what it ran, and what it measured."""

    facts: dict[str, str]
    benches: list[Bench]

    def task(self, task: str) -> list[Bench]:
        return [bench for bench in self.benches if bench.task == task]

    def median(self, task: str, given: str, contender: str = "turnfit") -> float | None:
        found = (bench for bench in self.task(task) if bench.given == given)
        return next((bench.median for bench in found if bench.contender == contender), None)


def page(run: Run) -> str:
    facts = table(["", ""], ([name, value] for name, value in run.facts.items()))
    kept = "\n".join(f"- {line}" for line in promises(run))
    sections = [
        INTRODUCTION,
        facts,
        f"## What is promised\n\n{kept}\n",
        f"{ESTIMATE}\n{compared(run.task('estimate'))}",
        f"{FIT}\n{compared(run.task('fit'))}",
        f"{LINEAR}\n{linear(run.task('fit, short texts'))}",
        f"{CONVERSATION}\n{steps(run.task('conversation step'))}",
    ]
    return "\n".join(sections)


def promises(run: Run) -> list[str]:
    """What the project promises of its speed, whether it holds, and the figures."""
    return [*fit_promises(run), *step_promises(run)]


def fit_promises(run: Run) -> Iterator[str]:
    for kind in HISTORIES:
        given = f"{kind}, {amount(4_000)}"
        what = f"fit at least 30 times as fast as trim_messages ({given})"
        yield verdict(what, run.median("fit", given, TRIM), run.median("fit", given), least=30)


def step_promises(run: Run) -> Iterator[str]:
    at = [run.median("conversation step", amount(n)) for n in (10_000, 1_000_000)]
    yield verdict("a step at 10^6 messages within 2 times one at 10^4", at[1], at[0], most=2)
    for kind in HISTORIES:
        given = f"{kind}, {amount(4_000)}"
        what = f"a step at 10^6 messages under 1/500 of trim_messages ({given})"
        yield verdict(what, run.median("fit", given, TRIM), at[1], least=500)


def verdict(
    what: str,
    dividend: float | None,
    divisor: float | None,
    *,
    least: float = 0,
    most: float = float("inf"),
) -> str:
    if dividend is None or divisor is None:
        return f"not measured: {what}"
    ratio = dividend / divisor
    holds = "holds" if least <= ratio <= most else "FALLS SHORT"
    return f"{holds}: {what}: {ratio:,.3g} ({duration(dividend)} to {duration(divisor)})"


def compared(benches: list[Bench]) -> str:
    """A row for each input, a column for each contender."""
    contenders = list(dict.fromkeys(bench.contender for bench in benches))
    # turnfit's routes are what all others are held against.
    contenders.sort(key=lambda name: (not name.startswith("turnfit"), name != "turnfit"))
    rows: dict[str, dict[str, float]] = {}
    for bench in benches:
        rows.setdefault(bench.given, {})[bench.contender] = bench.median
    cells = ([given, *map(cell_of(medians), contenders)] for given, medians in rows.items())
    return table(["", *(name.replace("*", r"\*") for name in contenders)], cells)


def cell_of(medians: dict[str, float]) -> Callable[[str], str]:
    own = medians["turnfit"]

    def cell(contender: str) -> str:
        median = medians.get(contender)
        if median is None:
            return ""
        shown = duration(median)
        return shown if contender == "turnfit" else f"{shown} ({ratio(median / own)})"

    return cell


def ratio(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def linear(benches: list[Bench]) -> str:
    rows = (
        [bench.given, duration(bench.median), duration(bench.median / messages_of(bench))]
        for bench in benches
    )
    return table(["", "turnfit", "a message"], rows)


def messages_of(bench: Bench) -> int:
    return int(bench.given.split()[0].replace(",", ""))


def steps(benches: list[Bench]) -> str:
    rows = (
        [bench.given, duration(bench.median), duration(bench.mean), f"{bench.held or 0:,}"]
        for bench in benches
    )
    return table(["", "median", "mean", "messages in a request"], rows)


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def duration(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
