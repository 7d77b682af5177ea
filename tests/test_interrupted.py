"""What a stream leaves behind that was broken off is not sent, and told."""

from __future__ import annotations

import copy
import os
from typing import Any

import pytest
import turnfit as tf
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from strategies import FORMATS, histories
from support.broken import BROKEN, RESULTS, Broken
from turnfit.messages.formats import FORMATS as ALL

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))
MANY = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
CASES = [(format, broken) for format in BROKEN for broken in BROKEN[format]]
POLICY = tf.Policy(budget=100_000)


def asks(format: str) -> Any:
    """A user's message, which is what a note is too."""
    return ALL[format].note("Read every file.")


def fit(messages: list[Any], format: str, **more: Any) -> tf.Fitted:
    return tf.fit(messages, POLICY, format=format, **more)


@pytest.mark.parametrize(("format", "broken"), CASES)
@pytest.mark.parametrize("goes_on", [True, False])
def test_what_never_came_to_its_end_is_not_sent_and_told(
    format: str, broken: Broken, goes_on: bool
) -> None:
    first, behind = asks(format), [asks(format)] if goes_on else []
    history = [first, broken.message, *behind]
    before = copy.deepcopy(history)
    got = fit(history, format)
    left = [] if broken.left is None else [broken.left]
    assert got.messages == fit([first, *left, *behind], format).messages
    assert got.messages[0] is first or format == "bedrock-converse"
    assert [p.rule for p in got.problems if p.rule.startswith("unfinished")] == [broken.rule]
    assert got.problems[0].index == 1
    assert got.as_dict()["history"] == len(history)
    assert got.tokens == fit([first, *left, *behind], format).tokens
    assert history == before


@pytest.mark.parametrize("format", RESULTS)
def test_a_call_that_was_answered_is_sent_however_it_is_written(format: str) -> None:
    [broken, *_] = [one for one in BROKEN[format] if one.rule == "unfinished-call"]
    history = [asks(format), broken.message, RESULTS[format]]
    if format == "openai-chat":
        history[1] = BROKEN[format][2].message
    got = fit(history, format)
    assert got.messages == history
    assert not [one for one in got.problems if one.rule.startswith("unfinished")]


def test_reasoning_that_led_to_a_broken_call_only_goes_with_it() -> None:
    first = asks("openai-responses")
    reasons = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = BROKEN["openai-responses"][0].message
    whole = {"type": "function_call", "call_id": "c0", "name": "read", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c0", "output": "ok"}
    assert fit([first, reasons, call, first], "openai-responses").messages == [first, first]
    more = [first, reasons, whole, call, output]
    assert fit(more, "openai-responses").messages == [first, reasons, whole, output]


def test_thinking_of_other_models_is_unsigned_and_sent() -> None:
    """Only the last part of a message can be broken off."""
    thinks = {"type": "thinking", "thinking": "First."}
    said = {"role": "assistant", "content": [thinks, {"type": "text", "text": "Done."}]}
    assert fit([asks("anthropic"), said], "anthropic").messages[1] is said
    reasons = {"reasoningContent": {"reasoningText": {"text": "First."}}}
    converse = {"role": "assistant", "content": [reasons, {"text": "Done."}]}
    assert fit([asks("bedrock-converse"), converse], "bedrock-converse").messages[1] is converse


@MANY
@given(st.sampled_from([name for name in FORMATS if name in BROKEN]), st.data())
def test_a_broken_message_anywhere_changes_nothing_else(format: Any, data: st.DataObject) -> None:
    history = data.draw(histories(format))
    at = data.draw(st.integers(0, len(history)))
    # Reasoning goes with what it led to.
    assume(not (at and format == "openai-responses" and history[at - 1].get("type") == "reasoning"))
    broken = data.draw(st.sampled_from(BROKEN[format]))
    budget = data.draw(st.integers(40, 3_000))
    left = [] if broken.left is None else [broken.left]
    with_it = [*history[:at], broken.message, *history[at:]]
    without = [*history[:at], *left, *history[at:]]
    got = tf.fit(with_it, budget=budget, format=format)
    if not any(one.rule == broken.rule for one in got.problems):
        return  # something answers it: ids restart in real histories
    want = tf.fit(without, budget=budget, format=format)
    assert (got.messages, got.tokens, got.step) == (want.messages, want.tokens, want.step)


def test_a_conversation_forgets_and_remembers_what_was_broken_off() -> None:
    broken = BROKEN["openai-chat"][2]
    conversation = tf.Conversation(POLICY)
    conversation.extend([asks("openai-chat"), broken.message])
    assert conversation.fit().messages[1] == broken.left
    early = conversation.fit()
    conversation.append(RESULTS["openai-chat"])
    assert conversation.fit().messages == conversation.history
    assert early.messages == [asks("openai-chat"), broken.left]


def test_indices_of_the_policy_and_of_what_is_told_are_the_historys() -> None:
    broken = BROKEN["openai-chat"][0].message
    history: list[Any] = [asks("openai-chat"), broken]
    for number in range(30):
        call = {"id": f"c{number}", "function": {"name": "read", "arguments": "{}"}}
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "word " * 100},
        ]
    policy = tf.Policy(budget=1_500, pinned=(7,))
    got = tf.fit(history, policy)
    conversation = tf.Conversation(policy)
    conversation.extend(history)
    for fitted in (got, conversation.fit()):
        assert any(message is history[7] for message in fitted.messages)
        assert all(history[row.index]["role"] == "tool" for row in fitted.cleared)
        assert 1 in {index for gap in fitted.dropped for index in gap}
        assert fitted.first_changed == 1
