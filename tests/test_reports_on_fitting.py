"""What went wrong in practice in other tools, each report for its whole kind.

The docstrings bear the rows' ids in ``field-reports.tsv``. Where a row and the specs of
fitting disagree, the spec wins and the test says so.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Format
from strategies import FORMATS, histories
from support.messages import (
    Message,
    blocks,
    calls,
    result,
    roles,
    rounds,
    rules,
    says,
    use,
    used,
    user,
)

REPORTS = Path(__file__).parents[2] / "shared" / "field-reports.tsv"


def every_budget(messages: list[Any], **more: Any) -> list[tf.Fitted]:
    """Fitted at twenty shares of the whole; clearing alone is not enough for most."""
    whole = tf.estimate_request(messages)
    budgets = [max(3, whole * share // 20) for share in range(1, 21)]
    return [tf.fit(messages, tf.Policy(budget=budget, **more)) for budget in budgets]


# --- fit/pairing --------------------------------------------------------------------------------


def test_a_result_never_stays_without_its_call_however_large_the_call() -> None:
    """B001, B028"""
    history = [user(), calls("c1", arguments="x" * 4_000), result("c1", "ok"), says("done")]
    for fitted in every_budget(history):
        assert rules(fitted.messages) == []
        assert fitted.messages[0] == user()


def test_far_under_the_budget_the_request_is_the_history_itself() -> None:
    """B002"""
    history = [{"role": "system", "content": "Be brief."}, user(), calls("c1"), result("c1", "ok")]
    fitted = tf.fit(history, budget=100 * tf.estimate_request(history))
    assert all(a is b for a, b in zip(fitted.messages, history, strict=True))


def test_parallel_results_are_cleared_in_place_or_go_with_their_call() -> None:
    """B004"""
    history = [user(), calls("c1", "c2"), result("c1", "a" * 8_000), result("c2", "b" * 8_000)]
    history += [says(), user(), says()]
    for fitted in every_budget(history, keep=("tokens", 0), keep_at_least=0):
        ids = [m["tool_call_id"] for m in fitted.messages if m["role"] == "tool"]
        assert ids in ([], ["c1", "c2"])
        assert rules(fitted.messages) == []


@pytest.mark.parametrize("order", ["ABab", "ABba", "AaBb"])
def test_a_parallel_batch_of_flat_items_goes_as_one(order: str) -> None:
    """B005"""
    items: dict[str, Message] = {
        "A": {"type": "function_call", "call_id": "A", "name": "read", "arguments": "{}"},
        "B": {"type": "function_call", "call_id": "B", "name": "read", "arguments": "{}"},
        "a": {"type": "function_call_output", "call_id": "A", "output": "x" * 400},
        "b": {"type": "function_call_output", "call_id": "B", "output": "y" * 400},
    }
    batch = [items[letter] for letter in order]
    more = [
        item
        for n in range(30)
        for item in (
            {"type": "function_call", "call_id": f"c{n}", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"c{n}", "output": "z" * 400},
        )
    ]
    for fitted in every_budget([user(), *batch, *more], grid=0):
        assert rules(fitted.messages) == []
        if order != "AaBb":
            assert sum(item in fitted.messages for item in batch[:2]) in (0, 2)


def test_a_user_message_of_results_alone_opens_no_turn() -> None:
    """B007"""
    ids = [f"t{n}" for n in range(7)]
    answers = [blocks("user", used(id_, "x" * 400)) for id_ in ids]
    history = [user("first"), blocks("assistant", *map(use, ids)), *answers, says(), user(), says()]
    for fitted in every_budget(history, grid=0):
        kept = sum(message in fitted.messages for message in answers)
        assert kept in (0, 7) or fitted.cleared


def test_a_dead_call_is_reported_and_answered_only_where_that_is_wished() -> None:
    """B008"""
    history = [user(), calls("c1", "c2"), result("c1", "ok"), user("next")]
    fitted = tf.fit(history, budget=1_000)
    assert fitted.messages == history
    assert [(p.index, p.rule) for p in fitted.problems] == [(1, "call-without-result")]
    assert "c2" in fitted.problems[0].detail
    repaired = tf.fit(history, budget=1_000, repair=True).messages
    assert repaired[3] == result("c2", tf.Notes().unanswered)
    assert rules(repaired) == []


def test_one_user_message_and_forty_rounds_can_be_cut() -> None:
    """B010"""
    history = [user("review"), *rounds(40)]
    fitted = tf.fit(history, budget=1_500)
    assert fitted.fits
    assert fitted.step == "rounds"
    assert fitted.messages[0] is history[0]


def test_the_only_user_message_always_stays_and_comes_first() -> None:
    """B011"""
    history = [{"role": "system", "content": "Be brief."}, user("Work."), *rounds(20)]
    for fitted in every_budget(history):
        assert roles(fitted.messages)[:2] == ["system", "user"]
        assert fitted.messages[1] is history[1]


def test_a_later_result_of_the_same_call_keeps_all_between() -> None:
    """B013"""
    turns = [m for n in range(20) for m in (user(f"turn {n} " * 20), says("x" * 80))]
    history = [user(), calls("c1"), result("c1", "pending"), *turns, result("c1", "done"), says()]
    for fitted in every_budget(history):
        if history[-2] in fitted.messages:
            assert history[1] in fitted.messages
            assert history[2] in fitted.messages


def test_the_newest_result_keeps_its_call_however_old() -> None:
    """B014"""
    turns = [m for n in range(10) for m in (user(f"turn {n} " * 20), says("x" * 80))]
    history = [user(), calls("confirm-1", name="confirm"), *turns, result("confirm-1", "yes")]
    for fitted in every_budget(history):
        assert history[1] in fitted.messages
        assert history[-1] in fitted.messages


def test_a_message_with_text_and_a_result_goes_with_its_round() -> None:
    """B016"""
    mixed = blocks("user", used("t1"), {"type": "text", "text": "also rename it"})
    history = [
        user("first"),
        blocks("assistant", use("t1")),
        mixed,
        says("x" * 900),
        user(),
        says(),
    ]
    for fitted in every_budget(history, grid=0):
        assert (mixed in fitted.messages) == (history[1] in fitted.messages)
        assert "result-without-call" not in rules(fitted.messages)


def test_the_role_tool_makes_a_result_whatever_its_content() -> None:
    """B017"""
    for content in ("RESULT", [{"type": "text", "text": "RESULT"}], None):
        history = [user(), calls("c1"), result("c1", content), says("x" * 900), user(), says()]
        for fitted in every_budget(history, grid=0):
            assert (history[2] in fitted.messages) == (history[1] in fitted.messages)


@pytest.mark.parametrize("kind", ["web_search", "code_execution", "some_future", "mcp"])
def test_a_server_side_result_stays_beside_its_call_in_one_message(kind: str) -> None:
    """B019"""
    call = {"type": "server_tool_use", "id": "s1", "name": kind, "input": {"query": "q"}}
    answer = {"type": f"{kind}_tool_result", "tool_use_id": "s1", "content": ["x" * 4_000]}
    message = blocks("assistant", call, answer, {"type": "text", "text": "found"})
    history = [user(), message, user(), blocks("assistant", use("t1")), blocks("user", used("t1"))]
    for fitted in every_budget(history, keep=("tokens", 0), keep_at_least=0, grid=0):
        assert message in fitted.messages or not any("s1" in str(m) for m in fitted.messages)
        assert rules(fitted.messages) == []


def test_responses_without_ids_stay_as_many_as_the_calls() -> None:
    """B020"""
    three: list[Message] = [
        {"functionCall": {"name": name, "args": {}}} for name in ("a", "b", "a")
    ]
    answers = [
        {"functionResponse": {"name": name, "response": {"output": "x" * 400}}}
        for name in ("a", "b", "a")
    ]
    turn = [{"role": "model", "parts": three}, {"role": "user", "parts": answers}]
    history = [{"role": "user", "parts": [{"text": "go"}]}, *turn * 6]
    for fitted in every_budget(history):
        assert rules(fitted.messages, format="gemini") == []
        lengths = [len(content["parts"]) for content in fitted.messages if content not in history]
        assert all(length in (1, 3) for length in lengths)


def test_an_empty_text_beside_a_call_is_content() -> None:
    """B022"""
    call = {"functionCall": {"name": "f1", "args": {}}}
    answer = {"functionResponse": {"name": "f1", "response": {"output": "ok"}}}
    history = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"text": ""}, call]},
        {"role": "user", "parts": [answer]},
    ]
    assert rules(history) == []
    for fitted in every_budget(history):
        assert fitted.messages == history


def test_equal_ids_all_over_pair_by_their_order() -> None:
    """B023"""
    history = [user(), *[m for n in range(4) for m in (calls("X"), result("X", f"{n}" * 400))]]
    assert rules(history) == []
    fitted = tf.fit(history, tf.Policy(budget=400, grid=0))
    assert fitted.messages.count(calls("X")) == roles(fitted.messages).count("tool")


def test_a_repeated_id_keeps_each_result_at_its_own_call() -> None:
    """B025"""
    first = [calls("call_1", name="read_file"), result("call_1", "A" * 2_000)]
    ninth = [calls("call_1", name="grep"), result("call_1", "B" * 2_000)]
    history = [user(), *first, *rounds(7), *ninth]
    policy = tf.Policy(
        budget=tf.estimate_request(history) - 1, clear_batch=1, keep=("results", 1), grid=0
    )
    fitted = tf.fit(history, policy)
    assert fitted.cleared[0].tool == "read_file"
    assert fitted.messages[-1] is history[-1]
    kept = tf.fit(history, tf.Policy(budget=policy.budget, exclude_tools=("read_file",)))
    assert kept.messages[2] is history[2]


def test_ids_that_restart_with_every_response_pair_within_it() -> None:
    """B026"""
    turn = [user(), calls("call_0", "call_1"), result("call_0", "a" * 400)]
    history = [*turn, result("call_1", "b" * 400), says()] * 3
    for fitted in every_budget(history):
        assert rules(fitted.messages) == []


# --- fit/thinking+reasoning ---------------------------------------------------------------------


def thinking_round(id_: str, length: int = 20_000) -> list[Message]:
    thinking = {"type": "thinking", "thinking": "x" * length, "signature": f"signature of {id_}"}
    return [blocks("assistant", thinking, use(id_)), blocks("user", used(id_, "y" * 4_000))]


def test_signed_thinking_is_never_edited() -> None:
    """B029, B030"""
    history = [user(), *[m for n in range(6) for m in thinking_round(f"t{n}")]]
    before = [m["content"][0] for m in history[1::2]]
    for fitted in every_budget(history, clear_tool_inputs=True, keep=("tokens", 0)):
        sent = [m["content"][0] for m in fitted.messages if m["role"] == "assistant"]
        assert all(any(block is old for old in before) for block in sent)


def test_opaque_payloads_count_by_their_length() -> None:
    """B032"""
    redacted = {"type": "redacted_thinking", "data": "A" * 120_000}
    assert tf.estimate_message(blocks("assistant", redacted)) >= 30_000
    reasoning = {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "A" * 120_000}
    assert tf.estimate_message(reasoning) >= 30_000
    part = {"text": "", "thoughtSignature": "A" * 120_000}
    assert tf.estimate_message({"role": "model", "parts": [part]}) >= 30_000


def test_an_unfinished_turn_keeps_thinking_with_its_calls_and_can_still_be_fitted() -> None:
    """B033; whole rounds of one long turn may go, as the spec of fitting has it."""
    history = [user(), *thinking_round("a", 400), *thinking_round("b", 400)]
    for fitted in every_budget(history, keep=("tokens", 0), keep_at_least=0, clear_batch=1, grid=0):
        for message in fitted.messages[1:]:
            if message["role"] == "assistant":
                assert [block["type"] for block in message["content"]] == ["thinking", "tool_use"]
    assert any(fitted.step == "results" for fitted in every_budget(history, keep=("tokens", 0)))


def reasoning(id_: str) -> Message:
    return {"type": "reasoning", "id": id_, "summary": []}


def output(id_: str) -> Message:
    content = [{"type": "output_text", "text": "x" * 400, "annotations": []}]
    return {
        "type": "message",
        "id": id_,
        "role": "assistant",
        "status": "completed",
        "content": content,
    }


def test_reasoning_is_judged_by_what_stands_beside_it() -> None:
    """B035"""
    history = [user(), output("m1"), user(), reasoning("r2"), output("m2")]
    assert rules(history) == []
    history = [user(), reasoning("r1"), user(), reasoning("r2"), output("m2")]
    assert [(p.index, p.rule) for p in tf.check(history)] == [(1, "reasoning-alone")]


def test_no_cut_comes_between_reasoning_and_its_item() -> None:
    """B036"""
    turns = [[user(f"turn {n}"), reasoning(f"r{n}"), output(f"m{n}")] for n in range(12)]
    for fitted in every_budget([item for turn in turns for item in turn], grid=0):
        assert rules(fitted.messages) == []
        kinds = [item.get("type") for item in fitted.messages]
        assert all(kinds[at + 1] == "message" for at, k in enumerate(kinds) if k == "reasoning")


def test_empty_lists_and_texts_survive() -> None:
    """B038"""
    item = {"type": "reasoning", "id": "r1", "summary": [], "content": [], "encrypted_content": ""}
    history = [user(), item, output("m1"), user("x" * 4_000)]
    for fitted in every_budget(history):
        assert item not in fitted.messages or any(sent is item for sent in fitted.messages)


def test_no_cut_comes_behind_a_call_in_flight() -> None:
    """B039"""
    call = {"type": "function_call", "call_id": "f1", "name": "read", "arguments": "{}"}
    turns = [item for n in range(8) for item in (user("x" * 200), output(f"m{n}"))]
    for fitted in every_budget([*turns, user(), call]):
        assert fitted.messages[-1] is call


# --- fit/no-mutation ----------------------------------------------------------------------------


@pytest.mark.parametrize("format_", FORMATS)
def test_the_history_is_equal_before_and_after(format_: Format) -> None:
    """B040"""

    @settings(max_examples=25, deadline=None, database=None)
    @given(histories(format_), st.integers(0, 20))
    def check(history: list[Any], share: int) -> None:
        before = copy.deepcopy(history)
        whole = tf.estimate_request(history, format=format_)
        policy = tf.Policy(budget=3 + whole * share // 20, clear_tool_inputs=True)
        assert tf.fit(history, policy, format=format_, repair=True).messages is not history
        assert history == before

    check()


def test_a_shared_block_keeps_its_cache_mark() -> None:
    """B041"""
    shared = {**used("t0", "x" * 4_000), "cache_control": {"type": "ephemeral"}}
    history = [
        user(),
        blocks("assistant", use("t0")),
        blocks("user", shared),
        *[user(), says()] * 9,
    ]
    other = [user(), blocks("assistant", use("t0")), blocks("user", shared)]
    fitted = tf.fit(history, tf.Policy(budget=200, keep=("tokens", 0), keep_at_least=0))
    assert fitted.step != "whole"
    assert shared["content"] == "x" * 4_000
    assert other[2]["content"][0]["cache_control"] == {"type": "ephemeral"}


def test_the_indices_tell_which_messages_of_the_saved_list_are_sent() -> None:
    """B043"""
    saved = [m for n in range(10) for m in (user(f"turn {n} " * 30), says())]
    fitted = tf.fit(saved, budget=300)
    gone = {index for gap in fitted.dropped for index in gap}
    kept = [message for index, message in enumerate(saved) if index not in gone]
    assert [m for m in fitted.messages if m["content"] != tf.Notes().trimmed] == kept
    assert len(saved) == 20
    saved += [user("new"), says("new")]
    assert tf.fit(saved, budget=300).messages[-2:] == saved[-2:]


def test_what_is_unchanged_is_the_same_object() -> None:
    """B044"""
    history = [user(), *rounds(1_000, length=400)]
    policy = tf.Policy(
        budget=tf.estimate_request(history) - 1, clear_batch=1, grid=0, keep=("results", 999)
    )
    fitted = tf.fit(history, policy)
    changed = [a for a, b in zip(fitted.messages, history, strict=True) if a is not b]
    assert len(changed) == len(fitted.cleared) == 1


# --- fit/prompt-cache ---------------------------------------------------------------------------


def test_the_start_moves_seldom_while_the_history_grows() -> None:
    """B045"""
    conversation = tf.Conversation(budget=20_000)
    starts, previous = [], None
    for n in range(40):
        turn = [user(f"turn {n}"), *rounds(12, length=60)]
        conversation.extend(turn)
        fitted = conversation.fit()
        if previous is not None:
            starts.append(
                fitted.cache_kept(previous) < sum(map(tf.estimate_message, previous.messages))
            )
        previous = fitted
    assert previous is not None
    assert previous.fits
    assert sum(starts) <= len(starts) // 3


def test_a_cleared_result_reads_the_same_at_every_budget() -> None:
    """B046"""
    history = [user(), *rounds(40, length=400)]
    requests = [tf.fit(history, budget=budget).messages for budget in (10_000, 9_990, 9_975)]
    changed = {str(m["content"]) for request in requests for m in request if m not in history}
    assert changed <= {tf.Notes().cleared, tf.Notes().trimmed}


def test_clearing_frees_a_share_of_the_budget_before_it_touches_the_prefix() -> None:
    """B048"""
    small = [user(), *rounds(60, length=200)]
    over = tf.estimate_request(small) - 1
    fitted = tf.fit(small, budget=over)
    assert sum(row.tokens for row in fitted.cleared) >= over // 8
    assert fitted.first_changed == fitted.cleared[0].index


def test_tools_are_counted_and_never_touched() -> None:
    """B049, B076"""
    tools = [{"name": f"tool_{n}", "input_schema": {"x": "y" * 2_000}} for n in range(50)]
    before = copy.deepcopy(tools)
    history = [user(), *rounds(30)]
    fitted = tf.fit(history, budget=32_000, tools=tools, system="Be brief.")
    assert tools == before
    assert fitted.tokens == tf.estimate_request(fitted.messages, tools=tools, system="Be brief.")
    assert (
        fitted.tokens
        == tf.fit(history, budget=32_000, tools=tools[::-1], system="Be brief.").tokens
    )
    assert tf.fit(history, budget=32_000).tokens != fitted.tokens


# --- fit/budget-edge ----------------------------------------------------------------------------


def test_a_budget_that_its_own_parts_exceed_names_them() -> None:
    """B078"""
    with pytest.raises(tf.BudgetError, match=r"512 .*reserve 537"):
        tf.fit([user()], tf.Policy(budget=512, reserve=537))


@pytest.mark.parametrize("budget", [0, -5])
def test_no_budget_is_an_error_and_never_everything(budget: int) -> None:
    """B079"""
    with pytest.raises(ValueError, match="budget"):
        tf.fit([user()], budget=budget)


def test_a_history_that_fits_exactly_is_whole_and_one_token_less_trims_one_unit() -> None:
    """B081"""
    turns = [m for n in range(4) for m in (user(f"{n} " * 40), says("x" * 80))]
    history = [{"role": "system", "content": "word" * 200}, *turns]
    exact = tf.estimate_request(history)
    assert tf.fit(history, budget=exact).messages == history
    trimmed = tf.fit(history, tf.Policy(budget=exact - 1, grid=0))
    assert sum(map(len, trimmed.dropped)) == 3


def test_a_call_too_large_for_the_budget_is_told() -> None:
    """B082"""
    history = [user(), calls("c1", arguments='{"a":"' + "x" * 400_000 + '"}')]
    fitted = tf.fit(history, budget=10_000)
    assert (fitted.fits, fitted.messages) == (False, history)
    assert fitted.largest is not None
    assert (fitted.largest.index, fitted.over) == (1, fitted.tokens - 10_000)


def test_a_huge_result_behind_small_ones_is_cleared_before_anything_is_dropped() -> None:
    """B084"""
    history = [user(), *rounds(2, length=60)]
    history += [calls("big"), result("big", "x" * 90_000), *rounds(2, length=60)]
    fitted = tf.fit(history, tf.Policy(budget=2_000, keep=("results", 2)))
    assert (fitted.step, fitted.dropped) == ("results", ())
    assert 6 in [row.index for row in fitted.cleared]


def test_what_is_kept_whole_is_not_shortened() -> None:
    """B085"""
    history = [user(), *rounds(4)]
    fitted = tf.fit(history, tf.Policy(budget=2_500, keep=("results", 2), grid=0))
    assert [fitted.messages[-at] is history[-at] for at in (1, 3)] == [True, True]


# --- all of them --------------------------------------------------------------------------------


@pytest.mark.skipif(not REPORTS.exists(), reason="the field reports are not here")
def test_every_report_on_fitting_speed_and_strings_has_a_test() -> None:
    rows = [line.split("\t") for line in REPORTS.read_text("utf-8").splitlines()[1:]]
    wanted = {row[0] for row in rows if row[1].startswith(("fit/", "perf/", "binding/"))}
    texts = (path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert wanted - set(re.findall(r"\bB\d{3}\b", "".join(texts))) == set()
