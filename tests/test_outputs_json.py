"""JSON trimmed by elements: JSON comes out, in the order and the spelling that came in."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given
from hypothesis import strategies as st
from support.outputs import json_values, many, some
from turnfit import _core
from turnfit.outputs import Omission, OutputLimit, limit

LEAST = 164
DEPTH = 64


def strict(text: str) -> Any:
    """Parses JSON as its standard has it."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


def rows(count: int, width: int = 20) -> list[dict[str, Any]]:
    return [{"id": number, "name": "x" * width, "ok": True} for number in range(count)]


def shown_of(trimmed: Any, original: Any) -> bool:
    """Whether a trimmed value has only what the original has, in its order."""
    if isinstance(trimmed, dict) and set(trimmed) == {"_omitted"}:
        return True
    if isinstance(original, str) and isinstance(trimmed, str):
        head, _, rest = trimmed.partition("[turnfit: ")
        tail = rest.partition("]")[2] if rest else ""
        return trimmed == original or (original.startswith(head) and original.endswith(tail))
    if isinstance(original, list) and isinstance(trimmed, list):
        marked = bool(trimmed) and isinstance(trimmed[-1], dict) and "_omitted" in trimmed[-1]
        kept = trimmed[:-1] if marked and len(trimmed) <= len(original) else trimmed
        return all(map(shown_of, kept, original))
    if isinstance(original, dict) and isinstance(trimmed, dict):
        names = [name for name in trimmed if name != "_omitted"]
        in_order = names == list(original)[: len(names)]
        return in_order and all(shown_of(trimmed[name], original[name]) for name in names)
    return type(trimmed) is type(original) and trimmed == original


def spaced(value: Any, spaces: Iterator[int]) -> str:
    """JSON with so many spaces and line ends wherever JSON lets them be."""

    def gap() -> str:
        return " \n" * next(spaces)

    if isinstance(value, list):
        inside = ",".join(f"{gap()}{spaced(one, spaces)}{gap()}" for one in value)
        return f"[{inside or gap()}]"
    if isinstance(value, dict):
        members = (
            f"{gap()}{json.dumps(name)}{gap()}:{gap()}{spaced(one, spaces)}{gap()}"
            for name, one in value.items()
        )
        return f"{{{','.join(members) or gap()}}}"
    return json.dumps(value, ensure_ascii=False)


class TestAnyDocument:
    @many
    @given(json_values, st.integers(LEAST, 600), st.lists(st.integers(0, 90), min_size=1))
    def test_however_much_of_it_is_spaces(self, value: Any, size: int, gaps: list[int]) -> None:
        text = spaced([value], cycle(gaps))
        content = limit(text, OutputLimit(max_chars=size, structure="json")).content
        assert len(content) <= size
        assert shown_of(strict(content), json.loads(text))

    @many
    @given(json_values, st.integers(LEAST, 1_200), st.booleans(), st.sampled_from([None, 2]))
    def test_json_comes_out_within_the_limit(
        self, value: Any, size: int, ascii_only: bool, indent: int | None
    ) -> None:
        text = json.dumps([value] * 3, ensure_ascii=ascii_only, indent=indent)
        content = limit(text, OutputLimit(max_chars=size, structure="json")).content
        assert len(content) <= size
        assert shown_of(strict(content), json.loads(text))

    @many
    @given(json_values, st.integers(41, 300), st.sampled_from(["head", "tail", "head_tail"]))
    def test_within_a_limit_of_tokens(self, value: Any, size: int, keep: Any) -> None:
        text = json.dumps({"a": value, "b": [value, value]}, ensure_ascii=False)
        spec = OutputLimit(max_tokens=size, structure="json", keep=keep)
        content = limit(text, spec).content
        assert tf.estimate(content) <= size
        assert shown_of(strict(content), json.loads(text))
        assert limit(content, spec).content == content

    @some
    @given(json_values, st.integers(30, 400))
    def test_down_to_the_smallest_marker(self, value: Any, size: int) -> None:
        text = json.dumps(value, ensure_ascii=False)
        trimmed = _core.trim_json(text, (size, False, None), "", 0.5)
        stub = f'{{"_omitted":{{"chars":{len(text)}}}}}'
        if trimmed is None:
            assert size < min(len(text), len(stub))
        else:
            assert len(trimmed[0]) <= size
            strict(trimmed[0])

    @some
    @given(st.text(st.sampled_from('[]{}",:\\u0d8 1-.eEtrufalsn\x01\n'), max_size=80))
    def test_broken_json_is_told_from_json(self, text: str) -> None:
        try:
            json.loads(text)
            valid = True
        except ValueError:
            valid = False
        assert _core.is_json(text) == valid

    @some
    @given(json_values)
    def test_every_json_text_is_known_as_such(self, value: Any) -> None:
        assert _core.is_json(json.dumps(value))
        assert _core.is_json(json.dumps(value, indent=1, ensure_ascii=False))


