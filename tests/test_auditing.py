"""Audits: recorded requests against reported usage, in the library and on the command line."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from support.trajectories import FOLDER, needs_corpus
from turnfit.auditing import LogError
from turnfit.cli.commands import commands
from turnfit.messages.requests import read_request

EXAMPLES = settings(max_examples=int(os.environ.get("TURNFIT_EXAMPLES", "100")), deadline=None)

TEXT = "A few words that are the same in every request. " * 20
MODEL = "gpt-5.1"
TOKENS = tf.estimate_request([{"role": "user", "content": TEXT}], model=MODEL)


def line(reported: int, model: str = MODEL, text: str = TEXT, **body: Any) -> str:
    request = {"model": model, "messages": [{"role": "user", "content": text}], **body}
    return json.dumps({"model": model, "request": request, "usage": {"prompt_tokens": reported}})


def rounds(count: int) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = [{"role": "user", "content": "Read every file."}]
    for number in range(count):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"{number}.md"})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "words " * 400},
        ]
    return history


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(commands, ["audit", *arguments], stdin, prog_name="turnfit")


class TestFigures:
    @EXAMPLES
    @given(st.lists(st.integers(1, 10 * TOKENS), min_size=1, max_size=60))
    def test_they_are_what_they_say(self, reported: list[int]) -> None:
        [found] = tf.audit(map(line, reported)).models
        errors = [abs(TOKENS - true) / true for true in reported]
        assert (found.requests, found.reported) == (len(reported), sum(reported))
        assert found.estimated == TOKENS * len(reported)
        assert found.bias == pytest.approx(found.estimated / sum(reported) - 1)
        for percentile in (50, 95, 99):
            within = sum(error <= found.error(percentile) for error in errors)
            below = sum(error < found.error(percentile) for error in errors)
            assert below < math.ceil(len(errors) * percentile / 100) <= within

    @EXAMPLES
    @given(st.lists(st.integers(1, 10 * TOKENS), min_size=1, max_size=60))
    def test_the_margin_would_have_sufficed_and_no_smaller_one(self, reported: list[int]) -> None:
        [found] = tf.audit(map(line, reported)).models
        raised = TOKENS * (1 + found.margin)
        assert all(true <= raised + 1e-6 for true in reported)
        if found.margin:
            assert max(reported) == pytest.approx(raised)
            assert reported[found.worst_line - 1] == max(reported)

    def test_each_model_stands_by_itself_the_most_requests_first(self) -> None:
        opus = "anthropic.claude-opus-4-7-v1%3A0"
        lines = [line(500), line(700, opus), line(600, opus)]
        found = tf.audit(lines).models
        assert [(each.model, each.requests, each.reported) for each in found] == [
            ("anthropic.claude-opus-4-7-v1:0", 2, 1300),
            (MODEL, 1, 500),
        ]

    def test_a_policy_tells_what_would_have_been_sent(self) -> None:
        row = {
            "model": MODEL,
            "request": {"messages": rounds(20)},
            "usage": {"prompt_tokens": 9999},
        }
        lines = [json.dumps(row), line(300)]
        policy = tf.Policy(budget=6_000)
        [found] = tf.audit(lines, policy=policy).models
        fitted = tf.fit(rounds(20), budget=6_000, model=MODEL)
        assert (found.over, found.unfit, found.sent) == (1, 0, fitted.tokens + TOKENS)
        assert found.sent < found.estimated
        [tight] = tf.audit(lines, policy=tf.Policy(budget=200)).models
        assert tight.unfit == 2

    def test_the_profile_prices_what_was_sent_and_what_would_have_been(self) -> None:
        row = {"model": "m", "request": {"messages": rounds(20)}, "usage": {"prompt_tokens": 9999}}
        by_length = tf.Policy(budget=20_000, profile=len)
        [found] = tf.audit([json.dumps(row)], profile=len, policy=tf.Policy(budget=20_000)).models
        assert found.estimated == tf.estimate_request(rounds(20), profile=len)
        assert found.sent == tf.fit(rounds(20), by_length).tokens < found.estimated

    def test_each_models_own_profile_prices_its_requests(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = {"a": len, "b": lambda text: 7}
        monkeypatch.setattr("turnfit.auditing.profile_for", own.__getitem__)
        a, b = tf.audit([line(500, "a"), line(500, "b")]).models
        assert a.estimated - b.estimated == len(TEXT) - 7

    def test_a_model_that_is_not_known_is_priced_by_any_and_told_once(self) -> None:
        with pytest.warns(UserWarning, match="no profile is known for the model 'm'") as told:
            [found] = tf.audit([line(500, "m"), line(500, "m")]).models
        [by_any] = tf.audit([line(500, "m"), line(500, "m")], profile="any").models
        assert (len(told), found.estimated) == (1, by_any.estimated)

    def test_a_policys_own_profile_stays(self) -> None:
        policy = tf.Policy(budget=20_000, profile="script")
        [found] = tf.audit([line(500)], profile=len, policy=policy).models
        by_script = tf.estimate_request([{"role": "user", "content": TEXT}])
        assert (found.estimated > len(TEXT), found.sent) == (True, by_script)


class TestSkipped:
    @pytest.mark.parametrize(
        ("row", "why"),
        [
            ({"request": {"messages": []}}, "no usage"),
            ({"request": {"messages": []}, "usage": {"output_tokens": 1}}, "no usage"),
            ({"request": {"messages": []}, "usage": {"prompt_tokens": 0}}, "no usage"),
            ({"usage": {"prompt_tokens": 5}}, "no request"),
            ({"request": "{broken", "usage": {"prompt_tokens": 5}}, "no request"),
            ({"request": {"prompt": "x"}, "usage": {"prompt_tokens": 5}}, "held by the provider"),
            ({"request": {"text": "x"}, "usage": {"prompt_tokens": 5}}, "unknown format"),
            (
                {"request": {"messages": [{"role": "zork"}]}, "usage": {"prompt_tokens": 5}},
                "unknown format",
            ),
            (
                {"request": {"input": [], "previous_response_id": "r"}, "usage": 5},
                "held by the provider",
            ),
        ],
    )
    def test_what_cannot_be_set_against_usage_is_counted_by_why(
        self, row: dict[str, Any], why: str
    ) -> None:
        found = tf.audit([json.dumps(row), "", line(300)])
        assert found.skipped == {why: 1}
        assert [each.requests for each in found.models] == [1]

    @pytest.mark.parametrize(
        ("body", "why"),
        [
            ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "media"),
            (
                {"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]},
                "media",
            ),
            ({"contents": [{"role": "user", "parts": [{"inlineData": {"data": "x"}}]}]}, "media"),
            ({"messages": [{"role": "user", "content": [{"image": {"format": "png"}}]}]}, "media"),
            ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools"),
            ({"tools": [{"googleSearch": {}}]}, "tools"),
            ({"mcp_servers": [{"name": "wiki"}]}, "tools"),
            ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking"),
            ({"messages": [{"role": "assistant", "content": [{"type": "thinking"}]}]}, "thinking"),
            ({"tools": [{"name": "add", "input_schema": {}}]}, None),
            ({"tools": [{"type": "function", "function": {"name": "add"}}]}, None),
            ({"tools": [{"functionDeclarations": [{"name": "add"}]}]}, None),
            ({"thinking": {"type": "disabled"}}, None),
        ],
    )
    def test_plain_leaves_out_what_the_text_does_not_show(
        self, body: dict[str, Any], why: str | None
    ) -> None:
        messages = {} if "contents" in body else {"messages": [{"role": "user", "content": "Hi"}]}
        row = json.dumps({"request": {**messages, **body}, "usage": {"prompt_tokens": 9}})
        skipped = list(tf.audit([row], plain=True, profile="script").skipped)
        assert skipped == (
            [] if why is None else [f"the provider's {why}" if why == "tools" else why]
        )

    def test_used_tools_of_the_provider_count_as_such(self) -> None:
        usage = {"input_tokens": 9, "server_tool_use": {"web_search_requests": 1}}
        row = {"request": {"messages": [{"role": "user", "content": "Hi"}]}, "usage": usage}
        assert tf.audit([json.dumps(row)], plain=True).skipped == {"the provider's tools": 1}

    def test_short_requests_are_left_out_where_asked(self) -> None:
        found = tf.audit([line(499), line(500)], least=500)
        assert (found.models[0].reported, found.skipped) == (500, {"short": 1})

    @pytest.mark.parametrize(
        ("text", "told"),
        [("{", "log:2: broken JSON: "), ("[1]", "log:2: wanted is an object, not list")],
    )
    def test_a_line_that_is_no_object_is_told_with_its_number(self, text: str, told: str) -> None:
        with pytest.raises(LogError, match=told):
            tf.audit([line(300), text])


class TestRequests:
    def test_every_providers_body_has_its_parts(self) -> None:
        schema = {"type": "object"}
        cases: list[tuple[dict[str, Any], tuple[int, Any, list[Any], str | None]]] = [
            (
                {
                    "messages": [{"role": "user", "content": "Hi"}],
                    "system": "S",
                    "tools": [{"name": "a"}],
                },
                (1, "S", [{"name": "a"}], None),
            ),
            (
                {"input": "Hi", "instructions": "S", "text": {"format": {"schema": schema}}},
                (1, "S", [schema], None),
            ),
            ({"input": [{"role": "user", "content": "Hi"}]}, (1, None, [], "openai-responses")),
            (
                {
                    "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
                    "systemInstruction": {"parts": [{"text": "S"}]},
                    "generationConfig": {"responseSchema": schema},
                },
                (1, [{"type": "text", "text": "S"}], [schema], "gemini"),
            ),
            (
                {
                    "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
                    "system": [{"text": "S"}, {"cachePoint": {"type": "default"}}],
                    "toolConfig": {"tools": [{"toolSpec": {"name": "a"}}]},
                    "inferenceConfig": {},
                },
                (
                    1,
                    [{"type": "text", "text": "S"}],
                    [{"toolSpec": {"name": "a"}}],
                    "bedrock-converse",
                ),
            ),
        ]
        for body, (count, system, tools, format_) in cases:
            request = read_request(body)
            assert (len(request.messages), request.system) == (count, system)
            assert (request.tools, request.format) == (tools, format_)
            assert request.tokens() > 3

    def test_a_body_without_messages_is_told(self) -> None:
        with pytest.raises(ValueError, match="needs messages, contents or input"):
            read_request({"model": "m"})


@pytest.fixture
def log(tmp_path: Path) -> str:
    file = tmp_path / "log.jsonl"
    usage = {"prompt_tokens": 15_000}
    row = {"model": "gpt-4o", "request": {"messages": rounds(20)}, "usage": usage}
    file.write_text("\n".join([json.dumps(row), line(TOKENS * 2), line(TOKENS), "{}"]))
    return str(file)


class TestCommand:
    def test_it_prints_each_models_figures_and_what_was_left_out(self, log: str) -> None:
        result = run(log)
        head, first, second, skipped = result.stdout.splitlines()
        assert head.split() == ["requests", "bias", "p50", "p95", "p99", "margin", "model"]
        assert first.split() == ["2", "-33.3%", "0.0%", "50.0%", "50.0%", "100.0%", MODEL]
        assert second.split()[-1] == "gpt-4o"
        assert (skipped, result.exit_code) == ("skipped 1: no request 1", 0)

    def test_a_budget_tells_what_would_have_been_sent(self, log: str) -> None:
        sent = tf.fit(rounds(20), budget=6_000, model="gpt-4o").tokens
        whole = tf.estimate_request(rounds(20), model="gpt-4o")
        told = run(log, "--budget", "6000").stdout
        changed = f"{whole:,} tokens would have been {sent:,}\n"
        assert f"gpt-4o: 1 of 1 requests over the budget of 6,000: {changed}" in told
        assert "over it all the same" in run(log, "--budget", "100").stdout

    def test_a_policy_file_will_do(self, log: str, tmp_path: Path) -> None:
        policy = tmp_path / "agent.toml"
        policy.write_text("budget = 6000\n")
        assert run(log, "--policy", str(policy)).stdout == run(log, "--budget", "6000").stdout

    def test_json_has_all_figures(self, log: str) -> None:
        told = json.loads(run(log, "--json", "--budget", "6000").stdout)
        found = tf.audit(Path(log).read_bytes().splitlines(), policy=tf.Policy(budget=6_000))
        assert told["models"] == [each.to_dict() for each in found.models]
        assert told["skipped"] == {"no request": 1}

    def test_it_exits_1_past_the_margin_allowed_and_names_the_line(self, log: str) -> None:
        assert run(log, "--max-under", "1").exit_code == 0
        result = run(log, "--max-under", "0.5")
        assert result.exit_code == 1
        assert f"{MODEL}: too low by a margin of 100.0%, more than 50.0% (line 2)" in result.stderr

    def test_a_profile_that_there_is_not_is_told_in_one_line(self, log: str) -> None:
        result = run(log, "--profile", "scribt")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("turnfit: there is no profile 'scribt'")

    def test_each_request_is_priced_by_the_model_that_it_names(self, log: str) -> None:
        assert run(log, "--profile", "o200k_base").stdout == run(log).stdout
        assert run(log, "--profile", "script").stdout != run(log).stdout

    def test_a_model_that_is_not_known_is_told_in_one_line(self) -> None:
        result = run("-", stdin="\n".join([line(500, "m")] * 3).encode())
        assert result.exit_code == 0
        assert result.stderr.startswith("turnfit: no profile is known for the model 'm'")
        assert result.stderr.count("\n") == 1

    def test_stdin_will_do(self, log: str) -> None:
        assert run("-", stdin=Path(log).read_bytes()).stdout == run(log).stdout

    @pytest.mark.parametrize(
        ("data", "told"),
        [
            (b'{"a": 1}\n{\n', "stdin:2: broken JSON"),
            (b"7\n", "stdin:1: wanted is an object"),
            (b"\xff\n", "stdin:1: broken JSON"),
        ],
    )
    def test_a_broken_log_is_told_in_one_line(self, data: bytes, told: str) -> None:
        result = run("-", stdin=data)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(f"turnfit: {told}")
        assert result.stderr.count("\n") == 1

    def test_a_bar_while_a_long_log_is_read_changes_nothing(
        self, log: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        quiet = run(log)
        monkeypatch.setattr("turnfit.cli.auditing._LONG", 0)
        monkeypatch.setenv("FORCE_COLOR", "1")
        told = run(log)
        assert told.stdout == quiet.stdout
        assert len(told.stderr) > len(quiet.stderr)

    def test_an_empty_log_has_nothing_to_tell(self) -> None:
        result = run("-", stdin=b"")
        assert (result.exit_code, result.stdout) == (0, "")


@needs_corpus
class TestRecorded:
    @pytest.mark.parametrize(
        "path", sorted(FOLDER.glob("usagepairs-*.jsonl")), ids=lambda p: p.stem
    )
    def test_the_recorded_pairs_are_audited_as_they_are(self, path: Path) -> None:
        count = len(path.read_text("utf-8").splitlines())
        for options in ((), ("--plain", "--least", "500", "--budget", "2000")):
            result = run(str(path), "--json", *options)
            assert result.exit_code == 0
            told = json.loads(result.stdout)
            audited = sum(model["requests"] for model in told["models"])
            assert audited + sum(told["skipped"].values()) == count
            assert "unknown format" not in told["skipped"]
