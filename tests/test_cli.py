"""The command line: what it prints, what it writes, and how it exits."""

from __future__ import annotations

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from turnfit.cli.commands import commands
from turnfit.cli.estimating import count_stream
from turnfit.replay import read_recordings

EXAMPLE = str(Path(__file__).parent.parent / "examples" / "subagent.json")
RUN = [sys.executable, "-c", "from turnfit.cli import main; main()"]
TRAJECTORIES = Path(__file__).parent.parent.parent / "shared" / "corpus" / "trajectories"


def run(*arguments: str, stdin: bytes | None = None, **settings: Any) -> Result:
    return CliRunner().invoke(commands, arguments, stdin, prog_name="turnfit", **settings)


def start(*arguments: str, **settings: Any) -> subprocess.Popen[bytes]:
    """turnfit as a process of its own."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*RUN, *arguments], **{**pipes, **settings})


def process(*arguments: str, stdin: bytes = b"", **settings: Any) -> tuple[int, bytes, bytes]:
    with start(*arguments, **settings) as running:
        out, err = running.communicate(stdin, timeout=60)
    return running.returncode, out, err


def tool_rounds(count: int) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = [{"role": "user", "content": "Прочти все файлы."}]
    for number in range(count):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"{number}.md"})}
        call = {"id": f"c{number}", "type": "function", "function": function}
        history += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "снег " * 400},
        ]
    return history


@pytest.fixture
def history(tmp_path: Path) -> str:
    file = tmp_path / "history.json"
    file.write_text(json.dumps(tool_rounds(20), ensure_ascii=False), "utf-8")
    return str(file)


class TestFit:
    def test_writes_what_the_library_makes(self, history: str) -> None:
        result = run("fit", history, "--budget", "6000")
        assert result.exit_code == 0
        assert json.loads(result.stdout) == tf.fit(tool_rounds(20), budget=6000).messages
        assert "снег" in result.stdout

    def test_tells_what_was_cleared_and_the_tokens_before_and_after(self, history: str) -> None:
        fitted = tf.fit(tool_rounds(20), budget=6000)
        before = tf.estimate_request(tool_rounds(20))
        first, second = run("fit", history, "--budget", "6000").stderr.splitlines()
        assert first == (
            f"turnfit: {before:,} tokens became {fitted.tokens:,}, within the budget of 6,000"
        )
        freed = sum(row.tokens for row in fitted.cleared)
        count = len(fitted.cleared)
        assert second == (f"  cleared: {count} tool results, {freed:,} tokens (read_file {count})")

    @pytest.mark.parametrize("told_by", ["option", "policy", "body"])
    @pytest.mark.parametrize("model", ["gpt-5.1", "claude-opus-4-7"])
    def test_all_figures_are_priced_for_the_model(
        self, tmp_path: Path, history: str, told_by: str, model: str
    ) -> None:
        arguments = ["--budget", "6000", "--out", os.devnull]
        if told_by == "option":
            arguments += ["--model", model]
        elif told_by == "policy":
            policy = tmp_path / "policy.toml"
            policy.write_text(f'budget = 1\nmodel = "{model}"\n', "utf-8")
            arguments += ["--policy", str(policy)]
        else:
            body = {"model": model, "messages": tool_rounds(20)}
            Path(history).write_text(json.dumps(body), "utf-8")
        fitted = tf.fit(tool_rounds(20), budget=6000, model=model)
        before = tf.estimate_request(tool_rounds(20), model=model)
        told = run("fit", history, *arguments).stderr.splitlines()
        freed = sum(row.tokens for row in fitted.cleared)
        assert before - freed == fitted.tokens
        assert told[0].startswith(f"turnfit: {before:,} tokens became {fitted.tokens:,}, ")
        assert told[1] == f"  priced for {model}"
        assert f" {freed:,} tokens " in told[2]
        lines = run("explain", history, *arguments[:2], *arguments[4:]).stdout.splitlines()
        (row,) = (line.split() for line in lines if line.startswith("results"))
        results = [int(figure.replace(",", "")) for figure in row[1:3]]
        assert results[0] - results[1] == freed

    def test_an_unknown_model_is_told_in_a_line(self, history: str) -> None:
        told = run("fit", history, "--budget", "9000", "--model", "gtp-5", "--out", os.devnull)
        warned = [line for line in told.stderr.splitlines() if "no profile is known" in line]
        assert len(warned) == 1
        assert warned[0].startswith("turnfit: no profile is known for the model 'gtp-5'")

    def test_tells_what_was_dropped(self, history: str) -> None:
        fitted = tf.fit(tool_rounds(20), budget=1500)
        (gap,) = fitted.dropped
        told = run("fit", history, "--budget", "1500").stderr
        assert f"  dropped: {len(gap)} messages ({gap.start}-{gap.stop - 1})\n" in told

    def test_says_that_a_history_that_fits_is_sent_whole(self, history: str) -> None:
        result = run("fit", history, "--budget", "400000")
        assert result.stderr.endswith("within the budget of 400,000: sent whole\n")
        assert json.loads(result.stdout) == tool_rounds(20)

    def test_a_request_over_the_budget_is_written_and_exits_1(self, history: str) -> None:
        fitted = tf.fit(tool_rounds(20), budget=200)
        result = run("fit", history, "--budget", "200")
        assert result.exit_code == 1
        assert json.loads(result.stdout) == fitted.messages
        assert fitted.largest is not None
        first, second, *_ = result.stderr.splitlines()
        assert first.endswith(f"over the budget of 200 by {fitted.over:,}")
        where = f"message {fitted.largest.index} of the request"
        assert second == f"  largest: {where} (tool, {fitted.largest.tokens:,} tokens)"

    def test_mentions_what_a_provider_may_refuse(self) -> None:
        orphan = b'[{"role": "tool", "tool_call_id": "c1", "content": "42"}]'
        told = run("fit", "-", "--budget", "100", stdin=orphan).stderr
        assert "problems: a provider may refuse this history" in told
        shown = run("explain", "-", "--budget", "100", stdin=orphan).stdout
        assert "problems: a provider may refuse this history" in shown

    def test_counts_the_system_prompt_and_tools_beside_the_messages(self) -> None:
        value = {"system": "Ты агент. " * 50, "tools": [{"name": "x" * 100}], "messages": []}
        told = run("fit", "-", "--budget", "5000", stdin=json.dumps(value).encode()).stderr
        tokens = tf.estimate_request([], system=value["system"], tools=value["tools"])
        assert told.startswith(f"turnfit: {tokens:,} tokens, within")

    def test_may_write_over_the_file_that_it_reads(self, history: str) -> None:
        assert run("fit", history, "--budget", "6000", "--out", history).exit_code == 0
        fitted = tf.fit(tool_rounds(20), budget=6000)
        assert json.loads(Path(history).read_bytes()) == fitted.messages

    def test_reads_lines_from_stdin_and_writes_lines(self) -> None:
        lines = "".join(f"{json.dumps(message)}\n" for message in tool_rounds(3)).encode()
        code, out, _ = process("fit", "-", "--budget", "9999", stdin=lines)
        assert code == 0
        assert list(map(json.loads, out.decode("utf-8").splitlines())) == tool_rounds(3)

    def test_writes_utf_8_whatever_the_terminal_speaks(self) -> None:
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        message = json.dumps([{"role": "user", "content": "世界 \ud83d"}]).encode()
        _, out, _ = process("fit", "-", "--budget", "99", stdin=message, env=environment)
        assert out.decode() == '[{"role": "user", "content": "世界 \\ud83d"}]\n'


class TestPolicy:
    def policy(self, tmp_path: Path, text: str) -> str:
        file = tmp_path / "policy.toml"
        file.write_text(text, "utf-8")
        return str(file)

    def test_a_policy_has_fields_and_notes(self, tmp_path: Path, history: str) -> None:
        text = 'budget = 6000\nkeep = ["results", 2]\n[notes]\ncleared = "[вычищено]"\n'
        result = run("fit", history, "--policy", self.policy(tmp_path, text))
        notes = tf.Notes(cleared="[вычищено]")
        policy = tf.Policy(budget=6000, keep=("results", 2), notes=notes)
        assert json.loads(result.stdout) == tf.fit(tool_rounds(20), policy).messages

    def test_budget_comes_before_the_policys(self, tmp_path: Path, history: str) -> None:
        policy = self.policy(tmp_path, "budget = 100000\n")
        told = run("fit", history, "--policy", policy, "--budget", "6000").stderr
        assert "within the budget of 6,000" in told

    def test_a_policy_without_a_budget_needs_one(self, tmp_path: Path, history: str) -> None:
        policy = self.policy(tmp_path, "clear_batch = 2\n")
        assert run("fit", history, "--policy", policy).exit_code == 2
        assert run("fit", history, "--policy", policy, "--budget", "6000").exit_code == 0

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("budgett = 5", "a policy has no field 'budgett'; did you mean 'budget'?"),
            ('budget = 5\nwindow = "x"', "window must be an int, not str"),
            ("budget = ?\n", "not TOML: Invalid value (at line 1, column 10)"),
        ],
    )
    def test_a_bad_policy_is_told_with_file_and_field(
        self, tmp_path: Path, history: str, text: str, told: str
    ) -> None:
        policy = self.policy(tmp_path, text)
        result = run("fit", history, "--policy", policy)
        assert (result.exit_code, result.stderr) == (2, f"turnfit: {policy}: {told}\n")


class TestExplain:
    def test_shows_head_and_tail_and_what_is_between(self, history: str) -> None:
        lines = run("explain", history, "--budget", "6000").stdout.splitlines()
        assert lines[1].split()[:3] == ["0", "user", "text"]
        tokens = sum(map(tf.estimate_message, tool_rounds(20)[12:29]))
        told = f"... 17 messages between, {tokens:,} tokens: 8 kept, 9 cleared (--all)"
        assert lines[13].strip() == told
        assert lines[25].split()[:5] == ["40", "tool", "result", "of", "read_file"]

    def test_all_shows_every_message(self, history: str) -> None:
        lines = run("explain", history, "--budget", "6000", "--all").stdout.splitlines()
        assert [line.split()[0] for line in lines[1:42]] == list(map(str, range(41)))

    def test_says_of_each_message_what_would_happen(self, history: str) -> None:
        lines = run("explain", history, "--budget", "1500", "--all").stdout.splitlines()
        fitted = tf.fit(tool_rounds(20), budget=1500)
        dropped = {index for gap in fitted.dropped for index in gap}
        for index, line in enumerate(lines[1:42]):
            assert line.split()[-1] == ("dropped" if index in dropped else "kept")

    def test_shows_where_the_tokens_are_before_and_after(self, history: str) -> None:
        out = run("explain", history, "--budget", "6000").stdout
        fitted = tf.fit(tool_rounds(20), budget=6000)
        results = [
            sum(tf.estimate_message(message) for message in messages if message["role"] == "tool")
            for messages in (tool_rounds(20), fitted.messages)
        ]
        (row,) = (line.split() for line in out.splitlines() if line.startswith("results"))
        assert row[1:3] == [f"{tokens:,}" for tokens in results]
        assert out.rstrip().endswith(str(fitted))

    @pytest.mark.parametrize("columns", ["60", "80", "120"])
    def test_no_line_is_wider_than_the_terminal(self, history: str, columns: str) -> None:
        out = run("explain", history, "--budget", "6000", env={"COLUMNS": columns}).stdout
        assert max(map(len, out.splitlines())) <= int(columns)

    def test_there_is_no_colour_where_none_is_wanted(self, history: str) -> None:
        assert "\x1b" not in run("explain", history, "--budget", "6000").stdout

    def test_it_is_plain_ascii_where_the_terminal_is(self, history: str) -> None:
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        code, out, _ = process("explain", history, "--budget", "6000", env=environment)
        assert code == 0
        assert out.isascii()
        assert b"# sent  . goes" in out

    def test_parallel_calls_are_named_together(self) -> None:
        def call(number: int, name: str) -> dict[str, Any]:
            return {"id": f"c{number}", "type": "function", "function": {"name": name}}

        calls = [call(0, "read_file"), call(1, "evil\x1b[31m")]
        asked = {"role": "assistant", "content": "", "tool_calls": calls}
        data = json.dumps([{"role": "user", "content": ""}, asked]).encode()
        out = run("explain", "-", "--budget", "500", stdin=data, env={"COLUMNS": "120"}).stdout
        assert "calls of read_file, evil?[31m" in out

    def test_a_result_is_of_the_newest_call_with_its_id(self) -> None:
        history = [*tool_rounds(1), *tool_rounds(1)[1:]]
        history[-2]["tool_calls"][0]["function"]["name"] = "list_files"
        data = json.dumps(history).encode()
        lines = run("explain", "-", "--budget", "9000", stdin=data).stdout.splitlines()
        assert [line.split()[4] for line in lines[2:6]] == ["read_file"] * 2 + ["list_files"] * 2

    def test_an_empty_history_has_an_empty_table(self) -> None:
        result = run("explain", "-", "--budget", "500", stdin=b"[]")
        assert result.exit_code == 0
        assert "3 of 500 tokens: sent whole" in result.stdout


class TestEstimate:
    def test_prints_tokens_and_characters_of_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "a.txt"
        file.write_text("Hello, мир, 世界", "utf-8")
        header, row = run("estimate", str(file)).stdout.splitlines()
        assert header.split() == ["tokens", "ascii", "cjk", "other", "file"]
        assert row.split() == [str(tf.estimate("Hello, мир, 世界")), "9", "2", "3", str(file)]

    def test_several_files_have_a_total(self, history: str) -> None:
        lines = run("estimate", history, EXAMPLE).stdout.splitlines()
        tokens = [int(line.split()[0].replace(",", "")) for line in lines[1:]]
        assert lines[-1].split()[-1] == "total"
        assert tokens[-1] == sum(tokens[:-1])

    def test_a_missing_file_is_reported_and_the_others_go_on(self, history: str) -> None:
        result = run("estimate", "nope.md", history, "/")
        assert result.exit_code == 1
        assert result.stderr.splitlines() == [
            "turnfit: nope.md: No such file or directory",
            "turnfit: /: Is a directory",
        ]
        assert history in result.stdout

    def test_json_is_for_scripts(self, history: str) -> None:
        data = Path(history).read_bytes()
        (row,) = json.loads(run("estimate", "--json", history).stdout)
        counts = tf.count_scripts(data)._asdict()
        assert row == {"file": history, "tokens": tf.estimate(data), **counts}

    def test_reads_stdin(self) -> None:
        (row,) = json.loads(run("estimate", "--json", "-", stdin="世界\n".encode()).stdout)
        assert row == {"file": "-", "tokens": 3, "ascii": 1, "cjk": 2, "other": 0}

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse the name")
    def test_a_file_name_of_any_bytes_is_printed(self, tmp_path: Path) -> None:
        file = tmp_path / os.fsdecode(b"\xff.txt")
        file.write_text("x")
        code, out, _ = process("estimate", str(file))
        assert code == 0
        assert out.rstrip().endswith(b"\\udcff.txt")

    @given(
        st.one_of(
            st.binary(max_size=40),
            st.text(max_size=20).map(str.encode),
            st.lists(st.sampled_from(["世".encode(), b"\xf0\x9f", b"\x80", b"a", b"\xe0\xa4"])).map(
                b"".join
            ),
        ),
        st.integers(1, 9),
    )
    def test_a_files_blocks_count_as_the_whole(self, data: bytes, block: int) -> None:
        assert count_stream(io.BytesIO(data), block) == tf.count_scripts(data)

    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def test_a_file_costs_what_its_text_costs(self, text: str) -> None:
        out = run("estimate", "--json", "-", stdin=text.encode()).stdout
        assert json.loads(out)[0]["tokens"] == tf.estimate(text)


class TestCheck:
    def test_says_that_nothing_is_wrong(self, history: str) -> None:
        result = run("check", history)
        assert (result.exit_code, result.stdout) == (
            0,
            "nothing wrong in 41 messages (openai-chat)\n",
        )

    def test_prints_a_problem_a_line_and_exits_1(self) -> None:
        messages = [*tool_rounds(1), {"role": "tool", "tool_call_id": "c9", "content": "42"}]
        result = run("check", "-", stdin=json.dumps(messages).encode())
        assert result.exit_code == 1
        assert result.stdout.splitlines() == list(map(str, tf.check(messages)))

    def test_takes_a_format(self) -> None:
        data = b'[{"role": "user", "content": "x"}]'
        told = run("check", "-", "--format", "anthropic", stdin=data).stdout
        assert told == "nothing wrong in 1 messages (anthropic)\n"


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["fit", "nope.json", "--budget", "9"], "nope.json: No such file or directory"),
            (["fit", EXAMPLE], "give --budget or --policy (see 'turnfit fit --help')"),
            (["check", EXAMPLE, "--format", "zork"], "'zork' is not one of 'openai-chat', 'open"),
            (["fit", EXAMPLE, "--budget", "many"], "'many' is not a valid integer"),
            (["fit", EXAMPLE, "--foo"], "'--foo'"),
            (["fit", EXAMPLE, "--budget", "9", "--policy", "nope.toml"], "nope.toml: No such file"),
            (["fit", EXAMPLE, "--budget", "9", "--out", "no/such/dir"], "no/such/dir: No such"),
            ([], "Missing command (see 'turnfit --help')"),
        ],
    )
    def test_an_error_is_one_line_and_exits_2(self, arguments: list[str], told: str) -> None:
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("turnfit: ")
        assert result.stderr.count("\n") == 1
        assert told in result.stderr
        assert result.stdout == ""

    def test_broken_json_names_file_line_and_column(self, tmp_path: Path) -> None:
        file = tmp_path / "h.jsonl"
        file.write_text('{"role": "user"}\n{"role": }\n')
        result = run("check", str(file))
        assert result.exit_code == 2
        assert result.stderr == f"turnfit: {file}:2:10: broken JSON: Expecting value\n"

    def test_a_message_that_cannot_be_read_is_told_with_the_file(self) -> None:
        data = b'[{"role": "user", "content": "x"}, {"role": "zork"}]'
        result = run("fit", "-", "--budget", "100", stdin=data)
        assert result.exit_code == 2
        assert result.stderr.startswith("turnfit: stdin: message 1: its role 'zork'")

    def test_a_budget_without_room_names_the_parts(self) -> None:
        data = json.dumps({"system": "x" * 4000, "messages": []}).encode()
        result = run("fit", "-", "--budget", "100", stdin=data)
        assert result.exit_code == 2
        assert "no room for messages: system" in result.stderr

    @pytest.mark.skipif(not TRAJECTORIES.is_dir(), reason="needs ../shared")
    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("tau-airline-gpt4o-a.jsonl", "line 1 is a whole history"),
            ("bfcl-multi_turn_miss_param.jsonl", "line 1 is no message"),
            ("agentbench-alfworld_multiturn.json", "holds an object with"),
        ],
    )
    def test_what_holds_several_histories_or_none_is_told(self, name: str, told: str) -> None:
        result = run("fit", str(TRAJECTORIES / name), "--budget", "20000")
        assert result.exit_code == 2
        assert told in result.stderr

    @pytest.mark.skipif(not TRAJECTORIES.is_dir(), reason="needs ../shared")
    @pytest.mark.parametrize(
        "name",
        [
            "claudecode-spotter-tool_heavy.jsonl",
            "inspect-browser.json",
            "openhands-multiswe-0.json",
            "sweagent-rock.traj",
            "aider-chat-history-a.md",
        ],
    )
    def test_recorded_work_is_read_as_the_replay_reads_it(self, name: str) -> None:
        path = TRAJECTORIES / name
        [recording] = read_recordings(path.read_bytes(), name)
        result = run("fit", str(path), "--budget", "1000000")
        written = json.loads(result.stdout)
        messages = written["messages"] if isinstance(written, dict) else written
        assert messages == recording.messages
        for command in (["explain", "--budget", "1000000"], ["check"]):
            assert run(command[0], str(path), *command[1:]).exit_code in (0, 1)


class TestProcess:
    def test_version_and_help(self) -> None:
        assert run("--version").stdout == f"turnfit {tf.__version__}\n"
        assert "Examples:\n    turnfit fit history.json" in run("fit", "--help").stdout

    def test_exits_by_the_commands_code(self, history: str) -> None:
        assert process("fit", history, "--budget", "6000")[0] == 0
        assert process("fit", history, "--budget", "200")[0] == 1
        assert process("fit", history)[0] == 2

    @pytest.mark.parametrize("command", ["fit", "explain"])
    def test_a_broken_pipe_is_quiet(self, command: str) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as stdout:
            code, _, err = process(command, EXAMPLE, "--budget", "99999", stdout=stdout)
        assert (code, err) == (141, b"")

    @pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that closes streams")
    @pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
    def test_closed_streams_are_no_fault(self, closed: str) -> None:
        command = f"{shlex.join([*RUN, 'estimate', '-', EXAMPLE])} {closed}"
        done = subprocess.run(["sh", "-c", command], input=b"hi", capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")

    def test_a_budget_beyond_all_bounds_is_told_in_one_line(self) -> None:
        code, out, err = process("fit", EXAMPLE, "--budget", "9" * 30)
        assert (code, out) == (2, b"")
        assert err.startswith(b"turnfit: budget must be at most")

    def test_a_full_disk_is_told_in_one_line(self) -> None:
        if not os.path.exists("/dev/full"):
            pytest.skip("needs /dev/full")
        with open("/dev/full", "wb") as stdout:
            code, _, err = process("fit", EXAMPLE, "--budget", "99999", stdout=stdout)
        assert (code, err) == (2, b"turnfit: No space left on device\n")

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
    def test_ctrl_c_is_quiet_and_exits_130(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        # Opening waits for the reader, which then waits for what never comes.
        with start("estimate", str(pipe)) as running, pipe.open("wb"):
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
        assert (running.returncode, out, err) == (130, b"", b"")

    @pytest.mark.parametrize("missing", ["click", "rich"])
    def test_without_the_extra_it_says_what_to_install(self, missing: str) -> None:
        code = f"import sys; sys.modules[{missing!r}] = None; from turnfit.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        told = b"turnfit: for the command line: pip install 'turnfit[cli]'\n"
        assert (done.returncode, done.stdout, done.stderr) == (1, b"", told)

    def test_importing_turnfit_imports_neither_click_nor_rich(self) -> None:
        code = "import sys, turnfit, turnfit.cli; print({'click', 'rich'} & set(sys.modules))"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        assert out == b"set()\n"
