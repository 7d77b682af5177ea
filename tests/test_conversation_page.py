"""The page on conversations runs, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "conversation.md").read_text("utf-8")
CODE = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL))
SHOWN = re.compile(r"^print\(.+?\)  # (.+)$", flags=re.MULTILINE)


def test_the_pages_code_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    defined: dict[str, Any] = {}
    exec(compile(CODE, "conversation.md", "exec"), defined)
    shown = SHOWN.findall(CODE)
    assert len(shown) >= 7
    assert capsys.readouterr().out.splitlines() == shown
