"""Recognising a wire format, and reading messages by its table."""

from __future__ import annotations

import copy
import pickle
from enum import StrEnum
from typing import Any

import pytest
import turnfit as tf

PLAIN: dict[str, Any] = {"role": "user", "content": "hello"}
OPENAI_CALL: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}
    ],
}
ANTHROPIC_CALL: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}],
}
ANTHROPIC_RESULT: dict[str, Any] = {
    "role": "user",
    "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "text"}],
}
FRAME = 3
MEDIUM = 1600


def tokens_of(**message: Any) -> int:
    return tf.estimate_message({"role": "user", **message}, format="openai-chat") - FRAME


def test_a_call_costs_the_same_in_both_wire_formats_and_natively() -> None:
    native = tf.Message("assistant", tf.Call("c1", "read", {"path": "a"}))
    costs = {tf.estimate_message(m) for m in (OPENAI_CALL, ANTHROPIC_CALL, native)}
    assert costs == {FRAME + 1 + 1 + 3}


@pytest.mark.parametrize("content", [None, "", []])
def test_empty_content_costs_the_frame_alone(content: Any) -> None:
    assert tokens_of(content=content) == 0


def test_the_parts_of_a_content_add_up() -> None:
    parts = [{"type": "text", "text": "a" * 1000}, {"type": "text", "text": "b" * 10}]
    assert tokens_of(content=parts) == 250 + 3


def test_a_message_more_makes_a_request_dearer() -> None:
    messages = [PLAIN, OPENAI_CALL, {"role": "tool", "tool_call_id": "c1", "content": ""}]
    costs = [tf.estimate_request(messages[:count]) for count in range(4)]
    assert costs == sorted(set(costs))


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_000_000}},
        {"type": "input_audio", "input_audio": {"data": "A" * 100_000, "format": "wav"}},
        {"type": "file", "file": {"file_data": "A" * 100_000}},
    ],
)
def test_a_medium_is_never_priced_as_text(part: dict[str, Any]) -> None:
    assert tokens_of(content=[part]) == MEDIUM


def test_a_data_url_under_an_unknown_key_is_a_medium() -> None:
    url = "data:image/png;base64," + "A" * 4_000_000
    assert tokens_of(content="", files=[url]) < MEDIUM + 10


def test_a_data_url_inside_a_text_is_text() -> None:
    url = "data:image/png;base64," + "A" * 4_000
    assert tokens_of(content=url) > 1000
    assert tokens_of(content=[{"type": "text", "text": url}]) > 1000


@pytest.mark.parametrize("part", [{"type": "made_up", "payload": "x" * 400}, "text", 7])
def test_a_part_of_unknown_type_is_priced_as_it_is_sent(part: Any) -> None:
    assert tokens_of(content=[part]) >= 1


def test_opaque_payloads_are_priced_by_their_length() -> None:
    block = {"type": "redacted_thinking", "data": "A" * 120_000}
    assert tf.estimate_message({"role": "assistant", "content": [block]}) == 30_000 + FRAME


def test_cache_marks_cost_nothing() -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    for block in ({"type": "text", "text": "a"}, {"type": "made_up", "x": "a"}):
        plain = {"role": "user", "content": [block]}
        marked = {"role": "user", "content": [{**block, **mark}]}
        assert tf.estimate_message(plain) == tf.estimate_message(marked)


def test_lone_surrogates_are_read_wherever_they_stand() -> None:
    odd = "\ud83d"
    message = {
        "role": "assistant",
        "content": odd,
        odd: odd,
        "tool_calls": [
            {"id": odd, "type": "function", "function": {"name": odd, "arguments": odd}}
        ],
    }
    result = {"role": "tool", "tool_call_id": odd, "content": odd * 1000}
    history = [PLAIN, message, result] * 5
    fitted = tf.fit(history, tf.Policy(budget=600, keep=("tokens", 0), keep_at_least=0))
    assert fitted.step != "whole"
    assert tf.check(history) == []


def test_plain_text_is_openai_chat_until_a_message_tells_another_format() -> None:
    native = tf.Message("user", "hello")
    assert tf.fit([native], budget=100).messages == [native]
    history = [PLAIN, PLAIN, ANTHROPIC_CALL]
    note_free = tf.fit(history, budget=1000)
    assert note_free.problems == ()


