"""The store: what was put is there, whoever dies; what is gone says so."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.outputs import some
from turnfit.outputs import (
    CorruptStoreError,
    HandleError,
    Meter,
    OutputLimit,
    Store,
    handles_in,
    limit,
    summarise,
)

KILLS = max(50, int(os.environ.get("TURNFIT_EXAMPLES", "0")) // 20)
Open = Callable[..., Store]


@pytest.fixture(params=["sqlite", "memory"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    stores: list[Store] = []

    def make(**settings: Any) -> Store:
        place = tmp_path / "originals.db" if request.param == "sqlite" else None
        stores.append(Store(place, **settings))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


def all_of(store: Store, handle: str) -> str:
    """An original, read part by part."""
    parts, offset = [], 0
    while True:
        read = store.read(handle, offset)
        parts.append(read.text)
        if read.next_offset is None:
            return "".join(parts)
        assert read.next_offset > offset
        offset = read.next_offset


class TestPutAndRead:
    @some
    @given(st.lists(st.text(st.characters(), max_size=300), max_size=5))
    def test_what_was_put_is_read_back(self, texts: list[str]) -> None:
        store = Store()
        handles = [store.put(text) for text in texts]
        assert [store.text(handle) for handle in handles] == texts

    @some
    @given(st.text("abc я世🙂\n", max_size=400), st.integers(1, 40))
    def test_the_parts_joined_are_the_original(self, text: str, times: int) -> None:
        store = Store(read_limit=OutputLimit(max_tokens=60))
        assert all_of(store, store.put(text * times)) == text * times

    @some
    @given(st.text("ab я世🙂\n", max_size=2_000), st.data())
    def test_every_reading_is_within_its_limit(self, text: str, data: st.DataObject) -> None:
        spec = OutputLimit(max_chars=200)
        store = Store(read_limit=spec)
        handle = store.put(text)
        offset = data.draw(st.integers(0, 2_500))
        size = data.draw(st.none() | st.integers(0, 2_500))
        lines = data.draw(st.none() | st.just((1, 5)) | st.just((3, 900)))
        pattern = data.draw(st.none() | st.sampled_from(["a", "^b", "[аяё]", "x", "."]))
        from_end = data.draw(st.booleans())
        read = store.read(handle, offset, size, lines=lines, pattern=pattern, from_end=from_end)
        assert len(str(read)) <= 200
        if pattern is None:
            assert read.text == text[read.offset : read.offset + len(read.text)]

    def test_the_same_text_is_stored_once(self, opened: Open) -> None:
        store = opened()
        handles = {store.put("x" * 50_000, {"n": number}) for number in range(20)}
        assert len(handles) == 1
        [entry] = store.entries()
        assert (entry.size, entry.meta) == (50_000, {"n": 19})

    def test_namespaces_share_the_bytes_and_nothing_else(self, tmp_path: Path) -> None:
        path = tmp_path / "originals.db"
        one, other = Store(path, namespace="one"), Store(path, namespace="other")
        handle = one.put("secret")
        with pytest.raises(HandleError) as caught:
            other.read(handle)
        assert caught.value.reason == "unknown"
        assert list(other.entries()) == []
        assert other.put("secret") != handle
        with sqlite3.connect(path) as file:
            assert file.execute("SELECT count(*) FROM texts").fetchone() == (1,)
        file.close()

    @pytest.mark.parametrize("wrong", ["", "out_", "out_" + "a" * 42, "x", "out_" + "A" * 42, None])
    def test_a_handle_that_was_never_given_out_is_unknown(self, opened: Open, wrong: Any) -> None:
        with pytest.raises(HandleError, match="no such handle") as caught:
            opened().read(wrong)
        assert caught.value.reason == "unknown"

    @some
    @given(st.integers(4, 45), st.sampled_from("abcdxyz2567"))
    def test_a_handle_with_one_letter_changed_is_unknown(self, place: int, letter: str) -> None:
        store = Store()
        handle = store.put("text")
        changed = handle[:place] + letter + handle[place + 1 :]
        if changed != handle:
            with pytest.raises(HandleError, match="no such handle"):
                store.read(changed)

    def test_by_lines_and_from_the_end(self) -> None:
        store = Store()
        handle = store.put("".join(f"line {number}\n" for number in range(1, 101)))
        assert store.read(handle, lines=(3, 4)).text == "line 3\nline 4\n"
        assert store.read(handle, lines=(100, 200)).text == "line 100\n"
        assert store.read(handle, lines=(101, 102)).text == ""
        assert store.read(handle, 0, 9, from_end=True).text == "line 100\n"
        assert store.read(handle, 9, 8, from_end=True).text == "line 99\n"

    def test_b105_long_lines_are_read_by_size_and_go_on(self) -> None:
        store = Store()
        text = "\n".join(["x" * 20_000] * 5)
        handle = store.put(text)
        read = store.read(handle, lines=(1, 5))
        assert OutputLimit(max_tokens=2_000).allows(str(read))
        assert read.next_offset == len(read.text)
        assert f"read on at offset {read.next_offset}" in read.note
        assert all_of(store, handle) == text

    def test_by_pattern_with_numbers_and_where_to_look_on(self) -> None:
        store = Store(read_limit=OutputLimit(max_chars=200))
        handle = store.put("".join(f"request {number} failed\n" for number in range(1, 1_001)))
        first = store.read(handle, pattern=r"\b\d*7 failed$")
        assert first.text.splitlines()[0] == "7: request 7 failed"
        found, read = first.text.splitlines(), first
        while read.next_offset is not None:
            read = store.read(handle, read.next_offset, pattern=r"\b\d*7 failed$")
            found += read.text.splitlines()
        assert [line.partition(":")[0] for line in found] == [str(n) for n in range(7, 1_001, 10)]

    def test_a_pattern_takes_linear_time_whoever_wrote_it(self) -> None:
        store = Store()
        handle = store.put("a" * 100_000)
        # By backtracking this would not end.
        assert store.read(handle, pattern="(a+)+$b").text == ""

    @pytest.mark.parametrize("pattern", ["(", "(?=a)", "a{1000000000}"])
    def test_a_pattern_that_cannot_be_is_told(self, pattern: str) -> None:
        store = Store()
        with pytest.raises(ValueError, match="pattern"):
            store.read(store.put("a"), pattern=pattern)

    @pytest.mark.parametrize(
        "wrong", [{"offset": -1}, {"limit": -1}, {"lines": (0, 1)}, {"lines": (5, 2)}]
    )
    def test_a_range_that_cannot_be_is_told(self, wrong: Any) -> None:
        store = Store()
        with pytest.raises(ValueError, match=next(iter(wrong))):
            store.read(store.put("a"), **wrong)

    def test_what_is_read_back_is_counted_for_its_tool(self) -> None:
        meter = Meter()
        store = Store(meter=meter)
        store.read(store.put("x" * 400, {"tool": "logs"}))
        assert meter.report().to_dict()["logs"]["tokens_read_back"] == 100


class TestBounds:
    def test_the_least_used_goes_first_and_its_handle_says_so(self, opened: Open) -> None:
        store = opened(max_bytes=10_000)
        handles = [store.put(str(number) * 4_000) for number in range(2)]
        store.read(handles[0])
        handles.append(store.put("z" * 4_000))
        assert store.text(handles[0])
        with pytest.raises(HandleError, match="has been removed to make room") as caught:
            store.read(handles[1])
        assert caught.value.reason == "evicted"

    def test_what_is_too_old_goes(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        store = opened(max_age=timedelta(hours=1))
        handle = store.put("old")
        assert store.gc() == 0
        later = time.time() + 3_601
        monkeypatch.setattr(time, "time", lambda: later)
        assert store.gc() == 1
        with pytest.raises(HandleError, match="evicted"):
            store.read(handle)

    def test_an_output_larger_than_the_store_is_cut_without_a_handle(self) -> None:
        store = Store(max_bytes=1_000)
        cut = limit("x" * 5_000, OutputLimit(max_tokens=100), store=store)
        assert (cut.handle, cut.truncated) == (None, True)
        assert list(store.entries()) == []

    def test_a_text_larger_than_the_store_is_refused(self, opened: Open) -> None:
        with pytest.raises(ValueError, match="the store holds 100"):
            opened(max_bytes=100).put("x" * 101)

    @pytest.mark.parametrize("wrong", [{"max_bytes": 0}, {"max_age": timedelta()}])
    def test_bounds_without_room_are_refused(self, wrong: Any) -> None:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Store(**wrong)

    def test_b111_ten_thousand_outputs_leave_a_bounded_store(self, tmp_path: Path) -> None:
        path = tmp_path / "originals.db"
        with Store(path, max_bytes=5_000_000) as store:
            first = store.put("first" + "x" * 50_000)
            for number in range(1_000):
                store.put(f"{number} " + "x" * 50_000)
            assert sum(entry.size for entry in store.entries()) <= 5_000_000
            with pytest.raises(HandleError, match="evicted"):
                store.text(first)
        files = sum(file.stat().st_size for file in tmp_path.iterdir())
        assert files < 3 * 5_000_000


class TestFiles:
    def test_another_process_reads_what_this_one_put(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "er" / "originals.db"
        with Store(path) as store:
            handle = store.put("across")
        script = (
            "import sys; from turnfit.outputs import Store; "
            "print(Store(sys.argv[1]).text(sys.argv[2]))"
        )
        run = [sys.executable, "-c", script, str(path), handle]
        assert subprocess.run(run, capture_output=True, text=True).stdout == "across\n"

    def test_threads_may_share_a_store(self, opened: Open) -> None:
        store = opened()
        handles: list[str] = []
        errors: list[Exception] = []

        def work(seed: int) -> None:
            try:
                for number in range(40):
                    text = f"{seed} {number} " * 200
                    handle = store.put(text)
                    assert store.text(handle) == text
                    handles.append(handle)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert len(set(handles)) == 8 * 40

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_a_fork_opens_its_own_connection(self, tmp_path: Path) -> None:
        with Store(tmp_path / "originals.db") as store:
            before = store.put("before")
            child = os.fork()
            if child == 0:
                try:
                    store.put("by the child")
                    os._exit(0 if store.text(before) == "before" else 1)
                except BaseException:
                    os._exit(2)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert len(list(store.entries())) == 2

    @pytest.mark.parametrize("damage", ["garbage", "header", "middle"])
    def test_a_damaged_file_is_set_aside_and_not_overwritten(
        self, tmp_path: Path, damage: str
    ) -> None:
        path = tmp_path / "originals.db"
        with Store(path) as store:
            handles = [store.put(f"{number} " * 5_000) for number in range(40)]
        data = bytearray(path.read_bytes())
        if damage == "garbage":
            data = bytearray(random.Random(1).randbytes(len(data)))
        elif damage == "header":
            data[:100] = b"\0" * 100
        else:
            data[4_096:] = b"\xff" * (len(data) - 4_096)
        path.write_bytes(data)
        with pytest.raises(CorruptStoreError, match="set aside as") as caught:
            read_all(path, handles)
        assert Path(caught.value.aside).read_bytes()[: len(data)] == data
        assert not path.exists()
        with Store(path) as fresh:
            assert fresh.text(fresh.put("again")) == "again"

    def test_a_database_of_something_else_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "other.db"
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE precious (value)")
        other.commit()
        other.close()
        before = path.read_bytes()
        with pytest.raises(ValueError, match="a database of something else"):
            Store(path)
        assert path.read_bytes() == before


def read_all(path: Path, handles: list[str]) -> None:
    store = Store(path)
    for handle in handles:
        store.text(handle)


WRITER = """
import sys
from turnfit.outputs import Store
store = Store(sys.argv[1], namespace=sys.argv[2])
number = 0
while True:
    text = f"{sys.argv[2]} {number} " * 2_000
    print(store.put(text), number, flush=True)
    number += 1
