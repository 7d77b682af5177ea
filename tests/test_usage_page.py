"""The page on reported usage runs, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from support.trajectories import FOLDER, needs_corpus

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


@needs_corpus
def test_the_pages_recipe_reads_recorded_transcripts() -> None:
    requests_of = run()["requests_of"]
    for path in sorted(FOLDER.glob("claudecode-spotter-*.jsonl")):
        lines = path.read_text("utf-8").splitlines()
        found = tf.audit(requests_of(lines))
        assert found.skipped == {}
        assert all(model.bias < 0 for model in found.models)
        assert found.models[0].requests > 3