def test_a_format_that_is_not_known_is_an_error_with_the_known_names() -> None:
    with pytest.raises(ValueError, match=r"openai-chat, .*anthropic, .*turnfit, not 'gpt'"):
        tf.check([PLAIN], format="gpt")


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (ANTHROPIC_RESULT, '"tool_result" is of the format anthropic'),
        ("hello", "a str is not a message"),
        ({"content": "hello"}, "no role"),
        ({"role": "robot", "content": "hello"}, "'robot'"),
        ({"role": 7, "content": "hello"}, "7"),
        (tf.Message("user", "hello"), "a Message is not a message"),
    ],
)
def test_a_message_that_cannot_be_read_is_an_error_with_its_index(bad: Any, what: str) -> None:
    with pytest.raises(tf.FormatError, match=what) as error:
        tf.fit([PLAIN, OPENAI_CALL, bad], budget=1000)
    assert error.value.index == 2
    assert "message 2" in str(error.value)


def test_an_object_that_is_no_message_is_an_error() -> None:
    with pytest.raises(tf.FormatError, match=r"message 1: an? object is not a message"):
        tf.fit([PLAIN, object()], budget=1000)


def test_a_value_that_contains_itself_is_an_error() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    with pytest.raises(ValueError, match="contains itself"):
        tf.estimate_message({"role": "user", "content": "", "extra": loop})


def test_system_and_tools_are_priced_with_the_request() -> None:
    tool = {"name": "read", "input_schema": {"type": "object"}}
    blocks = [{"type": "text", "text": "Be brief."}]
    bare = tf.estimate_request([PLAIN])
    assert tf.estimate_request([PLAIN], system="Be brief.") == bare + 3
    forms = [
        blocks,
        [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
        {"parts": [{"text": "Be brief."}]},
        {"role": "user", "parts": [{"text": "Be brief."}]},
    ]
    for form in forms:
        assert tf.estimate_request([PLAIN], system=form) == bare + 3
    assert tf.estimate_request([PLAIN], tools=[tool]) == bare + 12


class Role(StrEnum):
    """Strings of a subclass are not stored as plain ones are."""

    USER = "user"
    TOOL_RESULT = "tool_result"


def test_strings_of_a_subclass_are_read_as_strings() -> None:
    block = {"type": Role.TOOL_RESULT, "tool_use_id": "t1", "content": "text"}
    message = {"role": Role.USER, "content": [block]}
    assert tf.estimate_message(message) == tf.estimate_message(ANTHROPIC_RESULT)
    assert len(tf.check([message])) == 1


def test_a_result_inside_a_result_is_content_however_deep() -> None:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t1", "content": "text"}
    for _ in range(4_000):
        block = {"type": "tool_result", "tool_use_id": "t1", "content": [block]}
    message = {"role": "user", "content": [block]}
    assert tf.estimate_message(message) > 4_000
    block["content"] = [block]
    with pytest.raises(tf.FormatError, match="message 0: a value contains itself"):
        tf.estimate_message(message)


def test_a_dict_that_changes_while_it_is_read_does_no_harm() -> None:
    class Meddler:
        def __str__(self) -> str:
            message[f"more {len(message)}"] = "text"
            return "id"

    message: dict[Any, Any] = {"role": "user", "content": "hi", "extra": {Meddler(): 1}}
    assert tf.estimate_message(message) > 3
    assert len(message) > 3


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": [object()]},
        {"role": "assistant", "content": object()},
        {"role": "assistant", "content": None, "tool_calls": [object()]},
        {"role": "assistant", "content": None, "tool_calls": object()},
    ],
)
def test_an_object_inside_a_message_that_is_no_json_is_an_error(message: Any) -> None:
    with pytest.raises(tf.FormatError, match=r"message 1: .*class object"):
        tf.fit([PLAIN, message], budget=1000)


def test_tuples_are_read_as_lists() -> None:
    call = {**OPENAI_CALL, "tool_calls": tuple(OPENAI_CALL["tool_calls"] or ())}
    assert tf.estimate_message(call) == tf.estimate_message(OPENAI_CALL)
    block = {**ANTHROPIC_CALL, "content": tuple(ANTHROPIC_CALL["content"] or ())}
    assert tf.estimate_message(block) == tf.estimate_message(ANTHROPIC_CALL)
    history = [PLAIN, call, {"role": "tool", "tool_call_id": "c1", "content": ("a", "b")}]
    assert tf.check(history) == []


