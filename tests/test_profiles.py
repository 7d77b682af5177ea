"""Calibrated profiles: what they weigh, and how far off they are."""

from __future__ import annotations

import csv
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import turnfit as tf
from hypothesis import given
from hypothesis import strategies as st
from turnfit import _core
from turnfit.tokens.profiles import SCRIPT, profile_of
from turnfit.tokens.weights import (
    CHARACTERS,
    LENGTH,
    LETTER_PAIRS,
    STEP,
    reachable,
    read_weights,
    rounded,
    written_weights,
)

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
CALIBRATED = [name for name in tf.profiles() if name != "script"]

texts = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            ["parseHTTPRequest(x)", "привет мир ", "代理读取", "  \n\n\t", "0xDEADBEEF", "🙂👩‍👧"]
        ),
    ),
    max_size=40,
).map("".join)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner, max_size=5)
    ),
    max_leaves=20,
)

FRAME = 3


def test_every_tokenizer_of_the_corpus_has_a_profile() -> None:
    assert len(CALIBRATED) == 16
    for name in CALIBRATED:
        assert str(tf.profile(name)) == f"{name}@1"
        assert tf.profile(f"{name}@1") is not None


@given(text=texts, name=st.sampled_from(CALIBRATED))
def test_a_text_costs_the_same_by_every_route(text: str, name: str) -> None:
    profile = tf.profile(name)
    estimate = profile.estimate(text)
    assert estimate == tf.estimate(text, profile=name)
    assert estimate == profile.apply(tf.features_many([text]))[0]
    replaced = text.encode("utf-8", "surrogatepass")
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert estimate == profile.estimate(replaced)
        assert estimate == profile.estimate(bytearray(replaced))
    assert profile.upper(text) >= estimate


@given(text=texts, cut=st.integers(0, 400), name=st.sampled_from(CALIBRATED))
def test_a_longer_text_is_never_cheaper(text: str, cut: int, name: str) -> None:
    assert tf.profile(name).estimate(text[:cut]) <= tf.profile(name).estimate(text)


@given(value=json_values, name=st.sampled_from(CALIBRATED))
def test_a_value_costs_what_its_json_text_does(value: Any, name: str) -> None:
    profile = tf.profile(name)
    if isinstance(value, str):
        value = [value]
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert _core.estimate_tool(value, profile.pricing) == profile.estimate(written)


@given(text=texts)
def test_a_callable_is_a_profile(text: str) -> None:
    assert tf.estimate(text, profile=len) == len(text)
    message = {"role": "user", "content": text}
    assert tf.estimate_message(message, profile=len) == len(text) + FRAME


@pytest.mark.parametrize("given", ["many", -1, 1.5, 2**40 + 1, 2**64, None])
def test_a_callable_that_gives_no_number_is_told(given: Any) -> None:
    with pytest.raises(ValueError, match=f"must give a number of tokens, not {given!r}"):
        tf.estimate("text", profile=lambda _: given)


def test_the_dearest_texts_add_up() -> None:
    history = [{"role": "user", "content": "a"}] * 1_000
    tokens = tf.estimate_request(history, profile=lambda _: 2**40)
    assert 1_000 * 2**40 <= tokens < 1_001 * 2**40


def test_an_unknown_profile_is_told_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="no profile 'o200k'; did you mean 'o200k_base'"):
        tf.profile("o200k")
    with pytest.raises(ValueError, match="has no version '9', only @1"):
        tf.profile("gemma3@9")
    with pytest.raises(TypeError, match="must be a name, a Profile or a callable, not int"):
        tf.estimate("text", profile=3)  # type: ignore[arg-type]


def test_an_unknown_model_is_priced_by_any_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="no profile is known for the model 'nobody/nothing-9'"):
        assert tf.profile_for("nobody/nothing-9").name == "any"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tf.profile_for("anthropic/claude-opus-4-7").name == "claude_v4_7"


def test_the_script_profile_has_no_bound() -> None:
    assert tf.profile("script") is SCRIPT
    assert SCRIPT.estimate("привет") == tf.estimate("привет")
    with pytest.raises(NotImplementedError, match="has no bound"):
        SCRIPT.upper("text")


@given(st.lists(st.tuples(st.integers(0, LENGTH - 1), st.integers(0, 0xFFFF)), max_size=30))
def test_weights_are_read_as_they_were_written(runs: list[tuple[int, int]]) -> None:
    weights = [0] * LENGTH
    for start, weight in runs:
        for at in range(start, LENGTH):
            if at not in CHARACTERS or reachable(at - CHARACTERS.start):
                weights[at] = weight
    assert read_weights(json.loads(json.dumps(written_weights(weights)))) == weights


