"""The versions of what decides a request: what is sent is a contract.

A changed rule, note or weight changes the start of running conversations, which costs their
cache and their reasoning. So what a version does never changes, byte for byte; a change is a
new version beside it, and moves the default in a minor release only.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

__all__ = ["GUIDANCE", "RULES", "check_version"]

RULES = (1,)
"""The versions of the rules of fitting, the newest last."""

GUIDANCE = (1,)
"""The versions of what `turnfit.guidance` says, likewise."""


def check_version(what: str, version: Any, known: Collection[int]) -> None:
    """A ``ValueError`` that names the version and those there are, if it isn't one of them."""
    if isinstance(version, bool) or not isinstance(version, int):
        raise TypeError(f"{what} must be a version's number, not {type(version).__name__}")
    if version not in known:
        has = ", ".join(map(str, sorted(known)))
        raise ValueError(
            f"{what}: version {version} is unknown to this turnfit, which has {has}; "
            "a newer one may have it"
        )