"""


class Writer:
    """A process that puts texts, and writes down what was put."""

    def __init__(self, store: Path, name: str) -> None:
        self.name = name
        self.told = store.with_name(f"{name}.txt")
        with self.told.open("w") as out:
            run = [sys.executable, "-c", WRITER, str(store), name]
            self.process = subprocess.Popen(run, stdout=out, stderr=subprocess.PIPE, text=True)

    def wait_for_the_first(self) -> None:
        while not self.told.stat().st_size and self.process.poll() is None:
            time.sleep(0.005)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        _, err = self.process.communicate()
        assert err == ""
        assert self.process.returncode == -signal.SIGKILL

    def assert_all_there(self, path: Path) -> None:
        lines = self.told.read_text().splitlines(keepends=True)
        rows = [line.split() for line in lines if line.endswith("\n")]
        assert rows
        with Store(path, namespace=self.name) as store:
            for handle, number in rows:
                assert store.text(handle) == f"{self.name} {number} " * 2_000


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_writers_that_are_killed_lose_nothing_that_was_put(tmp_path: Path) -> None:
    """Two at a time write to one file until they are killed, at a random moment."""
    path = tmp_path / "originals.db"
    Store(path).close()
    chance = random.Random(1)
    killed = 0
    for turn in range(KILLS // 2):
        writers = [Writer(path, f"{turn}-{number}") for number in range(2)]
        for writer in writers:
            writer.wait_for_the_first()
        time.sleep(chance.random() * 0.03)
        for writer in writers:
            writer.kill()
        for writer in writers:
            writer.assert_all_there(path)
            killed += 1
    assert killed >= 50
    checked = sqlite3.connect(path)
    assert checked.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    checked.close()


class TestHandlesInHistories:
    def test_b110_a_compaction_can_carry_over_the_live_handles(self) -> None:
        store = Store()
        text = "".join(f"request {number} took {number} ms\n" for number in range(900))
        summary = summarise(text, store=store, spec=OutputLimit(max_tokens=300))
        cut = limit(text * 2, OutputLimit(max_tokens=300), store=store)
        history = [
            {"role": "user", "content": "Why is it slow?"},
            {"role": "tool", "tool_call_id": "1", "content": summary.content},
            {
                "role": "tool",
                "tool_call_id": "2",
                "content": [{"type": "text", "text": cut.content}],
            },
        ]
        assert handles_in(history) == [summary.handle, cut.handle]
        carried = f"Originals: {', '.join(handles_in(history))}"
        assert [store.text(handle) for handle in handles_in(carried)] == [text, text * 2]
