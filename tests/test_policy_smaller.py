"""The policy to refit with after a refusal."""

from __future__ import annotations

import os

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st

EXAMPLES = settings(max_examples=int(os.environ.get("TURNFIT_EXAMPLES", "200")), deadline=None)


def overflow(limit: int, used: int) -> tf.Rejection:
    return tf.classify_rejection(f"prompt is too long: {used} tokens > {limit} maximum")


def test_the_budget_becomes_the_limit_and_nothing_else_changes() -> None:
    policy = tf.Policy(budget=400_000, clear_batch=7, exclude_tools=("read",))
    smaller = policy.smaller(overflow(200_000, 250_000))
    assert smaller == tf.Policy(budget=200_000, clear_batch=7, exclude_tools=("read",))


def test_the_answer_keeps_its_room() -> None:
    smaller = tf.Policy(budget=400_000, output=8_000).smaller(overflow(200_000, 250_000))
    assert smaller is not None
    assert smaller.budget == 192_000


def test_the_window_becomes_the_limit_of_an_overflow_but_not_of_a_rate() -> None:
    policy = tf.Policy(budget=400_000, window=1_000_000)
    smaller = policy.smaller(overflow(200_000, 250_000))
    assert smaller is not None
    assert smaller.window == 200_000
    rate = tf.classify_rejection(
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 36278."
    )
    smaller = policy.smaller(rate)
    assert smaller is not None
    assert (smaller.budget, smaller.window) == (30_000, 1_000_000)


@pytest.mark.parametrize("error", ["context_length_exceeded", "413 Request Entity Too Large"])
def test_without_a_limit_three_quarters_remain(error: str) -> None:
    smaller = tf.Policy(budget=400_000).smaller(tf.classify_rejection(error))
    assert smaller is not None
    assert smaller.budget == 300_000


def test_a_limit_no_smaller_than_the_budget_shrinks_it_all_the_same() -> None:
    smaller = tf.Policy(budget=100_000).smaller(overflow(200_000, 200_001))
    assert smaller is not None
    assert smaller.budget < 100_000


def test_an_answer_that_fills_the_window_leaves_nothing_to_shrink() -> None:
    rejection = tf.classify_rejection(
        "This endpoint's maximum context length is 1000 tokens. However, you requested about 1100 "
        "tokens (100 of text input, 1000 in the output)."
    )
    assert tf.Policy(budget=500).smaller(rejection) is None


@pytest.mark.parametrize(
    "error",
    [
        "max_tokens is too large: 6000. This model supports at most 4096 completion tokens",
        "invalid x-api-key",
        "Overloaded",
        "Rate limit exceeded",
        "something else",
    ],
)
def test_where_a_smaller_request_cannot_help_there_is_none(error: str) -> None:
    assert tf.Policy(budget=1000).smaller(tf.classify_rejection(error)) is None


def test_what_the_request_was_estimated_at_must_be_a_number_of_tokens() -> None:
    with pytest.raises(ValueError, match="tokens"):
        tf.Policy(budget=1000).smaller(overflow(10, 20), tokens=0)


def test_an_estimate_wrong_by_half_takes_one_refit() -> None:
    roles = ("user", "assistant")
    history = [{"role": roles[number % 2], "content": "x" * 4000} for number in range(400)]
    policy, limit = tf.Policy(budget=250_000), 300_000
    fitted = tf.fit(history, policy)
    assert fitted.tokens * 2 > limit
    smaller = policy.smaller(overflow(limit, fitted.tokens * 2), tokens=fitted.tokens)
    assert smaller is not None
    assert tf.fit(history, smaller).tokens * 2 <= limit


@EXAMPLES
@given(st.integers(1, 10**7), st.integers(1, 10**7), st.integers(0, 10**7), st.integers(0, 10**6))
def test_it_shrinks_whenever_it_is_given(budget: int, limit: int, over: int, output: int) -> None:
    policy = tf.Policy(budget=budget, output=output)
    smaller = policy.smaller(overflow(limit, limit + over))
    if smaller is not None:
        assert 1 <= smaller.budget < budget
        assert smaller.budget <= limit
