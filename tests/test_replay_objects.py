"""Histories of the SDKs' objects are replayed as the plain messages that they are sent as."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import turnfit as tf
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Case, cases
from support.messages import blocks, use, used, user
from test_fit import MANY, policy_of
from turnfit.replay import Fitting, Recording, replay
from turnfit.replay.blocks import Blocks, Parts
from turnfit.replay.track import Track

ARE_OBJECTS = ("langchain",)
"""Their messages are objects of their own."""


class Made:
    """An SDK's object: what it is sent as is made anew each time, as pydantic does it."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def model_dump(self, *, by_alias: bool, exclude_none: bool) -> dict[str, Any]:
        assert by_alias
        assert exclude_none
        return copy.deepcopy(self.fields)


def with_objects(message: dict[str, Any], way: str) -> Any:
    if way == "object":
        return Made(message)
    key = "parts" if "parts" in message else "content"
    if way == "blocks" and isinstance(message.get(key), list):
        made = [Made(one) if isinstance(one, dict) else one for one in message[key]]
        return {**message, key: made}
    return message


WAYS = st.sampled_from(("plain", "object", "blocks"))


def figures(messages: list[Any], case: Case) -> dict[str, Any]:
    beside: dict[str, Any] = {"system": case.system, "tools": case.tools, "format": case.format}
    work = Recording(name="drawn", messages=messages, **beside)
    own = Fitting("own", policy_of(case))
    told = replay(work, policy_of(case).budget, policies=[own]).as_dict()
    for policy in told["policies"]:
        del policy["seconds"]
    return told


@MANY
@given(cases(), st.data())
def test_objects_have_the_figures_of_what_they_are_sent_as(case: Case, data: st.DataObject) -> None:
    assume(case.messages and case.format not in ARE_OBJECTS)
    beside: dict[str, Any] = {"system": case.system, "tools": case.tools, "format": case.format}
    assume(len(Recording(name="drawn", messages=case.messages, **beside).split()) == 1)
    messages = [with_objects(message, data.draw(WAYS)) for message in case.messages]
    assert figures(messages, case) == figures(case.messages, case)


@pytest.mark.parametrize("way", ["plain", "object", "blocks"])
def test_different_blocks_have_different_digests(way: str) -> None:
    history = [user("go")]
    for number in range(40):
        text = {"type": "text", "text": f"look {number}"}
        history.append(blocks("assistant", text, use(f"t{number}")))
        history.append(blocks("user", used(f"t{number}", f"result {number}"), text))
    track = Track.of(Recording(name="w", messages=[with_objects(one, way) for one in history]))
    digests = [block.digest for parts in track.parts for block in parts.blocks]
    # Each text stands twice: once it opens a message, and once it doesn't.
    assert len(digests) == len(set(digests)) == 1 + 4 * 40


def test_turnfits_own_messages_are_replayed() -> None:
    history = []
    for number in range(20):
        history.append(tf.Message("user", f"{number} " + "word " * 100))
        history.append(tf.Message("assistant", f"answer {number}"))
    got = replay(Recording(name="w", messages=history), 1_000, window=2_000)
    assert got["default"].requests == 20
    assert got["default"].finished
    steps = got["nothing"].steps
    assert steps is not None
    assert steps.tokens == [tf.estimate_request(history[:at]) for at in steps.at]


# --- messages that requests merge ---------------------------------------------------------------


def neighbours(rounds: int) -> list[Any]:
    """Bedrock's messages, two of one role behind each other: every request merges them."""
    history: list[Any] = [{"role": "user", "content": [{"text": "go"}]}]
    for number in range(rounds):
        call = {"toolUseId": f"t{number}", "name": "read", "input": {}}
        result = {"toolUseId": f"t{number}", "content": [{"text": "word " * 60}]}
        history += [
            {"role": "assistant", "content": [{"text": f"look {number}"}]},
            {"role": "assistant", "content": [{"toolUse": call}]},
            {"role": "user", "content": [{"toolResult": result}]},
            {"role": "user", "content": [{"text": f"go on {number}"}]},
        ]
    return history


def splits(rounds: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many messages a replay splits into blocks."""
    counted, split = [0], Blocks._split

    def counting(self: Blocks, message: Any, *, is_own: bool) -> Parts:
        counted[0] += 1
        return split(self, message, is_own=is_own)

    with monkeypatch.context() as patch:
        patch.setattr(Blocks, "_split", counting)
        replay(Recording(name="w", messages=neighbours(rounds), format="bedrock-converse"), 10**6)
    return counted[0]


def test_what_every_request_merges_is_split_once(monkeypatch: pytest.MonkeyPatch) -> None:
    once, twice = splits(40, monkeypatch), splits(80, monkeypatch)
    assert twice < 2.5 * once


@MANY
@given(cases())
def test_merged_messages_are_split_as_if_they_had_never_been_seen(case: Case) -> None:
    assume(case.messages)
    beside: dict[str, Any] = {"system": case.system, "tools": case.tools, "format": case.format}
    work = Recording(name="drawn", messages=case.messages, **beside)
    assume(len(work.split()) == 1)
    track = Track.of(work)
    for at in track.requests:
        for message in tf.fit(case.messages[:at], policy_of(case), **beside).messages:
            alone = Blocks(track.format, track.tariff)
            alone.remember(case.messages)
            assert track.blocks.of(message) == alone._split(message, is_own=False)
