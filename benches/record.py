"""What a bench says about itself, and what is kept of its run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

__all__ = ["Bench", "amount", "describe", "size"]


@dataclass(frozen=True)
class Bench:
    """A contender's run of a task on one input; times are in seconds."""

    task: str
    given: str
    contender: str
    median: float
    mean: float
    rounds: int
    held: int | None = None
    """Messages that a request held, on average."""

    @classmethod
    def of(cls, recorded: dict[str, Any]) -> Bench:
        stats = recorded["stats"]
        median, mean = (float(f"{stats[name]:.4g}") for name in ("median", "mean"))
        rounds = stats["rounds"] * stats["iterations"]
        return cls(**recorded["extra_info"], median=median, mean=mean, rounds=rounds)

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


def describe(benchmark: BenchmarkFixture, task: str, given: str, contender: str) -> None:
    """Say which contender does what task, and what it is given.

    Benches of the same task that are given the same thing are compared.
    """
    benchmark.group = f"{task}: {given}"
    benchmark.extra_info.update(task=task, given=given, contender=contender)


def amount(messages: int) -> str:
    return f"{messages:,} messages"


def size(nbytes: int) -> str:
    return f"{nbytes // 1_000_000} MB" if nbytes >= 1_000_000 else f"{nbytes // 1_000} KB"
