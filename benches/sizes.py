"""Full sizes, or small ones for a smoke run: ``TURNFIT_BENCH=smoke``."""

from __future__ import annotations

import os

__all__ = [
    "CONVERSATION",
    "COPIES",
    "DOCUMENT",
    "FIT",
    "LINE",
    "LINEAR",
    "LITELLM",
    "LOG",
    "MEGABYTE",
    "MEMORY",
    "ORIGINAL",
    "ORIGINALS",
    "PATHOLOGICAL",
    "PIECE",
    "REQUEST",
    "ROUNDS",
    "ROWS",
    "SCAN",
    "SLOW",
    "SMOKE",
    "STEPS",
    "TEXT",
]

SMOKE = os.environ.get("TURNFIT_BENCH") == "smoke"

TEXT: tuple[int, ...] = (40, 1_000) if SMOKE else (40, 1_000, 100_000, 10_000_000)
"""Bytes of UTF-8."""

MEGABYTE = 10_000 if SMOKE else 1_000_000
"""Bytes of UTF-8 at which the promises of UCS-2 are held."""

SLOW = 1_000_000
"""Bytes of UTF-8 beyond which slow contenders are left out."""

SCAN = 1_000_000 if SMOKE else 64_000_000
"""Bytes of a text that doesn't fit into a core's own caches."""

COPIES = 2 if SMOKE else 8
"""Copies of it, scanned in turn: together more than the last cache can hold."""

PIECE = 100_000 if SMOKE else 1_000_000
"""Bytes of the text that long ones repeat."""

ROUNDS = 3 if SMOKE else 25
"""Rounds of what is measured by turns."""

ROWS = 1_000 if SMOKE else 1_000_000
"""Strings of a column."""

PATHOLOGICAL = 10_000 if SMOKE else 1_000_000
"""Characters, or bytes, of a hostile text."""

LINE = 1_000_000 if SMOKE else 200_000_000
"""Bytes of one line."""

MEMORY = 1_000_000 if SMOKE else 100_000_000
"""Bytes of a string whose scan must not take memory."""

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

LOG: tuple[int, ...] = (20_000, 40_000) if SMOKE else (100_000, 300_000, 10_000_000)
"""Characters of a log that is brought within a limit."""

DOCUMENT = 100_000 if SMOKE else 10_000_000
"""Characters of a JSON document that is trimmed."""

ORIGINAL = 5_000 if SMOKE else 50_000
"""Characters of a stored original."""

ORIGINALS = 50 if SMOKE else 10_000
"""Originals stored and read back."""
