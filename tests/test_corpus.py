"""Recorded agent work, fitted at several shares of its size."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest
import turnfit as tf
from support.trajectories import needs_corpus, recorded
from turnfit.messages.formats import format_of as recognised
from turnfit.replay import Recording

pytestmark = needs_corpus
HISTORIES = list(recorded())


def rules_broken(messages: list[dict[str, Any]], format_name: str) -> Counter[str]:
    return Counter(problem.rule for problem in tf.check(messages, format=format_name))


def format_of(messages: list[dict[str, Any]]) -> str:
    """The format that the whole history tells; a fitted part may be plain text."""
    return recognised(messages).name


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.name)
def test_a_recorded_history_is_fitted_and_not_broken(history: Recording, share: float) -> None:
    before = copy.deepcopy(history.messages)
    name = format_of(history.messages)
    budget = max(3, int(tf.estimate_request(history.messages, format=name) * share))
    fitted = tf.fit(history.messages, budget=budget, format=name)
    assert history.messages == before
    assert fitted.tokens == tf.estimate_request(fitted.messages, format=name)
    assert fitted.fits or fitted.step == "rounds"
    assert rules_broken(fitted.messages, name) <= rules_broken(history.messages, name)
    assert tf.fit(fitted.messages, budget=budget, format=name).messages == fitted.messages


def test_the_corpus_was_found_and_unwrapped() -> None:
    assert len(HISTORIES) > 100
    assert {format_of(history.messages) for history in HISTORIES} == {"openai-chat", "anthropic"}
