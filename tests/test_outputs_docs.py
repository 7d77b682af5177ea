"""The page on tool outputs runs, and shows what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from turnfit.cli.commands import commands
from turnfit.outputs import __all__ as names

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "outputs.md").read_text("utf-8")


def test_the_page_runs_as_it_stands() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL))
    left: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, "docs/outputs.md", "exec", dont_inherit=True), left)
    [marker] = re.findall(r"```\n(\[turnfit: .*)\n```", PAGE)
    assert marker in left["shown"]


def test_its_commands_are_there() -> None:
    for line in re.findall(r"^turnfit (.*)$", PAGE, flags=re.MULTILINE):
        words = line.split()
        told = words[: 2 if words[0] in ("store", "meter") else 1]
        result = CliRunner().invoke(commands, [*told, "--help"])
        assert result.exit_code == 0
        options = re.findall(r"--[a-z-]+", line)
        assert [option for option in options if option not in result.stdout] == []


def test_it_speaks_of_every_way_in() -> None:
    for name in ("limit", "limited", "paginate", "summarise", "Store", "Meter", "ToolLimits"):
        assert name in names
        assert name in PAGE
