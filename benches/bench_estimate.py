"""Estimating a text: turnfit's own routes against other ways to count by script."""

from __future__ import annotations

import pytest
import turnfit
from pytest_benchmark.fixture import BenchmarkFixture

from benches import sizes
from benches.counters import COUNTERS, counter
from benches.record import describe, size
from benches.texts import BANKS, text
from benches.tokenizers import o200k_base

pytestmark = [
    pytest.mark.parametrize("kind", BANKS),
    pytest.mark.parametrize("nbytes", sizes.TEXT, ids=size),
]

TASK = "estimate"


def given(kind: str, nbytes: int) -> str:
    return f"{kind}, {size(nbytes)}"


def test_turnfit_str(benchmark: BenchmarkFixture, kind: str, nbytes: int) -> None:
    describe(benchmark, TASK, given(kind, nbytes), "turnfit")
    benchmark(turnfit.estimate, text(kind, nbytes))


def test_turnfit_bytes(benchmark: BenchmarkFixture, kind: str, nbytes: int) -> None:
    describe(benchmark, TASK, given(kind, nbytes), "turnfit (bytes)")
    data = text(kind, nbytes).encode()
    assert turnfit.count_scripts(data) == turnfit.count_scripts(text(kind, nbytes))
    benchmark(turnfit.estimate, data)


@pytest.mark.parametrize("name", COUNTERS)
def test_counter(benchmark: BenchmarkFixture, kind: str, nbytes: int, name: str) -> None:
    describe(benchmark, TASK, given(kind, nbytes), name)
    given_text = text(kind, nbytes)
    benchmark(counter(name, given_text), given_text)


def test_tiktoken(benchmark: BenchmarkFixture, kind: str, nbytes: int) -> None:
    """An exact tokenizer: another kind of answer, not the same work."""
    describe(benchmark, TASK, given(kind, nbytes), "tiktoken*")
    given_text = text(kind, nbytes)
    encoding = o200k_base()
    benchmark(lambda: len(encoding.encode(given_text, disallowed_special=())))