def test_an_error_of_an_objects_own_code_tells_the_message() -> None:
    class Broken:
        def __str__(self) -> str:
            raise RuntimeError("no")

    with pytest.raises(RuntimeError) as error:
        tf.fit([PLAIN, {"role": "user", "content": "", "extra": Broken()}], budget=1000)
    assert error.value.__notes__ == ["turnfit was reading message 1"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None, "audio": {"id": "a", "data": "A" * 4_000_000}},
        {"role": "user", "content": "", "images": ["A" * 1_000_000]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "image", "data": "A" * 9000}]},
    ],
)
def test_media_in_other_places_are_no_text_either(message: Any) -> None:
    assert tf.estimate_message(message) < MEDIUM + 10


def test_an_empty_list_of_calls_tells_no_format() -> None:
    history = [{"role": "assistant", "content": "ok", "tool_calls": []}, ANTHROPIC_RESULT]
    assert tf.fit(history, budget=1000).format == "anthropic"


def test_an_answer_put_back_as_it_came_is_of_anthropic() -> None:
    answer = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 12},
    }
    assert tf.fit([PLAIN, answer], budget=1000).format == "anthropic"
    assert tf.estimate_message(answer) == FRAME + 1


@pytest.mark.parametrize("bad", ["text", {"role": "user", "content": "hi"}, None, 5])
def test_one_message_is_no_sequence_of_messages(bad: Any) -> None:
    for call in (tf.check, tf.estimate_request, tf.Conversation(budget=9).extend):
        with pytest.raises(TypeError, match="messages must be a sequence"):
            call(bad)


def test_what_is_no_system_prompt_and_no_tools_is_told_so() -> None:
    with pytest.raises(TypeError, match="system must be"):
        tf.estimate_request([], system=[ANTHROPIC_RESULT["content"], object()])
    with pytest.raises(TypeError, match="tools must be"):
        tf.estimate_request([], tools={"name": "read"})


def test_errors_survive_a_pickle() -> None:
    for error in (tf.FormatError("message 3: odd", 3), tf.BudgetError("no", {"frame": 3})):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), vars(again)) == (str(error), vars(error))


class TestNativeMessages:
    def test_a_message_is_immutable_and_remembers_its_estimate(self) -> None:
        message = tf.Message("user", "hello world!")
        assert message.tokens == tf.estimate_message(message) == 6
        assert message.reading() is message.reading()
        with pytest.raises(AttributeError):
            message.role = "system"  # type: ignore[misc]

    def test_a_cleared_result_is_a_new_message_and_the_old_one_stays(self) -> None:
        history = [tf.Message("user", "Read all.")]
        for number in range(8):
            history += [
                tf.Message("assistant", "Next.", tf.Call(f"c{number}", "read", {"n": number})),
                tf.Message("tool", tf.Result(f"c{number}", "word " * 200)),
            ]
        fitted = tf.fit(history, tf.Policy(budget=1500, clear_tool_inputs=True))
        assert fitted.step == "results"
        changed = [m for m, old in zip(fitted.messages, history, strict=True) if m is not old]
        assert {m.role for m in changed} <= {"tool", "assistant"}
        noted = [tf.Message("tool", tf.Result(f"c{n}", tf.Notes().cleared)) for n in range(8)]
        assert all(message in noted for message in changed if message.role == "tool")
        assert history[2] == tf.Message("tool", tf.Result("c0", "word " * 200))
        assert tf.check(fitted.messages) == []

    def test_media_keep_their_price(self) -> None:
        picture = tf.Media("image/png", b"\x89PNG")
        assert tf.Message("user", picture).tokens == MEDIUM + FRAME
        result = tf.Result("c1", (tf.Text("see"), picture))
        assert tf.Message("tool", result).tokens == MEDIUM + FRAME + 2

    def test_a_message_that_was_read_can_be_pickled_and_copied(self) -> None:
        message = tf.Message(
            "tool", tf.Result("c1", (tf.Text("see"), tf.Media("image/png", "url")))
        )
        assert message.tokens == MEDIUM + FRAME + 2
        assert pickle.loads(pickle.dumps(message)) == copy.deepcopy(message) == message

    @pytest.mark.parametrize("content", [None, 7, (7,), (tf.Call("c", "read", {}),)])
    def test_a_result_holds_texts_and_media_only(self, content: Any) -> None:
        with pytest.raises(TypeError, match="a result"):
            tf.Message("tool", tf.Result("c1", content))

    @pytest.mark.parametrize("bad", [7, None, {"type": "text"}])
    def test_what_is_no_part_is_a_type_error(self, bad: Any) -> None:
        with pytest.raises(TypeError, match="parts must be"):
            tf.Message("user", bad)

    def test_an_unknown_role_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="role must be"):
            tf.Message("robot", "hi")  # type: ignore[arg-type]
