"""Conversations in files: what is saved comes back, and goes on as it would have."""

from __future__ import annotations

import io
import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given
from hypothesis import strategies as st
from support.subagents import opening, rounds
from turnfit.errors import HistoryError
from turnfit.messages.jsonable import from_jsonable, to_jsonable

POLICY = tf.Policy(budget=20_000, profile="o200k_base", no_rerun=("send",))


def grown(policy: tf.Policy = POLICY, count: int = 30, **more: Any) -> tf.Conversation:
    conversation = tf.Conversation(policy, **more)
    conversation.extend(opening(1))
    for _, messages in zip(range(count), rounds(1, (20, 60)), strict=False):
        conversation.extend(messages)
    return conversation


def lines_of(conversation: tf.Conversation, **more: Any) -> list[dict[str, Any]]:
    file = io.StringIO()
    conversation.save(file, **more)
    return [json.loads(line) for line in file.getvalue().splitlines()]


def loaded(lines: list[Any], policy: tf.Policy | None = None, **more: Any) -> tf.Conversation:
    rows = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
    text = "".join(f"{row}\n" for row in rows)
    return tf.Conversation.load(io.StringIO(text), policy, **more)


def test_a_path_a_text_file_and_a_binary_file_hold_the_same(tmp_path: Path) -> None:
    tools = [{"name": "read_file", "input_schema": {"type": "object"}}]
    conversation = grown(system="Be brief.", tools=tools)
    path, text, data = tmp_path / "a.jsonl", io.StringIO(), io.BytesIO()
    for file in (path, text, data):
        conversation.save(file)
    assert path.read_bytes() == data.getvalue() == text.getvalue().encode()
    sources: list[Any] = [
        path,
        str(path),
        io.StringIO(text.getvalue()),
        io.BytesIO(data.getvalue()),
    ]
    for source in sources:
        again = tf.Conversation.load(source)
        assert again.history == conversation.history
        assert again.fit().messages == conversation.fit().messages
        assert again.fit().as_dict() == conversation.fit().as_dict()
        assert again.policy.to_dict() == conversation.policy.to_dict()


def test_the_lines_are_the_messages_and_the_first_pins_the_versions() -> None:
    conversation = grown()
    head, *rows = lines_of(conversation)
    assert rows == conversation.history
    assert (head["rules"], head["notes"], head["profile"]) == (1, 1, "o200k_base@1")
    assert head["policy"] == POLICY.to_dict()
    assert (head["format"], head["messages"]) == ("openai-chat", len(conversation))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"policy": {"budget": 9, "rules": 2}}, "rules: version 2 is unknown"),
        ({"policy": {"budget": 9, "notes": {"version": 4}}}, "notes.version: version 4 is unknown"),
        ({"policy": {"budget": 9, "guidance": 3}}, "guidance: version 3 is unknown"),
        ({"policy": {"budget": 9, "profile": "o200k_base@7"}}, "has no version '7'"),
        ({"layout": 2}, "layout 2 is unknown to this turnfit, which has 1"),
        ({"format": "ours"}, "of the format 'ours', not one of openai-chat"),
        ({"messages": 500}, "500 messages were saved, 62 lines are left"),
        ({"turnfit": "else"}, "holds no saved conversation"),
        ({"policy": {"budget": 9, "bugdet": 1}}, "did you mean 'budget'"),
    ],
)
def test_what_is_not_known_is_refused_by_name(change: dict[str, Any], told: str) -> None:
    head, *rows = lines_of(grown())
    with pytest.raises(HistoryError, match=told):
        loaded([{**head, **change}, *rows])


@pytest.mark.parametrize("text", ["", "5\n", "[]\n", '{"role": "user"}\n', "{\n", '{"turnfit'])
def test_what_is_no_conversation_is_told(text: str) -> None:
    with pytest.raises(HistoryError):
        tf.Conversation.load(io.StringIO(text))


def test_costs_that_belong_are_taken_and_others_are_not() -> None:
    """A figure that was changed in the file shows whether it was used."""
    conversation = grown()
    *lines, costs = lines_of(conversation, costs=True)
    dearer = [costs["costs"][0] + 1_000, *costs["costs"][1:]]
    changed = [*lines, {**costs, "costs": dearer}]
    tokens = conversation.tokens
    assert loaded(changed).tokens == tokens + 1_000
    other = tf.Policy(budget=9_000, profile="gemma3")
    assert loaded(changed, other).tokens == loaded(lines, other).tokens
    scaled = tf.Policy(budget=9_000, profile="o200k_base", scale=2)
    assert loaded(changed, scaled).tokens == 2 * (tokens + 1_000)
    edited = [*lines[:-1], {**lines[-1], "content": "other"}, changed[-1]]
    assert loaded(edited).tokens < tokens
    damage = [
        [],
        [5],
        "x",
        [*dearer[:-1], -1],
        [*dearer[:-1], "a"],
        [9, *dearer],
        dearer[:-1],
        None,
    ]
    for damaged in damage:
        assert loaded([*lines, {**costs, "costs": damaged}]).tokens == tokens
    assert loaded([*lines, costs]).fit().as_dict() == conversation.fit().as_dict()


def test_costs_of_what_a_callable_prices_belong_to_nothing() -> None:
    conversation = grown(tf.Policy(budget=90_000, profile=len))
    lines = lines_of(conversation, costs=True)
    again = loaded(lines, tf.Policy(budget=90_000, profile=lambda text: 1))
    assert again.tokens < conversation.tokens


