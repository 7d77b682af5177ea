"""Pages: every item once and none twice, whatever the sizes; and an end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.outputs import atoms, many, places_between, some
from turnfit.outputs import CursorError, OutputLimit, Page, PageBudget, paginate

sizes = st.integers(400, 1_500)
small = st.text("abc я世🙂\n", max_size=40)
items = st.lists(
    st.one_of(
        small,
        st.integers(),
        st.dictionaries(small, small, max_size=3),
        st.integers(500, 5_000).map(lambda size: "x" * size),
    ),
    max_size=40,
)


def pages(source: Callable[[], Any], spec: OutputLimit, **more: Any) -> list[Page]:
    """All pages, by their cursors."""
    found, cursor = [], None
    while True:
        page = paginate(source(), cursor, spec, **more)
        found.append(page)
        assert len(found) < 10_000
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


def same_or_cut(shown: Any, item: Any) -> bool:
    return shown == item or "turnfit" in str(shown)


class TestEveryItemOnce:
    @many
    @given(items, sizes, st.sampled_from([None, 1, 3]))
    def test_of_a_list(self, given_items: list[Any], size: int, most: int | None) -> None:
        found = pages(lambda: given_items, OutputLimit(max_chars=size), max_items=most)
        shown = [item for page in found for item in page.items]
        assert len(shown) == len(given_items)
        assert all(map(same_or_cut, shown, given_items))
        assert all(len(str(page)) <= size for page in found)
        assert all(page.total == len(given_items) for page in found)
        assert all(page.items for page in found[1:])

    @many
    @given(items, sizes)
    def test_of_an_iterator(self, given_items: list[Any], size: int) -> None:
        found = pages(lambda: iter(given_items), OutputLimit(max_chars=size))
        shown = [item for page in found for item in page.items]
        assert len(shown) == len(given_items)
        assert all(map(same_or_cut, shown, given_items))
        assert all(len(str(page)) <= size for page in found)
        assert found[-1].total == len(given_items)
        assert all(page.total is None for page in found[:-1])

    @many
    @given(atoms, st.integers(110, 600))
    def test_the_pages_of_a_text_joined_are_the_text(self, parts: list[str], size: int) -> None:
        text = "".join(parts)
        spec = OutputLimit(max_tokens=size)
        found = pages(lambda: text, spec)
        assert "".join(part for page in found for part in page.items) == text
        assert all(spec.price(str(page)) <= size for page in found)
        starts = {page.start for page in found}
        assert starts <= places_between(parts)

    @some
    @given(atoms)
    def test_under_a_tokenizer_of_ones_own(self, parts: list[str]) -> None:
        text = "".join(parts)
        spec = OutputLimit(max_tokens=400, profile=len)
        found = pages(lambda: text, spec)
        assert "".join(part for page in found for part in page.items) == text
        assert all(len(str(page)) <= 400 for page in found)


class TestCursors:
    SPEC = OutputLimit(max_chars=400)

    def test_a_whole_output_has_no_note(self) -> None:
        for source in ("short", ["a", "b"], iter(["a", "b"])):
            page = paginate(source, None, self.SPEC)
            assert (page.note, page.next_cursor) == ("", None)

    @pytest.mark.parametrize("cursor", ["", "x", "abc", "é", "A" * 31, "\ud83d", "=" * 40])
    def test_a_forged_one_is_told(self, cursor: str) -> None:
        for source in ("x" * 900, ["x"] * 900, iter(["x"] * 900)):
            with pytest.raises(CursorError, match="was not given out") as caught:
                paginate(source, cursor, self.SPEC)
            assert caught.value.reason == "forged"

    @some
    @given(st.integers(0, 30), st.sampled_from("abcxyz019_-"))
    def test_one_letter_changed_is_told(self, place: int, letter: str) -> None:
        cursor = paginate("x" * 900, None, self.SPEC).next_cursor
        assert cursor is not None
        changed = cursor[:place] + letter + cursor[place + 1 :]
        if changed != cursor:
            with pytest.raises(CursorError):
                paginate("x" * 900, changed, self.SPEC)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (lambda: "x" * 900, lambda: "x" * 899 + "y"),
            (lambda: ["x" * 90] * 20, lambda: ["x" * 90] * 19),
            (lambda: ["x" * 90] * 20, lambda: [*["x" * 90] * 19, "y"]),
            (lambda: iter(["x" * 90] * 20), lambda: iter(["y" * 90] * 20)),
            (lambda: iter(["x" * 90] * 20), lambda: iter([])),
        ],
    )
    def test_changed_data_are_told(self, before: Any, after: Any) -> None:
        cursor = paginate(before(), None, self.SPEC).next_cursor
        with pytest.raises(CursorError, match="the data changed") as caught:
            paginate(after(), cursor, self.SPEC)
        assert caught.value.reason == "changed"

    def test_an_iterator_is_read_no_further_than_needed(self) -> None:
        read = 0

        def endless() -> Iterator[str]:
            nonlocal read
            for number in itertools.count():
                read += 1
                yield f"item {number}"

        page = paginate(endless(), None, self.SPEC)
        assert read == len(page.items) + 1
        assert page.total is None
        following = paginate(endless(), page.next_cursor, self.SPEC)
        assert following.items[0] == f"item {len(page.items)}"

    def test_the_note_puts_a_narrower_query_before_more_pages(self) -> None:
        note = paginate(["x" * 50] * 100, None, self.SPEC).note
        assert note.index("narrower query") < note.index("next page")
        assert "of 100" in note

    @pytest.mark.parametrize("wrong", [-1, 1.5, True, b"x"])
    def test_what_is_no_cursor_is_refused(self, wrong: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="cursor"):
            paginate(["x"], wrong, self.SPEC)

    def test_a_limit_without_room_beside_the_note_is_refused(self) -> None:
        with pytest.raises(ValueError, match="no room for an item beside a page's note"):
            paginate(["x" * 100] * 100, None, OutputLimit(max_chars=170))


class TestBudget:
    def test_it_ends_an_endless_paging_with_a_page_that_says_so(self) -> None:
        budget = PageBudget(max_pages=3)
        spec = OutputLimit(max_chars=400)
        found = []
        cursor = None
        for _ in range(4):
            page = paginate(["x" * 50] * 100, cursor, spec, budget=budget)
            found.append(page)
            cursor = page.next_cursor
        assert [bool(page.items) for page in found] == [True, True, True, False]
        assert found[-1].next_cursor is None
        assert "this task may read 3" in str(found[-1])

    def test_it_must_be_possible(self) -> None:
        with pytest.raises(ValueError, match="max_pages"):
            PageBudget(0)
        with pytest.raises(TypeError, match="max_pages"):
            PageBudget(1.5)  # type: ignore[arg-type]


class TestFromTheField:
    """Failures of other tools, each as a test of its kind."""

    def test_b105_long_lines_are_paged_by_size(self) -> None:
        text = "\n".join(["x" * 20_000] * 5)
        spec = OutputLimit(max_tokens=2_000)
        found = pages(lambda: text, spec)
        assert all(spec.price(str(page)) <= 2_000 for page in found)
        assert "".join(part for page in found for part in page.items) == text

    @pytest.mark.parametrize("past", [10, 99, 10**9])
    def test_b106_past_the_end_is_an_empty_page_that_says_so(self, past: int) -> None:
        spec = OutputLimit(max_chars=500)
        for source in ("0123456789", list("0123456789"), iter("0123456789")):
            page = paginate(source, past, spec)
            assert (page.items, page.next_cursor) == ([], None)
            assert "there are 10. This is the end." in str(page)

    @pytest.mark.parametrize("most", [5, 10, 20])
    def test_b106_the_last_page_never_says_that_there_is_more(self, most: int) -> None:
        found = pages(lambda: ["x"] * 20, OutputLimit(max_chars=500), max_items=most)
        assert len(found) == 20 // most
        assert found[-1].next_cursor is None
        assert "next page" not in str(found[-1])

    def test_b108_every_note_names_the_next_place(self) -> None:
        spec = OutputLimit(max_chars=500)
        for _ in range(3):
            page = paginate("x" * 5_000, None, spec)
            assert f"offset {len(page.items[0])}" in page.note

    def test_b109_one_endless_line_always_goes_on(self) -> None:
        text = "x" * 3_600_000
        found = pages(lambda: text, OutputLimit(max_tokens=50_000))
        ends = [page.start for page in found]
        assert ends == sorted(set(ends))
        assert len(found) < 20

    def test_b109_a_cluster_without_end_goes_on_too(self) -> None:
        text = "e" + "\u0301" * 20_000
        found = pages(lambda: text, OutputLimit(max_chars=800))
        assert "".join(part for page in found for part in page.items) == text
