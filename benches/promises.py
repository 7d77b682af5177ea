"""What the project promises of its speed, and whether a run keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benches.formats import duration, rate, ratio
from benches.histories import HISTORIES
from benches.levels import CACHED, EXPRESSION, MEMORY, SHORT
from benches.record import Bench, Run, amount
from benches.texts import ASCII_CODE

__all__ = ["TRIM", "TRIM_MADE", "promises"]

TRIM = "LangChain trim_messages"
TRIM_MADE = "the same, objects made beforehand"

ANY = float("inf")

IDLE = 1.4
"""What a second thread must gain a plain sum, or the other core was not free."""


def promises(run: Run) -> list[str]:
    """A line for each promise: whether it holds, and the figures."""
    lines = [scan_promises(run), call_promises(run), column_promises(run), thread_promises(run)]
    lines += [hostile_promises(run), memory_promises(run), fit_promises(run), step_promises(run)]
    lines += [output_promises(run), profile_promises(run), compaction_promises(run)]
    told = [line for some in lines for line in some]
    return ["a smoke run: its sizes prove nothing", *told] if "sizes" in run.facts else told


def scan_promises(run: Run) -> Iterator[str]:
    for level, least in (("best", 0.5), ("avx2", 0.3)):
        where = f"of the read limit, bytes from memory, {level} level"
        found = [bench for bench in run.task(MEMORY) if bench.contender == level]
        ascii_only = [bench for bench in found if bench.given == "English"]
        others = [bench for bench in found if bench.given != "English"]
        yield gains(f"ASCII at least 0.9 {where}", ascii_only, least=0.9)
        yield gains(f"any other text at least {least} {where}", others, least=least)
        cached = [bench for bench in run.task(CACHED) if bench.contender == level]
        yield gains(f"the same, one buffer over and over, {level} level", cached)


def call_promises(run: Run) -> Iterator[str]:
    def call(given: str, contender: str = "best") -> float | None:
        return run.median(SHORT, given, contender)

    long, short = call("100,000,000 ASCII characters"), call("1,000 ASCII characters")
    yield verdict("100 MB of ASCII str within 2 times 1 KB", long, short, most=2)
    for text, level, most in (
        ("40 ASCII characters", "best", 2.5),
        ("40 ASCII characters", "avx2", 2.5),
        ("1,000 Cyrillic characters", "best", 5),
        ("1,000 Cyrillic characters", "avx2", 8),
    ):
        what = f"a call on {text} at most {most} times `len(s) // 4`, {level} level"
        beside = call(text, f"{EXPRESSION} {level}")
        yield verdict(what, call(text, level), beside, most=most)
    for kind in ("Russian", "Chinese"):
        yield from peer_promises(run, f"{kind}, 1 MB")


def peer_promises(run: Run, given: str) -> Iterator[str]:
    own = run.median("estimate", given)
    for peer, least in (("numpy", 20), ("translate", 30), ("tiktoken*", 500), ("toktok-rs*", 100)):
        what = f"a str ({given}) at least {least} times as fast as {peer}"
        yield verdict(what, run.median("estimate", given, peer), own, least=least)


def profile_promises(run: Run) -> Iterator[str]:
    """At 100 KB, which all of the tokenizers can take."""
    for kind, peer, least in (
        ("English", "toktok-rs*", 10),
        ("Chinese", "toktok-rs*", 50),
        ("English", "tiktoken*", 150),
        ("Chinese", "tiktoken*", 150),
    ):
        given, task = f"{kind}, 100 KB", "estimate by profile"
        what = f"by a profile ({given}) at least {least} times as fast as {peer}"
        yield verdict(what, run.median(task, given, peer), run.median(task, given), least=least)
    for kind in ("English", "Russian", "Chinese", ASCII_CODE, "source code"):
        for own in ("turnfit", "turnfit (bytes)"):
            what = f"by a profile ({kind}, 10 MB; {own}) within the time of 4 GB/s of UTF-8"
            yield verdict(
                what, 10e6 / 4e9, run.median("estimate by profile", f"{kind}, 10 MB", own), least=1
            )


def column_promises(run: Run) -> Iterator[str]:
    million = "estimate_many on a million strings, against a comprehension"
    for name, least in (("turnfit", 4), ("Arrow", 10)):
        found = [bench for bench in run.task("column") if bench.contender == name]
        shape = "a list" if name == "turnfit" else "an Arrow column"
        yield gains(f"{million}: {shape} at least {least} times as fast", found, least=least)
        both = with_a_second_thread(run, found, "list" if name == "turnfit" else name)
        yield gains(f"the same of {shape} with two threads, by what the second one adds", both)
    limit = [bench for bench in run.task("column") if bench.contender.startswith("the read limit")]
    yield gains("a plain sum of the Arrow column's bytes, against the same comprehension", limit)


def with_a_second_thread(run: Run, found: list[Bench], route: str) -> list[Bench]:
    told = [(bench, run.find("threads", f"{bench.given}, {route}", "turnfit")) for bench in found]
    return [
        replace(bench, gain=bench.gain * second.gain)
        for bench, second in told
        if bench.gain and second and second.gain
    ]


def thread_promises(run: Run) -> Iterator[str]:
    for own in run.task("threads"):
        plain = run.find("threads", own.given, "a plain sum")
        if own.contender == "turnfit" and own.gain and plain and plain.gain:
            yield thread_promise(own.given, own.gain, plain.gain)


def thread_promise(given: str, own: float, plain: float) -> str:
    what = f"two threads gain at least 0.9 of what a plain sum gains ({given})"
    figures = f"{own / plain:.2f} ({own:.2f} of {plain:.2f})"
    # Where a second thread gains a sum nothing, the other core has been busy with other things.
    kept = word(own / plain >= 0.9) if plain >= IDLE else "not to be told on a busy machine"
    return f"{kept}: {what}: {figures}"


def hostile_promises(run: Run) -> Iterator[str]:
    found = [bench for bench in run.task("hostile") if bench.contender == "turnfit"]
    # English bytes are tested for being ASCII, and no more; random bytes are not prose's like.
    unlike = [bench for bench in found if bench.given == "random bytes, English"]
    like = [bench for bench in found if bench not in unlike]
    yield gains("hostile texts at least 0.5 times as fast as prose", like, least=0.5)
    yield gains("random bytes as fast as ASCII prose", unlike)


def memory_promises(run: Run) -> Iterator[str]:
    process, string = (run.find("memory", what) for what in ("process", "string"))
    what = "scanning 100 MB of UCS-2 grows the process by less than 1 MB, the string not at all"
    if not process or not string or process.grew is None:
        yield f"not measured: {what}"
        return
    kept = process.grew < 1_000_000 and string.grew == 0
    yield f"{word(kept)}: {what}: {process.grew / 1000:,.0f} KB, {string.grew} bytes"


def fit_promises(run: Run) -> Iterator[str]:
    for kind in HISTORIES:
        given = f"{kind}, {amount(4_000)}"
        what = f"fit at least 50 times as fast as trim_messages ({given})"
        own = run.median("fit", given)
        yield verdict(what, run.median("fit", given, TRIM), own, least=50)
        what = f"fit at least 30 times as fast as ClearToolUsesEdit ({given})"
        yield verdict(what, run.median("fit", given, "LangChain ClearToolUsesEdit"), own, least=30)
        what = f"fit against trim_messages, its objects made beforehand ({given})"
        yield verdict(what, run.median("fit", given, TRIM_MADE), own)

    yield from linear_promises(run, "fit, short texts", "fit", [10_000, 100_000, 1_000_000])
    yield from fit_memory_promises(run)


def fit_memory_promises(run: Run) -> Iterator[str]:
    """The request's copies of what is cleared are messages themselves: nothing is promised."""
    for which, most in (("a message of a fit", 100), ("a message of a fit and its request", 0)):
        found = run.find("memory", which)
        what = f"memory under {most} bytes beyond the messages" if most else "memory"
        if found is None or found.grew is None:
            yield f"not measured: {what}: {which}"
            continue
        kept = word(found.grew < most) if most else "besides"
        yield f"{kept}: {what}: {which}: {found.grew} bytes"


