"""Outputs on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from turnfit.cli.commands import commands
from turnfit.outputs import Meter, OutputLimit, Store, limit, paginate

LOG = "".join(f"request {number} served\n" for number in range(5_000))


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(commands, arguments, stdin, prog_name="turnfit")


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "build.log"
    path.write_text(LOG)
    return str(path)


@pytest.fixture
def store(tmp_path: Path) -> tuple[str, str]:
    """A store's path and the handle of what is in it."""
    path = tmp_path / "originals.db"
    with Store(path) as opened:
        return str(path), opened.put(LOG, {"tool": "logs"})


class TestLimit:
    def test_prints_what_the_library_makes_and_tells_what_was_done(self, log: str) -> None:
        result = run("limit", log, "--max-tokens", "500")
        limited = limit(LOG, OutputLimit(max_tokens=500))
        assert (result.exit_code, result.stdout) == (0, limited.content)
        told = f"turnfit: {limited.total_tokens:,} tokens became {limited.tokens:,}, "
        assert result.stderr.startswith(told)

    def test_reads_stdin_and_leaves_what_is_within_the_limit(self) -> None:
        result = run("limit", "-", "--max-chars", "500", stdin="привет".encode())
        assert result.stdout == "привет\n"
        assert result.stderr == "turnfit: 3 tokens, within the limit\n"

    def test_json_stays_json(self) -> None:
        data = json.dumps([{"id": number} for number in range(2_000)]).encode()
        result = run("limit", "-", "--max-tokens", "200", stdin=data)
        assert json.loads(result.stdout)[-1]["_omitted"]["total"] == 2_000

    def test_the_original_is_stored_if_asked_for(self, log: str, tmp_path: Path) -> None:
        path = str(tmp_path / "originals.db")
        result = run("limit", log, "--max-tokens", "500", "--store", path)
        handle = result.stderr.rpartition("stored: ")[2].strip()
        assert handle in result.stdout
        assert Store(path).text(handle) == LOG

    def test_a_summary_picks_sentences(self) -> None:
        text = (
            "Nothing happened. " * 500 + "Build 4127 failed. " + "All was quiet. " * 500
        ).encode()
        result = run("limit", "-", "--max-tokens", "200", "--summarise", stdin=text)
        assert "Build 4127 failed." in result.stdout
        assert "a summary of" in result.stdout

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            ([], "turnfit: give one of max_tokens and max_chars\n"),
            (["--max-tokens", "5"], "turnfit: max_tokens is 5, but the marker alone can take 41\n"),
        ],
    )
    def test_a_limit_that_cannot_be_is_told_in_one_line(
        self, log: str, arguments: list[str], told: str
    ) -> None:
        result = run("limit", log, *arguments)
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", told)

    def test_a_missing_file_is_told(self) -> None:
        result = run("limit", "no.log", "--max-tokens", "500")
        assert (result.exit_code, result.stderr) == (
            2,
            "turnfit: no.log: No such file or directory\n",
        )


class TestPage:
    def test_pages_go_on_by_cursor_to_the_end(self, log: str) -> None:
        spec = OutputLimit(max_tokens=2_000)
        cursor: str | None = None
        pages = 0
        while True:
            page = paginate(LOG, cursor, spec)
            more = [] if cursor is None else ["--cursor", cursor]
            result = run("page", log, "--max-tokens", "2000", *more)
            assert (result.exit_code, result.stdout) == (0, f"{page}\n")
            cursor, pages = page.next_cursor, pages + 1
            if cursor is None:
                break
        assert pages > 5

    def test_by_lines_and_from_an_offset(self, log: str) -> None:
        result = run("page", log, "--max-tokens", "500", "--lines", "--offset", "4990")
        assert result.stdout.startswith("request 4990 served\n")
        assert "this is the end" in result.stdout

    def test_a_forged_cursor_is_told_in_one_line(self, log: str) -> None:
        result = run("page", log, "--max-tokens", "500", "--cursor", "nonsense")
        assert result.exit_code == 2
        assert result.stderr.startswith("turnfit: this cursor was not given out")


class TestStore:
    def test_lists_what_is_there(self, store: tuple[str, str]) -> None:
        path, handle = store
        row = run("store", "ls", path).stdout.split()
        assert row[:3] == [handle, f"{len(LOG):,}", "bytes"]
        assert row[-1] == "logs"
        [entry] = json.loads(run("store", "ls", path, "--json").stdout)
        assert (entry["handle"], entry["meta"]) == (handle, {"tool": "logs"})
        assert run("store", "ls", path, "--namespace", "other").stdout == ""

    def test_reads_by_ranges_lines_and_patterns(self, store: tuple[str, str]) -> None:
        read = ("store", "read", *store)
        assert run(*read, "--limit", "17").stdout.startswith("request 0 served\n")
        assert run(*read, "--lines", "3", "3").stdout.startswith("request 2 served\n")
        assert run(*read, "--pattern", " 4999 ").stdout.startswith("5000: request 4999 served\n")
        assert "request 4999" in run(*read, "--from-end", "--limit", "30").stdout

    def test_a_wrong_handle_is_told_in_one_line(self, store: tuple[str, str]) -> None:
        result = run("store", "read", store[0], "out_x")
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == "turnfit: no such handle in this session: 'out_x'\n"

    def test_gc_forgets_what_is_out_of_bounds(self, store: tuple[str, str]) -> None:
        assert run("store", "gc", store[0]).stdout == "0 removed\n"
        assert run("store", "gc", store[0], "--max-bytes", "10").stdout == "1 removed\n"
        assert "evicted" in run("store", "read", *store).stderr

    def test_looking_into_a_store_makes_none(self, tmp_path: Path) -> None:
        result = run("store", "ls", str(tmp_path / "no.db"))
        assert result.exit_code == 2
        assert "No such file" in result.stderr
        assert list(tmp_path.iterdir()) == []

    def test_a_damaged_store_is_told_in_one_line(self, tmp_path: Path) -> None:
        path = tmp_path / "broken.db"
        path.write_bytes(b"nonsense" * 1_000)
        result = run("store", "ls", str(path))
        assert result.exit_code == 2
        assert "set aside as" in result.stderr
        assert result.stderr.count("\n") == 1


class TestMeter:
    @pytest.fixture
    def files(self, tmp_path: Path) -> list[str]:
        paths = [str(tmp_path / f"{number}.json") for number in range(2)]
        for path in paths:
            meter = Meter()
            limit(LOG, OutputLimit(max_tokens=500), meter=meter, tool="logs")
            meter.save(path)
        return paths

    def test_meters_are_reported_as_one(self, files: list[str]) -> None:
        result = run("meter", "report", *files, "--suggest")
        header, row, warning, suggested = result.stdout.splitlines()
        assert row.split()[:3] == ["logs", "2", "2"]
        assert warning.startswith("! logs was cut in 100% of its calls")
        assert suggested.startswith("suggested for logs: max_tokens=")
        assert header

    def test_as_json(self, files: list[str]) -> None:
        found: dict[str, Any] = json.loads(run("meter", "report", *files, "--json").stdout)
        assert (found["logs"]["calls"], found["logs"]["flagged"]) == (2, True)

    def test_what_is_no_meter_is_told(self, log: str) -> None:
        result = run("meter", "report", log)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"turnfit: {log}: ")