@given(seed=st.integers(0, 2**32 - 1), most_of_all=st.sampled_from([1, 500, 70_000]))
def test_rounded_weights_are_none_lower_and_fit_the_pass(seed: int, most_of_all: int) -> None:
    weights = np.random.RandomState(seed).uniform(0, most_of_all, LENGTH)
    made = np.array(rounded(weights.tolist()))
    most = np.where(np.isin(np.arange(LENGTH), LETTER_PAIRS), 0xFF * STEP, 0xFFFF)
    assert (made >= np.minimum(weights, most)).all()
    assert (made <= most).all()
    assert not (made[LETTER_PAIRS] % STEP).any()


def test_a_broken_profile_is_told() -> None:
    with pytest.raises(ValueError, match="a profile needs 'bound'"):
        profile_of({"name": "mine"})
    with pytest.raises(ValueError, match="there is no shape 'letters in green'"):
        read_weights({"shapes": {"letters in green": 1}})
    with pytest.raises(ValueError, match="there are no letters 'ab' before others"):
        read_weights({"pairs": {"ab": {"c": 32}}})
    with pytest.raises(ValueError, match="there is no letter 'é'"):
        read_weights({"pairs": {"aq": {"é": 32}}})
    with pytest.raises(ValueError, match="there are no characters 'XYZ'"):
        read_weights({"characters": {"XYZ": 1}})


HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "Lies alle Dateien."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "read", "arguments": '{"n": 12345678}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "0xDEADBEEF " * 50},
]


class TestThroughFitting:
    @pytest.mark.parametrize("name", [*CALIBRATED, "script"])
    def test_a_request_costs_what_its_profile_says(self, name: str) -> None:
        policy = tf.Policy(budget=100_000, profile=name)
        assert tf.fit(HISTORY, policy).tokens == tf.estimate_request(HISTORY, profile=name)

    def test_a_callable_that_counts_as_script_does_fits_as_script_does(self) -> None:
        for budget in (120, 200, 400):
            ours = tf.fit(HISTORY, tf.Policy(budget=budget, profile=tf.estimate))
            theirs = tf.fit(HISTORY, tf.Policy(budget=budget))
            assert (ours.messages, ours.tokens) == (theirs.messages, theirs.tokens)

    def test_native_messages_remember_each_profile(self) -> None:
        message = tf.Message("user", "привет 0xDEADBEEF")
        for name in ("o200k_base", "script", "gemma3", "o200k_base"):
            plain = {"role": "user", "content": "привет 0xDEADBEEF"}
            expected = tf.estimate_message(plain, profile=name)
            assert tf.estimate_message(message, profile=name) == expected

    def test_a_scale_multiplies_what_each_message_costs(self) -> None:
        single = tf.fit(HISTORY, tf.Policy(budget=100_000))
        double = tf.fit(HISTORY, tf.Policy(budget=100_000, scale=2))
        assert double.tokens - FRAME == 2 * (single.tokens - FRAME)

    def test_a_margin_is_held_back(self) -> None:
        tokens = tf.estimate_request(HISTORY, profile="o200k_base")
        exactly = tf.Policy(budget=tokens, profile="o200k_base", margin=0)
        assert tf.fit(HISTORY, exactly).step == "whole"
        held = tf.Policy(budget=tokens, profile="o200k_base")
        assert held.held_back > 0
        assert tf.fit(HISTORY, held).step != "whole"

    def test_a_model_brings_its_profile_and_margin(self) -> None:
        by_model = tf.Policy(budget=1000, model="claude-opus-4-7")
        by_profile = tf.Policy(budget=1000, profile="claude_v4_7")
        assert by_model.held_back == by_profile.held_back
        assert tf.fit(HISTORY, by_model).tokens == tf.fit(HISTORY, by_profile).tokens

    def test_a_conversation_gives_the_same(self) -> None:
        policy = tf.Policy(budget=400, profile="claude_v4_7", scale=1.1)
        conversation = tf.Conversation(policy)
        for end, message in enumerate(HISTORY, 1):
            conversation.append(message)
            fitted = tf.fit(HISTORY[:end], policy)
            assert conversation.fit().messages == fitted.messages
            assert conversation.fit().tokens == fitted.tokens


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not there")
@pytest.mark.parametrize("name", CALIBRATED)
def test_estimates_of_the_corpus_are_as_good_as_they_say(name: str) -> None:
    profile = tf.profile(name)
    with (CORPUS / "counts.tsv").open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if int(row["start"]) == 0]
    off, above = [], 0
    for row in rows:
        text = (CORPUS / row["path"]).read_bytes().decode()[: int(row["end"])]
        columns = list(row)[3:] if name == "any" else [name]
        true = max(int(row[column]) for column in columns)
        off.append(abs(profile.estimate(text) / true - 1))
        above += profile.upper(text) < true
    assert np.median(off) < 0.06
    assert np.percentile(off, 95) < 0.25
    assert above <= 0.01 * len(rows)
