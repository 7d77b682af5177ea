"""The reference by itself: examples worked out by hand, and what must hold for every history."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from reference import (
    CLEARED_ARGUMENTS,
    Format,
    Message,
    Notes,
    Plan,
    Policy,
    Read,
    compact,
    dead,
    fit,
    in_flight,
    is_safe,
    json_price,
    order,
    orphans,
    pair,
    plan,
    price,
    read,
    request,
    system_price,
    tools_price,
    walk_of,
)
from strategies import NOTES, Case, cases, histories

# Notes of round prices: 10, 20 and 2 tokens. The trim note's message costs 3 + 2 = 5.
TENS = Notes(cleared="c" * 40, cleared_done="d" * 80, trimmed="t" * 8)
TRIM: Message = {"role": "user", "content": TENS.trimmed}


def tokens(n: int) -> str:
    """A text of n tokens."""
    return "word" * n


def system(n: int) -> Message:
    """Costs 3 + n."""
    return {"role": "system", "content": tokens(n)}


def user(n: int) -> Message:
    """Costs 3 + n."""
    return {"role": "user", "content": tokens(n)}


def says(n: int) -> Message:
    """Costs 3 + n."""
    return {"role": "assistant", "content": tokens(n)}


def calls(*ids: str, name: str = "read", arguments: str = "{}") -> Message:
    """Costs 3, and per call 1 for the id, 1 for the name and 1 for the arguments."""
    bodies = [{"name": name, "arguments": arguments} for _ in ids]
    tool_calls = [
        {"id": id, "type": "function", "function": body}
        for id, body in zip(ids, bodies, strict=True)
    ]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls}


def tool(id: str, n: int) -> Message:
    """Costs 3 + 1 + n."""
    return {"role": "tool", "tool_call_id": id, "content": tokens(n)}


def rounds(*contents: int) -> list[Message]:
    """Rounds of a call (6) and a result (4 + n)."""
    return [m for k, n in enumerate(contents) for m in (calls(f"c{k}"), tool(f"c{k}", n))]


def row(message: Message, format: Format = "openai-chat") -> Read:
    return read(message, format, TENS)


def cost(message: Message, format: Format = "openai-chat") -> int:
    return row(message, format).cost


def planned(messages: list[Message], budget: int, **policy: Any) -> Plan:
    """A plan without grid and without results kept whole, unless the policy says otherwise."""
    plain: dict[str, Any] = {"grid": 0, "keep": ("results", 0), "keep_at_least": 0}
    return plan(messages, Policy(budget, **{**plain, **policy}), "openai-chat", TENS)


def sent(messages: list[Message], made: Plan, **policy: Any) -> list[Message]:
    return request(messages, made, Policy(0, **policy), "openai-chat", TENS)


def rows(messages: list[Message], format: Format = "openai-chat") -> list[Read]:
    return [row(message, format) for message in messages]


def safe(messages: list[Message], format: Format = "openai-chat") -> list[int]:
    reads = rows(messages, format)
    return [i for i in range(len(reads)) if is_safe(reads, pair(reads), i)]


# --- prices -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("a" * 4, 1),
        ("a" * 5, 2),
        ("日", 1),
        ("日a", 2),  # (4 + 1) / 4
        ("éé", 1),
        ("\ud800", 1),  # a lone surrogate is one *other*
        ("a" * 26_492 + "я" * 73_600, 43_423),
    ],
)
def test_price_of_a_text(text: str, expected: int) -> None:
    assert price(text) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": tokens(5)}, 3 + 5),
        ({"role": "user", "content": None}, 3),
        ({"role": "user", "content": []}, 3),
        ({"role": "user", "content": tokens(1), "name": None}, 3 + 1),
        ({"role": "user", "content": tokens(1), "name": "bob"}, 3 + 1 + 1),
        ({"role": "user", "content": [{"type": "text", "text": "abcde"}] * 2}, 3 + 2 + 2),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, 3 + 1_600),
        ({"role": "user", "content": [{"type": "odd"}]}, 3 + 4),  # {"type":"odd"}: 14
        (calls("c1", "c2"), 3 + 3 + 3),
        (tool("c1", 7), 3 + 1 + 7),
        ({"role": "function", "name": "read", "content": tokens(7)}, 3 + 1 + 7),
        ({"role": "assistant", "function_call": {"name": "read", "arguments": "{}"}}, 3 + 1 + 1),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}, 3 + 1),
    ],
)
def test_cost_of_an_openai_message(message: Message, expected: int) -> None:
    assert cost(message) == expected


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "text", "text": tokens(4)}, 4),
        ({"type": "text", "text": tokens(4), "cache_control": {"type": "ephemeral"}}, 4),
        ({"type": "text", "text": tokens(4), "citations": None}, 4),
        ({"type": "thinking", "thinking": tokens(4), "signature": tokens(2)}, 6),
        ({"type": "redacted_thinking", "data": tokens(3)}, 3),
        ({"type": "image", "source": {"data": tokens(9)}}, 1_600),
        ({"type": "tool_use", "id": "c1", "name": "read", "input": {"a": 1}}, 1 + 1 + 2),
        ({"type": "tool_result", "tool_use_id": "c1", "content": tokens(3)}, 1 + 3),
        ({"type": "tool_result", "tool_use_id": "c1", "is_error": True}, 1),
        # [{"a":1}] are 9
        ({"type": "web_search_tool_result", "tool_use_id": "c1", "content": [{"a": 1}]}, 1 + 2),
    ],
)
def test_cost_of_an_anthropic_block(block: dict[str, Any], expected: int) -> None:
    message = {"role": "user", "content": [block], "id": "msg_1", "usage": {"input_tokens": 1}}
    assert cost(message, "anthropic") == 3 + expected


def test_a_data_url_is_a_medium_but_in_a_text() -> None:
    url = "data:image/png;base64," + "A" * 978  # 1,000 characters
    assert cost({"role": "tool", "tool_call_id": "c1", "content": url}) == 3 + 1 + 250
    assert cost({"role": "user", "content": [{"type": "text", "text": url}]}) == 3 + 250
    assert json_price({"url": url}) == 2 + 1_600  # {"url":} are 8
    assert json_price("data: see below, please") == 7


def test_json_has_no_spaces_and_no_needless_escapes() -> None:
    assert compact({"a": ["é", 1, None, '"\n']}) == '{"a":["é",1,null,"\\"\\n"]}'


def test_what_a_request_carries_besides_its_messages() -> None:
    assert system_price(None) == 0
    assert system_price([{"type": "text", "text": tokens(4)}]) == system_price(tokens(4)) == 4
    assert tools_price([{"a": 1}, {"a": 1, "cache_control": {}}]) == 2 + 2


# --- pairs and safe cuts ------------------------------------------------------------------------


def test_a_result_answers_the_newest_call_that_bears_its_id() -> None:
    history = [calls("c1"), tool("c1", 1), calls("c1"), tool("c1", 1)]
    assert pair(rows(history)) == {(1, 0): (0, 0), (3, 0): (2, 0)}


def test_equal_ids_in_one_message_pair_in_order_then_with_the_last() -> None:
    history = [calls("x", "x"), tool("x", 1), tool("x", 1), tool("x", 1)]
    assert pair(rows(history)) == {(1, 0): (0, 0), (2, 0): (0, 1), (3, 0): (0, 1)}


def test_a_later_result_for_an_answered_call_belongs_to_it() -> None:
    history = [calls("c1"), tool("c1", 1), user(1), says(1), tool("c1", 1)]
    assert pair(rows(history)) == {(1, 0): (0, 0), (4, 0): (0, 0)}
    assert safe(history) == [0]


def test_without_ids_the_name_decides() -> None:
    legacy = {"role": "assistant", "function_call": {"name": "read", "arguments": ""}}
    other = {"role": "assistant", "function_call": {"name": "bash", "arguments": ""}}
    answer = {"role": "function", "name": "read", "content": "ok"}
    assert pair(rows([legacy, legacy, other, answer])) == {(3, 0): (1, 0)}


def test_a_result_without_id_and_name_answers_by_position() -> None:
    assert pair(rows([calls("a", "b"), {"role": "tool", "content": "ok"}])) == {(1, 0): (0, 0)}


def test_a_server_side_result_answers_the_call_before_it_in_its_message() -> None:
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    pairs = pair(rows([{"role": "assistant", "content": [use, result]}], "anthropic"))
    assert pairs == {(0, 0): (0, 0)}
    late = rows([{"role": "assistant", "content": [result, use]}], "anthropic")
    assert orphans(late, pair(late)) == [(0, 0)]


def test_an_unanswered_call_is_in_flight_until_a_result_or_a_user_message_follows() -> None:
    flying = rows([user(1), calls("c1"), system(1), says(1)])
    assert in_flight(flying, pair(flying)) == [(1, 0)]
    for closing in (user(1), tool("nowhere", 1)):
        closed = rows([user(1), calls("c1"), closing])
        assert dead(closed, pair(closed)) == [(1, 0)]


def test_no_cut_is_safe_after_a_call_in_flight_or_inside_a_pair() -> None:
    history = [user(1), calls("a", "b"), tool("b", 1), user(1), tool("a", 1), calls("c"), says(1)]
    assert safe(history) == [0, 1, 5]


def test_what_opens_turns_and_rounds() -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "ok"}
    mixed = row({"role": "user", "content": [result, {"type": "text", "text": "a"}]}, "anthropic")
    assert not mixed.opens_turn
    assert row(user(1)).opens_turn
    assert not row(TRIM).opens_turn
    assert row(TRIM).is_note
    assert row(says(1)).opens_round


# --- step 0 and 1 -------------------------------------------------------------------------------


def test_a_history_within_the_budget_is_sent_object_for_object() -> None:
    history = [system(2), user(2), TRIM, *rounds(100)]
    # 5 + 5 + 5 + 6 + 104, and 3 for the request
    made = planned(history, budget=128, clear_batch=1)
    assert (made.step, made.tokens, made.fits, made.cleared) == ("whole", 128, True, [])
    assert all(a is b for a, b in zip(sent(history, made), history, strict=True))


def test_the_oldest_results_are_cleared_up_to_the_last_boundary() -> None:
    history = [user(1), *rounds(100, 100, 100, 100, 100)]
    # 4 + 5 * (6 + 104) + 3 = 557; a cleared result costs 90 less
    made = planned(history, budget=556, clear_batch=2)
    assert made.cleared == [(2, 0), (4, 0), (6, 0), (8, 0)]
    assert (made.step, made.tokens) == ("results", 557 - 4 * 90)


def test_all_older_results_are_cleared_before_anything_is_dropped() -> None:
    history = [user(1), *rounds(100, 100, 100, 100, 100)]
    made = planned(history, budget=196, clear_batch=2)
    assert (made.step, made.tokens, len(made.cleared)) == ("results", 557 - 5 * 90, 5)


def test_results_within_keep_stay_whole_whether_worth_clearing_or_not() -> None:
    history = [user(1), *rounds(100, 100, 15, 100)]
    # newest first: 100, 115, 215 > 200; so two stay. 4 + 110 + 110 + 25 + 110 + 3 = 362
    made = planned(history, budget=361, clear_batch=1, keep=("tokens", 200))
    assert made.cleared == [(2, 0), (4, 0)]
    # a share of the budget: floor(0.6 * 361) = 216 keeps three
    assert planned(history, 361, clear_batch=1, keep=("fraction", 0.6)).cleared == [(2, 0)]
    assert planned(history, 361, clear_batch=1, keep=("results", 3)).cleared == [(2, 0)]
    assert planned(history, 361, clear_batch=1, keep_at_least=3).cleared == [(2, 0)]


def test_worth_compares_with_the_very_note() -> None:
    history = [user(1), *rounds(20, 21), calls("m", name="mail"), tool("m", 40), *rounds(41)]
    # 4 + 30 + 31 + 50 + 51 + 3 = 169; notes of 10, of 20 for what must not run again
    made = planned(history, budget=168, clear_batch=1, worth=2, no_rerun=("mail",))
    assert made.cleared == [(4, 0), (8, 0)]
    made = planned(history, budget=168, clear_batch=1, worth=1.9, no_rerun=("mail",))
    assert made.cleared == [(2, 0), (4, 0), (6, 0), (8, 0)]
    assert sent(history, made, no_rerun=("mail",))[6]["content"] == TENS.cleared_done
    assert made.tokens == 169 - 10 - 11 - 20 - 31


def test_what_is_never_cleared() -> None:
    history = [user(1), *rounds(100, 100)]
    assert planned(history, 200, clear_batch=1, exclude_tools=("read",)).cleared == []
    assert planned(history, 200, clear_batch=1, pinned=frozenset({2})).cleared == [(4, 0)]
    noted = {"role": "tool", "tool_call_id": "c0", "content": TENS.cleared_done}
    history[2] = noted
    # 4 + 6 + 24 + 6 + 104 + 3 = 147
    assert planned(history, 146, clear_batch=1, worth=0).cleared == [(4, 0)]


def test_a_server_side_result_is_never_cleared() -> None:
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [tokens(99)]}
    history = [user(1), {"role": "assistant", "content": [use, result]}]
    policy = Policy(50, keep_at_least=0, clear_batch=1)
    made = plan(history, policy, "anthropic", TENS)
    assert (made.fits, made.cleared, made.kept) == (False, [], [0, 1])


def test_boundaries_lie_on_the_grid() -> None:
    history = [user(1), *rounds(*[60] * 8)]
    # 4 + 8 * 70 + 3 = 567; clearing frees 50 each; q = floor(0.24 * 500) = 120. Multiples of two
    # free 100, 200, 300, 400. Lines: 120 is reached at 200, the next is 240: reached at 300, then
    # 360: reached at 400.
    made = planned(history, budget=500, clear_batch=2, grid=0.24)
    assert len(made.cleared) == 8
    # One result kept: the last multiple of two is the sixth, at 300.
    made = planned(history, budget=500, clear_batch=2, grid=0.24, keep=("results", 1))
    assert len(made.cleared) == 6
    # q = 250: reached at 300, the next line is 500.
    made = planned(history, budget=500, clear_batch=2, grid=0.5)
    assert len(made.cleared) == 6


def test_a_line_that_is_just_reached_is_a_boundary_and_the_next_lies_beyond() -> None:
    history = [user(1), *rounds(*[60] * 4), *rounds(21)]
    # frees 50 each, then 11; q = 100: boundary at the second (100), next line 200: at the fourth
    made = planned(history, budget=300, clear_batch=1, grid=1 / 3)
    assert len(made.cleared) == 4


ARGUMENTS = "x" * 200  # 50 tokens; the object with `_cleared` is 50 characters: 13 tokens


def test_below_a_worth_of_one_clearing_can_cost_more_than_it_frees() -> None:
    history = [user(1), says(50), user(1), *rounds(1)]
    # From the second user message: 4 + 5 + 4 + 6 + 5 + 3 = 27; clearing 1 token for a note of 10
    # makes that 36, so where all that is worth clearing is cleared first, nothing fits.
    assert planned(history, budget=27).kept == [0, 2, 3, 4]
    assert planned(history, budget=27).fits
    assert planned(history, budget=27, worth=0).over == 9


def test_arguments_are_cleared_with_the_first_cleared_result_of_their_call() -> None:
    assert price(compact(CLEARED_ARGUMENTS)) == 13
    history = [user(1), calls("a", arguments=ARGUMENTS), tool("a", 100), tool("a", 100)]
    # 4 + 55 + 104 + 104 + 3 = 270
    made = planned(history, budget=269, clear_batch=1, clear_tool_inputs=True)
    assert (made.cleared, made.cleared_arguments) == ([(2, 0), (3, 0)], [(1, 0)])
    assert made.tokens == 270 - 90 - 90 - 37
    function = sent(history, made)[1]["tool_calls"][0]["function"]
    assert function == {"name": "read", "arguments": compact(CLEARED_ARGUMENTS)}
    assert history[1]["tool_calls"][0]["function"]["arguments"] == ARGUMENTS


def test_what_keeps_arguments() -> None:
    history = [user(1), calls("a", arguments=ARGUMENTS), tool("a", 100)]
    kept = planned(history, budget=165, clear_batch=1, clear_tool_inputs=True, pinned={1})
    assert (kept.cleared, kept.cleared_arguments) == ([(2, 0)], [])
    short = [user(1), calls("a"), tool("a", 100)]
    assert planned(short, 116, clear_batch=1, clear_tool_inputs=True).cleared_arguments == []


def test_an_anthropic_result_and_its_arguments_are_cleared_in_copies() -> None:
    mark = {"type": "ephemeral"}
    use = {"type": "tool_use", "id": "c1", "name": "read", "input": {"text": ARGUMENTS}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": tokens(90), "is_error": True}
    text = {"type": "text", "text": "and now?"}
    history: list[Message] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{**result, "cache_control": mark}, text]},
    ]
    before = copy.deepcopy(history)
    policy = Policy(80, keep_at_least=0, keep=("results", 0), clear_batch=1, clear_tool_inputs=True)
    made, messages = fit(history, policy, "anthropic", TENS)
    assert history == before
    assert made.cleared_arguments == [(1, 0)]
    assert messages[0] is history[0]
    assert messages[1]["content"] == [{**use, "input": CLEARED_ARGUMENTS}]
    cleared = {**result, "content": TENS.cleared, "cache_control": mark}
    assert messages[2]["content"] == [cleared, text]
    assert messages[2]["content"][1] is text


# --- step 2 -------------------------------------------------------------------------------------


def test_the_newest_whole_turns_that_fit_are_kept() -> None:
    history = [system(2), user(2), says(10), user(2), says(10), user(2), says(10)]
    # 5 + 5 + 13 + 18 + 18 + 3 = 62; without the first answer, with the note: 62 - 13 + 5 = 54
    made = planned(history, budget=54)
    assert (made.step, made.kept, made.tokens) == ("turns", [0, 1, 3, 4, 5, 6], 54)
    assert sent(history, made)[2] == TRIM
    made = planned(history, budget=53)
    assert (made.kept, made.note, made.tokens) == ([0, 1, 5, 6], True, 36)


def test_the_first_user_message_is_a_start_where_the_cut_before_it_is_safe() -> None:
    history = [says(50), user(2), says(10)]
    # 53 + 5 + 13 + 3 = 74; from the user message: 5 + 5 + 13 + 3 = 26
    made = planned(history, budget=73)
    assert (made.step, made.kept, made.tokens) == ("turns", [1, 2], 26)
    assert sent(history, made) == [user(2), TRIM, says(10)]


def test_no_turn_is_cut_where_it_is_not_safe() -> None:
    history = [user(1), says(50), calls("a"), user(1), tool("a", 1), user(2), says(1)]
    # 4 + 53 + 6 + 4 + 5 + 5 + 4 + 3; the second user message stands inside a pair
    assert planned(history, budget=40).kept == [0, 5, 6]


def test_a_later_system_message_goes_with_its_turn() -> None:
    history = [user(1), says(50), system(9), user(1), system(8), says(1)]
    assert planned(history, budget=40).kept == [0, 3, 4, 5]


def test_a_note_that_came_in_is_replaced_and_one_stands() -> None:
    history = [user(1), TRIM, says(50), TRIM, user(1), says(1)]
    made = planned(history, budget=40)
    assert (made.kept, made.note) == ([0, 4, 5], True)
    assert sent(history, made) == [user(1), TRIM, user(1), says(1)]
    # 4 + 5 + 53 + 5 + 4 + 4 + 3 = 78: without the second note it fits, and nothing else is dropped
    made = planned(history, budget=77)
    assert (made.step, made.kept, made.note, made.tokens) == ("turns", [0, 2, 4, 5], True, 73)


def test_a_start_needs_room_and_moves_on_to_the_grid() -> None:
    history = [user(1), says(6), *[m for _ in range(9) for m in (user(2), says(12))]]
    # No results: W = 0, so room is just fitting. 4 + 9 + 9 * 20 + 3 = 196.
    # F at the turns: 0, 9, 29, 49, 69, ... and q = floor(0.25 * 160) = 40.
    # budget 160, B = 157: the request from turn k (k = 1..9) costs 4 + 5 + (10 - k) * 20, so
    # k = 3 (149) is the first that fits; F = 49, the line 80: the first start with F >= 80 is
    # k = 5 (F = 89).
    made = planned(history, budget=160, grid=0.25)
    assert made.kept == [0, *range(10, 20)]
    assert made.tokens == 4 + 5 + 5 * 20 + 3
    # Without a grid the first that fits.
    assert planned(history, budget=160).kept == [0, *range(6, 20)]


def test_where_no_start_reaches_the_line_the_cut_is_the_first_with_room() -> None:
    history = [user(1), says(6), user(2), says(12), user(2), says(12)]
    # B = 47, q = 25: starts with F = 9 (4 + 5 + 40 = 49) and F = 29 (29). i* is the second; the
    # line is 50, which no start reaches.
    assert planned(history, budget=50, grid=0.5).kept == [0, 4, 5]


def test_room_is_for_results_that_are_still_to_come() -> None:
    turns = [[user(2), *rounds(100)] for _ in range(4)]
    history = [message for turn in turns for message in turn]
    # A turn costs 5 + 6 + 104 = 115, lean 25; W = 4 * 90 = 360.
    # budget 240: B = 237, q = 60, keep = the newest result: 100. clear_batch 2: boundary at the
    # second of the three older ones (180 >= 60), so two are cleared. Cleared whole: 460 - 270 =
    # 190 fits, and that is step 1.
    made = planned(history, budget=240, grid=0.25, keep=("results", 1), clear_batch=2)
    assert (made.step, len(made.cleared)) == ("results", 3)
    # budget 180: B = 177, q = 45. All cleared 190 don't fit. Lean cost from turn 2 (first user
    # message 5, note 5, 3 * 25): 85; room max(min(100 + 45, 360), 90 + 90) = 180: no. From turn
    # 3: 60 + max(145, 180): no. From turn 4: 35 + max(145, 90) = 180: no. So all older results
    # are cleared: from turn 2: 85 + 90 = 175 fits.
    made = planned(history, budget=180, grid=0.25, keep=("results", 1), clear_batch=2)
    assert (made.step, made.kept, made.tokens) == ("turns", [0, *range(3, 12)], 178)
    assert made.cleared == [(5, 0), (8, 0)]
    # budget 186: B = 183, q = 46: from turn 4: 35 + max(146, 90) = 181 has room. F = 5 * 0 + 20 +
    # 25 + 25 = 70, the line 92: no later start.
    made = planned(history, budget=186, grid=0.25, keep=("results", 1), clear_batch=2)
    assert (made.kept, made.cleared, made.tokens) == ([0, 9, 10, 11], [], 5 + 5 + 115 + 3)


# --- step 3 -------------------------------------------------------------------------------------


def test_the_newest_whole_rounds_of_the_newest_turn_are_kept() -> None:
    history = [system(1), user(1), says(9), user(2), *rounds(15, 15, 15)]
    # 4 + 4 + 12 + 5 + 3 * 25 + 3; with first message, note and opening: 4 + 4 + 5 + 5 + 3 = 21,
    # 25 for each round
    made = planned(history, budget=75)
    assert (made.step, made.kept, made.tokens) == ("rounds", [0, 1, 3, 6, 7, 8, 9], 71)
    assert sent(history, made)[1:3] == [user(1), TRIM]


def test_the_newest_round_stays_even_where_it_does_not_fit() -> None:
    history = [user(1), *rounds(100, 100)]
    made = planned(history, budget=30, clear_batch=1, keep=("results", 1))
    # 4 + 5 + 6 + 104 + 3
    assert (made.step, made.kept, made.tokens) == ("rounds", [0, 3, 4], 122)
    assert (made.fits, made.over) == (False, 92)


def test_a_turn_without_a_safe_round_stays_whole() -> None:
    history = [user(1), says(9), user(50), system(1)]
    made = planned(history, budget=30)
    assert (made.step, made.kept, made.fits) == ("rounds", [0, 2, 3], False)


def test_where_no_turn_is_safe_all_after_the_preamble_is_one() -> None:
    history = [system(1), *rounds(15, 15, 15)]
    # 4 + 75 + 3; from the second round: 4 + 5 + 50 + 3 = 62
    made = planned(history, budget=70)
    assert (made.step, made.kept, made.tokens) == ("rounds", [0, 3, 4, 5, 6], 62)
    assert sent(history, made)[1] == TRIM
    unsafe = [calls("a"), user(1), tool("a", 30), *rounds(15)]
    assert planned(unsafe, budget=42).kept == [1, 3, 4]


def test_the_last_resort_is_the_newest_safe_round() -> None:
    history = [user(1), *rounds(90), calls("x", "y"), tool("y", 90), says(1), tool("x", 90)]
    made = planned(history, budget=30, clear_batch=1)
    # 4 + 5 + 9 + 14 + 4 + 14 + 3
    assert (made.kept, made.cleared, made.tokens) == ([0, 3, 4, 5, 6], [(4, 0), (6, 0)], 53)


def test_rounds_are_cut_on_the_grid_too() -> None:
    history = [user(1), *rounds(*[15] * 8)]
    # B = 157, q = 40; no result is worth clearing. From round k (0..7): 4 + 5 + (8 - k) * 25.
    # k = 3 is the first that fits (134): F = 75, the line 80: k = 4 (F = 100).
    assert planned(history, budget=160, grid=0.25).kept == [0, *range(9, 17)]


# --- pins ---------------------------------------------------------------------------------------


def test_a_pinned_result_pins_its_round_and_a_pinned_text_itself() -> None:
    history = [user(1), *rounds(15), says(9), user(1), says(9), user(1), says(1)]
    assert planned(history, 60, pinned={2}).kept == [0, 1, 2, 6, 7]
    assert planned(history, 40, pinned={3}).kept == [0, 3, 6, 7]


def test_a_pinned_user_message_inside_a_pair_keeps_the_pair() -> None:
    """Alone it would open a turn in the request that the history doesn't have."""
    history = [user(1), user(2), calls("a"), user(3), tool("a", 1), says(99)]
    made = planned(history, budget=30, pinned={3})
    assert made.kept == [0, 1, 2, 3, 4, 5]
    messages = sent(history, made)
    assert sent(messages, planned(messages, budget=30, pinned={3})) == messages


