"""Counting files of any size, a block at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO

import click

from turnfit.cli.group import complain
from turnfit.tokens import ScriptCounts, count_scripts

__all__ = ["count_stream", "estimate_files"]

_BLOCK = 1 << 20
_LONGEST_START = 3
"""Bytes that a UTF-8 sequence can have before its last one."""
_FIRST_LEAD = 0xC0
_NOTHING = ScriptCounts(0, 0, 0)


def count_stream(stream: IO[bytes], block: int = _BLOCK) -> ScriptCounts:
    """The counts of all that a stream holds, as `count_scripts` has them of the whole."""
    counts = _NOTHING
    rest = b""
    while read := stream.read(block):
        data = rest + read
        cut = _cut(data)
        counts = _sum((counts, count_scripts(memoryview(data)[:cut])))
        rest = data[cut:]
    return _sum((counts, count_scripts(rest)))


def _cut(data: bytes) -> int:
    """Where these bytes can be cut: before a sequence that may go on behind them.

    A byte that leads a sequence is never part of the one before it, valid or not.
    """
    for place in range(len(data) - 1, max(len(data) - 1 - _LONGEST_START, -1), -1):
        if data[place] >= _FIRST_LEAD:
            return place
    return len(data)


def _sum(counts: Iterable[ScriptCounts]) -> ScriptCounts:
    return ScriptCounts(*map(sum, zip(*counts, strict=True)))


def estimate_files(files: Iterable[str], as_json: bool) -> bool:
    """Print each file's tokens and characters; false if one couldn't be read."""
    missing: list[str] = []
    counted = _counted(files, missing)
    if as_json:
        click.echo(json.dumps([_as_dict(*row) for row in counted], indent=2))
    else:
        _print_table(counted)
    return not missing


def _counted(files: Iterable[str], missing: list[str]) -> Iterator[tuple[str, ScriptCounts]]:
    for file in files:
        try:
            # click's "-" is stdin, which stays open.
            with click.open_file(file, "rb") as stream:
                counts = count_stream(stream)
        except OSError as error:
            complain(f"{file}: {error.strerror}")
            missing.append(file)
        else:
            yield file, counts


def _as_dict(file: str, counts: ScriptCounts) -> dict[str, str | int]:
    return {"file": file, "tokens": counts.tokens, **counts._asdict()}


def _print_table(counted: Iterable[tuple[str, ScriptCounts]]) -> None:
    rows: list[tuple[int, ...]] = []
    for file, counts in counted:
        if not rows:
            _print_row(("tokens", *ScriptCounts._fields), "file")
        rows.append((counts.tokens, *counts))
        _print_row(map("{:,}".format, rows[-1]), file)
    if len(rows) > 1:
        totals = map(sum, zip(*rows, strict=True))
        _print_row(map("{:,}".format, totals), "total")


def _print_row(figures: Iterable[str], file: str) -> None:
    click.echo("".join(f"{figure:>13}" for figure in figures) + f"  {file}")
