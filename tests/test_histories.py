"""Histories in files: what is read comes out in the same container; what can't be is told."""

from __future__ import annotations

import importlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turnfit.errors import HistoryError
from turnfit.histories import parse_history
from turnfit.writing import write_file

EXAMPLES = Path(__file__).parent.parent / "examples"
GREETING = {"role": "user", "content": "Привет, 世界 \u2028 🙂"}
ANSWER = {"role": "assistant", "content": "नमस्ते"}


def as_lines(*rows: object) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def test_a_list_stays_a_list() -> None:
    data = json.dumps([GREETING, ANSWER], ensure_ascii=False).encode() + b"\n"
    history = parse_history(data, "h.json")
    assert history.container == "list"
    assert history.to_bytes(history.messages) == data


def test_an_object_keeps_everything_around_its_messages() -> None:
    value = {"model": "m", "system": "Ты — агент.", "messages": [GREETING], "tools": [{"a": 1}]}
    history = parse_history(json.dumps(value).encode(), "h.json")
    assert (history.system, history.tools) == ("Ты — агент.", [{"a": 1}])
    written = json.loads(history.to_bytes([ANSWER]))
    assert written == {**value, "messages": [ANSWER]}
    assert list(written) == list(value)


@pytest.mark.parametrize(
    ("body", "system", "format"),
    [
        (
            {"instructions": "Be brief.", "input": [GREETING], "tools": [{"type": "web_search"}]},
            "Be brief.",
            "openai-responses",
        ),
        (
            {
                "systemInstruction": {"parts": [{"text": "Be brief."}]},
                "contents": [{"role": "user", "parts": [{"text": "Hello!"}]}],
                "tools": [{"functionDeclarations": []}],
            },
            [{"type": "text", "text": "Be brief."}],
            "gemini",
        ),
        (
            {
                "messages": [{"role": "user", "content": [{"text": "Hello!"}]}],
                "system": [{"text": "Be brief."}],
                "inferenceConfig": {"maxTokens": 9},
                "toolConfig": {"tools": [{"toolSpec": {"name": "read"}}]},
            },
            [{"type": "text", "text": "Be brief."}],
            "bedrock-converse",
        ),
    ],
)
def test_every_providers_request_is_a_history(body: Any, system: Any, format: str) -> None:
    history = parse_history(json.dumps(body).encode(), "h.json")
    assert (history.system, history.format) == (system, format)
    assert len(history.tools) == 1
    assert json.loads(history.to_bytes(history.messages)) == body
    assert json.loads(history.to_bytes([]))[history.key] == []


def test_an_input_that_is_a_text_is_one_message() -> None:
    assert parse_history(b'{"input": "Hello!"}', "h.json").messages == [
        {"role": "user", "content": "Hello!"}
    ]


def test_lines_stay_lines() -> None:
    data = as_lines(GREETING, ANSWER)
    history = parse_history(data, "h.jsonl")
    assert history.container == "lines"
    assert history.to_bytes(history.messages) == data


def test_a_single_message_is_a_history_of_one_line() -> None:
    history = parse_history(as_lines(GREETING), "h.jsonl")
    assert (history.container, history.messages) == ("lines", [GREETING])


@pytest.mark.parametrize("indent", [2, 4, "\t"])
def test_indented_json_stays_indented(indent: int | str) -> None:
    data = json.dumps([GREETING], ensure_ascii=False, indent=indent).encode() + b"\n"
    history = parse_history(data, "h.json")
    assert history.to_bytes(history.messages) == data


def test_blank_lines_windows_line_ends_and_a_byte_order_mark_do_no_harm() -> None:
    data = b"\xef\xbb\xbf" + as_lines(GREETING).replace(b"\n", b"\r\n\r\n") + as_lines(ANSWER)
    assert parse_history(data, "h.jsonl").messages == [GREETING, ANSWER]


def test_a_lone_surrogate_passes_through_as_an_escape() -> None:
    data = rb'[{"role": "user", "content": "a\ud83d \u00e9 \\ud83d"}]' + b"\n"
    history = parse_history(data, "h.json")
    written = history.to_bytes(history.messages)
    assert written == data.replace(rb"\u00e9", "é".encode())
    assert json.loads(written) == history.messages


@given(st.text(st.characters(exclude_categories=())))
def test_every_text_comes_back(text: str) -> None:
    message = {"role": "user", "content": text}
    history = parse_history(json.dumps([message]).encode(), "h.json")
    assert json.loads(history.to_bytes(history.messages)) == [message]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'[{"role": "user",\n "content" "x"}]', "h:2:12: broken JSON: Expecting ':' delimiter"),
        (b'{"role": "user"}\n\n{"role": "us', "h:3:10: broken JSON: Unterminated string"),
        (b'{"role": "us\n{"role": "user"}', "h:1:13: broken JSON: Invalid control character"),
        (b'[{"role": "user",\n"content": "\xe9"}]', "h:2: not UTF-8: byte 0xe9 at offset 30"),
        (b"[" * 200_000, "h:1: the JSON is nested too deeply"),
        (b'[{"role": "user", "content": %s}]' % (b"1" * 5000), "h:1: Exceeds the limit"),
        (b" \n", "h: the file is empty"),
        (b"42", "h: holds a number; wanted is a list of messages"),
        (b'{"samples": []}', 'h: holds an object with "samples"; wanted is'),
        (b'{"messages": {}}', 'h: "messages" holds {}, not a list'),
        (b'{"messages": [], "tools": {"a": 1}}', 'h: "tools" holds an object with "a", not a list'),
        (b'{"messages": [], "system": 5}', 'h: "system" holds a number, not a text'),
        (
            as_lines({"id": 0, "messages": [GREETING]}, {"id": 1, "messages": []}),
            'h: line 1 is a whole history (an object with "id", "messages"); wanted is one history',
        ),
        (
            as_lines({"type": "summary"}, {"type": "user", "message": GREETING}),
            'h: line 2 has its message wrapped (an object with "type", "message")',
        ),
        (b'[{"role": "user"}, {"id": 0}]', 'h: message 1 is no message (an object with "id")'),
    ],
)
def test_what_is_no_history_is_told_with_its_place(data: bytes, told: str) -> None:
    with pytest.raises(HistoryError) as caught:
        parse_history(data, "h")
    assert str(caught.value).startswith(told)


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "h.json"
    file.write_bytes(b"old")
    file.chmod(0o640)
    write_file(str(file), b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "h.json", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to(file)
    write_file(str(link), b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_file(os.devnull, b"gone")
    assert not Path(os.devnull).is_file()


def test_a_failed_write_names_the_file_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "h.json"
    file.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_file(str(file), b"new")
    assert caught.value.filename == str(file)
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_the_example_is_what_its_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    script = importlib.import_module("make_history")
    made = script.as_json(script.make_history())
    assert (EXAMPLES / "subagent.json").read_text("utf-8") == made


def test_the_example_has_one_user_message_and_many_tools() -> None:
    messages = parse_history((EXAMPLES / "subagent.json").read_bytes(), "example").messages
    roles = [message["role"] for message in messages]
    assert roles[:2] == ["system", "user"]
    assert roles.count("user") == 1
    calls = [call for message in messages for call in message.get("tool_calls", ())]
    tools = {call["function"]["name"] for call in calls}
    assert {"read_file", "write_file", "update_glossary"} <= tools
    assert len(calls) > 50