# --- the budget ---------------------------------------------------------------------------------


def test_what_is_sent_besides_counts_and_must_leave_room() -> None:
    policy = Policy(budget=20, reserve=5, window=30, output=11)
    made = plan([user(1)], policy, "openai-chat", TENS, system=tokens(4), tools=[{"a": 1}])
    assert (made.tokens, made.fits, made.sendable) == (4 + 5 + 4 + 2 + 3, True, True)
    with pytest.raises(ValueError, match=r"system=4, tools=2, reserve=5 and frame=3"):
        plan([], replace(policy, budget=13), "openai-chat", TENS, tokens(4), [{"a": 1}])


def test_an_empty_history_is_whole() -> None:
    assert planned([], budget=3).step == "whole"


def test_an_unknown_role_is_an_error() -> None:
    with pytest.raises(ValueError, match="critic"):
        row({"role": "critic", "content": ""})


# --- what must hold -----------------------------------------------------------------------------

MANY = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def fitted(case: Case, messages: list[Message], policy: Policy) -> tuple[Plan, list[Message]]:
    return fit(messages, policy, case.format, NOTES, case.system, case.tools)


def positions(case: Case, made: Plan) -> dict[int, int]:
    """Where in the request each kept message of the history stands."""
    walk = walk_of(case.messages, case.policy, case.format, NOTES)
    return {m: k for k, m in enumerate(order(walk, made)) if m is not None}


