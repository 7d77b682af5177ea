"""One step of a growing conversation: a round comes in, a request goes out.

The requests hold about the same number of messages, however long the history is, so what
differs is what the history itself costs.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from statistics import mean

import pytest
import turnfit
from pytest_benchmark.fixture import BenchmarkFixture

from benches import sizes
from benches.histories import Message, short_history, short_rounds
from benches.record import amount, describe


@cache
def budget() -> int:
    """A budget for requests of about `sizes.REQUEST` messages."""
    history = short_history(5 * sizes.REQUEST)
    budgets = range(2_000, turnfit.estimate_request(history), 500)

    def held(budget: int) -> int:
        return len(turnfit.fit(history, budget=budget).messages)

    return budgets[bisect_left(budgets, sizes.REQUEST, key=held)]


@pytest.mark.parametrize("messages", sizes.CONVERSATION, ids=amount)
def test_step(benchmark: BenchmarkFixture, messages: int) -> None:
    describe(benchmark, "conversation step", amount(messages), "turnfit")
    conversation = turnfit.Conversation(budget=budget())
    conversation.extend(short_history(messages))
    rounds = short_rounds()
    held: list[int] = []

    def step(appended: tuple[Message, Message]) -> None:
        conversation.extend(appended)
        held.append(len(conversation.fit().messages))

    def next_round() -> tuple[tuple[tuple[Message, Message]], dict[str, object]]:
        return (next(rounds),), {}

    benchmark.pedantic(  # type: ignore[no-untyped-call]
        step, setup=next_round, rounds=sizes.STEPS, warmup_rounds=5
    )
    # A history that is hardly longer than a request has its results cleared at first, and
    # grows a little further before anything is dropped.
    assert 0.8 * sizes.REQUEST < min(held) <= max(held) < 1.5 * sizes.REQUEST
    benchmark.extra_info["held"] = round(mean(held))
