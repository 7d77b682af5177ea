"""Other ways to count the characters of a text by script class, each at its best.

All give the same counts as `turnfit.count_scripts`; `bench_estimate` asserts it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
import turnfit

__all__ = ["COUNTERS", "SLOW", "Counts", "counter"]

Counts: TypeAlias = tuple[int, int, int]
Counter: TypeAlias = Callable[[str], Counts]

# Written down again, not imported: a peer must not depend on what it is compared with.
CJK = (
    (0x1100, 0x11FF),
    (0x2E80, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
    (0x1AFF0, 0x1B16F),
    (0x1F200, 0x1F2FF),
    (0x20000, 0x3FFFF),
)
_ASCII = bytes(range(0x80))
_EDGES = [edge for first, last in CJK for edge in (first, last + 1)]


def python_loop() -> Counter:
    def count(text: str) -> Counts:
        ascii_ = cjk = 0
        for code in map(ord, text):
            if code < 0x80:
                ascii_ += 1
            # Most CJK text lies in the first of these; the search is for the rest.
            elif code >= 0x1100 and (0x2E80 <= code < 0xA000 or bisect_right(_EDGES, code) & 1):
                cjk += 1
        return ascii_, cjk, len(text) - ascii_ - cjk

    return count


def regex_classes() -> Counter:
    regex = pytest.importorskip("regex")
    ranges = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in CJK)
    # Deleting runs and comparing lengths was faster than counting what findall gives.
    ascii_runs, cjk_runs = regex.compile(r"[\x00-\x7f]+"), regex.compile(f"[{ranges}]+")

    def count(text: str) -> Counts:
        wide = ascii_runs.sub("", text)
        other = len(cjk_runs.sub("", wide))
        return len(text) - len(wide), len(wide) - other, other

    return count


def numpy_masks() -> Counter:
    np = pytest.importorskip("numpy")

    def masked(codes: Any) -> Counts:
        ascii_ = int(np.count_nonzero(codes < 0x80))
        wide = codes[codes >= 0x1100]
        unit = codes.dtype.type
        most = np.iinfo(unit).max
        # first <= code <= last in one comparison: unsigned numbers wrap around.
        masks = (wide - unit(lo) <= unit(hi - lo) for lo, hi in CJK if hi <= most)
        cjk = sum(int(np.count_nonzero(mask)) for mask in masks)
        return ascii_, cjk, len(codes) - ascii_ - cjk

    def count(text: str) -> Counts:
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
        if not (units - np.uint16(0xD800) < np.uint16(0x800)).any():
            return masked(units)
        return masked(np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32))

    return count


def translate() -> Counter:
    no_cjk = {code: None for first, last in CJK for code in range(first, last + 1)}

    def count(text: str) -> Counts:
        if text.isascii():
            return len(text), 0, 0
        # bytes.translate is some thirty times faster a character than str.translate.
        data = text.encode("utf-8", "surrogatepass").translate(None, _ASCII)
        wide = data.decode("utf-8", "surrogatepass")
        other = len(wide.translate(no_cjk))
        return len(text) - len(wide), len(wide) - other, other

    return count


COUNTERS: dict[str, Callable[[], Counter]] = {
    "numpy": numpy_masks,
    "regex": regex_classes,
    "translate": translate,
    "Python loop": python_loop,
}


SLOW = {"regex", "translate", "Python loop"}


def counter(name: str, text: str) -> Counter:
    """This counter, once it has been seen to count this text as turnfit does."""
    count = COUNTERS[name]()
    assert count(text) == turnfit.count_scripts(text), name
    return count
