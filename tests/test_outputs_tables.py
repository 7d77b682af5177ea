"""Tables cut by rows: the header stays, rows stay whole, and all of them are accounted for."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.outputs import json_values, many, some
from turnfit.outputs import OutputLimit, limit
from turnfit.outputs.tables import structure_of

keeps = st.sampled_from(["head_tail", "head", "tail"])
cells = st.text(st.sampled_from('abc я世"\n,;| 🙂'), max_size=20)
tables = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=120)
ROWS_TOLD = re.compile(r"(\d+) of (\d+) rows shown; the next is row (\d+)\.")


def as_csv(rows: list[Any], delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([("name", "size", "note"), *rows])
    return out.getvalue()


class TestJsonLines:
    @many
    @given(st.lists(json_values, min_size=2, max_size=60), st.integers(220, 2_000), keeps)
    def test_every_line_is_json_and_the_rows_are_the_texts_own(
        self, values: list[Any], size: int, keep: Any
    ) -> None:
        lines = [json.dumps({"row": value}, ensure_ascii=False) for value in values]
        text = "\n".join(lines)
        spec = OutputLimit(max_chars=size, structure="jsonl", keep=keep, hint="")
        limited = limit(text, spec)
        assert len(limited.content) <= size
        shown = limited.content.split("\n")
        assert [json.loads(line) for line in shown if line]
        if not limited.truncated:
            return
        marked = [line for line in shown if line.startswith('{"_omitted":{"shown"')]
        told = json.loads(marked[-1] if keep != "tail" else marked[0])["_omitted"]
        rest = [line for line in shown if line and line not in marked]
        assert (told["total"], told["shown"]) == (len(lines), len(rest))
        if len(rest) == 1 and rest[0] not in lines:
            assert "_omitted" in rest[0] or "left out here" in rest[0]
            return
        head = told["next"]
        assert rest == lines[:head] + lines[len(lines) - (len(rest) - head) :]

    def test_a_row_beyond_the_limit_is_trimmed_by_itself(self) -> None:
        text = "".join(json.dumps({"id": number, "log": "x" * 9_000}) + "\n" for number in range(9))
        content = limit(text, OutputLimit(max_chars=500)).content
        first, second = map(json.loads, content.splitlines())
        assert first["id"] == 0
        assert second["_omitted"]["total"] == 9

    def test_a_log_keeps_its_end(self) -> None:
        lines = [json.dumps({"level": "info", "n": number}) for number in range(5_000)]
        lines[-1] = json.dumps({"level": "error", "n": 5_000})
        content = limit("\n".join(lines), OutputLimit(max_tokens=500)).content
        assert json.loads(content.splitlines()[-1])["level"] == "error"
        assert json.loads(content.splitlines()[0])["n"] == 0


class TestCsv:
    @many
    @given(tables, st.integers(300, 2_000), keeps, st.sampled_from([",", ";", "\t"]))
    def test_records_stay_whole_and_all_are_accounted_for(
        self, rows: list[Any], size: int, keep: Any, delimiter: str
    ) -> None:
        text = as_csv(rows, delimiter)
        limited = limit(text, OutputLimit(max_chars=size, structure="csv", keep=keep, hint=""))
        assert len(limited.content) <= size
        if not limited.truncated:
            return
        header, *shown = csv.reader(io.StringIO(limited.content), delimiter=delimiter)
        assert header == ["name", "size", "note"]
        assert {len(record) for record in shown} == {3}
        [(place, found)] = [
            (place, ROWS_TOLD.search(record[0]))
            for place, record in enumerate(shown)
            if ROWS_TOLD.search(record[0])
        ]
        assert found is not None
        count, total, following = map(int, found.groups())
        assert (count, total, following) == (len(shown) - 1, len(rows), place)
        whole = [list(row) for row in rows]
        assert shown[:place] == whole[:place]
        assert shown[place + 1 :] == whole[len(rows) - (count - place) :]

    def test_it_is_told_by_its_looks(self) -> None:
        text = as_csv([(f"file{number}", number, "a, b") for number in range(2_000)])
        limited = limit(text, OutputLimit(max_tokens=500))
        assert limited.content.startswith('"name","size","note"\n"file0","0","a, b"\n')
        assert limited.omissions[0].of == "rows"
        assert limited.omissions[0].total == 2_000


class TestMarkdown:
    @some
    @given(st.lists(st.text("ab я世🙂", max_size=20), min_size=2, max_size=200), keeps)
    def test_header_and_rule_stay_and_rows_are_whole(self, names: list[str], keep: Any) -> None:
        rows = [f"| {name} | {number} |" for number, name in enumerate(names)]
        text = "\n".join(["| name | n |", "|:--|--:|", *rows]) + "\n"
        limited = limit(text, OutputLimit(max_chars=400, keep=keep, hint=""))
        assert len(limited.content) <= 400
        if not limited.truncated:
            return
        header, rule, *shown = limited.content.splitlines()
        assert (header, rule) == ("| name | n |", "|:--|--:|")
        [marker] = [line for line in shown if "turnfit" in line]
        assert marker.count("|") == 3
        found = ROWS_TOLD.search(marker)
        assert found is not None
        count, total, _ = map(int, found.groups())
        assert (count, total) == (len(shown) - 1, len(rows))
        assert [line for line in shown if line is not marker and line not in rows] == []


@pytest.mark.parametrize(
    ("text", "structure"),
    [
        ("", "text"),
        ("plain words, with a comma,\nand more, of them\nand so on, too", "text"),
        ("[INFO] started\n[INFO] done", "json"),
        ("12, 13, 14\n15, 16, 17\n18, 19, 20", "text"),
        ("a,b\n1,2\n3,4\n5,6\n", "csv"),
        ("a\tb\n1\t2\n3\t4\n5\t6\n", "csv"),
        ('{"a": 1}\n{"a": 2}\n', "jsonl"),
        ('{\n "a": 1\n}', "json"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "markdown"),
        ("a | b\n--|--\n1 | 2", "markdown"),
        ("a || b\nc || d\ne || f", "text"),
    ],
)
def test_structures_are_told_by_their_looks(text: str, structure: str) -> None:
    assert structure_of(text) == structure


def test_a_log_in_brackets_is_no_json() -> None:
    text = "".join(f"[INFO] request {number}\n" for number in range(2_000))
    assert "characters left out at offset" in limit(text, OutputLimit(max_chars=500)).content


def test_a_header_as_wide_as_the_limit_is_cut_as_a_text() -> None:
    text = as_csv([("x", "y", "z")] * 50).replace("name", "n" * 600)
    content = limit(text, OutputLimit(max_chars=500, structure="csv")).content
    assert len(content) <= 500
    assert "characters left out at offset" in content
