"""Files of public agents are read as what their models were sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given
from hypothesis import strategies as st
from strategies import FORMATS, histories
from support.trajectories import FOLDER, needs_corpus
from test_fit import MANY
from turnfit.compaction.presets import AIDER, CLAUDE_CODE, OPENHANDS, SWE_AGENT
from turnfit.errors import HistoryError
from turnfit.messages.formats import format_of
from turnfit.messages.jsonable import to_jsonable
from turnfit.replay import Recording, read_recordings

Message = dict[str, Any]


def read(value: Any, name: str = "file.json") -> list[Recording]:
    return read_recordings(json.dumps(value).encode(), name)


def lines(*rows: Any, name: str = "file.jsonl") -> list[Recording]:
    return read_recordings("\n".join(map(json.dumps, rows)).encode(), name)


HISTORY: list[Message] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": "done"},
]


def test_plain_histories_are_read_as_the_other_commands_read_them() -> None:
    assert [one.messages for one in read(HISTORY)] == [HISTORY]
    assert [one.messages for one in lines(*HISTORY)] == [HISTORY]
    body = {"model": "claude-opus-5", "system": "Be brief.", "messages": HISTORY}
    [one] = read(body)
    assert (one.messages, one.system, one.model) == (HISTORY, "Be brief.", "claude-opus-5")
    gemini = {"contents": [{"role": "user", "parts": [{"text": "go"}]}]}
    assert read(gemini)[0].format == "gemini"


def test_a_line_may_hold_a_whole_history() -> None:
    rows = [{"messages": HISTORY}, {"messages": HISTORY[:1]}]
    assert [one.messages for one in lines(*rows)] == [HISTORY, HISTORY[:1]]
    assert [one.name for one in lines(*rows)] == ["file.jsonl[0]", "file.jsonl[1]"]
    assert [one.messages for one in read(rows)] == [HISTORY, HISTORY[:1]]


def test_a_saved_conversation_is_read_with_what_stands_beside_it(tmp_path: Path) -> None:
    for pinned in ((), lambda message: False):
        policy = tf.Policy(budget=1000, model="gpt-5.1", pinned=pinned)
        conversation = tf.Conversation(policy, system="Be brief.", tools=[{"name": "f"}])
        conversation.extend(HISTORY)
        conversation.save(tmp_path / "work.jsonl")
        [one] = read_recordings((tmp_path / "work.jsonl").read_bytes(), "work.jsonl")
        assert (one.name, one.messages) == ("work.jsonl", HISTORY)
        assert (one.system, one.tools) == ("Be brief.", [{"name": "f"}])
        assert one.model == (None if pinned else "gpt-5.1")


# --- Claude Code --------------------------------------------------------------------------------


def row(kind: str, content: Any, second: int, **more: Any) -> Message:
    id_ = {"id": more.pop("id")} if "id" in more else {}
    model = {"model": "claude-opus-5", "usage": {"input_tokens": 9}} if kind == "assistant" else {}
    message = {"role": kind, "content": content, **id_, **model}
    time = f"2026-01-01T00:00:{second:02}Z"
    return {"type": kind, "timestamp": time, "message": message, **more}


def test_an_answer_in_several_lines_is_one_message_and_its_usage_is_not_sent() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    text = {"type": "text", "text": "I look."}
    [one] = lines(
        {"type": "summary", "summary": "about", "leafUuid": "u"},
        row("user", "go", 1),
        row("assistant", [text], 2, id="m"),
        row("assistant", [call], 3, id="m"),
        row("user", [result], 4),
        {"type": "system", "content": "hook", "timestamp": "2026-01-01T00:00:05Z"},
    )
    assert one.messages == [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [text, call]},
        {"role": "user", "content": [result]},
    ]
    assert one.times is not None
    first = one.times[0]
    assert first is not None
    assert [time - first for time in one.times if time is not None] == [0, 1, 3]
    assert (one.model, one.format, one.effects) == ("claude-opus-5", "anthropic", CLAUDE_CODE)


def test_a_subagents_lines_in_the_same_file_are_a_history_of_their_own() -> None:
    found = lines(
        row("user", "go", 1),
        row("user", "search", 2, isSidechain=True, agentId="a"),
        row("assistant", [{"type": "text", "text": "ok"}], 3, id="m"),
        row("assistant", [{"type": "text", "text": "found"}], 4, isSidechain=True, agentId="a"),
    )
    assert [[message["role"] for message in one.messages] for one in found] == [
        ["user", "assistant"],
        ["user", "assistant"],
    ]
    assert found[1].messages[0]["content"] == "search"


# --- OpenHands, SWE-agent, Inspect --------------------------------------------------------------


def called(id_: str, response: str) -> Message:
    function = {"name": "execute_bash", "arguments": '{"command": "ls"}'}
    message = {"tool_calls": [{"id": id_, "type": "function", "function": function}]}
    answer = {"id": response, "model": "claude-opus-5", "choices": [{"message": message}]}
    told = {"tool_call_id": id_, "function_name": "execute_bash", "model_response": answer}
    return {"action": "run", "args": {"thought": "I look."}, "tool_call_metadata": told}


def test_openhands_events_become_messages_and_calls_of_one_answer_are_one() -> None:
    first, second = called("a", "r"), called("b", "r")
    observed = {
        "observation": "run",
        "content": "file",
        "extras": {"metadata": {"exit_code": 0}},
        "tool_call_metadata": first["tool_call_metadata"],
    }
    events = [
        {"action": "system", "args": {"content": "You are an agent.", "tools": [{"a": 1}]}},
        {"action": "message", "source": "user", "args": {"content": "go"}},
        {"observation": "agent_state_changed", "content": ""},
        first,
        second,
        observed,
    ]
    for one in (*read(events), *read({"instance_id": "i", "history": events})):
        user, answer, result = one.messages
        assert user == {"role": "user", "content": "go"}
        assert [call["id"] for call in answer["tool_calls"]] == ["a", "b"]
        assert answer["tool_calls"][0]["function"]["arguments"] == '{"command": "ls"}'
        assert result["content"] == "file\n[The command completed with exit code 0.]"
        assert (one.system, one.tools) == ("You are an agent.", [{"a": 1}])
        assert (one.model, one.effects) == ("claude-opus-5", OPENHANDS)


def test_swe_agents_notes_for_itself_are_not_sent() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    history = [
        {"role": "system", "content": "s", "agent": "main", "message_type": "system_prompt"},
        {"role": "assistant", "content": "t", "thought": "t", "action": "ls", "tool_calls": [call]},
        {"role": "tool", "content": "file", "tool_call_ids": ["c"]},
    ]
    config = {"agent": {"model": {"name": "gpt-4o"}}}
    [one] = read({"trajectory": [], "history": history, "replay_config": config})
    assert one.messages == [
        {"role": "system", "content": "s"},
        {"role": "assistant", "content": "t", "tool_calls": [call]},
        {"role": "tool", "content": "file", "tool_call_id": "c"},
    ]
    assert (one.model, one.effects) == ("gpt-4o", SWE_AGENT)


def test_inspects_flat_calls_are_nested_and_a_tools_error_is_its_content() -> None:
    messages = [
        {"role": "user", "content": "go", "id": "1", "source": "input"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c", "function": "f", "arguments": {"a": 1}}],
        },
        {
            "role": "tool",
            "content": "",
            "tool_call_id": "c",
            "error": {"type": "timeout", "message": "late"},
        },
    ]
    log = {"eval": {"model": "openai/gpt-4o"}, "samples": [{"messages": messages}] * 2}
    first, second = read(log)
    assert first.messages == second.messages
    assert first.messages[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": '{"a": 1}'}
    assert first.messages[2] == {"role": "tool", "content": "late", "tool_call_id": "c"}
    assert (first.model, first.name) == ("openai/gpt-4o", "file.json[0]")


# --- others -------------------------------------------------------------------------------------


def test_tau_benchs_results_are_histories_by_either_key() -> None:
    rows = [{"task_id": 3, "reward": 1, "messages": HISTORY}, {"task_id": 4, "traj": HISTORY}]
    assert [one.messages for one in read(rows)] == [HISTORY, HISTORY]
    assert [one.messages for one in lines(*rows)] == [HISTORY, HISTORY]


def test_agentbenchs_texts_are_spoken_by_turns() -> None:
    first, second = read({"one": ["a room", "go", "shelf"], "two": HISTORY})
    roles = [message["role"] for message in first.messages]
    assert roles == ["user", "assistant", "user"]
    assert second.messages == HISTORY


def test_aiders_log_is_told_apart_by_its_marks() -> None:
    text = "#### fix it\n> Tokens: 3k\n\nHere:\n\n```python\n#### no user\n```\n"
    [one] = read_recordings(text.encode(), "chat.md")
    assert [message["role"] for message in one.messages] == ["user", "assistant"]
    assert "#### no user" in one.messages[1]["content"]
    assert one.effects is AIDER


def test_requests_that_go_on_are_one_history_and_others_their_own() -> None:
    marked = [{**HISTORY[0], "cache_control": {"type": "ephemeral"}}, *HISTORY[1:]]
    longer = [*HISTORY, {"role": "user", "content": "more"}]
    rows = [
        {"model": "gpt-5.1", "request": {"messages": marked[:1]}, "usage": {}},
        {"model": "gpt-5.1", "request": json.dumps({"messages": longer})},
        {"model": "gpt-5.1", "request": {"input": ["embed"], "model": "e"}} | {"request": {"q": 1}},
        {"model": "gpt-4o", "request": {"messages": HISTORY}},
    ]
    found = lines(*rows)
    assert [(one.model, one.messages) for one in found] == [
        ("gpt-5.1", longer),
        ("gpt-4o", HISTORY),
    ]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "x: holds no history"),
        (b"{}", "wanted is a list of messages"),
        (b'{"id": "a", "question": [[]]}', 'x: a task (an object with "id", "question")'),
        (b'{"a": 1}\n{"a": 2}', 'x: line 1: holds an object with "a"'),
        (b'{"messages": []}\n{"messages":', "x:2:13: broken JSON"),
        (b"\xff", "x:1: not UTF-8"),
    ],
)
def test_what_holds_no_history_is_told_with_its_place(data: bytes, told: str) -> None:
    with pytest.raises(HistoryError) as raised:
        read_recordings(data, "x")
    assert told in str(raised.value)


@needs_corpus
def test_a_benchmarks_tasks_are_told_from_histories() -> None:
    path = next(FOLDER.glob("bfcl-*"))
    with pytest.raises(HistoryError, match=r"a task .* not the history of an agent's work"):
        read_recordings(path.read_bytes(), path.name)


@needs_corpus
def test_every_other_file_of_the_corpus_is_read_and_nothing_of_it_is_odd() -> None:
    for path in sorted(FOLDER.glob("*")):
        if path.name.startswith("bfcl-"):
            continue
        for one in read_recordings(path.read_bytes(), path.name):
            assert one.times is None or len(one.times) == len(one.messages)
            tf.estimate_request(one.messages, format=one.format)


JSON_FORMATS = [name for name in FORMATS if name != "langchain"]


@pytest.mark.parametrize("format", JSON_FORMATS)
@MANY
@given(data=st.data())
def test_a_history_in_a_wire_format_comes_back_as_it_is(format: Any, data: st.DataObject) -> None:
    messages = to_jsonable(data.draw(histories(format)), "messages")
    if not messages:
        return
    found = read(messages)
    assert [message for one in found for message in one.messages] == messages
    assert format_of(messages, format).name == format
