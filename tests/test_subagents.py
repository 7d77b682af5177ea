"""The scenario that must come out right: subagents with one instruction and a long run of reads."""

from __future__ import annotations

from typing import Any

import pytest
import turnfit as tf
from support.subagents import opening, rounds

WINDOW = 1_000_000
BUDGET = 400_000
SUBAGENTS = range(8)


def cut_at_user_messages(messages: list[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    """What a common trimmer does: drop the oldest turns, a turn being opened by a user message."""
    starts = [index for index, message in enumerate(messages) if message["role"] == "user"]
    requests = ([messages[0], *messages[start:]] for start in starts)
    sizes = [(request, tf.estimate_request(request)) for request in requests]
    return next((request for request, size in sizes if size <= budget), sizes[-1][0])


@pytest.mark.parametrize("seed", SUBAGENTS)
def test_no_request_of_any_step_is_over_the_budget_and_the_agent_comes_to_its_end(
    seed: int,
) -> None:
    policy = tf.Policy(budget=BUDGET, window=WINDOW)
    conversation = tf.Conversation(policy)
    conversation.extend(opening(seed))
    work = rounds(seed)
    while conversation.tokens <= WINDOW:
        conversation.extend(next(work))
        fitted = conversation.fit()
        assert fitted.fits
        assert fitted.sendable
        assert fitted.tokens == tf.estimate_request(fitted.messages)
        assert fitted.messages[-2:] == conversation.history[-2:]
    history = conversation.history
    assert tf.fit(history, policy).messages == fitted.messages
    assert tf.check(fitted.messages) == []
    assert tf.estimate_request(cut_at_user_messages(history, BUDGET)) > WINDOW
