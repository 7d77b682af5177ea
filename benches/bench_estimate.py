"""Estimating a text: turnfit's own routes against other ways to count, and to guess."""

from __future__ import annotations

import numpy as np
import pytest
import turnfit
from pytest_benchmark.fixture import BenchmarkFixture

from benches import counters, estimators, sizes
from benches.record import describe, size
from benches.texts import BANKS, RANDOM, data, text

CASES = [
    *((kind, nbytes) for kind in BANKS for nbytes in sizes.TEXT),
    ("Russian", sizes.MEGABYTE),
    ("Chinese", sizes.MEGABYTE),
]
BYTES = [*CASES, *((RANDOM, nbytes) for nbytes in sizes.TEXT)]

of_all_texts = pytest.mark.parametrize(("kind", "nbytes"), CASES)
of_all_bytes = pytest.mark.parametrize(("kind", "nbytes"), BYTES)

TASK = "estimate"


def given(kind: str, nbytes: int) -> str:
    return f"{kind}, {size(nbytes)}"


@of_all_texts
def test_turnfit_str(benchmark: BenchmarkFixture, kind: str, nbytes: int) -> None:
    describe(benchmark, TASK, given(kind, nbytes), "turnfit")
    benchmark(turnfit.estimate, text(kind, nbytes))


@of_all_bytes
def test_turnfit_bytes(benchmark: BenchmarkFixture, kind: str, nbytes: int) -> None:
    describe(benchmark, TASK, given(kind, nbytes), "turnfit (bytes)")
    read = data(kind, nbytes)
    assert turnfit.estimate(read) == turnfit.estimate(read.decode("utf-8", "replace"))
    benchmark(turnfit.estimate, read)


@of_all_bytes
def test_read_limit(benchmark: BenchmarkFixture, kind: str, nbytes: int) -> None:
    describe(benchmark, TASK, given(kind, nbytes), "read limit")
    read = data(kind, nbytes)
    benchmark(np.frombuffer(read, np.uint64, count=len(read) // 8).sum)


@of_all_texts
@pytest.mark.parametrize("name", counters.COUNTERS)
def test_counter(benchmark: BenchmarkFixture, kind: str, nbytes: int, name: str) -> None:
    leave_out_if_long(nbytes, name in counters.SLOW)
    describe(benchmark, TASK, given(kind, nbytes), name)
    given_text = text(kind, nbytes)
    benchmark(counters.counter(name, given_text), given_text)


@of_all_texts
@pytest.mark.parametrize("name", estimators.ESTIMATORS)
def test_estimator(benchmark: BenchmarkFixture, kind: str, nbytes: int, name: str) -> None:
    leave_out_if_long(nbytes, name in estimators.SLOW)
    describe(benchmark, TASK, given(kind, nbytes), name)
    benchmark(estimators.ESTIMATORS[name](), text(kind, nbytes))


def leave_out_if_long(nbytes: int, slow: bool) -> None:
    if slow and nbytes > sizes.SLOW:
        pytest.skip(f"left out beyond {size(sizes.SLOW)}: a run would take long")
