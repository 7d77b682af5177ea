"""`turnfit replay`: what it prints, what it writes, and how it exits."""

from __future__ import annotations

import json
import os
import signal
import sys
from errno import ENOSPC
from pathlib import Path
from typing import Any

import pytest
from support.trajectories import FOLDER, needs_corpus
from test_cli import EXAMPLE, process, run, start, tool_rounds
from turnfit.cli import replays
from turnfit.compaction import shell
from turnfit.replay.page.words import PAID_FOR_LESS

STANDARD = ["nothing", "drop oldest", "keep last 6", "clear one", "default"]
SMALL = ("--budget", "6000", "--window", "20000")


@pytest.fixture
def history(tmp_path: Path) -> str:
    return written(tmp_path / "history.json", tool_rounds(40))


def written(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value), "utf-8")
    return str(path)


def told(*arguments: str) -> dict[str, Any]:
    result = run("replay", *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def line(text: str, title: str) -> list[str]:
    [found] = [one for one in text.splitlines() if one.startswith(f"{title} ")]
    return found.removeprefix(title).split()


def test_policies_stand_side_by_side(history: str) -> None:
    result = run("replay", history, *SMALL, env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert line(result.stdout, "finished") == ["no", "no", "yes", "yes", "yes"]
    assert line(result.stdout, "requests") == ["41"] * 5
    assert result.stdout.splitlines()[:3] == [
        history,
        "81 messages; budget 6,000, window 20,000",
        "model not known; prefix cache: OpenAI",
    ]
    assert max(map(len, result.stdout.splitlines()[3:])) <= 80


def test_the_json_has_all_figures_and_their_sums(history: str) -> None:
    got = told(history, history, *SMALL)
    first, second = got["histories"]
    assert [policy["name"] for policy in first["policies"]] == STANDARD
    assert first["version"] == 1
    assert first["policies"][-1]["steps"]["at"] == list(range(1, 82, 2))
    for one, other, total in zip(first["policies"], second["policies"], got["totals"], strict=True):
        assert total["tokens_sent"] == one["tokens_sent"] + other["tokens_sent"]
        assert total["histories"] == 2
    assert got["totals"][0]["finished"] == 0


def test_without_a_window_nothing_is_refused_and_nothing_is_said_of_it(history: str) -> None:
    result = run("replay", history, "--budget", "6000")
    assert "budget 6,000; no --window: nothing is refused\n" in result.stdout
    assert result.stdout.count("refused") == 1
    assert "finished" not in result.stdout
    assert {policy["refused"] for policy in told(history, "--budget", "6000")["totals"]} == {0}


def test_own_policies_stand_beside_the_others_and_take_what_they_lack(
    history: str, tmp_path: Path
) -> None:
    (tmp_path / "tight.toml").write_text("budget = 3000")
    (tmp_path / "three.toml").write_text('keep = ["results", 3]')
    files = ("--policy", str(tmp_path / "tight.toml"), "--policy", str(tmp_path / "three.toml"))
    [one] = told(history, *SMALL, *files)["histories"]
    budgets = {policy["name"]: policy["budget"] for policy in one["policies"]}
    assert budgets == {**dict.fromkeys(STANDARD, 6000), "tight": 3000, "three": 6000}
    for width in ("60", "80", "120"):
        printed = run("replay", history, *SMALL, *files, env={"COLUMNS": width})
        assert max(map(len, printed.stdout.splitlines()[1:])) <= int(width)
        rows = [one for one in printed.stdout.splitlines() if one.startswith("requests ")]
        assert sum(len(row.split()) - 1 for row in rows) == 7


def test_where_something_was_refused_it_is_said_that_it_was_not_paid_for(history: str) -> None:
    refused = run("replay", history, *SMALL, env={"COLUMNS": "100"})
    assert refused.stdout.endswith(f"\n\n{PAID_FOR_LESS}\n")
    for window in ("--window", "2000000"), ():
        assert PAID_FOR_LESS not in run("replay", history, "--budget", "6000", *window).stdout


def test_names_from_files_are_no_markup_and_steer_no_terminal(history: str, tmp_path: Path) -> None:
    policy, prices = tmp_path / "[red]a.toml", tmp_path / "prices.toml"
    policy.write_text("")
    prices.write_text('currency = "\\u001b[b]U"\n[models.m]\ninput = 1')
    own = ("--policy", str(policy), "--model", "m", "--prices", str(prices))
    result = run("replay", history, *SMALL, *own, env={"COLUMNS": "100"})
    assert "[red]a" in result.stdout
    assert "cost in ?[b]U " in result.stdout
    assert "\x1b" not in result.stdout


def test_headings_stay_whole_and_a_blank_line_stands_between_parts(
    history: str, tmp_path: Path
) -> None:
    files: list[str] = []
    for number in range(4):
        (tmp_path / f"number-{number}.toml").write_text("")
        files += ["--policy", str(tmp_path / f"number-{number}.toml")]
    for width in ("50", "60", "70", "80", "90", "100"):
        printed = run("replay", history, *SMALL, *files, env={"COLUMNS": width}).stdout
        lines = printed.splitlines()
        assert all(name in printed for name in (*STANDARD, *(f"number-{n}" for n in range(4))))
        heads = [at for at, one in enumerate(lines) if one.startswith("finished")]
        assert len(heads) > 1
        assert [lines[at - 2].strip() for at in heads] == [""] * len(heads)


def test_only_known_models_are_counted(tmp_path: Path) -> None:
    def about(*models: str | None) -> str:
        for number, model in enumerate(models):
            body = {"messages": tool_rounds(2), **({"model": model} if model else {})}
            written(tmp_path / f"{number}.json", body)
        return run("replay", str(tmp_path), "--budget", "6000").stdout.splitlines()[1]

    assert about("gpt-5.1", None).startswith("gpt-5.1, some not known; ")
    assert about("gpt-5.1", "gpt-5", None).startswith("2 models, some not known; ")
    assert about("gpt-5.1", "gpt-5", "gpt-5").startswith("2 models; ")


def test_prices_tell_the_costs(history: str, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."gpt-5.1"]\ninput = 1.25\ncache_read = 0.125\noutput = 10')
    model = ("--model", "gpt-5.1", "--prices", str(prices))
    result = run("replay", history, *SMALL, *model)
    costs = line(result.stdout, "cost in USD")
    assert len(costs) == 5
    assert all(float(cost) > 0 for cost in costs)
    [one] = told(history, *SMALL, *model)["histories"]
    assert {policy["currency"] for policy in one["policies"]} == {"USD"}


def test_a_history_comes_from_stdin_too() -> None:
    data = json.dumps(tool_rounds(5)).encode()
    result = run("replay", "-", "--budget", "6000", stdin=data)
    assert result.exit_code == 0
    assert result.stdout.startswith("stdin\n11 messages")


def test_stdin_comes_in_its_place_among_the_files(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{number}.json", tool_rounds(4 + number)) for number in range(3)]
    data = json.dumps(tool_rounds(9)).encode()
    arguments = (files[0], "-", *files[1:], "--budget", "6000", "--json")
    got = json.loads(run("replay", *arguments, stdin=data).stdout)["histories"]
    names = [files[0], "stdin", *files[1:]]
    assert [(one["name"], one["messages"]) for one in got] == list(
        zip(names, (9, 19, 11, 13), strict=True)
    )


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="nothing is closed to root")
def test_a_folder_that_cannot_be_written_to_is_told_before_the_work(
    history: str, tmp_path: Path
) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    result = run("replay", history, *SMALL, "--html", str(tmp_path / "closed" / "page.html"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "closed can't be written to" in result.stderr


def test_a_page_that_cannot_be_written_in_the_end_costs_no_figures(
    history: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str, data: bytes) -> None:
        raise OSError(ENOSPC, "No space left on device", path)

    monkeypatch.setattr(replays, "write_file", full)
    result = run("replay", history, *SMALL, "--html", str(tmp_path / "page.html"))
    assert result.exit_code == 2
    assert line(result.stdout, "requests")
    assert result.stderr.endswith("page.html: No space left on device\n")


def test_a_folder_is_summed_up_and_what_holds_no_history_is_told(tmp_path: Path) -> None:
    for number in range(3):
        written(tmp_path / f"{number}.json", tool_rounds(10 + number))
    written(tmp_path / "task.json", {"id": 1, "question": "?"})
    (tmp_path / "notes.txt").write_text("no history, and not looked at")
    result = run("replay", str(tmp_path), "--budget", "3000", "--window", "6000")
    assert result.exit_code == 1
    assert "3 histories, 69 messages" in result.stdout
    assert line(result.stdout, "finished")[-3:] == ["3", "of", "3"]
    [error] = result.stderr.splitlines()
    assert error.startswith(f"turnfit: {tmp_path / 'task.json'}: a task")


def test_several_jobs_print_what_one_does(tmp_path: Path) -> None:
    for number in range(4):
        written(tmp_path / f"{number}.json", tool_rounds(10 + number))
    one = told(str(tmp_path), "--budget", "3000")
    code, out, err = process("replay", str(tmp_path), "--budget", "3000", "--jobs", "2", "--json")
    assert (code, err) == (0, b"")
    assert without_seconds(json.loads(out)) == without_seconds(one)


@pytest.mark.skipif(os.name == "nt", reason="pipes with names, and signals to groups")
def test_an_interrupt_ends_all_jobs_without_noise(tmp_path: Path) -> None:
    pipes = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for pipe in pipes:
        os.mkfifo(pipe)
    # Done soon, or still to be begun: its process waits for work, or starts.
    short = written(tmp_path / "short.json", tool_rounds(1))
    arguments = ("replay", short, *map(str, pipes), "--budget", "9000", "--jobs", "3")
    # Opening waits for the reader, which then waits for what never comes.
    with (
        start(*arguments, start_new_session=True) as running,
        pipes[0].open("wb"),
        pipes[1].open("wb"),
    ):
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, b"", b"")


def without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_seconds(item) for key, item in value.items() if key != "seconds"}
    return [without_seconds(item) for item in value] if isinstance(value, list) else value


def test_a_page_of_charts_is_written(history: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = run("replay", history, *SMALL, "--html", str(page))
    assert result.exit_code == 0
    assert "default" in page.read_text("utf-8")
    assert line(result.stdout, "requests")
    piped = run("replay", history, *SMALL, "--html", "-")
    assert piped.stdout.lstrip().lower().startswith("<!doctype html>")
    assert piped.stdout.count("model not known") <= 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("{history}",), "Missing option '--budget'"),
        (("{history}", "--budget", "0"), "0 is not in the range"),
        (("{history}", "--budget", "9", "--window", "8"), "--window 8 is less than --budget 9"),
        (("{missing}", "--budget", "9"), "{missing}: No such file"),
        (("{empty}", "--budget", "9"), "{empty}: there is no file of a known kind"),
        (("{history}", "--budget", "99", "--policy", "{missing}"), "{missing}: No such file"),
        (("{history}", "--budget", "99", "--policy", "{bad}"), "{bad}: a policy has no field"),
        (("{history}", "--budget", "99", "--prices", "{bad}"), "{bad}: there are no models"),
        (("{history}", "--budget", "99", "--policy", "{default}"), "two policies called 'default'"),
        (("{history}", "--budget", "1"), "{history}: policy 'clear one': the budget of 1 tokens"),
        (("{history}", "--budget", "99", "--policy", "{none}"), "{history}: policy 'none': the bu"),
        (
            ("{history}", "--budget", "9", "--window", "98", "--policy", "{wide}"),
            "{wide}: its budget of 99 is more than --window 98",
        ),
        (("{history}", "--budget", str(2**62 + 1)), "'--budget': 4611686018427387905 is not in"),
        (("{history}", "--budget", "9", "--window", str(10**30)), f"'--window': {10**30} is not"),
        (("{history}", "--budget", "9", "--seconds-per-step", "nan"), "nan is no number of sec"),
        (("{history}", "--budget", "9", "--seconds-per-step", "inf"), "inf is no number of sec"),
        (("{history}", "--budget", "9", "--seconds-per-step", "-1"), "-1.0 is not in the range"),
        (("-", "{history}", "-", "--budget", "9"), "- is given twice"),
        (("{history}", "--budget", "9", "--html", "{empty}"), "{empty}: it is a folder"),
        (("{history}", "--budget", "9", "--html", "{empty}/a/b"), "there is no folder {empty}/a"),
        (("{history}", "--budget", "9", "--html", "{default}/b"), "there is no folder {default}"),
        (("{history}", "--budget", "9", "--html", "-", "--json"), "would both print to stdout"),
        (("{history}", "--budget", "9000", "--prices", "{prices}"), "the history names none"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    history: str, tmp_path: Path, arguments: tuple[str, ...], error: str
) -> None:
    (tmp_path / "empty").mkdir()
    names = {"history": history, "missing": "missing.json", "empty": str(tmp_path / "empty")}
    for name, text in (
        ("bad", "buget = 1"),
        ("default", "budget = 99"),
        ("wide", "budget = 99"),
        ("none", "budget = 1"),
        ("prices", "[models.a]\ninput = 1"),
    ):
        names[name] = str(tmp_path / f"{name}.toml")
        Path(names[name]).write_text(text)
    result = run("replay", *(one.format(**names) for one in arguments))
    assert result.exit_code == 2
    [told] = result.stderr.splitlines()
    assert error.format(**names) in told


def test_a_model_that_has_no_profile_is_said_once(history: str) -> None:
    result = run("replay", history, history, "--budget", "6000", "--model", "nobodys-model")
    assert result.exit_code == 0
    [told] = result.stderr.splitlines()
    assert told.startswith("turnfit: no profile is known for the model 'nobodys-model'")


def test_without_the_parser_of_commands_the_rest_is_counted_and_that_is_said(
    history: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = tool_rounds(40)
    for number, message in enumerate(messages):
        for call in message.get("tool_calls", ()):
            command = f"cat {number % 30}"
            call["function"] = {"name": "Bash", "arguments": json.dumps({"command": command})}
    written(Path(history), messages)
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    monkeypatch.setattr(shell, "_parser", shell._parser.__wrapped__)
    result = run("replay", history, *SMALL)
    assert result.exit_code == 0
    [told] = result.stderr.splitlines()
    assert told.startswith("turnfit: reading shell commands needs the extra 'shell'")
    assert int(line(result.stdout, "fetched again")[-1]) > 0


def test_the_shipped_example_can_be_replayed() -> None:
    assert line(run("replay", EXAMPLE, "--budget", "40000").stdout, "over budget")[-1] == "0"


@needs_corpus
def test_the_corpus_is_replayed_as_a_folder() -> None:
    result = run("replay", str(FOLDER), "--budget", "20000", "--window", "60000")
    assert result.exit_code == 1
    assert line(result.stdout, "finished")
    errors = [one for one in result.stderr.splitlines() if "no profile is known" not in one]
    assert len(errors) == 2