class TestWhatStays:
    def test_small_members_stay_whole_beside_a_large_one(self) -> None:
        text = json.dumps({"status": "ok", "rows": rows(1_000), "total": 1_000, "next": None})
        limited = limit(text, OutputLimit(max_chars=2_000))
        value = json.loads(limited.content)
        assert [value["status"], value["total"], value["next"]] == ["ok", 1_000, None]
        *shown, marker = value["rows"]
        assert shown == rows(len(shown))
        told = marker["_omitted"]
        assert (told["shown"], told["total"], told["next"]) == (len(shown), 1_000, len(shown))
        assert limited.omissions == (Omission("/rows", "elements", len(shown), 1_000),)

    def test_most_of_the_limit_is_used(self) -> None:
        limited = limit(json.dumps(rows(10_000)), OutputLimit(max_tokens=2_000))
        assert limited.tokens > 0.95 * 2_000

    def test_an_object_with_many_members_keeps_the_first(self) -> None:
        text = json.dumps({f"key{number}": "x" * 30 for number in range(1_000)})
        value = json.loads(limit(text, OutputLimit(max_chars=1_000)).content)
        told = value.pop("_omitted")
        assert list(value) == [f"key{number}" for number in range(told["shown"])]
        assert (told["total"], told["next"]) == (1_000, told["shown"])

    def test_the_ends_of_a_long_string_are_shown(self) -> None:
        log = "".join(f"line {number}\n" for number in range(5_000))
        text = json.dumps({"exit": 1, "stderr": log})
        limited = limit(text, OutputLimit(max_chars=1_000))
        value = json.loads(limited.content)
        assert value["exit"] == 1
        assert value["stderr"].startswith("line 0\nline 1\n")
        assert value["stderr"].endswith("line 4999\n")
        assert limited.omissions[0].path == "/stderr"

    def test_one_giant_string_stays_a_string(self) -> None:
        text = json.dumps("я" * 100_000, ensure_ascii=False)
        value = json.loads(limit(text, OutputLimit(max_chars=500)).content)
        assert isinstance(value, str)
        assert "characters left out here" in value

    def test_numbers_keep_their_spelling(self) -> None:
        numbers = "1.50, -0.0, 1E+2, 12345678901234567890123, 0.1e-7"
        text = f"[{numbers}, {', '.join('1.0' for _ in range(1_000))}]"
        content = limit(text, OutputLimit(max_chars=LEAST + 60)).content
        assert content.startswith(f"[{numbers}, 1.0")

    def test_names_and_places_are_told_by_pointers(self) -> None:
        text = json.dumps({"a/b": {"c~d": [{"e": list(range(5_000))}, 1]}})
        limited = limit(text, OutputLimit(max_chars=400))
        assert [omission.path for omission in limited.omissions] == ["/a~1b/c~0d/0/e"]

    def test_only_the_first_marker_bears_the_hint(self) -> None:
        value = {"a": rows(500), "b": rows(500)}
        spec = OutputLimit(max_chars=1_000, hint='use "jq"')
        content = limit(json.dumps(value), spec).content
        assert content.count("jq") == 1
        assert json.loads(content)["a"][-1]["_omitted"]["hint"] == 'use "jq"'

    def test_the_hint_names_the_element_to_go_on_with(self) -> None:
        spec = OutputLimit(max_chars=500, hint='rows(from={offset}, "all")')
        limited = limit(json.dumps({"rows": rows(500)}), spec)
        told = json.loads(limited.content)["rows"][-1]["_omitted"]
        assert told["hint"] == limited.hint == f'rows(from={told["next"]}, "all")'
        assert limited.next_offset == told["next"]

    def test_indented_json_stays_indented(self) -> None:
        text = json.dumps({"rows": rows(200)}, indent=2)
        content = limit(text, OutputLimit(max_chars=800)).content
        assert content.startswith('{\n  "rows": [\n    {\n      "id": 0,')
        json.loads(content)


