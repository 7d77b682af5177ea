"""The page about compaction runs, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "compaction.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_page_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = "\n".join(BLOCKS)
    shown = re.findall(r"^print\(.*\n# (.+)$", code, flags=re.MULTILINE)
    names: dict[str, object] = {}
    exec(compile(code, "compaction.md", "exec"), names)
    assert len(shown) == code.count("\nprint(")
    assert capsys.readouterr().out.splitlines() == shown
    assert str(names["picture"]).startswith("<svg")
