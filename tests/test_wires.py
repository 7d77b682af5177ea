"""What each wire format has of its own."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest
import turnfit as tf
from strategies import langchain
from support.messages import calls, says, user

NOTE = tf.Notes().cleared
LONG = "word " * 400
TIGHT: dict[str, Any] = {"keep": ("tokens", 0), "keep_at_least": 0, "clear_batch": 1}
"""Everything old is cleared as soon as the budget asks for it."""


def cleared(history: list[Any], **more: Any) -> tf.Fitted:
    """Fitted by one token less than the whole."""
    budget = tf.estimate_request(history) - 1
    return tf.fit(history, tf.Policy(budget=budget, grid=0, **TIGHT, **more))


def output(call_id: str, content: Any = LONG, kind: str = "function_call") -> dict[str, Any]:
    return {"type": f"{kind}_output", "call_id": call_id, "output": content}


def call(call_id: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call_id,
        "name": "read",
        "arguments": '{"path": "' + "x" * 400 + '"}',
        **more,
    }


# --- recognition --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "format_"),
    [
        (call("c1"), "openai-responses"),
        ({"type": "reasoning", "id": "r", "summary": []}, "openai-responses"),
        ({"type": "web_search_call", "id": "w"}, "openai-responses"),
        (
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            "openai-responses",
        ),
        ({"role": "model", "parts": [{"text": "hi"}]}, "gemini"),
        ({"parts": [{"text": "hi"}]}, "gemini"),
        ({"role": "user", "content": [{"text": "hi"}]}, "bedrock-converse"),
        ({"role": "user", "content": [{"cachePoint": {"type": "default"}}]}, "bedrock-converse"),
        ({"role": "assistant", "content": [{"type": "compaction", "content": "s"}]}, "anthropic"),
        ({"role": "user", "content": "hi"}, "openai-chat"),
    ],
)
def test_a_telling_message_tells_the_format(message: Any, format_: str) -> None:
    assert tf.fit([message], budget=10**6).format == format_


@pytest.mark.parametrize(
    ("first", "other", "what"),
    [
        (calls("c1"), call("c2"), r'"function_call" is of the format openai-responses'),
        (call("c1"), calls("c2"), r'"tool_calls" is of the format openai-chat'),
        (
            {"role": "model", "parts": [{"text": "hi"}]},
            user(),
            r'"content" is of the format openai-chat',
        ),
        (
            {"role": "user", "content": [{"text": "hi"}]},
            says(),
            "the format bedrock-converse wants a list",
        ),
        (call("c1"), {"role": "robot", "content": "hi"}, r"'robot' is not one of"),
        (calls("c1"), {"role": "user", "parts": [{"text": "hi"}]}, r'"parts" is of the .* gemini'),
    ],
)
def test_a_message_of_another_format_is_an_error_with_its_index(
    first: Any, other: Any, what: str
) -> None:
    with pytest.raises(tf.FormatError, match=what) as error:
        tf.fit([first, other], budget=10**6)
    assert error.value.index == 1


# --- OpenAI's Responses -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "empty"),
    [
        ("function_call", NOTE),
        ("custom_tool_call", NOTE),
        ("apply_patch_call", NOTE),
        (
            "shell_call",
            [{"stdout": NOTE, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}],
        ),
    ],
)
def test_an_output_is_cleared_in_its_own_form(kind: str, empty: Any) -> None:
    content: Any = LONG
    if kind == "shell_call":
        outcome = {"type": "exit", "exit_code": 0}
        content = [{"stdout": LONG, "stderr": "", "outcome": outcome}]
    history = [user(), {**call("c1"), "type": kind}, output("c1", content, kind), user()]
    fitted = cleared(history)
    assert fitted.messages[2] == {**history[2], "output": empty}
    again = tf.fit(fitted.messages, tf.Policy(budget=fitted.tokens - 1, grid=0, **TIGHT))
    assert again.cleared == ()


def test_a_local_shell_call_pairs_by_its_items_id() -> None:
    shell = {"type": "local_shell_call", "id": "ls", "call_id": "c", "action": {}, "status": "x"}
    history = [user(), shell, {"type": "local_shell_call_output", "id": "ls", "output": LONG}]
    assert tf.check(history) == []
    assert [row.call_id for row in cleared([*history, user()]).cleared] == ["ls"]


def test_a_screenshot_stays_and_costs_as_a_picture() -> None:
    shot = {"type": "computer_screenshot", "image_url": "data:image/png;base64," + "A" * 10**6}
    history = [
        user(),
        {"type": "computer_call", "id": "i", "call_id": "c", "action": {"type": "screenshot"}},
        output("c", shot, "computer_call"),
        user(),
    ]
    assert tf.estimate_request(history) < 2_000
    assert cleared(history).cleared == ()


def test_hosted_calls_have_their_results_in_them_and_stay_as_they_are() -> None:
    search = {"type": "file_search_call", "id": "f", "queries": ["q"], "results": [{"text": LONG}]}
    message = {"type": "message", "id": "m", "role": "assistant", "content": []}
    history = [user(), search, message, call("c1"), output("c1"), user()]
    fitted = cleared(history)
    assert fitted.messages[1] is search
    assert [row.index for row in fitted.cleared] == [4]


def test_arguments_that_the_api_checks_are_not_cleared() -> None:
    patch = {"type": "apply_patch_call", "call_id": "p", "operation": {"diff": LONG}}
    history = [user(), call("c1"), output("c1"), patch, output("p", LONG, "apply_patch_call")]
    fitted = cleared([*history, user()], clear_tool_inputs=True)
    assert fitted.messages[1]["arguments"] == '{"_cleared":"arguments left out to save context"}'
    assert fitted.messages[3] is patch


def test_what_stands_before_the_last_compaction_costs_nothing_and_may_go() -> None:
    compaction = {"type": "compaction", "id": "cmp", "encrypted_content": "A" * 400}
    old = [user(LONG), call("c0"), output("c0")]
    new = [user("next"), call("c1"), output("c1")]
    history = [*old, compaction, *new]
    after = tf.estimate_request([compaction, *new])
    assert tf.estimate_request(history) == after
    whole = tf.fit(history, budget=after)
    assert whole.step == "whole"
    assert whole.messages == history
    for budget in range(150, after, 20):
        fitted = tf.fit(history, tf.Policy(budget=budget, grid=0))
        assert compaction in fitted.messages
        if fitted.step in ("turns", "rounds"):
            assert not any(item in fitted.messages for item in old)


def test_a_conversation_notices_that_the_provider_replaced_what_it_cleared() -> None:
    def rounds(first: int) -> list[Any]:
        return [m for n in range(first, first + 8) for m in (call(f"c{n}"), output(f"c{n}"))]

    policy = tf.Policy(budget=3_500, grid=0, keep=("results", 4), clear_batch=4)
    conversation = tf.Conversation(policy)
    conversation.extend([user(), *rounds(0)])
    before = conversation.fit()
    compaction = {"type": "compaction", "encrypted_content": "A" * 400}
    conversation.extend([compaction, user(), *rounds(8)])
    after = conversation.fit()
    assert len(before.cleared) == len(after.cleared) == 4
    assert before.messages != after.messages
    assert after.messages == tf.fit(conversation.history, policy).messages


def test_a_reference_may_stand_for_the_call_of_an_output() -> None:
    history = [user(LONG), {"type": "item_reference", "id": "fc_1"}, output("c9"), user("go on")]
    assert tf.check(history) == []
    for budget in range(60, 600, 20):
        messages = tf.fit(history, tf.Policy(budget=budget, grid=0)).messages
        kept = {item.get("type") for item in messages}
        assert ("item_reference" in kept) == ("function_call_output" in kept)


def test_items_that_are_to_come_pass_and_pair_by_their_call_id() -> None:
    future = {"type": "dream_call", "call_id": "d1", "vision": "x"}
    history = [user(LONG), future, {"type": "dream_call_output", "call_id": "d1"}, user(), says()]
    assert tf.check(history, format="openai-responses") == []
    passing = {"type": "thought_bubble", "shape": "round"}
    fitted = tf.fit([*history, passing], budget=10**6, format="openai-responses")
    assert fitted.messages[-1] is passing


def test_reasoning_goes_with_the_calls_of_its_response() -> None:
    rounds = [
        item
        for n in range(9)
        for item in (
            {"type": "reasoning", "id": f"r{n}", "summary": [], "encrypted_content": "A" * 99},
            call(f"a{n}"),
            call(f"b{n}"),
            output(f"a{n}"),
            output(f"b{n}"),
        )
    ]
    for budget in range(400, 5_000, 200):
        fitted = tf.fit([user(), *rounds], tf.Policy(budget=budget, grid=0))
        kinds = [item.get("type", "user") for item in fitted.messages]
        assert kinds.count("function_call") == 2 * kinds.count("reasoning")
        assert tf.check(fitted.messages) == []


# --- Anthropic ----------------------------------------------------------------------------------


def test_a_compaction_block_stays_with_what_its_message_calls() -> None:
    uses = [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]
    block = {"type": "compaction", "content": "what happened", "encrypted_content": "A" * 40}
    results = [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]
    marked = {"role": "assistant", "content": [block, *uses]}
    answer = {"role": "user", "content": results}
    history = [user(LONG), says(LONG), marked, answer, says(LONG), user(), says(LONG), user()]
    for budget in range(60, 1_700, 40):
        fitted = tf.fit(history, tf.Policy(budget=budget, grid=0))
        assert marked in fitted.messages
        assert answer in fitted.messages
        if fitted.step in ("turns", "rounds"):
            assert fitted.messages[:2] == [marked, answer]
        assert tf.fit(fitted.messages, tf.Policy(budget=budget, grid=0)).messages == fitted.messages


# --- Gemini -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keys", [("functionCall", "functionResponse"), ("function_call", "function_response")]
)
def test_a_response_is_cleared_in_either_spelling_and_its_pictures_with_it(
    keys: tuple[str, str],
) -> None:
    call_key, response_key = keys
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    response = {"name": "read", "response": {"result": LONG}, "parts": [picture]}
    signed = {call_key: {"name": "read", "args": {}}, "thoughtSignature": "c2ln"}
    history = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [signed]},
        {"role": "user", "parts": [{response_key: response}]},
        {"role": "user", "parts": [{"text": "and?"}]},
    ]
    before = copy.deepcopy(history)
    fitted = cleared(history)
    wanted = {"name": "read", "response": {"output": NOTE}, "parts": []}
    assert fitted.messages[2] == {"role": "user", "parts": [{response_key: wanted}]}
    assert fitted.messages[1] is history[1]
    assert history == before


def test_bytes_are_priced_as_the_base64_that_is_sent() -> None:
    part = {"text": "", "thoughtSignature": b"x" * 300}
    assert tf.estimate_message({"role": "model", "parts": [part]}) == 3 + 100


# --- Bedrock's Converse -------------------------------------------------------------------------


def block(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def test_roles_alternate_in_every_request() -> None:
    turns = [
        message
        for n in range(9)
        for message in (block("user", {"text": f"{n}"}), block("assistant", {"text": LONG}))
    ]
    history = [block("user", {"text": "first"}), *turns, block("user", {"text": "last"})]
    before = copy.deepcopy(history)
    for budget in range(100, 5_000, 150):
        policy = tf.Policy(budget=budget, grid=0)
        fitted = tf.fit(history, policy)
        roles = [message["role"] for message in fitted.messages]
        assert all(one != other for one, other in pairwise(roles))
        assert tf.fit(fitted.messages, policy).messages == fitted.messages
        texts = [b.get("text") for message in fitted.messages for b in message["content"]]
        assert texts.count(tf.Notes().trimmed) == (fitted.step != "whole")
    assert history == before


def test_a_cache_point_costs_nothing_and_moving_it_keeps_the_cache() -> None:
    point = {"cachePoint": {"type": "default"}}
    marked, plain = block("user", {"text": "hi"}, point), block("user", {"text": "hi"})
    assert tf.estimate_message(marked) == tf.estimate_message(plain)
    assert tf.fit([plain], budget=99).cache_kept(tf.fit([marked], budget=99)) == 4


def test_a_tool_result_is_cleared_with_its_status_kept() -> None:
    use = {"toolUse": {"toolUseId": "t1", "name": "read", "input": {}}}
    given = {"toolUseId": "t1", "content": [{"json": {"text": LONG}}], "status": "error"}
    history = [
        block("user", {"text": "go"}),
        block("assistant", use),
        block("user", {"toolResult": given}),
        block("assistant", {"text": "ok"}),
    ]
    fitted = cleared(history)
    assert fitted.messages[2] == block(
        "user", {"toolResult": {**given, "content": [{"text": NOTE}]}}
    )


# --- LangChain ----------------------------------------------------------------------------------

needs_langchain = pytest.mark.skipif(
    langchain is None, reason="langchain-core is not installed: the extra `sdks` brings it"
)


@needs_langchain
def test_a_cleared_tool_message_keeps_class_id_and_artifact() -> None:
    class Mine(langchain.ToolMessage):  # type: ignore[misc]
        pass

    asked = langchain.AIMessage("", tool_calls=[{"id": "c1", "name": "read", "args": {}}], id="a")
    answer = Mine(LONG, tool_call_id="c1", id="t", artifact=[1], status="error")
    history = [langchain.HumanMessage("go"), asked, answer, langchain.HumanMessage("and?")]
    fitted = cleared(history)
    assert fitted.format == "langchain"
    copied = fitted.messages[2]
    assert (type(copied), copied.id, copied.status) == (Mine, "t", "error")
    assert copied.artifact is answer.artifact
    assert copied.model_dump() == {**answer.model_dump(), "content": NOTE}
    assert copied == answer.model_copy(update={"content": NOTE})
    assert (copied.content, answer.content) == (NOTE, LONG)
    assert all(fitted.messages[at] is history[at] for at in (0, 1, 3))


@needs_langchain
def test_cleared_arguments_change_wherever_the_call_stands() -> None:
    arguments = {"text": LONG}
    raw = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": LONG}}
    asked = langchain.AIMessage(
        [{"type": "tool_use", "id": "c1", "name": "read", "input": arguments}],
        tool_calls=[{"id": "c1", "name": "read", "args": arguments}],
        additional_kwargs={"tool_calls": [raw]},
    )
    answer = langchain.ToolMessage(LONG, tool_call_id="c1")
    history = [langchain.HumanMessage("go"), asked, answer, langchain.HumanMessage("and?")]
    before = copy.deepcopy(history)
    copied = cleared(history, clear_tool_inputs=True).messages[1]
    gone = {"_cleared": "arguments left out to save context"}
    assert copied.tool_calls[0]["args"] == copied.content[0]["input"] == gone
    assert "_cleared" in copied.additional_kwargs["tool_calls"][0]["function"]["arguments"]
    assert history == before


@needs_langchain
def test_calls_that_stand_twice_count_once() -> None:
    made = {"id": "c1", "name": "read", "args": {"path": "a"}}
    use = {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}}
    once = langchain.AIMessage("", tool_calls=[made])
    twice = langchain.AIMessage([use], tool_calls=[made])
    block_only = langchain.AIMessage([use])
    assert len({tf.estimate_message(message) for message in (once, twice, block_only)}) == 1


@needs_langchain
def test_the_trim_note_of_one_request_is_not_that_of_another() -> None:
    history = [langchain.HumanMessage("go"), langchain.AIMessage(LONG), langchain.HumanMessage("?")]
    notes = [tf.fit(history, budget=80).messages[1] for _ in range(2)]
    assert notes[0] == notes[1]
    assert notes[0] is not notes[1]


@needs_langchain
def test_a_message_that_only_looks_like_one_is_told_with_its_index() -> None:
    class Fake:
        type, content = "human", "hi"

    with pytest.raises(tf.FormatError, match=r"message 1: a .*Fake is not a message"):
        tf.fit([langchain.HumanMessage("go"), Fake()], budget=99)
    with pytest.raises(tf.FormatError, match="message 1: its role 'remove'"):
        tf.fit([langchain.HumanMessage("go"), langchain.RemoveMessage("x")], budget=99)
