"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
from typing import Any

import pytest
import turnfit
from turnfit.errors import MissingExtraError

# Or LiteLLM asks the network for its prices.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

# What frameworks warn of is theirs.
forgiven = pytest.mark.filterwarnings("ignore")
MODULES: list[Any] = ["turnfit", "turnfit._core"] + [
    pytest.param(module.name, marks=[forgiven] if ".integrations." in module.name else [])
    for module in pkgutil.walk_packages(turnfit.__path__, "turnfit.")
    if not module.name.endswith("._core")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except MissingExtraError as error:
        pytest.skip(str(error))
    failed, _ = doctest.testmod(module)
    assert failed == 0


def test_every_public_name_has_a_docstring() -> None:
    names = [name for name in turnfit.__all__ if name != "__version__"]
    assert [name for name in names if not getattr(turnfit, name).__doc__] == []


def test_every_public_function_has_an_example() -> None:
    functions = ("estimate", "count_scripts", "estimate_message", "estimate_request", "fit")
    for name in (*functions, "check", "guidance", "Conversation", "Message", "Policy"):
        assert ">>>" in getattr(turnfit, name).__doc__
