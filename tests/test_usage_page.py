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


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page's code defines."""
    monkeypatch.chdir(tmp_path)
    defined: dict[str, Any] = {}
    exec(compile(CODE, "usage.md", "exec"), defined)
    return defined


def test_the_pages_code_runs_and_prints_what_it_says(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = SHOWN.findall(CODE)
    assert len(shown) >= 9
    assert capsys.readouterr().out.splitlines() == shown


@needs_corpus
def test_the_pages_recipe_reads_recorded_transcripts(names: dict[str, Any]) -> None:
    for path in sorted(FOLDER.glob("claudecode-spotter-*.jsonl")):
        lines = path.read_text("utf-8").splitlines()
        found = tf.audit(names["requests_of"](lines))
        assert found.skipped == {}
        assert all(model.bias < 0 for model in found.models)
        assert found.models[0].requests > 3
