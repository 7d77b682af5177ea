"""What a scan takes of memory: a string of 100 MB in two bytes a character; and what a fit
does, beyond the messages.

    python -m benches.memory

Prints, as JSON, how many bytes the process grew by at its highest, and the string by its
own account (a cached UTF-8 copy would show in both), and by how many bytes a message it grew
over a fit and the reading of the request.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import turnfit

from benches import sizes
from benches.histories import short_history

__all__ = ["growth"]

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def growth() -> dict[str, int]:
    """Growth over a scan, after a first one of a short text."""
    turnfit.estimate("уже загружено")
    text = "я" * (sizes.MEMORY // 2)
    RESET.write_text("5")  # From now on the highest is that of now.
    resident, counted = kilobytes("VmRSS"), sys.getsizeof(text)
    turnfit.estimate(text)
    grown = kilobytes("VmHWM") - resident
    return {"process": grown * 1024, "string": sys.getsizeof(text) - counted}


def growth_of_fit() -> dict[str, int]:
    """Growth over a fit, at its highest and by a message, after a first one of a few."""
    history = short_history(sizes.LINEAR[-1])
    budget = turnfit.estimate_request(history) // 2
    turnfit.fit(history[:100], budget=budget)
    RESET.write_text("5")
    resident = kilobytes("VmRSS")
    fitted = turnfit.fit(history, budget=budget)
    grown = kilobytes("VmHWM") - resident
    kept = len(fitted.messages)
    requested = kilobytes("VmHWM") - resident
    return {
        "a message of a fit": grown * 1024 // len(history),
        "a message of a fit and its request": requested * 1024 // max(kept, len(history)),
    }


def kilobytes(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB$", STATUS.read_text(), flags=re.MULTILINE)
    assert found, name
    return int(found[1])


if __name__ == "__main__":
    print(json.dumps(growth() | growth_of_fit()))
