"""Long work for the frameworks' own test models: files to read, each some 1,000 tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import turnfit as tf

FILES = 12
TASK = "Read every file and report."
BUDGET = 6_000
POLICY = tf.Policy(budget=BUDGET, grid=0)


def text_of(file: int) -> str:
    """What a file says; no two say the same."""
    return f"file {file} says that all is well. " * 130


def read_file(number: int) -> str:
    """Read a file."""
    return text_of(number)


def assert_long_work(seen: Sequence[tf.Fitted]) -> None:
    """One request for each file and one more, all within the budget; the late ones cleared."""
    assert len(seen) == FILES + 1
    assert all(fitted.fits for fitted in seen)
    assert [fitted.step for fitted in seen[:3]] == ["whole"] * 3
    assert seen[-1].step == "results"
    assert len(seen[-1].cleared) >= FILES // 2


def assert_request(request: Sequence[Any], format: str | tf.Format, **besides: Any) -> None:
    """What a model was sent is within the budget, and a provider would take it."""
    assert tf.estimate_request(request, format=format, **besides) <= BUDGET
    assert tf.check(request, format=format) == []


def in_threads(work: Callable[[int], Any], times: int = 8) -> list[Any]:
    """The work, done so many times at once."""
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(work, range(times)))


def in_tasks(work: Callable[[int], Awaitable[Any]], times: int = 8) -> list[Any]:
    """The same in tasks of one event loop."""

    async def all_of_it() -> list[Any]:
        return list(await asyncio.gather(*(work(number) for number in range(times))))

    return asyncio.run(all_of_it())