def test_exact_counts_are_not_counted_again() -> None:
    class Words:
        counted = 0

        def encode_ordinary(self, text: str) -> list[str]:
            Words.counted += 1
            return text.split()

    policy = tf.Policy(budget=90_000, profile=tf.exact(Words(), cache_bytes=0))
    lines = lines_of(grown(policy), costs=True)
    before = Words.counted
    again = loaded(lines, tf.Policy(budget=80_000, profile=tf.exact(Words(), cache_bytes=0)))
    assert Words.counted - before < 20
    assert again.tokens == grown(policy).tokens


def test_a_policy_that_cannot_be_written_is_to_be_given() -> None:
    conversation = grown(tf.Policy(budget=20_000, pinned=lambda message: False))
    lines = lines_of(conversation)
    assert lines[0]["policy"] is None
    with pytest.raises(HistoryError, match=r"without its policy \(pinned is a predicate"):
        loaded(lines)
    assert loaded(lines, conversation.policy).fit().messages == conversation.fit().messages


def test_a_failed_save_leaves_the_file_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    grown(count=3).save(path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        grown(count=9).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (bytearray(b"png"), r"message 1\.content\[0\]\.x is a bytearray, which JSON can't hold"),
        (date(2026, 1, 1), r"message 1\.content\[0\]\.x is a date, which"),
        ({1: "a"}, r"message 1\.content\[0\]\.x has the key 1, but JSON's keys are texts"),
        (float("nan"), r"message 1\.content\[0\]\.x is nan, which"),
    ],
)
def test_what_json_cannot_hold_is_named_with_its_place(
    value: Any, told: str, tmp_path: Path
) -> None:
    block = {"image": {"format": "png", "source": {"bytes": b"png"}}}
    history: list[Any] = [
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "user", "content": [{**block}]},
    ]
    conversation = tf.Conversation(budget=9_000, format="bedrock-converse")
    conversation.extend(history)
    history[1]["content"][0]["x"] = value
    with pytest.raises(ValueError, match=told):
        conversation.save(tmp_path / "a.jsonl")
    assert not list(tmp_path.iterdir())


def test_bytes_come_back_as_bytes_and_as_they_were() -> None:
    history = [
        {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"\0\xff"}}}]},
        {"role": "assistant", "content": [{"text": '{"$bytes": "aGk="}'}]},
        {"role": "user", "content": [{"text": "x", "$object": {"$bytes": b""}}]},
    ]
    conversation = tf.Conversation(budget=9_000, format="bedrock-converse")
    conversation.extend(history)
    assert loaded(lines_of(conversation)).history == history


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats(-9, 9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(["$bytes", "$object"]), inner)
    ),
)


@given(PLAIN)
def test_every_value_comes_back(value: Any) -> None:
    assert from_jsonable(json.loads(json.dumps(to_jsonable(value, "x")))) == value


def test_messages_that_are_objects_come_back() -> None:
    parts = (tf.Text("see"), tf.Media("image/png", b"png"))
    history = [
        tf.Message("user", "go", tf.Media("image/png", "https://a.b/c.png")),
        tf.Message("assistant", tf.Call("c1", "read", {"path": "a"}), tf.Call("c2", "read", "{}")),
        tf.Message("tool", tf.Result("c1", parts, "read", True), tf.Result("c2", "ok")),
    ]
    conversation = tf.Conversation(budget=9_000)
    conversation.extend(history)
    again = loaded(lines_of(conversation, costs=True))
    assert again.history == history
    assert again.tokens == conversation.tokens


def test_a_broken_object_is_told_with_its_line() -> None:
    conversation = tf.Conversation(budget=9_000)
    conversation.append(tf.Message("user", "go"))
    head, _ = lines_of(conversation)
    with pytest.raises(HistoryError, match="the file:2: no message of turnfit"):
        loaded([head, {"role": "user", "parts": [{"type": "odd"}]}])


def test_langchains_messages_come_back() -> None:
    langchain = pytest.importorskip("langchain_core.messages")
    call = {"id": "c1", "name": "read", "args": {"path": "a"}}
    history = [
        langchain.SystemMessage("be brief"),
        langchain.HumanMessage([{"type": "text", "text": "go"}], id="m1"),
        langchain.AIMessage("", tool_calls=[call]),
        langchain.ToolMessage("ok", tool_call_id="c1", artifact=[1]),
        langchain.AIMessageChunk("done"),
    ]
    conversation = tf.Conversation(budget=9_000)
    conversation.extend(history)
    assert loaded(lines_of(conversation, costs=True)).history == history


def test_a_format_of_ones_own_is_to_be_given() -> None:
    said = tf.Shape("plain", {"who": "free", "says": "body"})
    own = tf.Format(
        name="own",
        told_by=("who",),
        roles={"me": ("user", said), "bot": ("assistant", said)},
        note=lambda wording: {"who": "me", "says": wording},
    )
    conversation = tf.Conversation(budget=900, format=own)
    conversation.append({"who": "me", "says": "Go."})
    lines = lines_of(conversation)
    with pytest.raises(HistoryError, match="of the format 'own'"):
        loaded(lines)
    again = loaded(lines, format=own)
    again.append({"who": "bot", "says": "Done."})
    assert again.fit().format == "own"


def test_a_lone_surrogate_comes_back(tmp_path: Path) -> None:
    conversation = tf.Conversation(budget=900)
    conversation.append({"role": "user", "content": "a\ud800b"})
    path = tmp_path / "a.jsonl"
    conversation.save(path)
    assert tf.Conversation.load(path).history == conversation.history
