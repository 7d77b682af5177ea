"""Cache marks: where they are worth it, and within the provider's limit."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import turnfit as tf
from hypothesis import assume, given
from strategies import Case, cases
from support.messages import blocks, use, used, user
from test_fit import MANY, fitted
from turnfit.fitting.caching import CachePoint

LONG = "word " * 400
MARK = {"cache_control": {"type": "ephemeral"}}


def rounds(count: int) -> list[dict[str, Any]]:
    pairs = [(use(f"t{n}"), used(f"t{n}", LONG)) for n in range(count)]
    return [m for one, two in pairs for m in (blocks("assistant", one), blocks("user", two))]


def test_the_points_are_before_the_next_result_to_clear_and_at_the_end() -> None:
    history = [user(), *rounds(12)]
    got = tf.fit(history, budget=5_000)
    cleared = len(got.cleared)
    assert cleared
    next_result = 2 + 2 * cleared
    assert got.cache_points == (CachePoint(next_result - 1, 0), CachePoint(len(history) - 1, 0))


def test_marks_are_written_into_copies() -> None:
    history = [user("go"), *rounds(2)]
    before = copy.deepcopy(history)
    got = tf.fit(history, budget=10**6)
    sent = tf.mark_cache(got)
    assert sent[1]["content"] == [{**use("t0"), **MARK}]
    assert sent[-1]["content"] == [{**used("t1", LONG), **MARK}]
    assert history == before
    assert sum(a is not b for a, b in zip(sent, history, strict=True)) == 2


def test_thinking_and_empty_texts_bear_no_mark() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    empty = {"type": "text", "text": " "}
    history = [user("go"), blocks("assistant", use("t0"), thinking, empty)]
    got = tf.fit(history, budget=10**6)
    assert got.cache_points == (CachePoint(1, 0),)


@pytest.mark.parametrize(("system", "marks"), [(0, 2), (2, 2), (3, 1), (4, 0), (5, 0)])
def test_the_providers_limit_counts_system_and_tools(system: int, marks: int) -> None:
    history = [user("go"), *rounds(2)]
    got = tf.fit(history, budget=10**6)
    text = {"type": "text", "text": "a", **MARK}
    sent = tf.mark_cache(got, system=[text] * min(system, 3), tools=[text] * max(0, system - 3))
    assert str(sent).count("cache_control") == marks
    if marks == 1:
        assert "cache_control" in sent[-1]["content"][0]


def test_bedrock_gets_a_block_behind_the_one_marked() -> None:
    history = [{"role": "user", "content": [{"text": "go"}]}]
    got = tf.fit(history, budget=99)
    point = {"cachePoint": {"type": "default"}}
    assert tf.mark_cache(got) == [{"role": "user", "content": [{"text": "go"}, point]}]
    again = tf.fit(tf.mark_cache(got), budget=99)
    assert tf.mark_cache(again) == tf.mark_cache(got)
    assert again.tokens == got.tokens


def test_formats_without_marks_stay_as_they_are() -> None:
    got = tf.fit([user()], budget=99)
    assert (got.format, got.cache_points, tf.mark_cache(got)) == ("openai-chat", (), [user()])


@MANY
@given(cases())
def test_marks_cost_nothing_and_never_exceed_the_limit(case: Case) -> None:
    assume(case.format in ("anthropic", "bedrock-converse"))
    got = fitted(case)
    before = copy.deepcopy(got.messages)
    sent = tf.mark_cache(got, system=case.system, tools=case.tools)
    assert got.messages == before
    costs = [tf.estimate_request(messages, format=case.format) for messages in (sent, before)]
    assert costs[0] == costs[1]
    key = "cachePoint" if case.format == "bedrock-converse" else "'cache_control': {"
    assert str(sent).count(key) <= max(4, str(before).count(key))


def test_the_nearest_setting_of_the_provider_tells_what_it_leaves_out() -> None:
    policy = tf.Policy(budget=100_000, keep=("results", 5), exclude_tools=("read",), pinned=(3,))
    nearest = policy.to_context_management("anthropic")
    [edit] = nearest.setting["edits"]
    assert edit["trigger"] == {"type": "input_tokens", "value": 100_000}
    assert edit["keep"] == {"type": "tool_uses", "value": 5}
    assert edit["exclude_tools"] == ["read"]
    assert nearest.missing == ("clear_batch", "worth", "pinned")
    assert "keep" in tf.Policy(budget=9).to_context_management("anthropic").missing
    assert "exclude_tools" in policy.to_context_management("openai-responses").missing
    with pytest.raises(ValueError, match="anthropic or openai-responses, not 'gemini'"):
        policy.to_context_management("gemini")
