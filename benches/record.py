"""What a bench says about itself, and what is kept of its run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from pytest_benchmark.fixture import BenchmarkFixture

__all__ = ["Bench", "Keep", "Run", "amount", "describe", "size"]


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
    gain: float | None = None
    """Times as fast as what ran by turns with it; the median over the rounds."""
    nbytes: int | None = None
    """Bytes that it had to read."""
    grew: int | None = None
    """Bytes that the process, or an object, grew by."""

    @classmethod
    def of(cls, recorded: dict[str, Any]) -> Bench:
        stats = recorded["stats"]
        median, mean = (float(f"{stats[name]:.4g}") for name in ("median", "mean"))
        rounds = stats["rounds"] * stats["iterations"]
        return cls(**recorded["extra_info"], median=median, mean=mean, rounds=rounds)

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}

    def as_recorded(self) -> dict[str, Any]:
        """As pytest-benchmark writes one down: what `of` reads."""
        info = self.as_dict()
        stats = {name: info.pop(name) for name in ("median", "mean", "rounds")}
        return {"extra_info": info, "stats": {**stats, "iterations": 1}}


Keep: TypeAlias = Callable[[Bench], None]


@dataclass(frozen=True)
class Run:
    """A run: where and with what it ran, and what it measured."""

    facts: dict[str, str]
    benches: list[Bench]

    def task(self, task: str) -> list[Bench]:
        return [bench for bench in self.benches if bench.task == task]

    def find(self, task: str, given: str, contender: str = "turnfit") -> Bench | None:
        found = (bench for bench in self.task(task) if bench.given == given)
        return next((bench for bench in found if bench.contender == contender), None)

    def median(self, task: str, given: str, contender: str = "turnfit") -> float | None:
        found = self.find(task, given, contender)
        return found.median if found else None


def describe(benchmark: BenchmarkFixture, task: str, given: str, contender: str) -> None:
    """Say which contender does what task, and what it is given.

    Benches of the same task that are given the same thing are compared.
    """
    benchmark.group = f"{task}: {given}"
    benchmark.extra_info.update(task=task, given=given, contender=contender)


def amount(messages: int) -> str:
    return f"{messages:,} messages"


def size(nbytes: int) -> str:
    for unit, factor in (("MB", 1_000_000), ("KB", 1_000)):
        if nbytes >= factor:
            return f"{nbytes // factor} {unit}"
    return f"{nbytes} B"
