"""Texts made to be slow, against prose of the same size."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from random import Random

import pytest
import turnfit

from benches import sizes
from benches.record import Keep
from benches.texts import data, text
from benches.turns import bench_of, by_turns, gain

Pair = tuple[str | bytes, str | bytes]
"""What is hostile, and prose."""


def equal(character: str) -> Callable[[], Pair]:
    return lambda: (character * sizes.PATHOLOGICAL, prose_like(character))


def equal_bytes(character: str) -> Callable[[], Pair]:
    def pair() -> Pair:
        hostile = (character * sizes.PATHOLOGICAL).encode()
        return hostile, data(kind_of(character), len(hostile))

    return pair


def prose_like(character: str) -> str:
    """As many characters of prose."""
    wanted, found = sizes.PATHOLOGICAL, text(kind_of(character), sizes.PIECE)
    return (found * (wanted // len(found) + 1))[:wanted]


def kind_of(character: str) -> str:
    return {"a": "English", "я": "Russian", "中": "Chinese"}[character]


def random_bytes(prose: str) -> Callable[[], Pair]:
    size = sizes.PATHOLOGICAL
    return lambda: (Random(1).randbytes(size), data(prose, size))


def base64() -> Pair:
    size = sizes.PATHOLOGICAL
    return b64encode(Random(1).randbytes(size))[:size], data("English", size)


def one_line(kind: str) -> Callable[[], Pair]:
    def pair() -> Pair:
        prose = data(kind, sizes.LINE)
        return prose.replace(b"\n", b" "), prose

    return pair


def one_line_str() -> Pair:
    piece = text("Russian", sizes.PIECE)
    prose = piece * (sizes.LINE // 2 // len(piece))
    return prose.replace("\n", " "), prose


PAIRS: dict[str, Callable[[], Pair]] = {
    "a million `a` as bytes, English": equal_bytes("a"),
    "a million `я` as bytes, Russian": equal_bytes("я"),
    "a million `中` as bytes, Chinese": equal_bytes("中"),
    "a million `a`, English": equal("a"),
    "a million `я`, Russian": equal("я"),
    "a million `中`, Chinese": equal("中"),
    "random bytes, Russian": random_bytes("Russian"),
    "random bytes, English": random_bytes("English"),
    "unbroken base64 as bytes, English": base64,
    "one line of 200 MB as bytes, English": one_line("English"),
    "one line of 200 MB as bytes, Russian": one_line("Russian"),
    "one line of 200 MB, Russian": one_line_str,
}


@pytest.mark.parametrize("name", PAIRS)
def test_hostile(keep: Keep, name: str) -> None:
    hostile, prose = PAIRS[name]()
    assert abs(len(hostile) - len(prose)) < 4  # The last character may be cut.
    calls = [lambda: turnfit.estimate(prose), lambda: turnfit.estimate(hostile)]
    long = len(prose) > sizes.PATHOLOGICAL * 10
    of_prose, of_hostile = by_turns(calls, sizes.ROUNDS, times=1 if long else 20)
    keep(bench_of("hostile", name, "turnfit", of_hostile, gain=gain(of_prose, of_hostile)))
    keep(bench_of("hostile", name, "prose", of_prose))
