"""What files cost, with a bar where it takes long."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from turnfit import _core
from turnfit.cli.group import complain
from turnfit.tokens import FileEstimate, ScriptCounts, count_scripts, estimate_files

__all__ = ["count_stream", "print_estimates"]

_BLOCK = 1 << 20
_LONG = 256 << 20
"""Bytes from which on a bar is shown: below, all is over before one can look."""
_NOTHING = ScriptCounts(0, 0, 0)


def count_stream(stream: IO[bytes], block: int = _BLOCK) -> ScriptCounts:
    """The counts of all that a stream holds, as `count_scripts` has them of the whole."""
    counts = _NOTHING
    rest = b""
    while read := stream.read(block):
        data = rest + read
        cut = _core.cut_before(data, len(data))
        counts = _sum((counts, count_scripts(memoryview(data)[:cut])))
        rest = data[cut:]
    return _sum((counts, count_scripts(rest)))


def _sum(counts: Iterable[ScriptCounts]) -> ScriptCounts:
    return ScriptCounts(*map(sum, zip(*counts, strict=True)))


def print_estimates(files: Sequence[str], as_json: bool) -> bool:
    """Print each file's tokens and characters; false if one couldn't be read."""
    estimates = _estimates(files)
    for estimate in estimates:
        if estimate.error is not None:
            complain(f"{estimate.path}: {estimate.error.strerror or estimate.error}")
    counted = [(each.path, each.counts) for each in estimates if each.error is None]
    if as_json:
        click.echo(json.dumps([_as_dict(*row) for row in counted], indent=2))
    else:
        _print_table(counted)
    return len(counted) == len(estimates)


def _estimates(files: Sequence[str]) -> list[FileEstimate]:
    """In the order of the files; ``-`` is the standard input."""
    named = [file for file in files if file != "-"]
    read = iter(_with_bar(named))
    return [_stdin() if file == "-" else next(read) for file in files]


def _stdin() -> FileEstimate:
    with click.open_file("-", "rb") as stream:
        return FileEstimate("-", count_stream(stream))


def _with_bar(files: Sequence[str]) -> list[FileEstimate]:
    total = sum(_sizes(files))
    console = Console(stderr=True)
    if total < _LONG or not console.is_terminal:
        return estimate_files(files)
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=total)
        return estimate_files(files, progress=lambda done: progress.advance(task, done))


def _sizes(files: Iterable[str]) -> Iterator[int]:
    for file in files:
        try:
            yield os.stat(file).st_size
        except OSError:
            yield 0


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
