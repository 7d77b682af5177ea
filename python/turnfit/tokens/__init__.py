"""Estimating tokens."""

from __future__ import annotations

from turnfit._core import estimate
from turnfit.tokens.columns import estimate_many
from turnfit.tokens.files import FileEstimate, estimate_files
from turnfit.tokens.models import profile_name
from turnfit.tokens.scripts import ScriptCounts, count_scripts

__all__ = [
    "FileEstimate",
    "ScriptCounts",
    "count_scripts",
    "estimate",
    "estimate_files",
    "estimate_many",
    "profile_name",
]
