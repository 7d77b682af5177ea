"""Limits on tool functions: the tool stays what it was, and only its output is bounded."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from turnfit.outputs import Meter, OutputLimit, PageBudget, Store, ToolLimits, limit, limited

SPEC = OutputLimit(max_tokens=200)
PAGED = OutputLimit(max_tokens=200, on_excess="page")
LOG = "".join(f"request {number} served\n" for number in range(2_000))


def read_logs(path: str, *, level: str = "info") -> str:
    """Read a service's log."""
    return LOG


class TestTheFunction:
    def test_keeps_name_signature_annotations_and_docstring(self) -> None:
        tool = limited(SPEC)(read_logs)
        assert inspect.signature(tool) == inspect.signature(read_logs)
        assert tool.__annotations__ == read_logs.__annotations__
        assert (tool.__name__, tool.__doc__) == (read_logs.__name__, read_logs.__doc__)
        assert typing.get_type_hints(tool) == typing.get_type_hints(read_logs)

    def test_gives_what_limit_gives(self) -> None:
        assert limited(SPEC)(read_logs)("a.log") == limit(LOG, SPEC).content

    def test_passes_arguments_and_errors_through(self) -> None:
        @limited(SPEC)
        def add(a: int, b: int = 2) -> int:
            if b < 0:
                raise ValueError("b")
            return a + b

        assert (add(1), add(1, b=5)) == (3, 6)
        with pytest.raises(ValueError, match="b"):
            add(1, -1)

    def test_may_be_async(self) -> None:
        @limited(SPEC)
        async def read() -> str:
            await asyncio.sleep(0)
            return LOG

        assert inspect.iscoroutinefunction(read)
        assert asyncio.run(read()) == limit(LOG, SPEC).content

    def test_may_give_something_to_await(self) -> None:
        async def later() -> str:
            return LOG

        @limited(SPEC)
        def read() -> Any:
            return later()

        assert asyncio.run(read()) == limit(LOG, SPEC).content

    def test_may_be_a_method(self) -> None:
        class Tools:
            @limited(SPEC)
            def read(self) -> str:
                return LOG

        assert Tools().read() == limit(LOG, SPEC).content

    def test_generators_are_refused(self) -> None:
        def lines() -> Iterator[str]:
            yield "line"

        async def later() -> AsyncIterator[str]:
            yield "line"

        for function in (lines, later):
            with pytest.raises(TypeError, match="is a generator"):
                limited(SPEC)(function)
        with pytest.raises(TypeError, match="spec must be an OutputLimit"):
            limited(500)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="only a function"):
            limited(SPEC)("no function")  # type: ignore[type-var]

    def test_originals_are_stored_and_counted_under_its_name(self) -> None:
        store, meter = Store(), Meter()
        tool = limited(SPEC, store=store, meter=meter)(read_logs)
        content = tool("a.log")
        [entry] = store.entries()
        assert entry.meta == {"tool": "read_logs"}
        assert entry.handle in content
        assert store.text(entry.handle) == LOG
        assert meter.report().tools[0].tool == "read_logs"


class TestPaging:
    def test_adds_a_cursor_where_schemas_are_built_from(self) -> None:
        tool = limited(PAGED)(read_logs)
        cursor = inspect.signature(tool).parameters["cursor"]
        assert (cursor.kind, cursor.default) == (inspect.Parameter.KEYWORD_ONLY, None)
        assert typing.get_type_hints(tool)["cursor"] == str | None
        assert list(inspect.signature(tool).parameters) == ["path", "level", "cursor"]

    @pytest.mark.parametrize("is_async", [False, True])
    def test_the_pages_joined_are_the_output(self, is_async: bool) -> None:
        async def read_async() -> str:
            return LOG

        def read() -> str:
            return LOG

        tool: Any = limited(PAGED)(read_async if is_async else read)
        cursor: str | None = None
        parts: list[str] = []
        while cursor is not None or not parts:
            page = tool(cursor=cursor)
            page = asyncio.run(page) if is_async else page
            text, _, note = page.rpartition("\n[turnfit: ")
            parts.append(text)
            assert SPEC.price(page) <= 200
            cursor = note.partition('cursor="')[2].partition('"')[0] or None
        assert "".join(parts) == LOG

    def test_a_short_output_is_no_page(self) -> None:
        assert limited(PAGED)(lambda: "short")() == "short"

    def test_a_wrong_cursor_is_answered_not_raised(self) -> None:
        tool: Any = limited(PAGED)(read_logs)
        assert tool("a.log", cursor="x").startswith("[turnfit: this cursor was not given out")
        assert tool("a.log", cursor="") == tool("a.log")

    def test_a_budget_ends_it(self) -> None:
        meter = Meter()
        tool: Any = limited(PAGED, pages=PageBudget(2), meter=meter)(read_logs)
        pages = [tool("a.log", cursor=None) for _ in range(3)]
        assert "request 0 served" in pages[1]
        assert pages[2].startswith("[turnfit: no more pages")

    def test_lists_are_paged_by_items(self) -> None:
        tool: Any = limited(PAGED)(lambda: [{"id": number} for number in range(500)])
        assert tool().startswith('{"id":0}\n{"id":1}\n')
        assert "items 0 to" in tool()

    def test_data_that_are_no_list_are_trimmed(self) -> None:
        tool: Any = limited(PAGED)(lambda: {"rows": list(range(5_000))})
        assert tool()["rows"][0] == 0

    def test_a_cursor_of_its_own_is_refused(self) -> None:
        def read(cursor: int) -> str:
            return LOG

        with pytest.raises(ValueError, match="read has a parameter cursor of its own"):
            limited(PAGED)(read)


class TestToolLimits:
    LIMITS = ToolLimits({"read_logs": SPEC}, default=OutputLimit(max_tokens=500))

    def test_each_tool_has_its_own_limit(self) -> None:
        assert self.LIMITS.limit("read_logs", LOG).tokens <= 200
        assert 200 < self.LIMITS.limit("list_files", LOG).tokens <= 500

    def test_without_a_default_the_others_are_unlimited(self) -> None:
        limits = ToolLimits({"read_logs": SPEC})
        unlimited = limits.limit("other", LOG)
        assert (unlimited.content, unlimited.truncated) == (LOG, False)
        assert limits.wrap(read_logs, "other") is read_logs

    def test_wraps_functions_by_their_names(self) -> None:
        assert self.LIMITS.wrap(read_logs)("a.log") == limit(LOG, SPEC).content

    def test_what_is_no_limit_is_refused_by_name(self) -> None:
        with pytest.raises(TypeError, match="read_logs: must be an OutputLimit"):
            ToolLimits({"read_logs": 500})  # type: ignore[dict-item]