def linear_promises(run: Run, task: str, what: str, lengths: list[int]) -> Iterator[str]:
    """A message of a long history against one of the shortest."""
    base = run.median(task, amount(lengths[0]))
    for length in lengths[1:]:
        own = run.median(task, amount(length))
        a_message = None if own is None or base is None else own * lengths[0] / length
        told = f"{what}: a message of {length:,} within 2 times one of {lengths[0]:,}"
        yield verdict(told, a_message, base, most=2)


def compaction_promises(run: Run) -> Iterator[str]:
    given = amount(10_000)
    what = f"observing at most 3 times what estimating takes ({given})"
    observed = run.median("observing messages", given, "observing")
    estimated = run.median("observing messages", given, "estimating")
    yield verdict(what, observed, estimated, most=3)
    yield from linear_promises(run, "measuring regret", "Regret.of", [1_000, 10_000, 100_000])


def step_promises(run: Run) -> Iterator[str]:
    at = [run.median("conversation step", amount(n)) for n in (10_000, 1_000_000)]
    yield verdict("a step at 10^6 messages within 2 times one at 10^4", at[1], at[0], most=2)
    for kind in HISTORIES:
        given = f"{kind}, {amount(4_000)}"
        what = f"a step at 10^6 messages under 1/1000 of trim_messages ({given})"
        yield verdict(what, run.median("fit", given, TRIM), at[1], least=1000)


