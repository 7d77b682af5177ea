"""The page on refusals runs, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from turnfit.rejections import Kind

PAGE = (Path(__file__).parents[1] / "docs" / "rejections.md").read_text("utf-8")
SHOWN = re.compile(r"^\s*print\(.+\)  # (.+)$", flags=re.MULTILINE)


def test_the_pages_code_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL))
    exec(compile(code, "rejections.md", "exec"), {})
    shown = SHOWN.findall(code)
    assert len(shown) >= 7
    assert capsys.readouterr().out.splitlines() == shown


def test_the_page_has_every_kind() -> None:
    told = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
    assert sorted(told) == sorted(get_args(Kind))
