"""What a benchmark file says about the run besides its figures."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from benches import sizes

PACKAGES = (
    "turnfit",
    "langchain",
    "langchain-core",
    "litellm",
    "numpy",
    "regex",
    "tiktoken",
)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # A smoke run is to see that all works; measuring would take most of its time.
    if sizes.SMOKE and not config.option.benchmark_json:
        config.option.benchmark_disable = True


def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    machine_info["packages"] = {name: installed(name) for name in PACKAGES}
    machine_info["smoke"] = sizes.SMOKE
    machine_info["load"] = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
