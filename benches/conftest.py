"""What a benchmark file says about the run besides its figures."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest
import turnfit

from benches import sizes
from benches.record import Bench, Keep

PACKAGES = (
    "diskcache",
    "langchain",
    "langchain-core",
    "litellm",
    "numpy",
    "pyarrow",
    "regex",
    "rs-bpe",
    "tiktoken",
    "toktok-rs",
)

KEPT = pytest.StashKey[list[Bench]]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    # A smoke run is to see that all works; measuring would take most of its time.
    if sizes.SMOKE and not config.option.benchmark_json:
        config.option.benchmark_disable = True


@pytest.fixture(scope="session")
def keep(pytestconfig: pytest.Config) -> Keep:
    """Keeps what a bench has measured by itself, as if pytest-benchmark had."""
    return pytestconfig.stash.setdefault(KEPT, []).append


def pytest_benchmark_update_json(config: pytest.Config, output_json: dict[str, Any]) -> None:
    kept = config.stash.get(KEPT, [])
    output_json["benchmarks"] += [bench.as_recorded() for bench in kept]


def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    peers = {name: installed(name) for name in PACKAGES}
    machine_info["packages"] = {"turnfit": turnfit.__version__, **peers}
    machine_info["smoke"] = sizes.SMOKE
    machine_info["load"] = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
