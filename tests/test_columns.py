"""Whole columns of texts, from every kind of container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st

TEXTS = ["", "plain", "привет мир", "世界 and", "🙂🙂", "a" * 300, "ё" * 70, "é\u0300", "한국어"]
PRICES = [tf.estimate(text) for text in TEXTS]
EXACT = [(c.ascii + 4 * c.cjk + 2 * c.other) / 4 for c in map(tf.count_scripts, TEXTS)]

any_text = st.text(max_size=40)


class Odd(str):
    """A str of a subclass keeps its characters elsewhere."""


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("make", [list, tuple, iter, lambda texts: (text for text in texts)])
def test_any_iterable_of_texts_gives_what_estimate_gives(
    make: Callable[[list[str]], Any], threads: int
) -> None:
    priced = tf.estimate_many(make(TEXTS), threads=threads)
    assert isinstance(priced, np.ndarray)
    assert priced.dtype == np.int64
    assert priced.tolist() == PRICES


def test_bytes_and_lone_surrogates_are_texts_too() -> None:
    texts: list[str | bytes] = ["\ud83d", "a\udcffb", "世界".encode(), b"\xff\xe2\x82"]
    assert tf.estimate_many(texts).tolist() == [tf.estimate(text) for text in texts]


def test_rows_that_are_not_rounded_add_up_to_all_texts_together() -> None:
    priced = tf.estimate_many(TEXTS, exact_sum=True)
    assert priced.dtype == np.float64
    assert priced.tolist() == EXACT
    assert tf.estimate("".join(TEXTS)) == -(-priced.sum() // 1)


@pytest.mark.parametrize("dtype", ["U", "O", "S"])
def test_numpy_arrays_keep_their_shape(dtype: str) -> None:
    texts = ["plain", "text", "of", "ascii", "only", "!"]
    array = np.array(texts, dtype=dtype).reshape(2, 3)
    priced = tf.estimate_many(array)
    assert priced.tolist() == [[2, 1, 1], [2, 1, 1]]
    assert tf.estimate_many(array[:, ::2]).tolist() == [[2, 1], [2, 1]]


@given(st.lists(any_text, max_size=20))
def test_numpy_strings_of_one_width_are_read_where_they_lie(texts: list[str]) -> None:
    array = np.array(texts, dtype="U")
    wanted = [tf.estimate(text) for text in array.tolist()]
    assert tf.estimate_many(array).tolist() == wanted
    swapped = array.astype(array.dtype.newbyteorder())
    assert tf.estimate_many(swapped).tolist() == wanted


def test_an_empty_column_gives_an_empty_array() -> None:
    assert tf.estimate_many([]).tolist() == []
    assert tf.estimate_many(np.array([], dtype="U5")).tolist() == []


@pytest.mark.parametrize("bad", [None, 7, ["a"]])
def test_a_row_that_is_no_text_is_told_by_its_number(bad: Any) -> None:
    with pytest.raises(TypeError, match="row 1: text must be str or bytes"):
        tf.estimate_many(["a", bad, "b"])


@pytest.mark.parametrize("bad", ["text", b"text", {"a": 1}])
def test_one_text_is_no_column(bad: Any) -> None:
    with pytest.raises(TypeError, match="column must hold texts"):
        tf.estimate_many(bad)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("make", [list, tuple, lambda texts: np.array(texts, dtype=object)])
def test_a_column_that_is_worth_its_threads_gives_the_same(
    make: Callable[[list[str]], Any], threads: int
) -> None:
    """Threads start from about a megabyte for each on; some rows are long or odd."""
    texts: list[Any] = [
        *TEXTS * 9_000,
        "ё" * 70_000,
        b"\xff",
        Odd("да"),
        "a" * 70_000,
        b"b" * 70_000,
    ]
    priced = tf.estimate_many(make(texts), threads=threads).tolist()
    assert priced == [*PRICES * 9_000, 35_000, 1, 1, 17_500, 17_500]
    texts[70_001] = texts[80_001] = None
    with pytest.raises(TypeError, match="row 70001: text must be str or bytes, not NoneType"):
        tf.estimate_many(make(texts), threads=threads)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True])
def test_threads_must_be_a_number_of_threads(threads: Any) -> None:
    with pytest.raises(ValueError, match="threads"):
        tf.estimate_many(["a"], threads=threads)


def test_a_buffer_of_bytes_is_a_text() -> None:
    data = "мир 世界".encode()
    assert tf.estimate(np.frombuffer(data, np.uint8)) == tf.estimate("мир 世界")
    with pytest.raises(TypeError, match="text must be"):
        tf.estimate(np.array([1, 2], np.int64))


class TestArrow:
    """Everything that speaks Arrow's PyCapsule interface."""

    pa: Any = None

    @pytest.fixture(autouse=True)
    def _needs_arrow(self) -> None:
        self.pa = pytest.importorskip("pyarrow")

    @pytest.mark.parametrize("threads", [1, 2, 5])
    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
    def test_a_column_that_is_worth_its_threads_gives_the_same(
        self, kind: str, threads: int
    ) -> None:
        column = self.pa.array([*TEXTS * 9_000, None]).cast(kind)
        priced = self.pa.array(tf.estimate_many(column, threads=threads))
        assert priced.to_pylist() == [*PRICES * 9_000, None]

    @pytest.mark.parametrize("threads", [1, 3])
    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
    def test_every_kind_of_text_and_nulls(self, kind: str, threads: int) -> None:
        texts = [*TEXTS, None, "end"]
        column = self.pa.array(texts, getattr(self.pa, kind)())
        priced = self.pa.array(tf.estimate_many(column, threads=threads))
        assert priced.type == self.pa.int64()
        assert priced.to_pylist() == [*PRICES, None, 1]

    def test_chunks_and_slices(self) -> None:
        chunked = self.pa.chunked_array([TEXTS, [], ["a", None], TEXTS])
        assert self.pa.array(tf.estimate_many(chunked)).to_pylist() == [*PRICES, 1, None, *PRICES]
        sliced = self.pa.array([*TEXTS, None]).slice(2, 5)
        assert self.pa.array(tf.estimate_many(sliced)).to_pylist() == PRICES[2:7]

    def test_dictionaries_price_each_value_once_and_keep_nulls(self) -> None:
        column = self.pa.array(["a", "мир", None, "a"]).dictionary_encode()
        assert self.pa.array(tf.estimate_many(column)).to_pylist() == [1, 2, None, 1]
        inner = self.pa.DictionaryArray.from_arrays([0, 1, None], ["мир", None])
        assert self.pa.array(tf.estimate_many(inner)).to_pylist() == [2, None, None]

    def test_rows_can_stay_unrounded(self) -> None:
        priced = self.pa.array(tf.estimate_many(self.pa.array(TEXTS), exact_sum=True))
        assert priced.to_pylist() == EXACT

    def test_a_table_of_one_column_is_a_column(self) -> None:
        table = self.pa.table({"text": TEXTS})
        assert self.pa.array(tf.estimate_many(table)).to_pylist() == PRICES

    def test_what_holds_no_text_is_a_type_error(self) -> None:
        with pytest.raises(TypeError, match="column must hold texts, not Int64"):
            tf.estimate_many(self.pa.array([1, 2]))

    def test_an_empty_column_is_an_empty_column(self) -> None:
        for column in (self.pa.array([], self.pa.string()), self.pa.chunked_array([], "string")):
            assert self.pa.array(tf.estimate_many(column)).to_pylist() == []

    @settings(max_examples=50)
    @given(st.lists(st.none() | any_text, max_size=20))
    def test_arrow_gives_what_estimate_gives(self, texts: list[str | None]) -> None:
        import pyarrow as pa

        wanted = [None if text is None else tf.estimate(text) for text in texts]
        column = pa.array(texts, pa.string())
        assert pa.array(tf.estimate_many(column)).to_pylist() == wanted

    def test_polars_takes_and_gives(self) -> None:
        pl = pytest.importorskip("polars")
        series = pl.Series([*TEXTS, None])
        assert pl.Series(tf.estimate_many(series)).to_list() == [*PRICES, None]

    def test_pandas_takes_and_gives(self) -> None:
        pd = pytest.importorskip("pandas")
        series = pd.Series([*TEXTS, None], dtype="string[pyarrow]")
        assert self.pa.array(tf.estimate_many(series)).to_pylist() == [*PRICES, None]
        assert tf.estimate_many(pd.Series(TEXTS, dtype=object).to_numpy()).tolist() == PRICES

    def test_duckdb_takes_and_gives(self) -> None:
        duckdb = pytest.importorskip("duckdb")
        relation = duckdb.sql("select unnest(['a', 'мир', null]) as text")
        assert self.pa.array(tf.estimate_many(relation)).to_pylist() == [1, 2, None]


@given(st.lists(st.text(max_size=40), max_size=30), st.sampled_from(["o200k_base", "any"]))
def test_columns_cost_what_their_rows_do_by_a_profile(rows: list[str], name: str) -> None:
    clean = [row.encode("utf-8", "replace").decode() for row in rows]
    expected = [tf.profile(name).estimate(row) for row in clean]
    assert tf.estimate_many(clean, profile=name).tolist() == expected
    assert tf.estimate_many([row.encode() for row in clean], profile=name).tolist() == expected
    exact = tf.estimate_many(clean, profile=name, exact_sum=True)
    assert np.ceil(exact).astype(int).tolist() == expected
    array = np.array([row.replace("\0", "") for row in clean], dtype=str)
    by_array = tf.estimate_many(array, profile=name)
    assert by_array.tolist() == [tf.profile(name).estimate(str(row)) for row in array]


def test_a_column_by_a_callable_is_refused() -> None:
    with pytest.raises(TypeError, match="call it for each text"):
        tf.estimate_many(["text"], profile=len)  # type: ignore[call-overload]
