"""`fit` and `Conversation` do what the reference does, and what must hold holds."""

from __future__ import annotations

import copy
import os
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest
import reference
import turnfit as tf
from hypothesis import HealthCheck, assume, event, given, settings
from strategies import Case, cases

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))
MANY = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
NOTES = tf.Notes()


def policy_of(case: Case) -> tf.Policy:
    return tf.Policy(**asdict(case.policy))


def fitted(case: Case, messages: list[dict[str, Any]] | None = None, **changes: Any) -> tf.Fitted:
    policy = tf.Policy(**{**asdict(case.policy), **changes})
    history = case.messages if messages is None else messages
    return tf.fit(history, policy, system=case.system, tools=case.tools, format=case.format)


def wanted(case: Case) -> tuple[reference.Plan, list[dict[str, Any]]]:
    notes = reference.Notes(NOTES.cleared, NOTES.cleared_done, NOTES.trimmed)
    plan, request = reference.fit(
        case.messages, case.policy, case.format, notes, case.system, case.tools
    )
    return plan, reference.joined(request, case.format)


@MANY
@given(cases())
def test_fit_does_what_the_reference_does(case: Case) -> None:
    before = copy.deepcopy(case.messages)
    plan, request = wanted(case)
    got = fitted(case)
    event(got.step)
    assert got.messages == request
    assert (got.step, got.tokens, got.over) == (plan.step, plan.tokens, plan.over)
    assert (got.fits, got.sendable) == (plan.fits, plan.sendable)
    assert len(got.cleared) == len(plan.cleared)
    dropped = {index for gap in got.dropped for index in gap}
    assert dropped == set(range(len(case.messages))) - set(plan.kept)
    assert case.messages == before


@MANY
@given(cases())
def test_what_did_not_change_is_the_very_object_and_what_is_sent_is_counted(case: Case) -> None:
    """Where neighbours are merged, their frames are counted as in the history."""
    assume(reference.joined(case.messages, case.format) == case.messages)
    got = fitted(case)
    assume(case.format != "bedrock-converse" or got.step in ("whole", "results"))
    objects = {id(message) for message in case.messages}
    copies = [message for message in got.messages if id(message) not in objects]
    edits = {row.index for row in got.cleared}
    inputs = len(edits) if case.policy.clear_tool_inputs else 0
    assert len(copies) <= len(edits) + inputs * 10 + 1
    assert got.tokens == case.policy.reserve + tf.estimate_request(
        got.messages, system=case.system, tools=case.tools, format=case.format
    )
    if got.first_changed is None:
        assert got.messages == case.messages[: len(got.messages)]
    else:
        assert all(
            a is b for a, b in zip(got.messages[: got.first_changed], case.messages, strict=False)
        )


@MANY
@given(cases())
def test_fitting_again_changes_nothing(case: Case) -> None:
    """Pins by index mean other messages in the request, so they are left out."""
    once = fitted(case, pinned=())
    assert fitted(case, once.messages, pinned=()).messages == once.messages


@MANY
@given(cases())
def test_a_conversation_gives_what_fit_gives_at_every_step(case: Case) -> None:
    conversation = tf.Conversation(
        policy_of(case), system=case.system, tools=case.tools, format=case.format
    )
    for count, message in enumerate(case.messages, start=1):
        conversation.append(message)
        if count % 3 == 0 or count == len(case.messages):
            got = conversation.fit()
            want = fitted(case, case.messages[:count])
            assert got.messages == want.messages
            # What is kept of the last request, only a conversation knows.
            assert got.as_dict() | {"cache_kept": None} == want.as_dict()
            assert got.cleared == want.cleared


@MANY
@given(cases())
def test_no_result_loses_its_call_and_no_call_its_result(case: Case) -> None:
    """A call before the provider's own compaction is with the provider, and is left out here."""
    notes = reference.Notes(NOTES.cleared, NOTES.cleared_done, NOTES.trimmed)
    answers = reference.walk_of(case.messages, case.policy, case.format, notes).answers
    kept = {index for start, end in fitted(case)._plan.kept for index in range(start, end)}
    assert all((call in kept) == (result in kept) for (result, _), (call, _) in answers.items())


@MANY
@given(cases())
def test_a_request_breaks_no_rule_that_its_history_keeps(case: Case) -> None:
    def broken(messages: list[Any]) -> set[str]:
        return {problem.rule for problem in tf.check(messages, format=case.format)}

    assert broken(fitted(case).messages) <= broken(case.messages)


