"""What providers add to texts, set against the usage that they reported."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from support.trajectories import FOLDER, needs_corpus
from turnfit.auditing import LeftOut, read_line
from turnfit.tokens.frames import SCRIPT_FRAMES, Frames, family_of, frames_of
from turnfit.tokens.profiles import tariff_of

EXAMPLES = settings(max_examples=int(os.environ.get("TURNFIT_EXAMPLES", "100")), deadline=None)

DATA = json.loads(
    files("turnfit.tokens").joinpath("data", "frames", "frames@1.json").read_text("utf-8")
)
USER = {"role": "user", "content": "What is the weather?"}
CALL: dict[str, Any] = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}],
}
RESULT = {
    "role": "user",
    "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "Rain."}],
}
TOOL = {
    "name": "look",
    "description": "Looks out of the window.",
    "input_schema": {"type": "object", "properties": {}},
}
FEW = {"huggingface": 2, "mistral": 1}
"""Providers of whom hardly a request is long enough to say anything."""
BEYOND = {
    # Seven requests: without one recording too few are left to tell the frames.
    "cohere": 0.09,
}
"""Providers whose errors are larger where a recording was left out of the fit."""


def pairs(path: Path) -> list[tuple[str, int, int]]:
    """A file's plain requests of more than 500 tokens: model, estimate, reported."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        try:
            model, request, reported = read_line(json.loads(line), plain=True, least=501)
        except LeftOut:
            continue
        found.append((model, request.tokens(tf.profile_for(model)), reported))
    return found


