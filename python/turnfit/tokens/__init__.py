"""Estimating tokens."""

from __future__ import annotations

from turnfit._core import estimate
from turnfit.tokens.columns import estimate_many
from turnfit.tokens.exact import ExactCounter, exact
from turnfit.tokens.files import FileEstimate, estimate_files
from turnfit.tokens.headers import image_size
from turnfit.tokens.images import image_tokens, unsized_image_tokens
from turnfit.tokens.learning import UsageCalibration
from turnfit.tokens.models import profile_name
from turnfit.tokens.profiles import Features, Profile, features_many, profile, profile_for, profiles
from turnfit.tokens.scripts import ScriptCounts, count_scripts
from turnfit.tokens.usage import input_tokens

__all__ = [
    "ExactCounter",
    "Features",
    "FileEstimate",
    "Profile",
    "ScriptCounts",
    "UsageCalibration",
    "count_scripts",
    "estimate",
    "estimate_files",
    "estimate_many",
    "exact",
    "features_many",
    "image_size",
    "image_tokens",
    "input_tokens",
    "profile",
    "profile_for",
    "profile_name",
    "profiles",
    "unsized_image_tokens",
]
