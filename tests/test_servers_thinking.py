"""The simulated checks of reasoning do what their providers publish."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from servers.requests import RefusedError
from servers.thinking import (
    PrefixChecker,
    ReasoningChecker,
    SignatureChecker,
    TurnChecker,
    checker_for,
)

Message = dict[str, Any]


def thinking(about: str) -> Message:
    return {"type": "thinking", "thinking": about, "signature": ""}


def call(number: int) -> Message:
    return {"type": "tool_use", "id": f"c{number}", "name": "f", "input": {"n": number}}


def result(number: int) -> Message:
    block = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"got {number}"}
    return {"role": "user", "content": [block]}


def request(messages: list[Message], **more: Any) -> Message:
    return {"model": "m", "system": "s", "tools": [{"name": "f"}], "messages": messages, **more}


def rounds(checker: Any, count: int) -> list[Message]:
    """A turn of rounds that think, each answered as the provider would answer."""
    messages: list[Message] = [{"role": "user", "content": "go"}]
    for number in range(count):
        body = request(messages)
        assert checker.receive(body) == []
        content = checker.sign(body, [thinking(f"t{number}"), call(number)])
        messages = [*messages, {"role": "assistant", "content": content}, result(number)]
    assert checker.receive(request(messages)) == []
    return messages


def without_thinking(message: Message) -> Message:
    kept = [block for block in message["content"] if block["type"] != "thinking"]
    return {**message, "content": kept}


def refused(checker: Any, body: Message) -> str:
    with pytest.raises(RefusedError) as caught:
        checker.receive(body)
    assert caught.value.status == 400
    error = caught.value.body["error"]
    assert error["message"] == str(caught.value)
    return str(caught.value)


def changed_result(messages: list[Message], at: int) -> list[Message]:
    made = deepcopy(messages)
    made[at]["content"][0]["content"] = "[cleared]"
    return made


def test_thinking_behind_a_changed_result_is_refused_at_its_first_block() -> None:
    checker = PrefixChecker()
    messages = changed_result(rounds(checker, 4), 4)
    message = refused(checker, request(messages))
    assert message.startswith("messages.5.content.0: Invalid `signature` in `thinking` block.")
    assert "bound to a different conversation" in message


@pytest.mark.parametrize("more", [{"system": "other"}, {"tools": [{"name": "g"}]}])
def test_another_system_prompt_or_tool_makes_all_thinking_invalid(more: Message) -> None:
    checker = PrefixChecker()
    messages = rounds(checker, 2)
    assert refused(checker, {**request(messages), **more}).startswith("messages.1.")


def test_tools_in_another_order_and_cache_marks_change_nothing() -> None:
    checker = PrefixChecker()
    body = request([{"role": "user", "content": "go"}], tools=[{"name": "f"}, {"name": "g"}])
    content = checker.sign(body, [thinking("t"), call(0)])
    marked = deepcopy(result(0))
    marked["content"][0]["cache_control"] = {"type": "ephemeral"}
    messages = [*body["messages"], {"role": "assistant", "content": content}, marked]
    assert checker.receive({**body, "messages": messages, "tools": body["tools"][::-1]}) == []


def test_dropping_drops_the_first_invalid_block_and_all_later_ones_and_lists_them() -> None:
    checker = PrefixChecker()
    messages = changed_result(rounds(checker, 3), 2)
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    dropped = checker.receive(request(messages, thinking=binding))
    assert [entry["path"] for entry in dropped] == ["messages.3.content.0", "messages.5.content.0"]
    assert {entry["reason"] for entry in dropped} == {"prefix_binding_mismatch"}


def test_old_accounts_are_not_refused() -> None:
    checker = PrefixChecker("ignore")
    assert checker.receive(request(changed_result(rounds(checker, 3), 2))) == []


def test_the_oldest_thinking_may_go_but_none_from_the_middle() -> None:
    checker = PrefixChecker()
    messages = rounds(checker, 3)
    first = [messages[0], without_thinking(messages[1]), *messages[2:]]
    assert checker.receive(request(first)) == []
    middle = [*messages[:3], without_thinking(messages[3]), *messages[4:]]
    assert "that preceded this one" in refused(checker, request(middle))


def test_thinking_made_after_a_change_is_valid_with_the_thinking_before_it() -> None:
    checker = PrefixChecker()
    messages = changed_result(rounds(checker, 3), 2)
    messages = [without_thinking(m) if at in (3, 5) else m for at, m in enumerate(messages)]
    assert checker.receive(request(messages)) == []
    content = checker.sign(request(messages), [thinking("after"), call(9)])
    messages = [*messages, {"role": "assistant", "content": content}, result(9)]
    assert checker.receive(request(messages)) == []


def test_several_blocks_of_one_message_form_a_chain() -> None:
    checker = PrefixChecker()
    body = request([{"role": "user", "content": "go"}])
    content = checker.sign(body, [thinking("a"), call(0), thinking("b"), call(1)])
    answer = [*body["messages"], {"role": "assistant", "content": content}]
    assert checker.receive(request(answer)) == []
    changed = deepcopy(answer)
    changed[1]["content"][1]["input"] = {}
    assert refused(checker, request(changed)).startswith("messages.1.content.2")


@pytest.mark.parametrize("checker", [PrefixChecker(), TurnChecker()])
def test_a_made_up_signature_is_refused(checker: Any) -> None:
    content = [{**thinking("t"), "signature": "mine"}, call(0)]
    messages: list[Message] = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": content},
    ]
    message = refused(checker, request([*messages, result(0)]))
    assert "Invalid `signature`" in message
    assert "different conversation" not in message


def test_edited_thinking_is_refused() -> None:
    checker = TurnChecker()
    messages = deepcopy(rounds(checker, 1))
    messages[1]["content"][0]["thinking"] = "edited"
    assert "Invalid `signature`" in refused(checker, request(messages))


def test_older_models_compare_no_prefix() -> None:
    checker = TurnChecker()
    assert checker.receive(request(changed_result(rounds(checker, 3), 2), system="other")) == []


def test_older_models_want_the_thinking_of_the_turn_that_waits_for_results() -> None:
    checker = TurnChecker()
    messages = rounds(checker, 2)
    bare = [*messages[:3], without_thinking(messages[3]), messages[4]]
    assert "must start with a thinking block" in refused(checker, request(bare))
    finished = [*bare, {"role": "assistant", "content": "done"}, {"role": "user", "content": "ok"}]
    assert checker.receive(request(finished)) == []


def test_older_models_want_it_whole() -> None:
    checker = TurnChecker()
    body = request([{"role": "user", "content": "go"}])
    content = checker.sign(body, [thinking("a"), thinking("b"), call(0)])
    messages = [*body["messages"], {"role": "assistant", "content": content[1:]}, result(0)]
    assert "cannot be modified" in refused(checker, request(messages))


def test_bedrocks_reasoning_is_checked_likewise() -> None:
    checker = PrefixChecker()
    asked = {"role": "user", "content": [{"text": "go"}]}
    body = {"modelId": "m", "system": [{"text": "s"}], "messages": [asked]}
    thought = {"reasoningContent": {"reasoningText": {"text": "t", "signature": ""}}}
    content = checker.sign(body, [thought, {"text": "done"}])
    answered = [asked, {"role": "assistant", "content": content}]
    assert checker.receive({**body, "messages": answered}) == []
    other = {**body, "messages": [{"role": "user", "content": [{"text": "no"}]}, answered[1]]}
    assert "different conversation" in refused(checker, other)


# --- OpenAI -------------------------------------------------------------------------------------


def item(kind: str, **more: Any) -> Message:
    return {"type": kind, **more}


def responses(checker: ReasoningChecker, count: int) -> list[Message]:
    items: list[Message] = [{"role": "user", "content": "go"}]
    for number in range(count):
        body = {"input": items}
        assert checker.receive(body) == []
        output = [item("reasoning", summary=[]), item("function_call", call_id=f"c{number}")]
        output = checker.sign(body, output)
        answer = item("function_call_output", call_id=f"c{number}", output=f"got {number}")
        items = [*items, *output, answer]
    return items


def test_reasoning_and_its_item_come_together() -> None:
    checker = ReasoningChecker()
    items = responses(checker, 2)
    assert "required following item" in refused(checker, {"input": [*items[:2], *items[3:]]})
    assert "required 'reasoning' item" in refused(checker, {"input": [*items[:1], *items[2:]]})


def test_an_item_without_its_id_needs_no_reasoning() -> None:
    checker = ReasoningChecker()
    items = responses(checker, 1)
    bare = {key: value for key, value in items[2].items() if key != "id"}
    assert checker.receive({"input": [items[0], bare, items[3]]}) == []


def test_newer_models_drop_reasoning_behind_a_change_and_older_ones_do_not() -> None:
    for drops, ids in [(True, ["rs_3"]), (False, [])]:
        checker = ReasoningChecker(drops)
        items = deepcopy(responses(checker, 2))
        items[3]["output"] = "[cleared]"
        assert [entry["id"] for entry in checker.receive({"input": items})] == ids


# --- Gemini -------------------------------------------------------------------------------------


def model_call(number: int) -> Message:
    return {"functionCall": {"name": "f", "args": {"n": number}}}


def response(number: int) -> Message:
    answer = {"functionResponse": {"name": "f", "response": {"n": number}}}
    return {"role": "user", "parts": [answer]}


def test_calls_of_the_current_turn_bring_their_signatures() -> None:
    checker = SignatureChecker()
    asked = {"role": "user", "parts": [{"text": "go"}]}
    parts = checker.sign({"contents": [asked]}, [model_call(0), model_call(1)])
    assert ["thoughtSignature" in part for part in parts] == [True, False]
    contents = [asked, {"role": "model", "parts": parts}, response(0)]
    assert checker.receive({"contents": contents}) == []
    bare = [asked, {"role": "model", "parts": [model_call(0)]}, response(0)]
    assert "missing a thought_signature" in refused(checker, {"contents": bare})
    later = [*bare, {"role": "model", "parts": [{"text": "done"}]}, asked]
    assert checker.receive({"contents": later}) == []


def test_an_unknown_signature_is_refused() -> None:
    part = {**model_call(0), "thoughtSignature": "mine"}
    contents = [{"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": [part]}]
    assert "Corrupted" in refused(SignatureChecker(), {"contents": contents})


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("claude-opus-5-5", PrefixChecker),
        ("us.anthropic.claude-fable-5-2-v1:0", PrefixChecker),
        ("claude-opus-5", TurnChecker),
        ("gemini-3.8-flash", SignatureChecker),
        ("gpt-6.2-sol", ReasoningChecker),
    ],
)
def test_each_model_has_its_providers_check(model: str, kind: type) -> None:
    assert isinstance(checker_for(model), kind)
