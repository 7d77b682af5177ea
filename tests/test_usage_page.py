"""The page on reported usage runs, and prints what it says."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from click.testing import CliRunner
from support.trajectories import FOLDER, needs_corpus
from turnfit.cli.commands import commands

PAGE = (Path(__file__).parents[1] / "docs" / "usage.md").read_text("utf-8")
CODE = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL))
SHOWN = re.compile(r"^print\(.+\)  # (.+)$", flags=re.MULTILINE)


def run() -> dict[str, Any]:
    """What the page's code defines."""
    defined: dict[str, Any] = {}
    exec(compile(CODE, "usage.md", "exec"), defined)
    return defined


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_pages_code_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    shown = SHOWN.findall(CODE)
    assert len(shown) >= 9
    assert capsys.readouterr().out.splitlines() == shown


def shown_below(command: str) -> str:
    """What the page shows of a command's output."""
    return PAGE.partition(f"$ {command}\n")[2].partition("```")[0]


def audit(*arguments: str, stdin: str | None = None) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(commands, ["audit", *arguments], stdin)
    assert result.exit_code == 0
    return result.output


@needs_corpus
def test_the_pages_audit_of_recorded_requests_prints_what_it_says() -> None:
    pairs = "usagepairs-anthropic-open.jsonl"
    options = ("--plain", "--least", "501")
    shown = shown_below(" ".join(("turnfit audit", pairs, *options)))
    assert audit(str(FOLDER / pairs), *options) == shown


@needs_corpus
def test_the_pages_audit_of_recorded_sessions_prints_what_it_says() -> None:
    requests_of = run()["requests_of"]
    paths = sorted(FOLDER.glob("claudecode-spotter-*.jsonl"))
    log = [line for path in paths for line in requests_of(path.read_text("utf-8").splitlines())]
    command = "python requests_of.py claudecode-spotter-*.jsonl | turnfit audit -"
    assert audit("-", stdin="\n".join(log)) == shown_below(command)


@needs_corpus
def test_the_pages_recipe_reads_recorded_transcripts() -> None:
    requests_of = run()["requests_of"]
    for path in sorted(FOLDER.glob("claudecode-spotter-*.jsonl")):
        lines = path.read_text("utf-8").splitlines()
        found = tf.audit(requests_of(lines))
        assert found.skipped == {}
        assert all(model.bias < 0 for model in found.models)
        assert found.models[0].requests > 3
