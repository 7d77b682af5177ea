"""What went wrong in other tools' counting, each report for its whole kind.

The docstrings bear the rows' ids in ``field-reports.tsv``. Where a row and the specs of
fitting disagree, the spec wins and the test says so.
"""

from __future__ import annotations

import sys
import threading
import time
from itertools import pairwise
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from reference import Format
from strategies import FORMATS, histories
from support.messages import Message, calls, result, rules, user

# --- count --------------------------------------------------------------------------------------


def test_one_estimator_prices_every_path() -> None:
    """B051"""
    text = "漢" * 160
    paths = [
        tf.estimate(text),
        tf.estimate_message(result("", text)) - tf.estimate_message(result("", "")),
        tf.estimate_request([], system=text) - tf.estimate_request([]),
        tf.estimate_message(calls("c", arguments=text))
        - tf.estimate_message(calls("c", arguments="")),
    ]
    assert paths == [160] * 4


def test_a_script_that_is_not_listed_falls_into_the_dense_class() -> None:
    """B055"""
    for text in ("नमस्ते", "😀😀😀😀", "ⵣⵣⵣⵣ", "ሰላም ሰላም"):
        assert tf.estimate(text) >= len(text.replace(" ", "")) / 2


def test_a_picture_in_a_side_list_is_no_text() -> None:
    """B063"""
    url = "data:image/png;base64," + "A" * 4_000_000
    assert tf.estimate_message({**user("see"), "files": [url]}) < 2_000


def test_a_pasted_picture_fits_and_the_only_user_message_stays() -> None:
    """B064"""
    picture = {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64," + "A" * 1_500_000},
    }
    history = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]
    assert tf.fit(history, budget=8_000).step == "whole"
    assert tf.fit(history, budget=10).messages == history


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file", "file": {"file_id": "f"}},
        {"type": "input_audio", "input_audio": {"data": "A", "format": "wav"}},
        {"type": "document", "title": "t"},
        {"type": "made_up", "x": 1},
    ],
)
def test_every_part_costs_something_and_none_raises(part: Message) -> None:
    """B069"""
    assert tf.estimate_message({"role": "user", "content": [part]}) > 3


def test_no_content_costs_nothing_and_calls_their_texts() -> None:
    """B070"""
    assert tf.estimate_message(calls("c1")) == 3 + 1 + 1 + 1
    assert tf.estimate_message(result("c1", [])) == tf.estimate_message(result("c1", None)) == 4


def test_the_texts_of_a_content_add_up() -> None:
    """B072"""
    parts = [{"type": "text", "text": "a" * 1_000}, {"type": "text", "text": "b" * 10}]
    assert tf.estimate_message({"role": "user", "content": parts}) == 3 + 250 + 3


@pytest.mark.parametrize("format_", FORMATS)
def test_a_message_more_costs_what_it_costs_alone(format_: Format) -> None:
    """B073; what the provider has replaced costs nothing any more, as the spec has it."""

    @settings(max_examples=40, deadline=None, database=None)
    @given(histories(format_))
    def check(history: list[Any]) -> None:
        if "compaction" in str(history):
            return
        costs = [tf.estimate_request(history[:n], format=format_) for n in range(len(history) + 1)]
        alone = [tf.estimate_message(message, format=format_) for message in history]
        assert [after - before for before, after in pairwise(costs)] == alone
        assert all(cost > 0 for cost in alone)

    check()


def test_raw_calls_of_langchain_count_once() -> None:
    """B075"""
    raw = calls("c1", arguments='{"path": "a.txt"}')["tool_calls"]
    plain = {"role": "assistant", "content": "", "tool_calls": raw}
    hidden = {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": raw}}
    both = {**plain, "additional_kwargs": {"tool_calls": raw}}
    costs = {tf.estimate_message(m, format="openai-chat") for m in (plain, hidden, both)}
    assert len(costs) == 1
    assert rules([user(), hidden, result("c1", "ok")]) == []


# --- perf ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["a", "^", " ", "-", "я", "😀", "\ud800"])
def test_ten_million_equal_characters_are_read_without_recursion(unit: str) -> None:
    """B145, B146"""
    one = tf.estimate(unit * 1_000)
    assert tf.estimate(unit * 10_000_000) == one * 10_000


def test_a_conversation_reads_only_what_is_appended() -> None:
    """B148"""
    conversation = tf.Conversation(budget=10_000)
    first = user("a" * 400)
    conversation.append(first)
    before = conversation.tokens
    first["content"] = "b" * 4_000
    conversation.append(user("c" * 400))
    assert conversation.tokens == before + tf.estimate_message(user("c" * 400))


def test_other_threads_run_while_a_long_text_is_read() -> None:
    """B149"""
    text = "я" * 50_000_000
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        assert any(ticked_amid(text, ticks) for _ in range(20))
    finally:
        done.set()
        ticker.join()


def ticked_amid(text: str, ticks: list[float]) -> bool:
    start = time.perf_counter()
    tf.estimate(text)
    end = time.perf_counter()
    quarter = (end - start) / 4
    return any(start + quarter < tick < end - quarter for tick in ticks[-1_000_000:])


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in other units elsewhere")
def test_distinct_texts_leave_nothing_behind() -> None:
    """B150, B151"""
    resource = pytest.importorskip("resource")
    tf.estimate_message(user("x" * 10_000))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for n in range(20_000):
        tf.estimate_message(user(f"{n} " * 2_000))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000, "kilobytes, of 150,000 that were read"


# --- binding ------------------------------------------------------------------------------------

ODD = ("\ud83d", "\udbc0", "\ud83d\udc4d", "a\udcffb")


@pytest.mark.parametrize("odd", ODD, ids=ascii)
def test_every_entry_takes_lone_surrogates_alike(odd: str) -> None:
    """B153, B154"""
    message = calls(odd, name=odd, arguments=odd)
    history = [user(odd), {**message, odd: {odd: odd}}, result(odd, odd * 500), user(odd)] * 3
    fitted = tf.fit(
        history, tf.Policy(budget=300, exclude_tools=(odd,)), system=odd, tools=[{odd: odd}]
    )
    assert fitted.step != "whole"
    assert tf.check(history) == []
    assert tf.estimate(odd) == int(tf.estimate_many([odd])[0])
    assert tf.count_scripts(odd).other >= 1
