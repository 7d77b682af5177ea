"""What a scan takes of memory: a string of 100 MB in two bytes a character.

    python -m benches.memory

Prints, as JSON, how many bytes the process grew by at its highest, and the string by its
own account (a cached UTF-8 copy would show in both).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import turnfit

from benches import sizes

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


def kilobytes(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB$", STATUS.read_text(), flags=re.MULTILINE)
    assert found, name
    return int(found[1])


if __name__ == "__main__":
    print(json.dumps(growth()))
