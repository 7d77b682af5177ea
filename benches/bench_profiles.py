"""Estimating a text by a calibrated profile, against the tokenizers that it stands for."""

from __future__ import annotations

import pytest
import turnfit
from pytest_benchmark.fixture import BenchmarkFixture

from benches import estimators, sizes
from benches.record import describe, size
from benches.texts import ASCII_CODE, BANKS, data, text

TASK = "estimate by profile"
PEERS = ("toktok-rs*", "rs-bpe*", "tiktoken*")
CASES = [(kind, nbytes) for kind in (*BANKS, ASCII_CODE) for nbytes in sizes.TEXT]

of_all_texts = pytest.mark.parametrize(("kind", "nbytes"), CASES)


@of_all_texts
def test_profile_str(benchmark: BenchmarkFixture, kind: str, nbytes: int) -> None:
    describe(benchmark, TASK, f"{kind}, {size(nbytes)}", "turnfit")
    benchmark(turnfit.profile("o200k_base").estimate, text(kind, nbytes))


@of_all_texts
def test_profile_bytes(benchmark: BenchmarkFixture, kind: str, nbytes: int) -> None:
    describe(benchmark, TASK, f"{kind}, {size(nbytes)}", "turnfit (bytes)")
    profile, read = turnfit.profile("o200k_base"), data(kind, nbytes)
    assert profile.estimate(read) == profile.estimate(read.decode("utf-8", "replace"))
    benchmark(profile.estimate, read)


@of_all_texts
@pytest.mark.parametrize("name", PEERS)
def test_tokenizer(benchmark: BenchmarkFixture, kind: str, nbytes: int, name: str) -> None:
    if nbytes > sizes.MEGABYTE or (name in estimators.SLOW and nbytes == sizes.MEGABYTE):
        pytest.skip("too long for it")
    describe(benchmark, TASK, f"{kind}, {size(nbytes)}", name)
    benchmark(estimators.ESTIMATORS[name](), text(kind, nbytes))