@MANY
@given(cases())
def test_the_history_is_not_touched_and_what_is_unchanged_is_shared(case: Case) -> None:
    before = copy.deepcopy(case.messages)
    made, messages = fitted(case, case.messages, case.policy)
    event(f"{made.step}, fits: {made.fits}")
    assert case.messages == before
    touched = {m for m, _ in made.cleared + made.cleared_arguments}
    for m, k in positions(case, made).items():
        assert (messages[k] is case.messages[m]) == (m not in touched)


@MANY
@given(cases())
def test_the_request_costs_what_the_plan_says(case: Case) -> None:
    made, messages = fitted(case, case.messages, case.policy)
    walk = walk_of(messages, case.policy, case.format, NOTES, case.system, case.tools)
    assert sum(row.cost for row in walk.reads) + walk.besides == made.tokens
    assert made.fits == (made.tokens <= case.policy.budget)
    assert made.fits or made.step == "rounds"


@MANY
@given(cases())
def test_every_pair_stays_or_goes_together_and_stays_a_pair(case: Case) -> None:
    made, messages = fitted(case, case.messages, case.policy)
    at = positions(case, made)
    walk = walk_of(case.messages, case.policy, case.format, NOTES)
    for (result, _), (call, _) in walk.answers.items():
        assert (result in at) == (call in at)
    kept = {(at[m], r): (at[n], c) for (m, r), (n, c) in walk.answers.items() if m in at}
    assert walk_of(messages, case.policy, case.format, NOTES).answers == kept


