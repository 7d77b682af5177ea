"""Whether other threads run while something is computed."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

__all__ = ["others_run_amid"]

TRIES = 300
"""On a busy machine the other thread may be late to ask for its turn."""

ASKS_AFTER = 1e-5
"""Seconds after which it asks, of usually five thousandths."""


def others_run_amid(work: Callable[[], object]) -> bool:
    """Whether another thread ran in the middle half of the work, in one of many tries."""
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())

    usual = sys.getswitchinterval()
    sys.setswitchinterval(ASKS_AFTER)
    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        return any(_ticked_amid(work, ticks) for _ in range(TRIES))
    finally:
        done.set()
        ticker.join()
        sys.setswitchinterval(usual)


def _ticked_amid(work: Callable[[], object], ticks: list[float]) -> bool:
    ticks.clear()
    start = time.perf_counter()
    work()
    end = time.perf_counter()
    quarter = (end - start) / 4
    return any(start + quarter < tick < end - quarter for tick in ticks)
