"""What went wrong in other tools' counting, each report for its whole kind.

The docstrings bear the rows' ids in ``field-reports.tsv``. Where a row and the specs of
fitting disagree, the spec wins and the test says so.
"""

from __future__ import annotations

import csv
import random
import sys
from base64 import b64encode
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from reference import Format
from strategies import FORMATS, histories
from support.messages import Message, calls, result, rules, user
from support.ticking import others_run_amid
from support.trajectories import CORPUS, needs_corpus
from turnfit.tokens.images import MEDIUM

CALIBRATED = [name for name in tf.profiles() if name != "script"]
TOKENIZERS = [name for name in CALIBRATED if name != "any"]


@cache
def whole_files() -> dict[str, tuple[str, dict[str, str]]]:
    """Each whole text of the corpus, and its true counts by tokenizer."""
    with (CORPUS / "counts.tsv").open(encoding="utf-8", newline="") as lines:
        rows = {row["path"]: row for row in csv.DictReader(lines, delimiter="\t")}
    return {path: ((CORPUS / path).read_bytes().decode(), row) for path, row in rows.items()}


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


def test_code_points_are_counted_not_utf16_units() -> None:
    """B052"""
    emoji, ideographs = tf.count_scripts("😀🎉🚀"), tf.count_scripts("漢字仮名")
    assert (emoji.other, ideographs.cjk) == (3, 4)
    assert tf.estimate("漢字仮名") == 4


@pytest.mark.parametrize("profile", CALIBRATED)
def test_an_emoji_is_two_to_four_tokens(profile: str) -> None:
    """B052; the script's two characters a token are a rule of thumb, profiles are not. Some
    vocabularies hold the commonest whole."""
    assert 5 <= tf.estimate("😀🎉🚀", profile=profile) <= 12


@needs_corpus
@pytest.mark.parametrize("path", ["prose/th-ntrex.txt", "prose/th-udhr.txt"])
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_thai_is_a_script_by_itself(tokenizer: str, path: str) -> None:
    """B054"""
    if path not in whole_files():
        pytest.skip(f"{path} is not in this corpus")
    text, counts = whole_files()[path]
    assert 0.8 <= tf.estimate(text, profile=tokenizer) / int(counts[tokenizer]) <= 1.25


@needs_corpus
@pytest.mark.parametrize(
    "path",
    [
        "tool/base64-random.txt",
        "tool/ids-uuid-hash.txt",
        "tool/ids-sha256sum-files.txt",
        "prose/ru-ntrex.txt",
        "prose/el-ntrex.txt",
        "prose/ar-ntrex.txt",
    ],
)
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_neither_digests_are_too_cheap_nor_alphabets_too_dear(tokenizer: str, path: str) -> None:
    """B057"""
    if path not in whole_files():
        pytest.skip(f"{path} is not in this corpus")
    text, counts = whole_files()[path]
    assert 0.8 <= tf.estimate(text, profile=tokenizer) / int(counts[tokenizer]) <= 1.25


@pytest.mark.parametrize("factor", [0.01, 0.4, 9, 1_000])
def test_a_correction_is_bounded_and_tells_what_it_did(factor: float) -> None:
    """B058"""
    calibration = tf.UsageCalibration()
    for estimated in range(10_000, 100_000, 10_000):
        calibration.observe(estimated, round(estimated * factor))
    assert calibration.rate == (0.5 if factor < 1 else 8)
    assert 1 <= calibration.policy_scale <= 8
    assert f"rate={calibration.rate:.2f}" in repr(calibration)


def test_a_profile_that_is_too_low_is_mended_by_what_was_reported() -> None:
    """B060"""
    history = [user("words " * 2_000) for _ in range(9)]
    calibration = tf.UsageCalibration()
    for length in range(1, 9):
        estimated = tf.estimate_request(history[:length])
        calibration.observe(estimated, round(1.4 * estimated))
    whole = tf.estimate_request(history)
    assert calibration.rate == pytest.approx(1.4, rel=1e-3)
    policy = tf.Policy(budget=whole)
    assert tf.fit(history, policy).step == "whole"
    assert tf.fit(history, replace(policy, scale=calibration.policy_scale)).step != "whole"
    assert tf.fit(history, replace(policy, margin=0.3)).step != "whole"


def test_what_was_read_from_a_cache_fills_the_window_too() -> None:
    """B061"""
    usage = {"input_tokens": 20_000, "cache_read_input_tokens": 60_000}
    assert tf.input_tokens(usage) == 80_000
    calibration = tf.UsageCalibration()
    calibration.observe(70_000, usage)
    assert calibration.scale(70_000) > 72_000


@pytest.mark.parametrize("profile", CALIBRATED)
def test_a_picture_inside_of_a_text_is_dense_text(profile: str) -> None:
    """B066; the script's rule of thumb stays at four characters a token."""
    data = b64encode(random.Random(1).randbytes(750_000)).decode()
    text = f"data:image/png;base64,{data}"
    cost = tf.estimate_message(result("c1", text), profile=profile)
    assert cost >= 0.55 * len(text)
    assert tf.estimate_message(result("c1", text)) >= len(text) // 4


def test_what_a_picture_costs_is_the_profiles() -> None:
    """B067"""
    url = "data:image/png;base64," + "A" * 40_000
    picture = {"type": "image_url", "image_url": {"url": url}}
    message = {"role": "user", "content": [picture] * 45}
    profile = tf.profile("o200k_base")
    by_text = replace(profile, media=lambda medium: profile.estimate(medium["url"]))
    costs = [
        tf.estimate_message(message, profile=each)
        for each in (profile, replace(profile, media=85), by_text)
    ]
    frame = profile.frames.message
    assert costs == [45 * MEDIUM + frame, 45 * 85 + frame, 45 * profile.estimate(url) + frame]
    assert tf.fit([message], tf.Policy(budget=10**7, profile=by_text)).tokens > costs[2]


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
    assert others_run_amid(lambda: tf.estimate(text))


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
