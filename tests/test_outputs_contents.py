"""Blocks, results and data: what is bounded, and what stays."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.outputs import json_values, some
from turnfit.outputs import OutputLimit, limit

texts = st.text(max_size=60).flatmap(lambda text: st.integers(1, 60).map(lambda n: text * n))


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@some
@given(st.lists(texts, max_size=30), st.integers(164, 2_000))
def test_the_texts_of_all_blocks_are_within_one_limit(parts: list[str], size: int) -> None:
    blocks = [*map(text_block, parts), {"type": "image", "source": {}}]
    spec = OutputLimit(max_chars=size)
    limited = limit(blocks, spec)
    assert sum(len(block.get("text", "")) for block in limited.content) <= size
    assert limited.content[-1] is blocks[-1]
    assert limit(limited.content, spec).content == limited.content
    assert limited.truncated == (sum(map(len, parts)) > size)


@some
@given(json_values, st.integers(164, 2_000))
def test_data_come_back_as_data_within_the_limit(value: Any, size: int) -> None:
    data = {"value": value, "again": [value, value]}
    limited = limit(data, OutputLimit(max_chars=size))
    written = json.dumps(limited.content, ensure_ascii=False, separators=(",", ":"))
    assert len(written) <= size
    assert limited.truncated or limited.content is data


def test_many_blocks_keep_the_first_and_say_how_many_are_left_out() -> None:
    blocks = [text_block(f"part {number}" * 20) for number in range(100)]
    limited = limit(blocks, OutputLimit(max_chars=1_000))
    assert limited.content[0] == blocks[0]
    assert "of 100 texts left out here" in limited.content[-1]["text"]
    assert limited.omissions[0].total == 100


def test_blocks_within_the_limit_are_the_very_ones() -> None:
    blocks = [text_block("short"), {"type": "image", "source": {}}]
    assert limit(blocks, OutputLimit(max_chars=500)).content is blocks


def test_objects_with_fields_are_copied_not_changed() -> None:
    @dataclass
    class Block:
        type: str
        text: str

    blocks = [Block("text", "x" * 9_000)]
    limited = limit(blocks, OutputLimit(max_chars=500))
    assert type(limited.content[0]) is Block
    assert len(limited.content[0].text) <= 500
    assert len(blocks[0].text) == 9_000


def test_json_in_a_block_stays_json() -> None:
    blocks = [text_block(json.dumps({"rows": list(range(5_000))}))]
    limited = limit(blocks, OutputLimit(max_chars=500))
    assert json.loads(limited.content[0]["text"])["rows"][0] == 0
    assert limited.omissions[0].path == "/0/text/rows"


def test_nothing_is_nothing() -> None:
    assert limit(None, OutputLimit(max_chars=500)).content is None
    assert limit([], OutputLimit(max_chars=500)).content == []


@pytest.mark.parametrize("number", [5, 2.5, True])
def test_a_small_value_stays_itself(number: Any) -> None:
    assert limit(number, OutputLimit(max_chars=500)).content is number


def test_what_json_cannot_say_is_measured_by_its_text() -> None:
    limited = limit({"at": {1, 2}, "rows": ["x" * 50] * 200}, OutputLimit(max_chars=500))
    assert limited.content["at"] == "{1, 2}"


def test_bytes_are_refused() -> None:
    with pytest.raises(TypeError, match="decode them first"):
        limit(b"bytes", OutputLimit(max_chars=500))
    with pytest.raises(TypeError, match="spec must be an OutputLimit"):
        limit("text", 500)  # type: ignore[arg-type]


def test_a_circle_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(TypeError, match="can't be measured"):
        limit(circle, OutputLimit(max_chars=500))
