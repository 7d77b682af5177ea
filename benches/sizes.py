"""Full sizes, or small ones for a smoke run: ``TURNFIT_BENCH=smoke``."""

from __future__ import annotations

import os

__all__ = ["CONVERSATION", "FIT", "LINEAR", "LITELLM", "REQUEST", "SMOKE", "STEPS", "TEXT"]

SMOKE = os.environ.get("TURNFIT_BENCH") == "smoke"

TEXT: tuple[int, ...] = (1_000, 10_000) if SMOKE else (1_000, 100_000, 1_000_000)
"""Bytes of UTF-8."""

FIT: tuple[int, ...] = (20, 40) if SMOKE else (240, 500, 1_000, 2_000, 4_000)
"""Messages that turnfit and the peers fit."""

LITELLM = 40 if SMOKE else 240
"""So many messages litellm fits in reasonable time; what it takes grows with the square."""

LINEAR: tuple[int, ...] = (1_000, 2_000) if SMOKE else (1_000, 10_000, 100_000, 1_000_000)
"""Messages of short text that only turnfit fits."""

CONVERSATION: tuple[int, ...] = (200, 400) if SMOKE else (1_000, 10_000, 100_000, 1_000_000)
"""Messages a conversation holds before the step that is measured."""

REQUEST = 100 if SMOKE else 1_000
"""Messages that a conversation's requests hold, about."""

STEPS = 20 if SMOKE else 400
"""Steps measured: enough for the request's start to move several times."""
