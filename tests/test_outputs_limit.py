"""Texts brought within a limit: never over it, nothing parted, nothing unsaid."""

from __future__ import annotations

import re
from typing import Any

import pytest
import turnfit as tf
from hypothesis import assume, given
from hypothesis import strategies as st
from support.outputs import (
    CONJUNCT,
    FAMILY,
    FLAG,
    MARKED,
    atoms,
    long_atoms,
    many,
    places_between,
    some,
)
from turnfit.outputs import Limited, OutputLimit, limit

keeps = st.sampled_from(["head_tail", "head", "tail"])
LINE = "2026-03-05T10:00:00 INFO request {} served in {} ms\n"


def log(lines: int) -> str:
    return "".join(LINE.format(number, number % 97) for number in range(lines))


@st.composite
def specs(draw: st.DrawFn) -> OutputLimit:
    more: dict[str, Any] = {"keep": draw(keeps), "head_share": draw(st.floats(0, 1))}
    more["hint"] = draw(st.sampled_from([None, "", "read(offset={offset})"]))
    if draw(st.booleans()):
        more["profile"] = draw(st.sampled_from([None, "o200k_base", "claude_v4_7", "any"]))
        return OutputLimit(max_tokens=draw(st.integers(130, 600)), **more)
    return OutputLimit(max_chars=draw(st.integers(164, 1_500)), **more)


def cut_places(limited: Limited) -> tuple[int, int]:
    """Where the head ends and the tail begins."""
    assert limited.next_offset is not None
    return limited.next_offset, limited.next_offset + limited.omitted_chars


class TestAnyText:
    @many
    @given(atoms, specs())
    def test_is_never_over_the_limit(self, parts: list[str], spec: OutputLimit) -> None:
        limited = limit("".join(parts), spec)
        assert spec.price(limited.content) <= spec.size

    @many
    @given(atoms, specs())
    def test_limited_twice_is_limited_once(self, parts: list[str], spec: OutputLimit) -> None:
        once = limit("".join(parts), spec).content
        assert limit(once, spec).content == once

    @many
    @given(atoms, specs())
    def test_within_its_limit_comes_back_as_it_is(
        self, parts: list[str], spec: OutputLimit
    ) -> None:
        text = "".join(parts)
        limited = limit(text, spec)
        assert limited.truncated == (spec.price(text) > spec.size)
        if not limited.truncated:
            assert limited.content == text
            assert "turnfit" not in limited.content

    @many
    @given(long_atoms, specs())
    def test_is_cut_only_between_what_belongs_together(
        self, parts: list[str], spec: OutputLimit
    ) -> None:
        text = "".join(parts)
        limited = limit(text, spec)
        assume(limited.truncated)
        assert set(cut_places(limited)) <= places_between(parts)

    @many
    @given(long_atoms, specs())
    def test_says_what_is_left_out_and_the_rest_is_the_texts_own(
        self, parts: list[str], spec: OutputLimit
    ) -> None:
        text = "".join(parts)
        limited = limit(text, spec)
        assume(limited.truncated)
        head, tail = cut_places(limited)
        told = f"{tail - head} of {len(text)} characters left out at offset {head}."
        assert told in limited.content
        assert text[:head] in limited.content
        assert limited.content.endswith(text[tail:])
        assert limited.kept_chars == head + len(text) - tail

    @many
    @given(st.integers(0, 10**6), st.sampled_from("aя世"), specs())
    def test_of_any_length_is_never_over_the_limit(
        self, length: int, letter: str, spec: OutputLimit
    ) -> None:
        assert spec.price(limit(letter * length, spec).content) <= spec.size

    @some
    @given(st.text(st.characters(), max_size=2_000), specs())
    def test_whatever_the_characters(self, text: str, spec: OutputLimit) -> None:
        limited = limit(text, spec)
        limited.content.encode()
        assert spec.price(limited.content) <= spec.size

    @some
    @given(atoms, st.integers(60, 200))
    def test_under_a_tokenizer_of_ones_own(self, parts: list[str], size: int) -> None:
        text = "".join(parts)
        spec = OutputLimit(max_tokens=size, profile=lambda text: len(re.findall(r"\w+|\W", text)))
        limited = limit(text, spec)
        assert spec.price(limited.content) <= size
        assert limit(limited.content, spec).content == limited.content
        assert limited.total_tokens == spec.price(text)

    @some
    @given(atoms)
    def test_a_whole_word_of_a_tokenizer_is_not_wasted(self, parts: list[str]) -> None:
        text = "".join(parts) + "word " * 2_000
        spec = OutputLimit(max_tokens=400, profile=lambda text: len(text.split()))
        assert spec.price(limit(text, spec).content) > 0.9 * 400


