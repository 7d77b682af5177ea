"""Counting characters by script, and estimating tokens."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given
from hypothesis import strategies as st
from reference import CJK, price

any_text = st.text(st.characters(codec=None), max_size=400) | st.text(
    st.sampled_from("a1 \n\xe9яक世界한ｱ🙂\ud83d\udc4d\u0300"), max_size=400
)


def classes(text: str) -> tuple[int, int, int]:
    """The three classes, character by character."""
    ascii_ = sum(character <= "\x7f" for character in text)
    cjk = sum(any(first <= ord(c) <= last for first, last in CJK) for c in text)
    return ascii_, cjk, len(text) - ascii_ - cjk


def test_a_russian_chapter_costs_what_was_worked_out() -> None:
    assert tf.estimate("a" * 26_492 + "я" * 73_600) == 43_423


def test_the_empty_text_costs_nothing() -> None:
    assert tf.estimate("") == tf.estimate(b"") == 0


@given(any_text)
def test_the_counts_of_a_str_are_those_of_its_characters(text: str) -> None:
    assert tf.count_scripts(text) == classes(text)
    assert sum(tf.count_scripts(text)) == len(text)
    assert tf.estimate(text) == price(text)


@given(st.binary(max_size=400) | any_text.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_the_counts_of_bytes_are_those_of_what_they_decode_to(data: bytes) -> None:
    decoded = data.decode("utf-8", "replace")
    assert tf.count_scripts(data) == classes(decoded)
    assert tf.estimate(data) == tf.estimate(decoded)


@given(st.binary(max_size=200), st.integers(0, 50), st.integers(1, 3))
def test_every_kind_of_buffer_counts_alike(data: bytes, start: int, step: int) -> None:
    part = data[start::step]
    wanted = tf.count_scripts(part)
    assert tf.count_scripts(bytearray(part)) == wanted
    assert tf.count_scripts(memoryview(part)) == wanted
    assert tf.count_scripts(memoryview(data)[start::step]) == wanted


def test_a_scan_leaves_no_utf8_copy_in_the_str() -> None:
    for text in ("я" * 100_000, "世" * 100_000, "🙂" * 100_000, "é" * 100_000):
        fresh = text + "!"
        before = sys.getsizeof(fresh)
        tf.estimate(fresh)
        assert sys.getsizeof(fresh) == before


def test_long_texts_count_as_short_ones_do() -> None:
    """Beyond a threshold other threads run during the scan."""
    for piece in ("plain ", "тест ", "世界", "🙂 "):
        assert tf.count_scripts(piece * 100_000) == tuple(100_000 * n for n in classes(piece))
        data = piece.encode() * 100_000
        assert tf.count_scripts(data) == tf.count_scripts(piece * 100_000)


def test_a_str_of_a_subclass_is_a_text() -> None:
    class Name(str):
        pass

    assert tf.estimate(Name("привет")) == 3


@pytest.mark.parametrize("value", [None, 1, ["a"], {"a": 1}, memoryview(b"abcd").cast("H")])
def test_what_is_no_text_is_a_type_error_that_says_so(value: Any) -> None:
    with pytest.raises(TypeError, match="text must be"):
        tf.estimate(value)
