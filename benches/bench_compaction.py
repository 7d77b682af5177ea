"""Observing what happened, beside estimating the same messages; and measuring what was lost."""

from __future__ import annotations

import pytest
import turnfit
from pytest_benchmark.fixture import BenchmarkFixture
from turnfit.compaction import Effect, Effects, Event, FactLog, Regret

from benches import sizes
from benches.histories import short_history
from benches.record import amount, describe

EFFECTS = Effects({"read_file": (Effect.reads("path", part=("limit",)),)})
MESSAGES = sizes.LINEAR[1]


def test_estimate(benchmark: BenchmarkFixture) -> None:
    describe(benchmark, "observing messages", amount(MESSAGES), "estimating")
    history = short_history(MESSAGES)
    tokens = benchmark(lambda: [turnfit.estimate_message(m, format="openai-chat") for m in history])
    assert min(tokens) > 0


def test_observe(benchmark: BenchmarkFixture) -> None:
    describe(benchmark, "observing messages", amount(MESSAGES), "observing")
    history = short_history(MESSAGES)
    log = benchmark(lambda: FactLog(EFFECTS, format="openai-chat").extend(history))
    assert len(log) == MESSAGES


@pytest.mark.parametrize("messages", sizes.LINEAR[:3], ids=amount)
def test_regret(benchmark: BenchmarkFixture, messages: int) -> None:
    describe(benchmark, "measuring regret", amount(messages), "turnfit")
    history = short_history(messages)
    events = [
        Event(kind="compaction", at=at, dropped=(range(at - 50),))
        for at in range(100, messages, 100)
    ]
    regret = benchmark(lambda: Regret.of(history, events, effects=EFFECTS))
    assert regret.view_chances["read"] > 0