class TestTheCut:
    def test_head_and_tail_are_both_kept(self) -> None:
        text = log(5_000)
        limited = limit(text, OutputLimit(max_tokens=500))
        assert text.splitlines()[0] in limited.content
        assert text.splitlines()[-1] in limited.content

    @pytest.mark.parametrize(("keep", "kept"), [("head", 0), ("tail", -1)])
    def test_only_one_of_them_if_asked_for(self, keep: Any, kept: int) -> None:
        text = log(5_000)
        limited = limit(text, OutputLimit(max_tokens=500, keep=keep))
        assert text.splitlines()[kept] in limited.content
        assert text.splitlines()[-1 - kept] not in limited.content

    def test_lines_stay_whole(self) -> None:
        text = log(5_000)
        lines = set(text.splitlines())
        shown = limit(text, OutputLimit(max_tokens=500)).content.splitlines()
        assert [line for line in shown if line not in lines and "turnfit" not in line] == []

    def test_most_of_the_limit_is_used(self) -> None:
        spec = OutputLimit(max_tokens=2_000)
        assert spec.price(limit(log(50_000), spec).content) > 0.95 * 2_000

    def test_the_head_gets_its_share(self) -> None:
        text = "x" * 100_000
        limited = limit(text, OutputLimit(max_chars=10_000, head_share=0.2))
        head, tail = cut_places(limited)
        assert head == pytest.approx(0.2 * (head + len(text) - tail), rel=0.01)

    def test_the_hint_names_the_place_to_go_on(self) -> None:
        spec = OutputLimit(max_chars=1_000, keep="head", hint="read_logs(offset={offset})")
        limited = limit(log(900), spec)
        assert f"read_logs(offset={limited.next_offset})" in limited.content
        assert limited.hint == f"read_logs(offset={limited.next_offset})"

    def test_a_limit_below_its_marker_is_refused(self) -> None:
        for field in ("max_tokens", "max_chars"):
            with pytest.raises(ValueError, match=f"{field} is 5, but the marker alone can take"):
                OutputLimit(**{field: 5})  # type: ignore[arg-type]

    def test_the_least_limit_has_room_for_the_marker_and_no_more(self) -> None:
        spec = OutputLimit(max_chars=164)
        limited = limit("x" * 10**6, spec)
        assert limited.content.startswith("[turnfit: ") or limited.content.startswith("x")
        assert len(limited.content) <= 164

    def test_progress_and_colours_go_before_measuring(self) -> None:
        drawn = "\r".join(f"\x1b[32mfetching {number} %\x1b[0m" for number in range(101))
        spec = OutputLimit(max_chars=200, strip_ansi=True, collapse_progress=True)
        limited = limit(f"{drawn}\r\ndone\n", spec)
        assert (limited.content, limited.truncated) == ("fetching 100 %\r\ndone\n", False)

    @some
    @given(st.text(st.sampled_from("\x1b[]0;m1\\\x07\n\r\x9b ab"), max_size=60))
    def test_stripping_twice_is_stripping_once(self, text: str) -> None:
        spec = OutputLimit(max_chars=200, strip_ansi=True, collapse_progress=True)
        once = limit(text, spec).content
        assert "\x1b" not in once
        assert limit(once, spec).content == once

    @pytest.mark.parametrize(
        ("wrong", "told"),
        [
            ({}, "give one of max_tokens and max_chars"),
            ({"max_tokens": 500, "max_chars": 500}, "give one of"),
            ({"max_tokens": 0}, "max_tokens must be from 1"),
            ({"max_chars": 500, "keep": "middle"}, "keep must be one of"),
            ({"max_chars": 500, "on_excess": "drop"}, "on_excess must be one of"),
            ({"max_chars": 500, "structure": "xml"}, "structure must be one of"),
            ({"max_chars": 500, "head_share": 1.5}, "head_share must be from 0 to 1"),
            ({"max_chars": 500, "profile": "gpt"}, "no profile"),
        ],
    )
    def test_what_cannot_be_is_refused_by_name(self, wrong: dict[str, Any], told: str) -> None:
        with pytest.raises(ValueError, match=told):
            OutputLimit(**wrong)

    @pytest.mark.parametrize("wrong", [{"max_tokens": 1.5}, {"max_chars": True}, {"hint": 5}])
    def test_a_wrong_type_is_refused_by_name(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(TypeError, match=next(iter(wrong))):
            OutputLimit(**{"max_tokens": 500, **wrong} if "hint" in wrong else wrong)


class TestFromTheField:
    """Failures of other limiters, each as a test of its kind."""

    @pytest.mark.parametrize("letter", ["я", "世", "🙂", "\u0080", "\u07ff", "\uffff"])
    @pytest.mark.parametrize("size", range(200, 208))
    def test_b086_a_character_of_several_bytes_is_never_cut(self, letter: str, size: int) -> None:
        limited = limit(letter * 10_001, OutputLimit(max_chars=size))
        kept = limited.content.replace(letter, "")
        assert len(limited.content) <= size
        assert kept.isascii()
        assert limited.content.encode().decode() == limited.content

    @pytest.mark.parametrize("letter", ["a", "я", "世", "🙂"])
    def test_b087_a_limit_in_characters_counts_characters(self, letter: str) -> None:
        text = letter * 40_000
        assert limit(text, OutputLimit(max_chars=40_000)).content == text
        limited = limit(text, OutputLimit(max_chars=25_000))
        assert 24_000 < len(limited.content) <= 25_000

    @pytest.mark.parametrize("lone", [chr(0xD83D), chr(0xDE42), chr(0xDE42) + chr(0xD83D)])
    def test_b089_a_lone_surrogate_is_replaced_and_that_is_said(self, lone: str) -> None:
        spec = OutputLimit(max_chars=200)
        limited = limit(f"error: {lone} at", spec)
        assert limited.content == f"error: {chr(0xFFFD) * len(lone)} at"
        assert limited.repaired == len(lone)
        limited.content.encode()
        cut = limit(lone + "x" * 500 + lone, spec)
        assert cut.repaired == 2 * len(lone)
        cut.content.encode()

    @pytest.mark.parametrize("size", range(200, 224))
    def test_b089_the_escapes_of_a_pair_are_never_parted(self, size: int) -> None:
        text = r"\ud83d\ude42" * 100
        limited = limit(f'failed to parse {{"text": "{text}', OutputLimit(max_chars=size))
        assert limited.content.count(r"\ud83d") == limited.content.count(r"\ud83d\ude42") > 0
        assert limited.content.count(r"\ude42") == limited.content.count(r"\ud83d")

    @pytest.mark.parametrize("size", range(200, 208))
    def test_b090_halves_of_a_pair_are_joined_and_never_parted(self, size: int) -> None:
        limited = limit("\ud83d\ude42" * 500, OutputLimit(max_chars=size))
        assert limited.repaired == 0
        assert "🙂" in limited.content
        assert "\ufffd" not in limited.content

    def test_b090_a_page_full_of_emoji_is_cut_at_both_ends_alike(self) -> None:
        page = "<li>🙂🎉</li>" * 3_000
        limited = limit(page, OutputLimit(max_tokens=2_000))
        limited.content.encode()
        head, tail = cut_places(limited)
        assert page[:head].encode().decode() + page[tail:] != page

    @pytest.mark.parametrize("cluster", [FLAG, FAMILY, MARKED, CONJUNCT])
    @pytest.mark.parametrize("size", range(180, 190))
    def test_b092_a_cluster_is_shown_whole_or_not_at_all(self, cluster: str, size: int) -> None:
        limited = limit(cluster * 100, OutputLimit(max_chars=size))
        head, tail = cut_places(limited)
        assert head % len(cluster) == tail % len(cluster) == 0

    def test_b092_the_parity_of_flags_is_that_of_the_whole_run(self) -> None:
        limited = limit("x" + FLAG * 5_000, OutputLimit(max_chars=300))
        head, tail = cut_places(limited)
        assert head % 2 == tail % 2 == 1

    def test_b092_a_cluster_beyond_the_limit_is_left_out_whole(self) -> None:
        limited = limit("e" + "\u0301" * 5_000, OutputLimit(max_chars=300))
        assert limited.omitted_chars == 5_001

    @pytest.mark.parametrize("size", range(200, 222))
    def test_b093_a_colour_is_shown_whole_or_not_at_all(self, size: int) -> None:
        colour = "\x1b[38;2;255;0;0m"
        limited = limit(colour * 100, OutputLimit(max_chars=size))
        shown = limited.content.replace(colour, "")
        assert "\x1b" not in shown
        assert "38;2" not in shown

    def test_b093_a_sequence_that_came_in_broken_is_stripped(self) -> None:
        spec = OutputLimit(max_chars=200, strip_ansi=True)
        assert limit("red\x1b[38;2;255", spec).content == "red"

    def test_b100_what_is_cut_says_so_and_how_to_get_the_rest(self) -> None:
        hits = "".join(f"src/a.py:{number}: match\n" for number in range(300))
        spec = OutputLimit(max_chars=2_000, hint="Give grep a narrower pattern.")
        content = limit(hits, spec).content
        assert re.search(r"\d+ of \d+ characters left out", content)
        assert "Give grep a narrower pattern." in content

    @pytest.mark.parametrize("length", [0, 1, 199, 200])
    def test_b101_nothing_is_said_of_what_is_whole(self, length: int) -> None:
        limited = limit("x" * length, OutputLimit(max_chars=200))
        assert limited.content == "x" * length
        assert (limited.truncated, limited.hint, limited.reason) == (False, None, None)
        assert limited.omitted_tokens == limited.omitted_chars == 0

    def test_b103_the_result_says_what_was_cut_for_logs_and_records(self) -> None:
        text = log(14_000)
        limited = limit(text, OutputLimit(max_tokens=12_500))
        assert limited.total_chars == len(text)
        assert limited.kept_chars + limited.omitted_chars == len(text)
        assert limited.total_tokens == tf.estimate(text)
        assert limited.tokens == tf.estimate(limited.content) <= 12_500
        assert limited.omitted_tokens == limited.total_tokens - limited.tokens
        assert limited.reason == "max_tokens"

    @pytest.mark.parametrize("structure", ["auto", "text"])
    def test_b104_what_looks_complete_says_that_it_is_not(self, structure: Any) -> None:
        text = "\n".join('{"a": 1}' for _ in range(500))
        spec = OutputLimit(max_chars=600, keep="head", structure=structure)
        lines = limit(text, spec).content.splitlines()
        assert "turnfit" in lines[-1] or "_omitted" in lines[-1]
        if structure == "text":
            assert lines[0].startswith("[turnfit: incomplete, ")
