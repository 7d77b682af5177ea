"""A run of the benches as a page of tables, and as the README's figures."""

from __future__ import annotations

from collections.abc import Callable, Collection

from benches.counters import COUNTERS
from benches.estimators import ESTIMATORS
from benches.formats import duration, rate, ratio, table
from benches.histories import HISTORIES
from benches.levels import CACHED, MEMORY, STR
from benches.promises import TRIM, TRIM_MADE, promises
from benches.record import Bench, Run, amount
from benches.texts import KINDS

__all__ = ["page", "readme_figures"]

INTRODUCTION = """\
# Benchmarks

Medians of processor time, and in brackets how many times turnfit's median (for texts: that
of its `str` route) they are. All of a row ran on the same input in the same process. The
garbage collector is off while the clock runs. `python -m benches.report` measures anew and
writes this page.
"""

ESTIMATE = """\
## Counting a text by script

turnfit scans the string where it lies; of an ASCII string it needs the length alone.
numpy, regex, `translate` and the loop count the same three script classes, and each run
asserts that they count the same. The read limit is numpy's sum of the same UTF-8 as 64-bit
words; its call alone takes a microsecond or two, and in a core's own cache a C loop is
about a third faster. Random bytes have no `str`: brackets refer to the `bytes` route there.
"""

OTHERS = """\
## Other answers for the same text

Not the same work. `len(s) // 4` and the like take lengths; what has a star is exact for one
vocabulary, `o200k_base` (toktok-rs on one thread). Brackets as above. Short ones are called
through a function, which takes longer than they do: see the promises for the plain
expression.
"""

PROFILES = """\
## By a calibrated profile

`Profile.estimate` of `o200k_base`, beside tokenizers that are exact for it. Brackets as above.
"""

LIMITS = """\
## Shares of the read limit

64 MB (as UTF-8, or as CPython stores the `str`) against a sum of as many bytes as 64-bit
words, by turns; medians of the rounds' ratios, and GB/s. *From memory* goes through eight
copies in turn. *In the last cache* reads one buffer over and over: this machine's last cache
holds 480 MB for all its guests, and what is left of it for this one changes by the minute.
"""

MANY = """\
## Columns of texts

A million strings of 50 characters, in a list or as an Arrow column, and how many times as
fast as a list comprehension over `estimate`, by turns. The read limit, a sum of the Arrow
column's bytes, is more than what can be reached.
"""

THREADS = """\
## Two threads

By the clock on the wall, two threads against one, and so for numpy's sum of as many bytes,
which each thread does ten times over. On a busy machine neither gains.
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

OUTPUTS = """\
## Tool outputs

A log is cut to 8,000 characters, or to 2,000 tokens; its head, its tail and what was left out
are told. tiktoken and rs-bpe encode the whole and decode the first 2,000 tokens: exact for one
vocabulary. JSON of 10 MB is trimmed to 2,000 tokens; beside it `json.loads`, the first 40 rows,
`json.dumps`. Originals are stored and read back one by one, by the clock on the wall.
"""

COMPACTION = """\
## Compaction

`FactLog` observes messages that are estimated one by one beside it; `Regret.of` measures what
compactions every 100 messages lost.
"""

BESIDE = """\
## Beside an event loop

