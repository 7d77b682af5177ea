"""Dead calls are answered and orphans left out, in the request only."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import turnfit as tf
from hypothesis import assume, given
from reference import Format
from strategies import FORMATS, Case, cases
from test_fit import MANY, policy_of

NOTE = tf.Notes().unanswered
ROOM = 10**9
REPAIRED_RULES = {"call-without-result", "result-without-call"}

CALLED: dict[Format, Any] = {
    "openai-chat": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": id_, "type": "function", "function": {"name": "read", "arguments": "{}"}}
            for id_ in ("c1", "c2")
        ],
    },
    "anthropic": {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": id_, "name": "read", "input": {}} for id_ in ("c1", "c2")
        ],
    },
    "gemini": {
        "role": "model",
        "parts": [{"functionCall": {"name": "read", "args": {}}} for _ in range(2)],
    },
    "bedrock-converse": {
        "role": "assistant",
        "content": [
            {"toolUse": {"toolUseId": id_, "name": "read", "input": {}}} for id_ in ("c1", "c2")
        ],
    },
}


def user(format_: Format) -> dict[str, Any]:
    return {
        "gemini": {"role": "user", "parts": [{"text": "Go on."}]},
        "bedrock-converse": {"role": "user", "content": [{"text": "Go on."}]},
    }.get(format_, {"role": "user", "content": "Go on."})


def test_the_second_of_two_calls_is_answered_behind_the_first_result() -> None:
    history = [
        user("openai-chat"),
        CALLED["openai-chat"],
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        user("openai-chat"),
    ]
    fitted = tf.fit(history, budget=ROOM, repair=True)
    assert fitted.messages[3] == {"role": "tool", "tool_call_id": "c2", "content": NOTE}
    assert [fitted.messages[i] for i in (0, 1, 2, 4)] == history
    assert [problem.rule for problem in fitted.problems] == ["call-without-result"]
    assert fitted.first_changed == 3
    assert tf.check(fitted.messages) == []


@pytest.mark.parametrize(
    ("format_", "first", "wanted"),
    [
        (
            "anthropic",
            {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
            {"type": "tool_result", "tool_use_id": "c2", "content": NOTE},
        ),
        (
            "bedrock-converse",
            {"toolResult": {"toolUseId": "c1", "content": [{"text": "one"}]}},
            {"toolResult": {"toolUseId": "c2", "content": [{"text": NOTE}]}},
        ),
        (
            "gemini",
            {"functionResponse": {"name": "read", "response": {"output": "one"}}},
            {"functionResponse": {"name": "read", "response": {"output": NOTE}}},
        ),
    ],
)
def test_results_in_one_message_are_joined_by_the_answer(
    format_: Format, first: Any, wanted: Any
) -> None:
    key = "parts" if format_ == "gemini" else "content"
    text = {"text": "And?"} if format_ != "anthropic" else {"type": "text", "text": "And?"}
    history = [user(format_), CALLED[format_], {"role": "user", key: [first, text]}]
    fitted = tf.fit(history, budget=ROOM, repair=True)
    assert fitted.messages[2][key] == [first, wanted, text]
    assert tf.check(fitted.messages, format=format_) == []


@pytest.mark.parametrize("format_", ["anthropic", "bedrock-converse", "gemini"])
def test_where_no_result_came_the_answers_stand_in_one_message(format_: Format) -> None:
    key = "parts" if format_ == "gemini" else "content"
    closing: dict[str, Any] = {**CALLED[format_], key: [{"text": "Ok."}]}
    if format_ == "anthropic":
        closing["content"] = "Ok."
    history = [user(format_), CALLED[format_], user(format_), closing]
    fitted = tf.fit(history, budget=ROOM, repair=True)
    assert len(fitted.messages[2][key]) == (3 if format_ == "bedrock-converse" else 2)
    assert REPAIRED_RULES.isdisjoint(p.rule for p in tf.check(fitted.messages, format=format_))


def test_an_orphan_beside_a_text_is_left_out_and_the_text_stays() -> None:
    orphan = {"type": "tool_result", "tool_use_id": "gone", "content": "?"}
    text = {"type": "text", "text": "also rename it"}
    history = [user("anthropic"), {"role": "user", "content": [orphan, text]}]
    fitted = tf.fit(history, budget=ROOM, repair=True)
    assert fitted.messages[1] == {"role": "user", "content": [text]}
    alone = [user("anthropic"), {"role": "user", "content": [orphan]}]
    again = tf.fit(alone, budget=ROOM, repair=True)
    assert again.messages == alone[:1]
    assert again.dropped == (range(1, 2),)


def test_a_call_in_flight_is_not_answered() -> None:
    history = [user("openai-chat"), CALLED["openai-chat"]]
    fitted = tf.fit(history, budget=ROOM, repair=True)
    assert fitted.messages == history


def test_what_the_provider_runs_itself_is_not_repaired() -> None:
    paused = {
        "role": "assistant",
        "content": [{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}],
    }
    history = [user("anthropic"), paused, user("anthropic")]
    assert tf.fit(history, budget=ROOM, repair=True).messages == history


def test_indices_are_those_of_the_history_as_it_came() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    dead = {"role": "assistant", "content": None, "tool_calls": [call]}
    history: list[Any] = [user("openai-chat"), dead, user("openai-chat")]
    for _ in range(9):
        history += [dead, {"role": "tool", "tool_call_id": "c", "content": "word " * 200}]
    budget = tf.estimate_request(history) - 1000
    fitted = tf.fit(history, tf.Policy(budget=budget, pinned=(4,)), repair=True)
    assert [row.index for row in fitted.cleared][:2] == [6, 8]
    assert fitted.step == "results"
    assert str(fitted.first_changed) == "2"
    assert fitted.explain()


def rules(messages: list[Any], format_: Format) -> set[str]:
    return {problem.rule for problem in tf.check(messages, format=format_)}


@MANY
@given(cases())
def test_a_repaired_request_has_no_dead_call_and_no_orphan(case: Case) -> None:
    before = copy.deepcopy(case.messages)
    policy = policy_of(case)
    fitted = tf.fit(
        case.messages,
        policy,
        system=case.system,
        tools=case.tools,
        format=case.format,
        repair=True,
    )
    assert case.messages == before
    again = tf.fit(fitted.messages, budget=ROOM, format=case.format)
    assert not [row for row in again._ledger.orphans() if not of_provider(again, row)]
    assert not [row for row in again._ledger.dead_calls() if not of_provider(again, row)]
    assert all(row.index < len(case.messages) for row in fitted.cleared)
    conversation = tf.Conversation(policy, system=case.system, tools=case.tools, format=case.format)
    conversation.extend(case.messages)
    assert conversation.fit(repair=True).messages == fitted.messages


def of_provider(fitted: tf.Fitted, spot: tuple[int, int]) -> bool:
    from turnfit import _core
    from turnfit.messages.formats import table_of

    message, place = spot
    read = _core.read_message(table_of(fitted._format), message, fitted._history[message])
    return not read[2][place][3]


@MANY
@given(cases())
def test_a_sound_history_is_not_touched(case: Case) -> None:
    fitted = tf.fit(case.messages, budget=ROOM, format=case.format)
    assume(not fitted._ledger.orphans() and not fitted._ledger.dead_calls())
    repaired = tf.fit(case.messages, budget=ROOM, format=case.format, repair=True)
    pairs = zip(repaired.messages, fitted.messages, strict=True)
    assert all(a == b if case.format == "bedrock-converse" else a is b for a, b in pairs)


def test_every_format_can_answer() -> None:
    from turnfit.messages.formats import FORMATS as KNOWN

    assert all(KNOWN[name].answer for name in FORMATS)
