"""Fitting a saved history: `turnfit.fit` against other ways to trim one.

Each is given half of what the history costs by its own count, so all have about the same
to leave out. `trim_messages` takes dicts as well as objects: it is measured with both.
"""

from __future__ import annotations

import pytest
import turnfit
from pytest_benchmark.fixture import BenchmarkFixture

from benches import sizes, trimmers
from benches.histories import HISTORIES, short_history
from benches.promises import TRIM, TRIM_MADE
from benches.record import amount, describe

TASK = "fit"

of_each_kind = pytest.mark.parametrize("kind", HISTORIES)
of_all_sizes = pytest.mark.parametrize("messages", sizes.FIT, ids=amount)


def given(kind: str, messages: int) -> str:
    return f"{kind}, {amount(messages)}"


@of_each_kind
@of_all_sizes
def test_turnfit(benchmark: BenchmarkFixture, kind: str, messages: int) -> None:
    describe(benchmark, TASK, given(kind, messages), "turnfit")
    fit, history = trimmers.turnfit_fit, HISTORIES[kind](messages)
    budget = turnfit.estimate_request(history) // 2
    fitted = benchmark(fit, history, budget)
    assert 0 < turnfit.estimate_request(fitted) <= budget


@of_each_kind
@of_all_sizes
@pytest.mark.parametrize("contender", [TRIM, TRIM_MADE], ids=["dicts", "made"])
def test_langchain_trim_messages(
    benchmark: BenchmarkFixture, contender: str, kind: str, messages: int
) -> None:
    describe(benchmark, TASK, given(kind, messages), contender)
    trim = trimmers.trim_messages(
        HISTORIES[kind](messages), one_turn=kind == "one user message", made=contender == TRIM_MADE
    )
    assert 0.2 * messages < len(benchmark(trim)) < 0.8 * messages


@of_each_kind
@of_all_sizes
def test_langchain_clear_tool_uses(benchmark: BenchmarkFixture, kind: str, messages: int) -> None:
    describe(benchmark, TASK, given(kind, messages), "LangChain ClearToolUsesEdit")
    history = HISTORIES[kind](messages)
    clear, left = trimmers.clear_tool_uses(history)
    assert left(benchmark(clear)) < left(None)


@of_each_kind
def test_litellm_trim_messages(benchmark: BenchmarkFixture, kind: str) -> None:
    messages = sizes.LITELLM
    describe(benchmark, TASK, given(kind, messages), "litellm trim_messages")
    history = HISTORIES[kind](messages)
    trim = trimmers.litellm_trim(history)
    trimmed = benchmark.pedantic(trim, rounds=3)  # type: ignore[no-untyped-call]
    # After an error inside, litellm gives back what it was given.
    assert trimmed != history


@pytest.mark.parametrize("messages", sizes.LINEAR, ids=amount)
def test_linear(benchmark: BenchmarkFixture, messages: int) -> None:
    describe(benchmark, "fit, short texts", amount(messages), "turnfit")
    history = short_history(messages)
    budget = turnfit.estimate_request(history) // 2
    benchmark.pedantic(  # type: ignore[no-untyped-call]
        trimmers.turnfit_fit, (history, budget), rounds=5, warmup_rounds=1
    )