class TestHostile:
    def test_nan_and_infinities_pass_as_python_writes_them(self) -> None:
        text = json.dumps([math.nan, math.inf, -math.inf, *range(2_000)])
        content = limit(text, OutputLimit(max_chars=300)).content
        assert content.startswith("[NaN, Infinity, -Infinity, 0")
        json.loads(content)

    def test_duplicate_keys_stay_as_they_are(self) -> None:
        text = '{"a": 1, "a": 2, "rows": [' + ", ".join(map(str, range(2_000))) + "]}"
        content = limit(text, OutputLimit(max_chars=300)).content
        assert content.startswith('{"a": 1, "a": 2, "rows": [0')
        json.loads(content)

    @pytest.mark.parametrize("depth", [DEPTH, 500, 5_000, 1_000_000])
    def test_depth_is_no_danger(self, depth: int) -> None:
        text = '[{"a":' * (depth // 2) + "1" + "}]" * (depth // 2)
        spec = OutputLimit(max_chars=LEAST, structure="json")
        content = limit(text, spec).content
        assert len(content) <= LEAST
        value = json.loads(content)
        if depth > DEPTH:
            assert "_omitted" in content
        assert value

    def test_what_is_shown_stands_64_levels_deep(self) -> None:
        inner = '{"n": [' + ", ".join(map(str, range(5_000))) + "]}"
        text = '{"a": [' * (DEPTH // 2) + inner + "]}" * (DEPTH // 2)
        limited = limit(text, OutputLimit(max_chars=1_500))
        value: Any = json.loads(limited.content)
        for _ in range(DEPTH // 2):
            value = value["a"][0]
        assert value["n"][:5] == [0, 1, 2, 3, 4]
        assert limited.omissions[0].total == 5_000

    @pytest.mark.parametrize("broken", ['{"a": 1, ', '["a" "b"', '{"a": tru', "[1,]", '{"a":"\n"}'])
    def test_what_is_no_json_is_cut_as_a_text(self, broken: str) -> None:
        content = limit(broken + " more" * 1_000, OutputLimit(max_chars=300)).content
        assert "characters left out at offset" in content

    @pytest.mark.parametrize("count", [1, 9_000])
    @pytest.mark.parametrize(
        ("opening", "value", "closing"), [("[", "1", "}"), ("{", '"a":1', "]")]
    )
    def test_a_bracket_of_the_other_kind_closes_nothing(
        self, count: int, opening: str, value: str, closing: str
    ) -> None:
        broken = f"{opening}{', '.join([value] * count)}{closing}"
        assert _core.trim_json(broken, (300, False, None), "", 0.5) is None

    def test_lone_surrogates_in_it_are_replaced_and_that_is_said(self) -> None:
        text = '["\ud83d", "' + "x" * 1_000 + '"]'
        limited = limit(text, OutputLimit(max_chars=300))
        limited.content.encode()
        assert limited.repaired == 1

    @pytest.mark.parametrize("size", range(200, 213))
    def test_an_escape_is_never_parted(self, size: int) -> None:
        text = json.dumps({"a": '🙂"\\\n' * 200})
        value = json.loads(limit(text, OutputLimit(max_chars=size)).content)
        assert not set(value["a"].partition("[turnfit")[0]) - set('🙂"\\\n')

    @pytest.mark.skipif(sys.platform == "win32", reason="measures by ru_maxrss")
    def test_100_mb_are_trimmed_without_a_second_copy(self) -> None:
        script = (
            "import resource, json; from turnfit.outputs import OutputLimit, limit\n"
            "row = json.dumps({'id': 1, 'text': 'word ' * 20})\n"
            "text = '[' + ', '.join([row] * (100_000_000 // len(row))) + ']'\n"
            "limit(text[:1000], OutputLimit(max_chars=500))\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "limited = limit(text, OutputLimit(max_tokens=8_000))\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
            "assert limited.truncated; json.loads(limited.content)"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert done.stderr == ""
        unit = 1 if sys.platform == "darwin" else 1024
        assert int(done.stdout) * unit < 30_000_000
        assert resource.RUSAGE_SELF == 0


class TestFromTheField:
    """Failures of other limiters, each as a test of its kind."""

    @pytest.mark.parametrize("size", [200, 500, 6_000])
    def test_b095_a_wide_table_as_json_is_never_cut_inside_a_value(self, size: int) -> None:
        wide = [{f"column_{number}": "value" * 20 for number in range(80)} for _ in range(50)]
        content = limit(json.dumps(wide), OutputLimit(max_chars=size)).content
        assert len(content) <= size
        assert "_omitted" in json.dumps(json.loads(content))

    def test_b096_what_parses_goes_on_parsing_in_the_history(self) -> None:
        text = json.dumps({"path": "a.py", "matches": rows(300), "done": False})
        content = limit(text, OutputLimit(max_chars=2_000)).content
        assert json.loads(content)["done"] is False

    @pytest.mark.parametrize(
        "result",
        [
            {"toolUseId": "t1", "status": "success", "content": [{"text": "x" * 9_000}]},
            {"type": "tool_result", "tool_use_id": "t1", "is_error": False, "content": "x" * 9_000},
            {"role": "tool", "tool_call_id": "t1", "content": "x" * 9_000},
        ],
    )
    def test_b098_a_shortened_result_keeps_its_status(self, result: dict[str, Any]) -> None:
        spec = OutputLimit(max_chars=500)
        before = json.dumps(result)
        once = limit(result, spec)
        rest = {key: value for key, value in result.items() if key != "content"}
        assert {key: once.content[key] for key in rest} == rest
        assert once.truncated
        again = limit(once.content, spec)
        assert (again.content, again.truncated) == (once.content, False)
        assert json.dumps(result) == before

    def test_b099_the_texts_among_blocks_are_bounded_and_images_stay(self) -> None:
        image = {"type": "image", "source": {"type": "base64", "data": "iVBO" * 9_000}}
        blocks = [{"type": "text", "text": "x" * 200_000}, image, {"type": "text", "text": "end"}]
        limited = limit(blocks, OutputLimit(max_chars=1_000))
        first, second, third = limited.content
        assert len(first["text"]) + len(third["text"]) <= 1_000
        assert second is image
        assert third is blocks[2]
        assert limited.omitted_chars > 198_000

    def test_b104_trimmed_json_says_so_as_its_last_element(self) -> None:
        content = limit(json.dumps(rows(500)), OutputLimit(max_chars=600)).content
        assert content.rstrip("]}").rpartition("{")[0].endswith('{"_omitted":')
