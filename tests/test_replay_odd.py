"""What is odd in a file of recordings is told with its name, and stops no other file."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from hypothesis import assume, given
from hypothesis import strategies as st
from support.messages import blocks, use, used, user
from test_fit import MANY
from test_replay_recordings import HISTORY, called, row
from turnfit.errors import HistoryError, TurnfitError
from turnfit.replay import Recording, read_recordings, replay, replay_files
from turnfit.replay.many import replay_all

CHAT_CALL = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
FLAT_CALL = {"id": "c", "function": "f", "arguments": {"a": 1}}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "s"}
RESULT = {**called("a", "r"), "observation": "run", "content": "x", "extras": {"metadata": {}}}
CALLED: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": "", "tool_calls": [CHAT_CALL]},
    {"role": "tool", "content": "file", "tool_call_id": "c"},
    {"role": "assistant", "content": "done"},
]
BODY = {
    "model": "claude-opus-5",
    "system": [{"type": "text", "text": "Be brief."}],
    "tools": [{"name": "f", "input_schema": {"type": "object"}}],
    "messages": [user("go"), blocks("assistant", THINKING, use("t")), blocks("user", used("t"))],
}
FAMILIES: dict[str, list[Any]] = {
    "messages": [CALLED],
    "lines": CALLED,
    "anthropic": [BODY],
    "gemini": [{"contents": [{"role": "user", "parts": [{"text": "go"}]}]}],
    "claude code": [
        row("user", "go", 1),
        row("assistant", [THINKING, use("t")], 2, id="m"),
        row("assistant", [use("u")], 2, id="m"),
        row("user", [used("t"), used("u")], 3, isSidechain=False, agentId="a"),
    ],
    "openhands": [
        [
            {"action": "system", "args": {"content": "You are an agent.", "tools": [{"a": 1}]}},
            {"action": "message", "source": "user", "args": {"content": "go"}},
            {key: value for key, value in called("a", "r").items() if key != "observation"},
            {key: value for key, value in RESULT.items() if key not in ("action", "args")},
        ]
    ],
    "swe-agent": [
        {
            "history": [*CALLED[:2], {"role": "tool", "content": "x", "tool_call_ids": ["c"]}],
            "replay_config": {"agent": {"model": {"name": "gpt-4o"}}},
        }
    ],
    "inspect": [
        {
            "eval": {"model": "openai/gpt-4o"},
            "samples": [
                {"messages": [*HISTORY, {**CALLED[1], "tool_calls": [FLAT_CALL]}, CALLED[2]]},
                {"messages": [{**CALLED[2], "content": "", "error": {"message": "late"}}]},
            ],
        }
    ],
    "tau-bench": [{"task_id": 3, "messages": HISTORY}, {"task_id": 4, "traj": CALLED}],
    "agentbench": [{"one": ["a room", "go", "shelf"], "two": HISTORY}],
    "pairs": [
        {"model": "gpt-5.1", "request": {"messages": CALLED[:1]}, "usage": {}},
        {"model": "gpt-5.1", "request": json.dumps({"messages": CALLED})},
    ],
}
ODD: st.SearchStrategy[Any] = st.sampled_from(
    (None, True, 0, -1, 5, 1e400, "", "x", "null", "[]", [], [None], ["x"], [[]], {}, {"type": []})
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values within a value."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else ()
    for key, one in enumerate(value) if isinstance(value, list) else inner:
        yield from places(one, (*path, key))


@st.composite
def spoilt(draw: st.DrawFn, family: str) -> bytes:
    """A valid file with one of its values put away, or an odd one in its place."""
    rows = copy.deepcopy(FAMILIES[family])
    *way, last = draw(st.sampled_from(list(places(rows))))
    holder: Any = rows
    for key in way:
        holder = holder[key]
    if draw(st.integers(0, 4)):
        holder[last] = draw(ODD)
    else:
        del holder[last]
    return "\n".join(map(json.dumps, rows)).encode()


def read_or_refused(data: bytes) -> tuple[list[Recording], str | None]:
    try:
        return read_recordings(data, "odd.json"), None
    except HistoryError as error:
        return [], str(error)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_files_that_are_to_be_spoilt_are_read(family: str) -> None:
    data = "\n".join(map(json.dumps, FAMILIES[family])).encode()
    assert [replay(one, 5_000).policies for one in read_recordings(data, "x")]


@pytest.mark.parametrize("family", FAMILIES)
@MANY
@given(st.data())
def test_a_spoilt_file_is_replayed_or_told_by_its_name(family: str, data: st.DataObject) -> None:
    drawn = data.draw(spoilt(family))
    found, refusal = read_or_refused(drawn)
    assert refusal is None or refusal.startswith("odd.json")
    assert all(isinstance(one.model, str | None) for one in found)
    got = replay_all("odd.json", found, budget=5_000)
    assert len(got.replays) + len(got.errors) == len(found)
    assert all(one.startswith("odd.json") for one in got.errors)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('[{"action": "message", "source": "user"}]', "OpenHands' events: there is no 'args'"),
        ('{"history": [{"role": "tool", "content": "x", "tool_call_ids": true}]}', "SWE-agent's"),
        (
            '{"samples": [{"messages": [{"role": "assistant", "content": "", "tool_calls": '
            '[{"function": "bash", "arguments": {}}]}]}]}',
            "Inspect's log: there is no 'id'",
        ),
        ('{"d": [{"role": [], "content": "x"}]}', "AgentBench's"),
        ('{"request": "null"}', "holds no history"),
    ],
)
def test_what_is_malformed_is_told_with_file_and_kind(line: str, told: str) -> None:
    with pytest.raises(HistoryError) as raised:
        read_recordings(line.encode(), "b.json")
    assert str(raised.value).startswith("b.json")
    assert told in str(raised.value)


@pytest.mark.parametrize(
    "line",
    [
        '{"eval": {"model": ["x"]}, "samples": [{"messages": [{"role": "user", "content": "x"}]}]}',
        '{"type": "assistant", "message": {"role": "assistant", "content": "x", "model": 5}}',
    ],
)
def test_a_model_that_is_no_text_is_none(line: str) -> None:
    assert [one.model for one in read_recordings(line.encode(), "x")] == [None]


def test_one_malformed_file_stops_no_other(tmp_path: Path) -> None:
    texts = ('[{"action": "message", "source": "user"}]', json.dumps(HISTORY))
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, "utf-8")
    first, second = replay_files(paths, 5_000)
    assert [len(one.errors) for one in (first, second)] == [1, 0]
    assert [len(one.replays) for one in (first, second)] == [0, 1]


# --- messages that are odd, and sent all the same -----------------------------------------------

CONTENTS: tuple[Any, ...] = (
    True,
    5,
    0.5,
    float("nan"),
    None,
    "",
    [],
    [{"type": [], "text": "x"}],
    [5],
    ["x"],
    ...,
)


@MANY
@given(st.lists(st.sampled_from(CONTENTS), min_size=1, max_size=6), st.booleans())
def test_what_can_be_fitted_can_be_replayed(contents: list[Any], thinks: bool) -> None:
    history = [user("go"), blocks("assistant", *([THINKING] if thinks else []), use("t"))]
    for number, content in enumerate(contents):
        said = {} if content is ... else {"content": content}
        history.append({"role": ("user", "assistant")[number % 2], **said})
    try:
        tf.fit(history, budget=1_000)
    except TurnfitError:
        assume(False)
    assert replay(Recording(name="w", messages=history), 1_000)["default"].requests


@pytest.mark.parametrize("depth", [900, 10_000, 100_000])
def test_what_is_nested_too_deeply_is_told_with_its_name(depth: int) -> None:
    deep: Any = "x"
    for _ in range(depth):
        deep = [deep]
    works = [
        Recording(name="deep", messages=[{"role": "user", "content": [{"type": "x", "x": deep}]}]),
        Recording(name="flat", messages=HISTORY),
    ]
    got = replay_all("file", works, budget=1_000)
    [told] = got.errors
    assert told.startswith("deep: ")
    assert "nest" in told
    assert [one.name for one in got.replays] == ["flat"]


# --- files that only look like recordings -------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# A tool\n\n#### How to\n\nRun it.\n\n> A note.\n",
        "# A tool\n\n#### Tokens\n\n> Tokens: what is counted.\n",
        '{"files": ["dist", "src"]}',
        '{"keywords": ["one of them"]}',
        '{"scripts": ["npm test", "npm run build"], "version": "1.0"}',
    ],
)
def test_a_folders_other_files_are_no_histories(text: str) -> None:
    with pytest.raises(HistoryError):
        read_recordings(text.encode(), "README.md")


@pytest.mark.parametrize(
    "text",
    [
        "\n# aider chat started at 2026-01-01 10:00:00\n\n> aider v1\n\n#### fix it\n\nDone.\n",
        "#### fix it\n\nDone.\n\n> Tokens: 4,374 sent, 476 received. Cost: $0.02 request.\n",
        "> Tokens: 12k sent, 1.2k received.\n\n#### fix it\n\nDone.\n",
    ],
)
def test_aiders_history_is_known_by_what_only_aider_writes(text: str) -> None:
    [one] = read_recordings(text.encode(), "chat.md")
    assert {"user", "assistant"} == {message["role"] for message in one.messages}
