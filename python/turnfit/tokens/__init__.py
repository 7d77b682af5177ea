"""Estimating tokens."""

from __future__ import annotations

from turnfit._core import estimate
from turnfit.tokens.scripts import ScriptCounts, count_scripts

__all__ = ["ScriptCounts", "count_scripts", "estimate"]
