"""Contenders by turns: what one round measures, another's noise can't tell apart."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from statistics import mean, median
from time import process_time
from typing import Any, TypeAlias, TypeVar

from benches.record import Bench

__all__ = ["Call", "Clock", "bench_of", "by_turns", "gain", "over"]

Call: TypeAlias = Callable[[], object]
Clock: TypeAlias = Callable[[], float]
T = TypeVar("T")


def by_turns(
    calls: Sequence[Call], rounds: int, *, clock: Clock = process_time, times: int = 1
) -> list[list[float]]:
    """The seconds of each call, `rounds` of them, every round with all calls in turn.

    A measurement is the mean of `times` calls, where one alone is too short for the clock.
    """
    for call in calls:
        call()
    with no_garbage_collection():
        taken = [[seconds(call, clock, times) for call in calls] for _ in range(rounds)]
    return [list(column) for column in zip(*taken, strict=True)]


def seconds(call: Call, clock: Clock, times: int) -> float:
    start = clock()
    for _ in range(times):
        call()
    return (clock() - start) / times


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def over(call: Callable[[T], object], inputs: Sequence[T], first: int = 0) -> Call:
    """The call on one input after the other, without end."""
    endless = cycle([*inputs[first:], *inputs[:first]])
    return lambda: call(next(endless))


def gain(slow: list[float], fast: list[float]) -> float:
    """How many times as fast, as the median over the rounds."""
    return median(one / other for one, other in zip(slow, fast, strict=True))


def bench_of(task: str, given: str, contender: str, times: list[float], **more: Any) -> Bench:
    return Bench(task, given, contender, median(times), mean(times), len(times), **more)