@needs_corpus
class TestReportedUsage:
    @pytest.mark.parametrize(
        "path", sorted(FOLDER.glob("usagepairs-*.jsonl")), ids=lambda p: p.name
    )
    def test_a_request_is_known_within_five_percent(self, path: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pairs(path)
        provider = path.name.split("-")[1]
        if not found or provider in FEW:
            pytest.skip(f"{len(found)} requests are too few")
        errors = [abs(estimated - reported) / reported for _, estimated, reported in found]
        assert median(errors) <= 0.05

    def test_so_it_is_where_its_recording_was_left_out_of_the_fit(self) -> None:
        told = DATA["provenance"]["errors"]["by provider"]
        enough = {name: row for name, row in told.items() if name not in FEW}
        assert len(enough) >= 8
        for name, row in enough.items():
            assert row["median"] <= 100 * BEYOND.get(name, 0.05)


class TestFrames:
    def test_without_a_model_they_are_the_scripts(self) -> None:
        assert tf.estimate_request([USER], tools=[TOOL], profile="script") == tf.estimate_request(
            [USER], tools=[TOOL]
        )
        assert tf.estimate_request([]) == SCRIPT_FRAMES.request

    def test_the_script_stays_the_script_whatever_the_model(self) -> None:
        by_script = tf.estimate_request([USER, CALL, RESULT], tools=[TOOL])
        by_both = tf.estimate_request(
            [USER, CALL, RESULT], tools=[TOOL], profile="script", model="claude-opus-5"
        )
        assert by_both == by_script

    def test_a_model_is_its_profile_with_its_own_frames(self) -> None:
        model = "claude-sonnet-4-5"
        by_model = tf.estimate_request([USER], tools=[TOOL], model=model)
        assert by_model == tf.estimate_request([USER], tools=[TOOL], profile=tf.profile_for(model))
        assert tf.profile_for(model) is tf.profile_for(model)

    def test_a_callable_counts_texts_and_the_model_tells_the_frames(self) -> None:
        frames = tf.profile_for("claude-opus-5").frames
        cost = tf.estimate_message(USER, profile=len, model="claude-opus-5")
        assert cost == len(USER["content"]) + frames.message

    def test_tools_cost_their_constant_once(self) -> None:
        frames = tf.profile_for("claude-sonnet-4-5").frames
        none, one, two = (
            tf.estimate_request([USER], tools=[TOOL] * count, model="claude-sonnet-4-5")
            for count in range(3)
        )
        assert frames.tools > 300
        assert one - none == two - one + frames.tools

    def test_tools_declared_together_are_several(self) -> None:
        declared = {"functionDeclarations": [{"name": "a"}, {"name": "b"}]}
        assert Frames(tool=7, schema=0).definitions([(declared, 0, 0)]) == 14

    def test_the_schema_of_an_answer_is_no_tool(self) -> None:
        schema = {"type": "object", "properties": {"city": {"type": "string"}}}
        assert Frames(tools=500, answer=9, schema=0).definitions([(schema, 30, 0)]) == 9

    @pytest.mark.parametrize("ids", [True, False])
    def test_ids_cost_where_the_model_is_shown_them(self, ids: bool) -> None:
        profile = replace(tf.profile("claude_v3"), frames=Frames(ids=ids))
        long = {**CALL, "content": [{**CALL["content"][0], "id": "toolu_" + "x1" * 40}]}
        costs = [tf.estimate_message(message, profile=profile) for message in (CALL, long)]
        assert (costs[1] > costs[0]) == ids

    def test_a_signature_costs_what_is_in_it(self) -> None:
        def cost(length: int) -> int:
            part = {"functionCall": {"name": "f"}, "thoughtSignature": "A" * length}
            message = {"role": "model", "parts": [part]}
            return tf.estimate_message(message, model="gemini-3-flash-preview")

        rate = tf.profile_for("gemini-3-flash-preview").frames.sealed
        assert rate is not None
        assert cost(10_000) - cost(0) == round(10_000 * rate)

    @pytest.mark.parametrize("name", sorted(DATA["families"]))
    def test_no_figure_is_below_nothing(self, name: str) -> None:
        frames = frames_of(name)
        figures = [getattr(frames, field.name) for field in fields(frames)]
        assert all(figure is None or figure >= 0 for figure in figures)
        assert DATA["families"][name]["requests"] >= 3

    @pytest.mark.parametrize("name", tf.profiles())
    def test_every_profile_has_frames(self, name: str) -> None:
        assert tf.profile(name).frames == (
            SCRIPT_FRAMES if name == "script" else frames_of(family_of(name))
        )

    @pytest.mark.parametrize("profile", [5, ["o200k_base"]])
    def test_what_names_no_profile_is_told(self, profile: Any) -> None:
        with pytest.raises(TypeError, match="profile must be a name"):
            tf.estimate_message(USER, profile=profile)
        with pytest.raises(TypeError, match="model must be a str"):
            tf.estimate_message(USER, model=5)  # type: ignore[arg-type]


class TestFitting:
    """What `estimate_request` counts is what `fit` and `Conversation` count."""

    @EXAMPLES
    @given(st.sampled_from(["claude-opus-5", "gpt-5.1", "gemini-3-pro-preview"]), st.integers(0, 4))
    def test_a_request_costs_the_same_fitted_or_estimated(self, model: str, rounds: int) -> None:
        history = [USER, *[CALL, RESULT] * rounds]
        policy = tf.Policy(budget=100_000, model=model)
        fitted = tf.fit(history, policy, system="Be brief.", tools=[TOOL])
        conversation = tf.Conversation(policy, system="Be brief.", tools=[TOOL])
        conversation.extend(history)
        wanted = tf.estimate_request(history, system="Be brief.", tools=[TOOL], model=model)
        assert fitted.tokens == conversation.fit().tokens == wanted

    def test_native_messages_have_the_models_frames_too(self) -> None:
        native = tf.Message("user", USER["content"])
        for model in ("claude-opus-5", "gpt-5.1"):
            assert tf.estimate_message(native, model=model) == tf.estimate_message(
                USER, model=model
            )
        assert native.tokens == tf.estimate_message(USER)

    def test_a_policy_with_both_has_the_texts_of_one_and_the_frames_of_the_other(self) -> None:
        policy = tf.Policy(budget=1_000, profile="o200k_base@1", model="claude-opus-5")
        fitted = tf.fit([USER], policy, tools=[TOOL])
        assert fitted.tokens == tf.estimate_request(
            [USER], tools=[TOOL], profile="o200k_base@1", model="claude-opus-5"
        )
        assert tf.Policy.from_dict(policy.to_dict()) == policy

    def test_a_tariff_of_nothing_is_the_scripts(self) -> None:
        assert tariff_of(None) is tariff_of("script") is None
