"""Reported usage: each input token once, whatever the provider, and what is learnt of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from statistics import median
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.sessions import sessions
from support.trajectories import FOLDER, needs_corpus
from turnfit.tokens import UsageCalibration, input_tokens
from turnfit.tokens.usage import output_tokens

EXAMPLES = settings(max_examples=int(os.environ.get("TURNFIT_EXAMPLES", "200")), deadline=None)

USAGES: dict[str, tuple[Any, int]] = {
    "anthropic": ({"input_tokens": 51, "output_tokens": 162}, 51),
    "anthropic, cached": (
        {
            "input_tokens": 3,
            "cache_creation_input_tokens": 8037,
            "cache_read_input_tokens": 17842,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 8037},
            "output_tokens": 10,
        },
        25882,
    ),
    "anthropic, what was created told by lifetime alone": (
        {
            "input_tokens": 5,
            "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 100},
        },
        125,
    ),
    "anthropic, nothing cached told as null": (
        {"input_tokens": 7, "cache_read_input_tokens": None, "cache_creation": None},
        7,
    ),
    "anthropic, compacted on the way": (
        {
            "input_tokens": 229,
            "iterations": [
                {"type": "compaction", "input_tokens": 100, "cache_creation_input_tokens": 55096},
                {"type": "message", "input_tokens": 229},
            ],
        },
        55196,
    ),
    "openai chat": (
        {"prompt_tokens": 336, "prompt_tokens_details": {"cached_tokens": 256}},
        336,
    ),
    "openai responses": (
        {"input_tokens": 366, "input_tokens_details": {"cached_tokens": 256}, "total_tokens": 429},
        366,
    ),
    "deepseek": (
        {"prompt_tokens": 12, "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 4},
        12,
    ),
    "litellm over anthropic": (
        {"prompt_tokens": 900, "cache_read_input_tokens": 800, "cache_creation_input_tokens": 50},
        900,
    ),
    "gemini": (
        {"promptTokenCount": 859, "cachedContentTokenCount": 594, "totalTokenCount": 887},
        859,
    ),
    "gemini, python": ({"prompt_token_count": 859, "cached_content_token_count": 594}, 859),
    "bedrock": (
        {
            "inputTokens": 10,
            "cacheReadInputTokens": 300,
            "cacheReadInputTokenCount": 300,
            "cacheWriteInputTokens": 7,
            "cacheWriteInputTokenCount": 7,
            "totalTokens": 340,
        },
        317,
    ),
    "cohere": (
        {"billed_units": {"input_tokens": 25}, "tokens": {"input_tokens": 91}, "cached_tokens": 80},
        91,
    ),
    "langchain": (
        {
            "input_tokens": 350,
            "output_tokens": 5,
            "total_tokens": 355,
            "input_token_details": {"cache_read": 300, "cache_creation": 20},
        },
        350,
    ),
    "ollama": ({"prompt_eval_count": 26, "eval_count": 290}, 26),
    "a number": (1234, 1234),
}
ANSWERS: dict[str, tuple[Any, int | None]] = {
    "anthropic": ({"input_tokens": 51, "output_tokens": 162}, 162),
    "openai chat": ({"prompt_tokens": 336, "completion_tokens": 0}, 0),
    "gemini": ({"promptTokenCount": 859, "candidatesTokenCount": 28}, 28),
    "bedrock": ({"inputTokens": 10, "outputTokens": 9}, 9),
    "cohere": ({"billed_units": {"output_tokens": 5}, "tokens": {"output_tokens": 7}}, 7),
    "ollama": ({"prompt_eval_count": 26, "eval_count": 290}, 290),
    "input alone": ({"prompt_tokens": 336}, None),
    "a number": (1234, None),
}


def as_object(value: Any) -> Any:
    """A mapping as the SDKs have it: attributes."""
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_object(entry) for key, entry in value.items()})
    return [as_object(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", USAGES)
def test_every_input_token_counts_once(name: str) -> None:
    usage, tokens = USAGES[name]
    assert input_tokens(usage) == tokens
    assert input_tokens(as_object(usage)) == tokens


@pytest.mark.parametrize("name", USAGES)
@pytest.mark.parametrize("holder", ["usage", "usageMetadata", "usage_metadata"])
def test_a_response_that_holds_the_usage_will_do(name: str, holder: str) -> None:
    usage, tokens = USAGES[name]
    assert input_tokens({"id": "x", holder: usage}) == tokens
    assert input_tokens(as_object({"id": "x", holder: usage})) == tokens


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answers_tokens_are_told_where_they_are_reported(name: str) -> None:
    usage, tokens = ANSWERS[name]
    assert output_tokens(usage) == tokens
    assert output_tokens({"usage": as_object(usage)}) == tokens


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        ({"output_tokens": 3}, "no count of input tokens: its keys are 'output_tokens'"),
        ({}, "its keys are none"),
        (None, "it is NoneType"),
        (True, "it is bool"),
        ({"prompt_tokens": "12"}, "prompt_tokens must be an int, not '12'"),
        ({"prompt_tokens": -1}, "prompt_tokens must be at least 0, not -1"),
        ({"input_tokens": 1, "cache_read_input_tokens": 1.5}, "cache_read_input_tokens must"),
        (-4, "usage must be at least 0"),
    ],
)
def test_a_usage_that_cannot_be_read_is_told(usage: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        input_tokens(usage)


@needs_corpus
def test_every_recorded_usage_is_read_and_is_no_less_than_its_parts() -> None:
    read = 0
    for path in sorted(FOLDER.glob("usagepairs-*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            parts = _counts(row["usage"])
            assert input_tokens(row["usage"]) >= max(parts, default=0), (path.name, row["usage"])
            read += 1
    assert read > 500


def _counts(usage: Any) -> Iterator[int]:
    """Counts of one kind of input each."""
    for key, value in usage.items():
        if isinstance(value, int) and "cache" in key.lower() and "miss" not in key:
            yield value
        elif isinstance(value, dict) and "iterations" not in usage:
            yield from _counts(value)


rates = st.integers(50, 800).map(lambda hundredths: hundredths / 100)
growth = st.lists(st.integers(200, 20_000), min_size=3, max_size=80)


def observed(grown: list[int], rate: float, constant: int) -> tuple[UsageCalibration, int]:
    calibration, estimated = UsageCalibration(), 0
    for length in grown:
        estimated += length
        calibration.observe(estimated, round(constant + rate * estimated))
    return calibration, estimated


class TestLearning:
    @EXAMPLES
    @given(growth, rates, st.integers(0, 100_000), st.integers(0, 50_000))
    def test_the_constant_is_told_apart_from_the_rate(
        self, grown: list[int], rate: float, constant: int, more: int
    ) -> None:
        calibration, estimated = observed(grown, rate, constant)
        true = constant + rate * (estimated + more)
        assert calibration.rate == pytest.approx(rate, rel=0.02)
        assert calibration.scale(estimated + more) == pytest.approx(true, rel=0.02, abs=20)

    @EXAMPLES
    @given(growth, rates, st.integers(0, 50_000), st.integers(100, 5_000))
    def test_a_context_begun_anew_is_predicted_from_what_holds_for_all(
        self, grown: list[int], rate: float, constant: int, anew: int
    ) -> None:
        calibration, _ = observed(grown, rate, constant)
        assert calibration.scale(anew) == pytest.approx(constant + rate * anew, rel=0.05, abs=50)

    @EXAMPLES
    @given(
        st.lists(st.integers(500, 5_000), min_size=16, max_size=64),
        rates,
        st.integers(0, 50_000),
        st.integers(0, 10_000_000),
        st.data(),
    )
    def test_a_strange_usage_in_ten_does_not_spoil_it(
        self, grown: list[int], rate: float, constant: int, strange: int, data: st.DataObject
    ) -> None:
        first = data.draw(st.integers(1, 9))
        calibration, estimated = UsageCalibration(), 0
        for number, length in enumerate(grown):
            estimated += length
            told = strange if number % 10 == first else round(constant + rate * estimated)
            calibration.observe(estimated, told)
        assert calibration.rate == pytest.approx(rate, rel=0.05)
        assert calibration.constant == pytest.approx(
            constant, rel=0.05, abs=0.05 * estimated * rate
        )

    @EXAMPLES
    @given(growth, growth, rates, st.integers(0, 50_000))
    def test_a_context_that_shrinks_spoils_nothing(
        self, before: list[int], after: list[int], rate: float, constant: int
    ) -> None:
        calibration = UsageCalibration()
        for grown in (before, after):
            estimated = 0
            for length in grown:
                estimated += length
                calibration.observe(estimated, round(constant + rate * estimated))
        assert calibration.rate == pytest.approx(rate, rel=0.02)
        true = constant + rate * estimated
        assert calibration.scale(estimated) == pytest.approx(true, rel=0.02, abs=20)

    @EXAMPLES
    @given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9))), st.integers(0, 10**9))
    def test_whatever_is_reported_it_stays_within_bounds(
        self, pairs: list[tuple[int, int]], estimate: int
    ) -> None:
        calibration, scales = UsageCalibration(), [1.0]
        for estimated, reported in pairs:
            calibration.observe(estimated, reported)
            scales.append(calibration.policy_scale)
        assert 0.5 <= calibration.rate <= 8
        assert 0 <= calibration.constant <= max([reported for _, reported in pairs], default=0)
        assert calibration.scale(estimate) >= 0
        assert scales == sorted(scales)
        assert all(1 <= scale <= 8 and round(scale * 20, 6).is_integer() for scale in scales)

    @EXAMPLES
    @given(growth, rates)
    def test_the_scale_for_a_policy_covers_the_rate_by_less_than_a_step(
        self, grown: list[int], rate: float
    ) -> None:
        assume(len(grown) > 5 and sum(grown[1:]) >= 4_000)
        calibration, _ = observed(grown, rate, 30_000)
        wanted = max(1.0, calibration.rate)
        assert wanted - 1e-9 <= calibration.policy_scale
        if min(grown) > 2_000:
            assert calibration.policy_scale < wanted + 0.0501

    def test_a_few_short_messages_move_no_cut(self) -> None:
        calibration, _ = observed([100] * 30, 2.0, 0)
        assert calibration.rate == pytest.approx(2, abs=0.01)
        assert calibration.policy_scale == 1

    def test_the_scale_for_a_policy_falls_only_with_a_new_conversation(self) -> None:
        calibration, estimated = observed([2_000] * 10, 1.97, 0)
        assert calibration.policy_scale == 2.0
        reported = round(1.97 * estimated)
        for _ in range(64):
            estimated, reported = estimated + 2_000, reported + 2_300
            calibration.observe(estimated, reported)
        assert (calibration.rate, calibration.policy_scale) == (1.15, 2.0)
        calibration.new_conversation()
        assert calibration.policy_scale == 1.15

    def test_before_anything_is_known_an_estimate_stays_as_it_is(self) -> None:
        calibration = UsageCalibration()
        assert (calibration.scale(123), calibration.scale(0)) == (123, 0)
        assert (calibration.rate, calibration.constant, calibration.policy_scale) == (1, 0, 1)
        calibration.observe(0, 50)
        assert calibration.scale(0) == 50

    @EXAMPLES
    @given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))), st.integers(0, 10**6))
    def test_what_is_saved_is_what_comes_back(
        self, pairs: list[tuple[int, int]], estimate: int
    ) -> None:
        calibration = UsageCalibration()
        for estimated, reported in pairs:
            calibration.observe(estimated, reported)
        saved = json.loads(json.dumps(calibration.to_dict()))
        again = UsageCalibration.from_dict(saved)
        assert again.to_dict() == calibration.to_dict()
        assert again.scale(estimate) == calibration.scale(estimate)
        assert (again.policy_scale, repr(again)) == (calibration.policy_scale, repr(calibration))

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"version": 2}, "version must be 1, not 2"),
            ({"requests": [[1]]}, "not enough values"),
            ({"requests": [[1, "2"]]}, "requests must be pairs of ints"),
            ({"requests": [[-1, 2]]}, "requests must be at least 0"),
            ({"requests": None}, "requests must be pairs of ints"),
            ({"policy_scale": 0.9}, "policy_scale must be from 1 to 8, not 0.9"),
            ({"policy_scale": float("nan")}, "policy_scale must be from 1 to 8"),
            ({"policy_scale": None}, "policy_scale must be from 1 to 8"),
        ],
    )
    def test_what_was_not_saved_by_it_is_told(self, change: dict[str, Any], told: str) -> None:
        saved = {**UsageCalibration().to_dict(), **change}
        with pytest.raises(ValueError, match=told):
            UsageCalibration.from_dict(saved)

    def test_an_estimate_that_is_none_is_told(self) -> None:
        with pytest.raises(TypeError, match="estimated must be an int, not float"):
            UsageCalibration().observe(1.5, 3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="estimate must be at least 0"):
            UsageCalibration().scale(-1)


@needs_corpus
class TestRecordedSessions:
    def errors(self, by_model: bool) -> list[float]:
        """Of each call after the fifth: how far the prediction of its context was off."""
        off = []
        for calls in sessions(by_model):
            calibration = UsageCalibration()
            for number, (estimated, usage) in enumerate(calls):
                true = input_tokens(usage)
                if number >= 5:
                    off.append(abs(calibration.scale(estimated) - true) / true)
                calibration.observe(estimated, usage)
        return off

    @pytest.mark.parametrize("by_model", [False, True], ids=["script", "model"])
    def test_after_five_calls_the_next_context_is_known_within_three_percent(
        self, by_model: bool
    ) -> None:
        errors = sorted(self.errors(by_model))
        assert len(errors) > 400
        assert median(errors) < 0.03
        assert errors[len(errors) * 95 // 100] < 0.03

    def test_the_scale_for_a_policy_moves_a_few_times_in_hundreds_of_calls(self) -> None:
        for calls in sessions():
            calibration, scales = UsageCalibration(), set()
            for estimated, usage in calls:
                calibration.observe(estimated, usage)
                scales.add(calibration.policy_scale)
            assert len(scales) <= 5
            assert max(scales) <= max(1.0, calibration.rate + 0.15)
