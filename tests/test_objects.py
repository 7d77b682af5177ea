"""Messages as the SDKs hand them out: objects, or dicts that hold objects."""

from __future__ import annotations

import copy
import io
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

import pytest
import turnfit as tf
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Case, cases
from test_fit import MANY, policy_of
from turnfit import _core

NOT_OBJECTS = ("langchain", "turnfit")
"""Their messages are objects of their own."""


class Sent:
    """What an SDK hands out: an object that knows what it is sent as."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def model_dump(self, *, by_alias: bool, exclude_none: bool) -> dict[str, Any]:
        assert by_alias
        assert exclude_none
        return self.fields


Way: TypeAlias = Literal["object", "dict with objects", "mapping with objects"]


def wrapped(message: Any, way: Way) -> Any:
    """The message as an object, or as a dict, or one of a class of its own, with objects in it."""
    if way == "object":
        return Sent(message)
    for key in ("content", "parts", "tool_calls"):
        if isinstance(message.get(key), list):
            things = [Sent(part) if isinstance(part, dict) else part for part in message[key]]
            message = {**message, key: things}
    return message if way == "dict with objects" else OrderedDict(message)


@st.composite
def with_objects(draw: st.DrawFn) -> tuple[Case, list[Any]]:
    case = draw(cases())
    assume(case.format not in NOT_OBJECTS)
    ways = st.lists(
        st.sampled_from([None, *get_args(Way)]),
        min_size=len(case.messages),
        max_size=len(case.messages),
    )
    pairs = zip(case.messages, draw(ways), strict=True)
    return case, [message if way is None else wrapped(message, way) for message, way in pairs]


def plain(messages: list[Any]) -> list[Any]:
    return [_core.plain(message) for message in messages]


@MANY
@given(with_objects())
def test_a_history_of_objects_is_fitted_as_what_they_are_sent_as(
    drawn: tuple[Case, list[Any]],
) -> None:
    case, messages = drawn
    for policy in (policy_of(case), stripping(case)):
        are_fitted_alike(case, messages, policy)


def stripping(case: Case) -> tf.Policy:
    return replace(policy_of(case), model="claude-opus-5-5", profile="script", reasoning="strip")


def are_fitted_alike(case: Case, messages: list[Any], policy: tf.Policy) -> None:
    beside = {"system": case.system, "tools": case.tools, "format": case.format}
    want = tf.fit(case.messages, policy, **beside)
    got = tf.fit(messages, policy, **beside)
    assert got.as_dict() == want.as_dict()
    assert got.cleared == want.cleared
    assert plain(got.messages) == want.messages
    assert got.problems == want.problems
    conversation = tf.Conversation(policy, **beside)
    conversation.extend(messages)
    assert plain(conversation.fit().messages) == want.messages
    assert plain(tf.mark_cache(got)) == tf.mark_cache(want)


@MANY
@given(with_objects(), st.booleans())
def test_conversations_of_objects_are_saved_as_what_they_are_sent_as(
    drawn: tuple[Case, list[Any]], costs: bool
) -> None:
    case, messages = drawn
    beside = {"system": case.system, "tools": case.tools, "format": case.format}
    conversation = tf.Conversation(stripping(case), **beside)
    conversation.extend(messages)
    file = io.BytesIO()
    conversation.save(file, costs=costs)
    file.seek(0)
    loaded = tf.Conversation.load(file)
    assert loaded.history == [listed(message) for message in case.messages]
    assert loaded.tokens == conversation.tokens
    assert loaded.fit().as_dict() == conversation.fit().as_dict()


def listed(value: Any) -> Any:
    """Tuples are lists in JSON."""
    if isinstance(value, dict):
        return {key: listed(item) for key, item in value.items()}
    return [listed(item) for item in value] if isinstance(value, list | tuple) else value


@MANY
@given(with_objects())
def test_their_reasoning_goes_where_all_before_is_stale(drawn: tuple[Case, list[Any]]) -> None:
    """However the request is made: as it is, repaired, or without what was broken off."""
    case, messages = drawn
    fitted = []
    for history in (messages, case.messages):
        conversation = tf.Conversation(stripping(case), tools=case.tools, format=case.format)
        conversation.extend(history)
        conversation.policy = stripping(case)
        conversation.extend(history[:9])
        fitted.append([conversation.fit(), conversation.fit(repair=True)])
    for got, want in zip(*fitted, strict=True):
        assert plain(got.messages) == want.messages
        assert got.stale_reasoning == want.stale_reasoning


@MANY
@given(with_objects())
def test_objects_that_nothing_changes_are_handed_on(drawn: tuple[Case, list[Any]]) -> None:
    case, messages = drawn
    assume(case.format != "bedrock-converse")
    got = tf.fit(
        messages, policy_of(case), tools=case.tools, format=case.format, system=case.system
    )
    own = {id(message) for message in messages}
    copies = [message for message in got.messages if id(message) not in own]
    inputs = len(got.cleared) if case.policy.clear_tool_inputs else 0
    assert len(copies) <= len(got.cleared) + inputs + 1


@MANY
@given(with_objects())
def test_objects_are_repaired_and_checked_as_what_they_are_sent_as(
    drawn: tuple[Case, list[Any]],
) -> None:
    case, messages = drawn
    assert tf.check(messages, format=case.format) == tf.check(case.messages, format=case.format)
    want = tf.fit(case.messages, budget=10**9, format=case.format, repair=True)
    got = tf.fit(messages, budget=10**9, format=case.format, repair=True)
    assert plain(got.messages) == want.messages


def chat_turn() -> list[Any]:
    from openai.types.chat import ChatCompletionMessage

    function = {"name": "read", "arguments": '{"path": "notes.txt"}'}
    call = {"id": "call_1", "type": "function", "function": function}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    return [
        {"role": "user", "content": "Read the notes."},
        ChatCompletionMessage.model_validate(answer),
        {"role": "tool", "tool_call_id": "call_1", "content": "line\n" * 400},
    ]


def responses_turn() -> list[Any]:
    from openai.types.responses import ResponseFunctionToolCall, ResponseReasoningItem

    return [
        {"role": "user", "content": "Read the notes."},
        ResponseReasoningItem(id="rs_1", type="reasoning", summary=[], encrypted_content="b" * 90),
        ResponseFunctionToolCall(
            id="fc_1",
            type="function_call",
            call_id="call_1",
            name="read",
            arguments='{"path": "notes.txt"}',
            status="completed",
        ),
        {"type": "function_call_output", "call_id": "call_1", "output": "line\n" * 400},
    ]


def anthropic_turn() -> list[Any]:
    from anthropic.types import TextBlock, ThinkingBlock, ToolUseBlock

    content = [
        ThinkingBlock(type="thinking", thinking="The notes are a file.", signature="c2ln"),
        TextBlock(type="text", text="I read them.", citations=None),
        ToolUseBlock(type="tool_use", id="call_1", name="read", input={"path": "notes.txt"}),
    ]
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "line\n" * 400}
    return [
        {"role": "user", "content": "Read the notes."},
        {"role": "assistant", "content": content},
        {"role": "user", "content": [result]},
    ]


def gemini_turn() -> list[Any]:
    from google.genai import types

    call = types.FunctionCall(name="read", args={"path": "notes.txt"})
    response = types.Part.from_function_response(name="read", response={"result": "line\n" * 400})
    return [
        types.Content(role="user", parts=[types.Part(text="Read the notes.")]),
        types.Content(
            role="model", parts=[types.Part(function_call=call, thought_signature=b"sig")]
        ),
        types.Content(role="user", parts=[response]),
    ]


TURNS: dict[str, tuple[str, Callable[[], list[Any]]]] = {
    "openai-chat": ("openai", chat_turn),
    "openai-responses": ("openai", responses_turn),
    "anthropic": ("anthropic", anthropic_turn),
    "gemini": ("google.genai", gemini_turn),
}


@pytest.mark.parametrize("format", TURNS)
def test_what_an_sdk_answered_is_appended_as_it_came(format: str) -> None:
    module, turn = TURNS[format]
    pytest.importorskip(module, reason=f"{module} is not installed: the extra `sdks` brings it")
    history = turn() + turn() + turn()
    before = copy.deepcopy(history)
    whole = tf.fit(history, budget=100_000)
    assert all(a is b for a, b in zip(whole.messages, history, strict=True))
    assert whole.tokens == tf.fit(plain(history), budget=100_000).tokens
    fitted = tf.fit(history, tf.Policy(budget=900, clear_batch=1, keep=("results", 1)))
    assert fitted._format.name == format
    assert len(fitted.cleared) == 2
    assert plain(fitted.messages) == tf.fit(plain(history), fitted._frame.policy).messages
    assert history == before