def output_promises(run: Run) -> Iterator[str]:
    for kind in ("English", "Russian"):
        for own in ("turnfit", "turnfit (tokens)"):
            yield from limit_promises(run, kind, own)
    for kind in ("records", "numbers", "Russian"):
        given, peer = f"{kind}, 10 MB", "json: loads, cut, dumps"
        what = f"JSON trimmed at least 10 times as fast as {peer} ({given})"
        own_time = run.median("trim JSON", given)
        yield verdict(what, run.median("trim JSON", given, peer), own_time, least=10)
    yield from store_promises(run)


def limit_promises(run: Run, kind: str, own: str) -> Iterator[str]:
    def median(length: int, contender: str) -> float | None:
        return run.median("limit a log", f"{kind}, {length:,} characters", contender)

    peer = "tiktoken: encode, slice, decode"
    what = (
        f"a log of 300,000 characters limited at least 100 times as fast as {peer} ({kind}; {own})"
    )
    yield verdict(what, median(300_000, peer), median(300_000, own), least=100)
    what = f"a log of 10,000,000 characters within 2 times one of 100,000 ({kind}; {own})"
    yield verdict(what, median(10_000_000, own), median(100_000, own), most=2)


def store_promises(run: Run) -> Iterator[str]:
    for given in ("put, 10,000 of 50 KB", "read back, 10,000 of 50 KB"):
        own = run.median("store originals", given)
        for peer in ("plain files", "diskcache"):
            beside = run.median("store originals", given, peer)
            yield verdict(f"originals {given}, against {peer}", beside, own)


def gains(what: str, benches: list[Bench], *, least: float = 0) -> str:
    """The least gain decides; all are told."""
    told = [(bench.gain, bench) for bench in benches if bench.gain is not None]
    if not told:
        return f"not measured: {what}"
    figures = ", ".join(gain_of(bench, gain) for gain, bench in told)
    kept = min(gain for gain, _ in told) >= least
    return f"{word(kept) if least else 'besides'}: {what}: {figures}"


def gain_of(bench: Bench, gain: float) -> str:
    read = f" ({rate(bench.nbytes, bench.median)})" if bench.nbytes else ""
    return f"{bench.given} {ratio(gain)}{read}"


def verdict(
    what: str,
    dividend: float | None,
    divisor: float | None,
    *,
    least: float = 0,
    most: float = ANY,
) -> str:
    if dividend is None or divisor is None:
        return f"not measured: {what}"
    times = dividend / divisor
    figures = f"{what}: {ratio(times)} ({duration(dividend)} to {duration(divisor)})"
    if not least and most == ANY:
        return f"besides: {figures}"
    return f"{word(least <= times <= most)}: {figures}"


def word(kept: bool) -> str:
    return "holds" if kept else "FALLS SHORT"
