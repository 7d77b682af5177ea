"""Whether an event loop goes on while a long history is fitted in a thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from statistics import mean, median
from typing import Any

import turnfit

from benches import sizes
from benches.histories import short_history
from benches.record import Bench, Keep, amount

TASK = "beside a fit"
EVERY = 0.002


async def lateness(history: list[dict[str, object]] | None, budget: int) -> list[float]:
    """By how much a task that sleeps comes late, beside a fit in a thread or alone."""
    beside: Coroutine[Any, Any, object] = asyncio.sleep(0.5)
    if history is not None:
        beside = asyncio.to_thread(turnfit.fit, history, budget=budget)
    work, late = asyncio.ensure_future(beside), []
    while not work.done():
        start = time.perf_counter()
        await asyncio.sleep(EVERY)
        late.append(time.perf_counter() - start - EVERY)
    await work
    return late


def test_event_loop(keep: Keep) -> None:
    history = short_history(sizes.LINEAR[-1])
    budget = turnfit.estimate_request(history) // 2
    for contender, fitted in (("alone", None), ("turnfit", history)):
        late = sorted(asyncio.run(lateness(fitted, budget)))
        percentile = late[len(late) * 99 // 100]
        for which, found in (("median", median(late)), ("99th of 100", percentile)):
            given = f"{amount(len(history))}, {which}"
            keep(Bench(TASK, given, contender, found, mean(late), len(late)))
