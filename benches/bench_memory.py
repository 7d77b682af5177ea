"""What a scan takes of memory, in a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import run

import pytest

from benches.memory import RESET
from benches.record import Bench, Keep

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not RESET.exists(), reason="reads Linux's account of a process")
def test_memory(keep: Keep) -> None:
    command = [sys.executable, "-m", "benches.memory"]
    measured = run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for what, grew in json.loads(measured.stdout).items():
        keep(Bench("memory", what, "turnfit", median=0, mean=0, rounds=1, grew=grew))