def pins_a_user_message_inside_a_pair(case: Case) -> bool:
    """The known gap, see above."""
    walk = walk_of(case.messages, case.policy, case.format, NOTES)
    pins = [m for m in case.policy.pinned if m < len(case.messages)]
    return any(walk.reads[m].opens_turn and not walk.is_safe(m) for m in pins)


@MANY
@given(cases())
def test_fitting_again_changes_nothing(case: Case) -> None:
    assume(not pins_a_user_message_inside_a_pair(case))
    made, messages = fitted(case, case.messages, case.policy)
    at = positions(case, made)
    pinned = frozenset(at[m] for m in case.policy.pinned if m in at)
    again, same = fitted(case, messages, replace(case.policy, pinned=pinned))
    assert same == messages
    assert (again.tokens, again.fits) == (made.tokens, made.fits)


@MANY
@given(cases())
def test_what_always_stays(case: Case) -> None:
    made, messages = fitted(case, case.messages, case.policy)
    walk = walk_of(case.messages, case.policy, case.format, NOTES)
    pins = {m for m in case.policy.pinned if walk.horizon <= m < len(case.messages)}
    assert (walk.always | pins) - set(walk.incoming_notes) <= set(made.kept)
    if made.step in ("turns", "rounds"):
        notes = [m for m in messages if read(m, case.format, NOTES).is_note]
        assert len(notes) == made.note


