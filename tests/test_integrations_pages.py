"""The pages on frameworks run, and print what they say."""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
pytestmark = pytest.mark.filterwarnings("ignore")

ROOT = Path(__file__).parents[1]
SHOWN = re.compile(r"print\(.+\)  # (.+)$", flags=re.MULTILINE)
PAGE = (ROOT / "docs" / "integrations.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE))
NEEDED = {
    "LangChain": "langchain",
    "pydantic-ai": "pydantic_ai",
    "OpenAI Agents SDK": "agents",
    "LiteLLM": "litellm",
}


def code_of(text: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))


def run(code: str, name: str) -> dict[str, Any]:
    left: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, name, "exec", dont_inherit=True), left)
    return left


@pytest.fixture
def callbacks() -> Iterator[None]:
    litellm = pytest.importorskip("litellm")
    before = list(litellm.callbacks)
    yield
    litellm.callbacks = before


@pytest.mark.parametrize("section", NEEDED)
def test_what_is_said_of_a_framework_runs(
    section: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    pytest.importorskip(NEEDED[section])
    if section == "LiteLLM":
        request.getfixturevalue("callbacks")
    code = code_of(SECTIONS[section])
    run(code, section)
    assert capsys.readouterr().out.splitlines() == SHOWN.findall(code) != []


@pytest.fixture(autouse=True)
def levels() -> Iterator[None]:
    """The page sets a logger's level."""
    yield
    logging.getLogger("turnfit.integrations").setLevel(logging.NOTSET)


def test_what_is_said_of_all_of_them_runs(capsys: pytest.CaptureFixture[str]) -> None:
    told = ("A policy for each model", "Tell the agent", "What is told")
    code = code_of("".join(SECTIONS[section] for section in told))
    run(code, "integrations.md")
    assert capsys.readouterr().out.splitlines() == SHOWN.findall(code) != []


def test_each_frameworks_first_lines_are_few() -> None:
    for section in NEEDED:
        first = re.findall(r"```python\n(.*?)```", SECTIONS[section], flags=re.DOTALL)[0]
        lines = [line for line in first.splitlines() if line and not line.startswith("#")]
        assert len([line for line in lines if not line.startswith("print")]) <= 6


def test_each_framework_has_its_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    told = re.findall(r"pip install 'turnfit\[(.+?)\]'", PAGE)
    assert set(told) == {"langchain", "pydantic-ai", "openai-agents", "litellm"}
    assert set(told) <= set(project["optional-dependencies"])


def test_each_figure_that_a_span_gets_is_in_the_table() -> None:
    named = set(re.findall(r"`turnfit\.(\w+)`", SECTIONS["What is told"]))
    assert {"framework", *tf.fit([], budget=9).as_dict()} <= named


def test_the_proxy_finds_the_callback_that_its_configuration_names(tmp_path: Path) -> None:
    pytest.importorskip("litellm")
    utils = pytest.importorskip("litellm.proxy.types_utils.utils")
    code, configuration = re.findall(
        r"```(?:python\n# fitting\.py|yaml)\n(.*?)```", SECTIONS["LiteLLM"], flags=re.DOTALL
    )
    [name] = re.findall(r"callbacks: (.+)", configuration)
    (tmp_path / "fitting.py").write_text(code)
    found = utils.get_instance_fn(name, str(tmp_path / "config.yaml"))
    assert type(found).__name__ == "FitProxy"


def test_the_page_on_a_framework_of_ones_own_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = code_of((ROOT / "docs" / "formats-of-your-own.md").read_text("utf-8"))
    run(code, "formats-of-your-own.md")
    assert capsys.readouterr().out.splitlines() == SHOWN.findall(code) != []
