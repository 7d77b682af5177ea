"""Recognising a wire format, and reading messages by its table."""

from __future__ import annotations

from typing import Any

import pytest
import turnfit as tf

PLAIN = {"role": "user", "content": "hello"}
OPENAI_CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}
    ],
}
ANTHROPIC_CALL = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}],
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
    with pytest.raises(ValueError, match=r"openai-chat, anthropic, turnfit, not 'gpt'"):
        tf.check([PLAIN], format="gpt")


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        (ANTHROPIC_CALL, "'tool_use'|\"tool_use\""),
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


def test_a_message_object_of_an_sdk_is_an_error_that_says_what_to_pass() -> None:
    class ChatCompletionMessage:
        def model_dump(self) -> dict[str, str]:
            return {}

    with pytest.raises(tf.FormatError, match="model_dump"):
        tf.fit([PLAIN, ChatCompletionMessage()], budget=1000)


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
    assert tf.estimate_request([PLAIN], system=blocks) == bare + 3
    assert tf.estimate_request([PLAIN], tools=[tool]) == bare + 12


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

    @pytest.mark.parametrize("bad", [7, None, {"type": "text"}])
    def test_what_is_no_part_is_a_type_error(self, bad: Any) -> None:
        with pytest.raises(TypeError, match="parts must be"):
            tf.Message("user", bad)

    def test_an_unknown_role_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="role must be"):
            tf.Message("robot", "hi")  # type: ignore[arg-type]
