"""Shares of the read limit, and what short calls take, at one vector level.

    TURNFIT_SIMD=avx2 python -m benches.levels avx2

A process chooses its level once, so each level has its own; `bench_levels` starts them. One
bench a line, as JSON. The read limit is numpy's sum of the same bytes as 64-bit words. It is
the limit: from memory it was 1.00 to 1.07 times as fast as a C loop (gcc -O3 -march=native),
in the last cache 0.96 to 1.01 times; with prefetching that gained 7 % at most.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from time import process_time
from timeit import Timer
from typing import Any

import numpy as np
import turnfit

from benches import sizes
from benches.record import Bench
from benches.texts import BANKS, KINDS, data, stored_bytes, text
from benches.turns import Call, bench_of, by_turns, gain, over

__all__ = ["CACHED", "EXPRESSION", "LIMIT", "MEMORY", "SHORT", "STR"]

MEMORY, CACHED = "bytes, from memory", "bytes, in the last cache"
STR = "str, from memory"
LIMIT = "the read limit beside"
SHORT, EXPRESSION = "short call", "the expression `len(s) // 4` beside"

CALLS = 1_000 if sizes.SMOKE else 50_000
"""So many that the clock's own time is nothing to them."""


def main(level: str) -> None:
    for bench in chain(shares(level), short_calls(level)):
        print(json.dumps(bench.as_dict()), flush=True)


def shares(level: str) -> Iterator[Bench]:
    for kind in KINDS:
        given = data(kind, sizes.SCAN)
        copies = [bytes(memoryview(given)) for _ in range(sizes.COPIES)]
        yield from share(MEMORY, kind, level, copies, len(given))
        yield from share(CACHED, kind, level, [given], len(given))
        if kind in BANKS and kind != "English":
            yield from str_share(kind, level)


def str_share(kind: str, level: str) -> Iterator[Bench]:
    piece = text(kind, sizes.PIECE)
    given = piece * (sizes.SCAN // stored_bytes(piece))
    copies = [given[:1] + given[1:] for _ in range(sizes.COPIES)]
    yield from share(STR, kind, level, copies, stored_bytes(given))


def share(
    task: str, kind: str, level: str, texts: Sequence[str | bytes], nbytes: int
) -> Iterator[Bench]:
    """The scan of these texts and the sum of as many words, by turns."""
    half = len(texts) // 2
    scan = over(turnfit.estimate, texts)
    words = over(np.sum, [words_of(text, nbytes) for text in texts], first=half)
    limit, scanned = by_turns([words, scan], sizes.ROUNDS)
    yield bench_of(task, kind, level, scanned, gain=gain(limit, scanned), nbytes=nbytes)
    yield bench_of(task, kind, f"{LIMIT} {level}", limit, nbytes=nbytes)


def words_of(text: str | bytes, nbytes: int) -> np.ndarray[Any, Any]:
    """A text's bytes as words; of a str, whose storage can't be had, as many others."""
    if isinstance(text, bytes):
        return np.frombuffer(text, np.uint64, count=nbytes // 8)
    return np.ones(nbytes // 8, np.uint64)


def short_calls(level: str) -> Iterator[Bench]:
    english = text("English", 1_000)
    yield from short_call("40 ASCII characters", level, english[:40])
    yield from short_call("1,000 ASCII characters", level, english)
    yield from short_call("100,000,000 ASCII characters", level, english * 100_000)
    yield from short_call("1,000 Cyrillic characters", level, text("Russian", 2_000)[:1_000])


def short_call(given: str, level: str, text: str) -> Iterator[Bench]:
    """A call and the expression, without the time of the loop around them."""
    statements = ("pass", "len(s) // 4", "f(s)")
    timed = [loop_over(statement, text) for statement in statements]
    loop, expression, call = by_turns(timed, sizes.ROUNDS)
    for contender, took in ((level, call), (f"{EXPRESSION} {level}", expression)):
        net = [(one - empty) / CALLS for one, empty in zip(took, loop, strict=True)]
        yield bench_of(SHORT, given, contender, net)


def loop_over(statement: str, text: str) -> Call:
    names = {"given": text, "estimate": turnfit.estimate}
    timer = Timer(statement, "s, f = given, estimate", timer=process_time, globals=names)
    return lambda: timer.timeit(CALLS)


if __name__ == "__main__":
    main(sys.argv[1])
