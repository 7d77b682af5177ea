"""Columns of messages, histories and requests, as JSON and as Arrow."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Format
from strategies import FORMATS, histories
from turnfit.messages.requests import read_request

EXAMPLES = settings(
    max_examples=int(os.environ.get("TURNFIT_EXAMPLES", "60")), deadline=None, database=None
)

USER = {"role": "user", "content": "Read every file. 世界"}
CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "0xDEADBEEF" * 20}
HISTORY = [USER, CALLS, RESULT]
BODY = {
    "model": "claude-opus-5",
    "system": "Be brief.",
    "tools": [{"name": "read", "input_schema": {"type": "object"}}],
    "messages": [USER],
}
PROFILES = ["script", "o200k_base", "claude_v4_7"]


def wanted(row: Any, profile: str) -> int:
    if isinstance(row, list):
        return tf.estimate_request(row, profile=profile)
    return tf.estimate_message(row, profile=profile)


def written(history: list[Any]) -> Any:
    """A history as JSON, or itself where it holds bytes or objects."""
    try:
        return json.dumps(history)
    except TypeError:
        return history


class TestRows:
    @pytest.mark.parametrize("made", [json.dumps, lambda row: json.dumps(row).encode(), None])
    def test_a_row_costs_what_it_costs_alone_by_every_profile(self, made: Any) -> None:
        rows = [USER, CALLS, HISTORY, []]
        column = [made(row) for row in rows] if made else rows
        priced = tf.estimate_messages_many(column, profiles=PROFILES)
        assert list(priced) == PROFILES
        for profile, tokens in priced.items():
            assert tokens.dtype == np.int64
            assert tokens.tolist() == [wanted(row, profile) for row in rows]

    @pytest.mark.parametrize("name", FORMATS)
    def test_histories_of_every_format_are_read(self, name: Format) -> None:
        @EXAMPLES
        @given(st.lists(histories(name), max_size=4))
        def check(rows: list[list[Any]]) -> None:
            column = [written(row) for row in rows]
            priced = tf.estimate_messages_many(column, format=name)["script"]
            read = [json.loads(row) if isinstance(row, str) else row for row in column]
            assert priced.tolist() == [tf.estimate_request(row, format=name) for row in read]

        check()

    def test_a_requests_body_is_priced_with_all_that_it_sends(self) -> None:
        [cost] = tf.estimate_messages_many([json.dumps(BODY)], profiles=["any"])["any"]
        assert cost == read_request(BODY).tokens("any")
        assert cost > tf.estimate_request([USER], profile="any")

    def test_a_models_profile_has_its_frames(self) -> None:
        profile = tf.profile_for("claude-opus-5")
        priced = tf.estimate_messages_many([BODY], profiles=[profile])
        assert priced == {str(profile): [read_request(BODY).tokens(profile)]}

    def test_an_item_with_an_input_is_an_item(self) -> None:
        item = {"type": "custom_tool_call", "call_id": "c1", "name": "run", "input": "ls"}
        assert tf.estimate_messages_many([item])["script"] == [tf.estimate_message(item)]

    def test_numpy_and_iterators_are_columns(self) -> None:
        texts = [json.dumps(USER)] * 2
        for column in (np.array(texts), np.array(texts, object), iter(texts), tuple(texts)):
            assert tf.estimate_messages_many(column)["script"].tolist() == [10, 10]

    @pytest.mark.parametrize(
        ("row", "error", "match"),
        [
            ("{", ValueError, "row 1: broken JSON"),
            ("[" * 100_000, ValueError, "row 1: broken JSON"),
            (None, TypeError, "row 1: wanted is JSON of an object or a list, not NoneType"),
            ("5", TypeError, "row 1: wanted is JSON of an object or a list, not int"),
            ('{"role": "nobody"}', tf.FormatError, "row 1: .*nobody"),
            ('[{"content": "x"}]', tf.FormatError, "row 1: .*no role"),
        ],
    )
    def test_a_row_that_is_none_is_told_with_its_number(
        self, row: Any, error: type[Exception], match: str
    ) -> None:
        with pytest.raises(error, match=match):
            tf.estimate_messages_many([json.dumps(USER), row])

    @pytest.mark.parametrize("column", ["[]", b"[]", {"role": "user"}])
    def test_what_is_no_column_is_told(self, column: Any) -> None:
        with pytest.raises(TypeError, match="column must hold rows"):
            tf.estimate_messages_many(column)

    @pytest.mark.parametrize("profiles", ["script", [], [len], [None]])
    def test_what_is_no_profile_is_told(self, profiles: Any) -> None:
        with pytest.raises(TypeError, match="profiles must"):
            tf.estimate_messages_many([], profiles=profiles)


class TestArrow:
    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
    def test_json_in_arrow_gives_arrow_and_keeps_nulls(self, kind: str) -> None:
        pa = pytest.importorskip("pyarrow")
        rows = [json.dumps(USER), None, json.dumps(HISTORY)]
        array = pa.array(rows)
        array = (
            array.dictionary_encode() if kind == "dictionary" else array.cast(getattr(pa, kind)())
        )
        costs = [wanted(USER, "any"), None, wanted(HISTORY, "any")]
        for column in (array, pa.chunked_array([array, array.slice(1)])):
            priced = pa.array(tf.estimate_messages_many(column, profiles=["any"])["any"])
            assert priced.type == pa.int64()
            assert priced.to_pylist() == (costs if column is array else costs + costs[1:])

    def test_structs_and_lists_of_them_are_messages_and_histories(self) -> None:
        pa = pytest.importorskip("pyarrow")
        messages = pa.array([USER, CALLS, None, RESULT])
        priced = pa.array(tf.estimate_messages_many(messages, profiles=["script"])["script"])
        costs = [
            None if row is None else wanted(row, "script") for row in (USER, CALLS, None, RESULT)
        ]
        assert priced.to_pylist() == costs
        whole = pa.array([HISTORY, None])
        priced = pa.array(tf.estimate_messages_many(whole)["script"])
        assert priced.to_pylist() == [wanted(HISTORY, "script"), None]

    def test_chunks_of_structs_are_one_column(self) -> None:
        pa = pytest.importorskip("pyarrow")
        column = pa.chunked_array([pa.array([USER, None]), pa.array([USER])])
        priced = pa.array(tf.estimate_messages_many(column)["script"])
        assert priced.to_pylist() == [10, None, 10]

    def test_polars_reads_what_comes_back(self) -> None:
        pl = pytest.importorskip("polars")
        column = pl.Series([json.dumps(USER), None])
        priced = pl.Series(tf.estimate_messages_many(column)["script"])
        assert priced.to_list() == [10, None]

    def test_numbers_are_no_messages(self) -> None:
        pa = pytest.importorskip("pyarrow")
        with pytest.raises(
            TypeError, match="row 0: wanted is JSON of an object or a list, not int"
        ):
            tf.estimate_messages_many(pa.array([5]))
