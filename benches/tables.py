"""A run of the benches as a page of tables, and as promises kept or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benches.histories import HISTORIES
from benches.record import Bench, amount

__all__ = ["TRIM", "TRIM_MADE", "Run", "page", "promises", "readme_figures"]

TRIM = "LangChain trim_messages"
TRIM_MADE = "the same, objects made beforehand"

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
about the same to leave out. turnfit, litellm and the first column of LangChain's
`trim_messages` are given the same dicts; the second column and `ClearToolUsesEdit`,
which takes no dicts, are given LangChain's messages, made from the dicts beforehand.
The tool results hold 300 to 3,000 tokens in five kinds of text. turnfit reads and
prices every character; the approximate counter of LangChain takes lengths.

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
        own = run.median("fit", given)
        yield verdict(what, run.median("fit", given, TRIM), own, least=30)
        what = f"fit against trim_messages, its objects made beforehand ({given})"
        yield verdict(what, run.median("fit", given, TRIM_MADE), own)


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
    figures = f"{what}: {ratio:,.0f} ({duration(dividend)} to {duration(divisor)})"
    if ratio < 10:
        figures = f"{what}: {ratio:.2g} ({duration(dividend)} to {duration(divisor)})"
    if not least and most == float("inf"):
        return f"besides: {figures}"
    return f"{'holds' if least <= ratio <= most else 'FALLS SHORT'}: {figures}"


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


def readme_figures(run: Run) -> str:
    """The README's lines: a few figures, and on what."""
    lines = []
    for kind in HISTORIES:
        given = f"{kind}, {amount(4_000)}"
        own, dicts = run.median("fit", given), run.median("fit", given, TRIM)
        made = run.median("fit", given, TRIM_MADE)
        if own and dicts and made:
            lines.append(
                f"- `fit` on {amount(4_000)} ({kind}): {duration(own)}, "
                f"{ratio(dicts / own)} times as fast as LangChain's `trim_messages` on the same "
                f"dicts, {ratio(made / own)} times with its objects made beforehand."
            )
    at = [run.median("conversation step", amount(n)) for n in (10_000, 1_000_000)]
    if at[0] and at[1]:
        lines.append(
            f"- One step of a `Conversation` (append a round, fit, read the messages) at "
            f"10,000 messages: {duration(at[0])}; at 1,000,000: {duration(at[1])}."
        )
    for text in ("Russian, 1 MB", "Chinese, 1 MB"):
        own = run.median("estimate", text)
        peers = ("numpy", "translate", "tiktoken*")
        medians = {peer: run.median("estimate", text, peer) for peer in peers}
        if own and all(medians.values()):
            times = (f"{(medians[peer] or 0) / own:,.0f} times {peer.strip('*')}" for peer in peers)
            lines.append(f"- `estimate` of a str ({text}): {duration(own)}; {', '.join(times)}.")
    return "\n".join(lines)


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def duration(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
