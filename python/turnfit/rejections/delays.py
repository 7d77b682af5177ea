"""How long a refusal asks to wait."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

__all__ = ["delay_in", "delay_of"]

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN = (
    r"\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?)"
)
_WAIT = re.compile(
    rf"(?:again|retry|wait|reset\w*|available)[^.\d]{{0,40}}?((?:{_SPAN}\b ?)(?:{_SPAN}\b ?)*)"
    rf"|(?:again|retry) (?:in|after) ((?:\d+(?:\.\d+)?[hms]+)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s?(ms|milli|s|m|h|d)", re.IGNORECASE)


def delay_of(headers: object) -> float | None:
    """Seconds by ``Retry-After`` and its like; None where there is none that can be read.

    Source: https://www.rfc-editor.org/rfc/rfc9110#field.retry-after

    >>> delay_of({"Retry-After": "7"}), delay_of({"retry-after-ms": "250"})
    (7.0, 0.25)
    """
    if not isinstance(headers, Mapping):
        return None
    values = {re.sub(r"[\W_]", "", str(key)).lower(): value for key, value in headers.items()}
    if "retryafterms" in values:
        return _scaled(values["retryafterms"], 0.001)
    for name in ("retryafter", "retrydelay"):
        if name in values:
            return _scaled(values[name], 1)
    return None


def _scaled(value: Any, unit: float) -> float | None:
    text = str(value).strip()
    with suppress(ValueError):
        seconds = float(text) * unit
        return seconds if 0 <= seconds < 1e9 else None
    from email.utils import parsedate_to_datetime  # heavy, and dates here are rare

    with suppress(ValueError, TypeError):
        at = parsedate_to_datetime(text)
        return max(0.0, (at.astimezone(UTC) - datetime.now(UTC)).total_seconds())
    return _seconds(text)


def delay_in(text: str) -> float | None:
    """Seconds by a message's own words.

    >>> delay_in("Please try again in 1m30.5s. Visit our page"), delay_in("wait 20 seconds")
    (90.5, 20.0)
    """
    found = _WAIT.search(text)
    return _seconds(found[1] or found[2]) if found else None


def _seconds(text: str) -> float | None:
    parts = [
        float(number) * _UNITS["ms" if unit.lower() in ("ms", "milli") else unit[0].lower()]
        for number, unit in _PART.findall(text)
    ]
    return sum(parts) if parts else None
