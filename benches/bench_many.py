"""A column of short texts: one call against a call for each; two threads against one."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from random import Random
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import turnfit
from turnfit import estimate, estimate_many

from benches import sizes
from benches.record import Keep
from benches.texts import text
from benches.turns import Call, bench_of, by_turns, gain

PASSES = 10

READ_LIMIT = "the read limit for Arrow's bytes"

of_both_kinds = pytest.mark.parametrize("kind", ["English", "Russian"])


@cache
def rows(kind: str) -> list[str]:
    """Strings of 50 characters, each an object of its own."""
    source = text(kind, sizes.PIECE)
    starts = Random(1).choices(range(len(source) - 50), k=sizes.ROWS)
    return [source[start : start + 50] for start in starts]


@cache
def arrow(kind: str) -> Any:
    return pytest.importorskip("pyarrow").array(rows(kind))


@cache
def long_rows(kind: str) -> list[bytes]:
    return [bytes(memoryview(text(kind, sizes.PIECE).encode())) for _ in range(64)]


@of_both_kinds
def test_one_call(keep: Keep, kind: str) -> None:
    texts, column, words = rows(kind), arrow(kind), values(kind)
    calls: dict[str, Call] = {
        "a list comprehension over `estimate`": lambda: [estimate(text) for text in texts],
        "turnfit": lambda: estimate_many(texts),
        "Arrow": lambda: estimate_many(column),
        READ_LIMIT: words.sum,
    }
    comprehension, *others = by_turns(list(calls.values()), sizes.ROUNDS)
    for name, times in zip(calls, [comprehension, *others], strict=True):
        keep(bench_of("column", kind, name, times, gain=gain(comprehension, times)))


@of_both_kinds
def test_threads_on_short_rows_of_a_list(keep: Keep, kind: str) -> None:
    keep_gains(keep, f"{kind}, list", rows(kind), halves(values(kind)))


@of_both_kinds
def test_threads_on_an_arrow_column(keep: Keep, kind: str) -> None:
    keep_gains(keep, f"{kind}, Arrow", arrow(kind), halves(values(kind)))


@of_both_kinds
def test_threads_on_long_rows_of_a_list(keep: Keep, kind: str) -> None:
    texts = long_rows(kind)
    assert estimate_many(texts, threads=2).sum() == sum(map(turnfit.estimate, texts))
    words = [np.frombuffer(row, np.uint64, count=len(row) // 8) for row in texts]
    keep_gains(keep, f"{kind}, list of 64 long texts", texts, [words[:32], words[32:]])


def values(kind: str) -> np.ndarray[Any, Any]:
    """The bytes of the Arrow column's texts, as words."""
    buffer = arrow(kind).buffers()[2]
    return np.frombuffer(buffer, np.uint64, count=buffer.size // 8)


def halves(words: np.ndarray[Any, Any]) -> list[Sequence[np.ndarray[Any, Any]]]:
    middle = len(words) // 2
    return [[words[:middle]], [words[middle:]]]


def keep_gains(
    keep: Keep, given: str, column: Any, parts: list[Sequence[np.ndarray[Any, Any]]]
) -> None:
    """What two threads gain, by the clock on the wall: here, and for a plain sum."""
    calls: list[Call] = [
        lambda: estimate_many(column),
        lambda: estimate_many(column, threads=2),
        lambda: list(map(sum_all, parts)),
    ]
    with ThreadPoolExecutor(len(parts)) as pool:
        calls.append(lambda: list(pool.map(sum_all, parts)))
        one, two, sum_one, sum_two = by_turns(calls, sizes.ROUNDS, clock=perf_counter)
    keep(bench_of("threads", given, "turnfit", two, gain=gain(one, two)))
    keep(bench_of("threads", given, "a plain sum", sum_two, gain=gain(sum_one, sum_two)))


def sum_all(part: Sequence[np.ndarray[Any, Any]]) -> None:
    """So often that to wake a thread, which can take as long as one sum, is nothing to it."""
    for _ in range(PASSES):
        for words in part:
            words.sum()