def history(rounds: int, words: int = 200) -> list[dict[str, Any]]:
    """One user message and so many rounds, each of one call."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read every file."}]
    for number in range(rounds):
        call = {"id": f"c{number}", "function": {"name": "read", "arguments": '{"n":1}'}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "word " * words},
        ]
    return messages


def test_a_request_exactly_within_the_budget_is_the_history_itself() -> None:
    messages = history(10)
    exact = tf.estimate_request(messages)
    whole = tf.fit(messages, budget=exact)
    assert whole.step == "whole"
    assert all(a is b for a, b in zip(whole.messages, messages, strict=True))
    assert tf.fit(messages, budget=exact - 1).step == "results"


def test_an_empty_history_fits() -> None:
    empty = tf.fit([], budget=3)
    assert (empty.messages, empty.tokens, empty.largest, empty.first_changed) == ([], 3, None, None)


def test_a_budget_too_small_says_by_how_much_and_what_is_largest() -> None:
    messages = history(3)
    got = tf.fit(messages, budget=100)
    assert (got.fits, got.step) == (False, "rounds")
    assert got.over == got.tokens - 100 > 0
    assert got.messages[-2:] == messages[-2:]
    assert got.largest is not None
    assert got.messages[got.largest.index]["role"] == got.largest.role == "tool"


def test_sendable_concerns_the_window_and_leaves_room_for_the_answer() -> None:
    messages = history(1)
    tokens = tf.estimate_request(messages)
    for output, sendable in ((0, True), (10, True), (11, False)):
        policy = tf.Policy(budget=tokens, window=tokens + 10, output=output)
        assert tf.fit(messages, policy).sendable is sendable


def test_what_was_cleared_is_told_with_index_id_tool_and_tokens() -> None:
    messages = history(10)
    got = tf.fit(messages, budget=tf.estimate_request(messages) - 1)
    row = got.cleared[0]
    note = tf.estimate(NOTES.cleared)
    assert (row.index, row.call_id, row.tool, row.tokens) == (2, "c0", "read", 250 - note)
    assert got.messages[2] == {**messages[2], "content": NOTES.cleared}


def test_a_tool_that_must_not_run_again_gets_the_other_note() -> None:
    messages = history(10)
    policy = tf.Policy(budget=tf.estimate_request(messages) - 1, no_rerun=("read",))
    assert tf.fit(messages, policy).messages[2]["content"] == NOTES.cleared_done


def test_arguments_are_cleared_with_their_result_as_the_format_wants() -> None:
    messages = history(10)
    messages[1]["tool_calls"][0]["function"]["arguments"] = '{"text":"' + "x" * 400 + '"}'
    policy = tf.Policy(budget=tf.estimate_request(messages) - 1, clear_tool_inputs=True)
    got = tf.fit(messages, policy).messages[1]
    cleared = '{"_cleared":"arguments left out to save context"}'
    assert got["tool_calls"][0]["function"] == {"name": "read", "arguments": cleared}
    assert messages[1]["tool_calls"][0]["function"]["arguments"].startswith('{"text"')


def test_a_predicate_pins_as_indices_do() -> None:
    messages = [*history(20), {"role": "user", "content": "And now?"}]
    for pinned in ((8,), lambda message: message is messages[8]):
        got = tf.fit(messages, tf.Policy(budget=700, pinned=pinned))
        assert got.step in ("turns", "rounds")
        assert any(message is messages[8] for message in got.messages)
        assert any(message is messages[7] for message in got.messages)


def test_a_model_stands_beside_a_budget_and_prices_as_a_policys_does() -> None:
    policy = tf.Policy(budget=2_000, model="claude-opus-4-7")
    fitted = tf.fit(history(9), policy)
    for other in (
        tf.fit(history(9), budget=2_000, model="claude-opus-4-7"),
        grown(tf.Conversation(budget=2_000, model="claude-opus-4-7"), history(9)),
    ):
        assert (other.messages, other.tokens) == (fitted.messages, fitted.tokens)
    for call in (partial(tf.fit, history(9)), tf.Conversation):
        with pytest.raises(TypeError, match="give the model in the policy"):
            call(policy, model="gpt-5.1")
    with pytest.raises(TypeError, match=r"not int; did you mean budget=2000\?"):
        tf.fit(history(9), 2_000)  # type: ignore[arg-type]


def grown(conversation: tf.Conversation, messages: list[Any]) -> tf.Fitted:
    conversation.extend(messages)
    return conversation.fit()


def test_an_error_of_a_predicate_reaches_the_caller() -> None:
    def broken(_: Any) -> bool:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        tf.fit(history(1), tf.Policy(budget=10, pinned=broken))


@pytest.mark.parametrize(
    "bad", ["text", b"text", {"role": "user"}, None, 5, tf.Message("user", "x")]
)
def test_what_is_no_sequence_of_messages_is_a_type_error(bad: Any) -> None:
    with pytest.raises(TypeError, match="messages must be a sequence"):
        tf.fit(bad, budget=10)


def test_many_results_in_one_message_are_cleared_in_linear_time() -> None:
    """A step per result over all results of the message would take minutes."""
    count = 20_000
    calls = [{"type": "tool_use", "id": f"t{n}", "name": "read", "input": {}} for n in range(count)]
    results = [
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": "word " * 100}
        for n in range(count)
    ]
    messages = [
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": results},
    ]
    got = tf.fit(messages, tf.Policy(budget=tf.estimate_request(messages) - 1, keep=("tokens", 0)))
    assert len(got.cleared) > count // 2
    assert got.cleared[7].call_id == "t7"
    assert got.messages[2]["content"][7] == {**results[7], "content": NOTES.cleared}


def test_moving_a_cache_mark_keeps_the_cache() -> None:
    marked = [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]
    plain = [{"type": "text", "text": "hi"}]
    before, after = (tf.fit([{"role": "user", "content": c}], budget=99) for c in (marked, plain))
    assert after.cache_kept(before) == 4


def test_cache_kept_counts_the_common_start() -> None:
    messages = history(30)
    policy = tf.Policy(budget=4000)
    before, after = tf.fit(messages[:41], policy), tf.fit(messages[:43], policy)
    assert before.step == after.step == "results"
    common = sum(map(tf.estimate_message, before.messages))
    assert after.cache_kept(before) == common
    other = tf.fit([{"role": "user", "content": "Else."}], policy)
    assert after.cache_kept(other) == 0


def test_the_line_the_table_and_the_dict_tell_the_same() -> None:
    messages = history(30)
    got = tf.fit(messages, budget=2500)
    figures = got.as_dict()
    assert figures["cleared"] == len(got.cleared)
    assert figures["cleared_tokens"] == sum(row.tokens for row in got.cleared)
    assert figures["dropped"] == sum(map(len, got.dropped))
    assert figures["messages"] == len(got.messages)
    assert f"{got.tokens:,} of 2,500 tokens" in str(got)
    assert len(got.explain().splitlines()) == 2 + len(got.cleared) + len(got.dropped)