By how much a task that sleeps for 2 ms comes late while `fit` reads a long history in a
thread, by the clock on the wall, and how much without.
"""


def page(run: Run) -> str:
    facts = table(["", ""], ([name, value] for name, value in run.facts.items()))
    kept = "\n".join(f"- {line}" for line in promises(run))
    texts = run.task("estimate")
    sections = [
        INTRODUCTION,
        facts,
        f"## What is promised\n\n{kept}\n",
        f"{ESTIMATE}\n{compared(texts, {'turnfit (bytes)', 'read limit', *COUNTERS})}",
        f"{OTHERS}\n{compared(texts, ESTIMATORS)}",
        f"{PROFILES}\n{compared(run.task('estimate by profile'))}",
        f"{LIMITS}\n{shares(run)}",
        f"{MANY}\n{columns(run.task('column'))}",
        f"{THREADS}\n{threads(run.task('threads'))}",
        f"{FIT}\n{compared(run.task('fit'))}",
        f"{LINEAR}\n{linear(run.task('fit, short texts'))}",
        f"{CONVERSATION}\n{steps(run.task('conversation step'))}",
        f"{OUTPUTS}\n{compared(run.task('limit a log'))}",
        compared(run.task("trim JSON")),
        compared(run.task("store originals")),
        f"{COMPACTION}\n{compared(run.task('observing messages'))}",
        linear(run.task("measuring regret")),
        f"{BESIDE}\n{compared(run.task('beside a fit'))}",
    ]
    return "\n".join(sections)


def compared(benches: list[Bench], among: Collection[str] = ()) -> str:
    """A row for each input, a column for each contender: turnfit and these, or all."""
    contenders = list(dict.fromkeys(bench.contender for bench in benches))
    contenders = [name for name in contenders if not among or name in {"turnfit", *among}]
    # turnfit's routes are what all others are held against.
    contenders.sort(key=lambda name: (not name.startswith("turnfit"), name != "turnfit"))
    rows: dict[str, dict[str, float]] = {}
    for bench in benches:
        rows.setdefault(bench.given, {})[bench.contender] = bench.median
    shown = {given: medians for given, medians in rows.items() if medians.keys() & {*contenders}}
    cells = ([given, *map(cell_of(medians), contenders)] for given, medians in shown.items())
    return table(["", *(name.replace("*", r"\*") for name in contenders)], cells)


def cell_of(medians: dict[str, float]) -> Callable[[str], str]:
    bases = ("turnfit", "estimating", "turnfit (bytes)")
    base = next(name for name in bases if name in medians)
    own = medians[base]

    def cell(contender: str) -> str:
        median = medians.get(contender)
        if median is None:
            return ""
        shown = duration(median)
        return shown if contender == base else f"{shown} ({ratio(median / own)})"

    return cell


def shares(run: Run) -> str:
    """A row for each kind of text, a column for each route and level."""
    routes = [(task, level) for task in (MEMORY, CACHED, STR) for level in ("best", "avx2")]
    head = ["", *(f"{task}, {level}" for task, level in routes)]
    rows = (
        [kind, *(share(run.find(task, kind, level)) for task, level in routes)] for kind in KINDS
    )
    return table(head, rows)


def share(bench: Bench | None) -> str:
    if bench is None or bench.gain is None or bench.nbytes is None:
        return ""
    return f"{bench.gain:.2f} ({rate(bench.nbytes, bench.median)})"


def columns(benches: list[Bench]) -> str:
    rows = (
        [f"{bench.given}: {bench.contender}", duration(bench.median), ratio(bench.gain or 1)]
        for bench in benches
    )
    return table(["", "a column", "times as fast"], rows)


def threads(benches: list[Bench]) -> str:
    rows = (
        [f"{bench.given}: {bench.contender}", duration(bench.median), f"{bench.gain or 1:.2f}"]
        for bench in benches
    )
    return table(["", "with two", "gain"], rows)


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
        peers = ("numpy", "translate", "tiktoken*", "toktok-rs*")
        medians = {peer: run.median("estimate", text, peer) for peer in peers}
        if own and all(medians.values()):
            times = (f"{(medians[peer] or 0) / own:,.0f} times {peer.strip('*')}" for peer in peers)
            lines.append(f"- `estimate` of a str ({text}): {duration(own)}; {', '.join(times)}.")
    return "\n".join([*lines, *scan_figures(run)])


def scan_figures(run: Run) -> list[str]:
    """The chart, and what it says in figures."""
    found = [bench for bench in run.task(MEMORY) if bench.contender == "best" and bench.gain]
    if not found:
        return []
    told = ", ".join(f"{bench.given} {bench.gain:.2f}" for bench in found)
    return [
        f"- `estimate` of bytes from memory, as a share of the machine's read limit: {told}.",
        "",
        "![How fast each script is read, by route, beside the read limit](docs/scan.svg)",
    ]
