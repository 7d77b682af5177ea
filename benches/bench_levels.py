"""The scan against the read limit, at the best level and with AVX2."""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path
from subprocess import run

import pytest

from benches.record import Bench, Keep

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("level", ["best", "avx2"])
def test_level(keep: Keep, level: str) -> None:
    if level == "avx2" and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("this machine has no AVX2")
    environment = {**os.environ, "TURNFIT_SIMD": "" if level == "best" else level}
    command = [sys.executable, "-m", "benches.levels", level]
    measured = run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    for line in measured.stdout.splitlines():
        keep(Bench(**json.loads(line)))