def test_the_strategies_reach_every_step_often() -> None:
    seen: Counter[str] = Counter()

    @settings(MANY, max_examples=1_200, database=None, derandomize=True)
    @given(cases())
    def sample(case: Case) -> None:
        made = fitted(case, case.messages, case.policy)[0]
        seen[made.step] += 1
        seen["over"] += not made.fits
        seen["arguments"] += bool(made.cleared_arguments)

    sample()
    assert all(seen[step] >= 30 for step in ("whole", "results", "turns", "rounds", "over")), seen
    assert seen["arguments"] >= 5, seen


@pytest.mark.parametrize("format", ["openai-chat", "anthropic"])
def test_the_strategies_write_what_goes_wrong(format: Format) -> None:
    seen: Counter[str] = Counter()

    @settings(MANY, max_examples=1_000, database=None, derandomize=True)
    @given(histories(format))
    def sample(history: list[Message]) -> None:
        reads = [read(message, format, NOTES) for message in history]
        answers = pair(reads)
        seen["orphan"] += bool(orphans(reads, answers))
        seen["dead"] += bool(dead(reads, answers))
        seen["in flight"] += bool(in_flight(reads, answers))
        seen["twice"] += len(set(answers.values())) < len(answers)
        seen["note"] += any(row.is_note for row in reads)
        seen["no user"] += not any(row.opens_turn for row in reads)
        seen["long"] += len(reads) > 25

    sample()
    for kind in ("orphan", "dead", "in flight", "twice", "note", "no user", "long"):
        assert seen[kind] >= 3, seen
