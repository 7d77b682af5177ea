"""The README's tour runs, and what it says of commands and files is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
TOUR = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
SHOWN = re.compile(r"print\((\w+(?:\.\w+)?)\) +# (.+)")


def test_the_tour_runs_and_prints_what_it_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    code = "\n".join(TOUR)
    exec(compile(code, "README.md", "exec"), {})
    shown = [comment for _, comment in SHOWN.findall(code)]
    assert len(shown) >= 2
    assert capsys.readouterr().out.splitlines() == shown


def test_ci_runs_the_readmes_two_commands() -> None:
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    for ending in ("turnfit fit .*", "pytest"):
        assert len(re.findall(rf"^pip install .*{ending}$", README, flags=re.MULTILINE)) == 1
        assert f"readme '{ending}'" in ci


def test_every_file_that_the_readme_links_is_there() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
