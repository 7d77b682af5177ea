"""Tool outputs on the command line: ``limit``, ``page``, ``store`` and ``meter``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from errno import ENOENT
from pathlib import Path
from typing import Any

import click

from turnfit.cli.exits import OK
from turnfit.cli.group import InputError
from turnfit.outputs import Limited, Meter, OutputLimit, Store, limit, paginate

__all__ = ["OUTPUT_COMMANDS"]

_HELP = {"help_option_names": ["-h", "--help"]}
_STORE_BYTES = 256 * 2**20

_file = click.argument("file", metavar="FILE")
_max_tokens = click.option("--max-tokens", type=click.IntRange(min=1), metavar="N")
_max_chars = click.option("--max-chars", type=click.IntRange(min=1), metavar="N")
_path = click.argument("path", metavar="STORE")
_namespace = click.option("--namespace", default="", help="The session's namespace.")
_as_json = click.option("--json", "as_json", is_flag=True, help="As JSON.")


def _sized(command: Callable[..., Any]) -> Callable[..., Any]:
    return _max_tokens(_max_chars(command))


@click.command("limit", context_settings=_HELP)
@_file
@_sized
@click.option("--keep", type=click.Choice(["head_tail", "head", "tail"]), default="head_tail")
@click.option("--head-share", type=click.FloatRange(0, 1), default=0.5, metavar="SHARE")
@click.option("--hint", metavar="TEXT", help="How to see the rest; {offset} is filled in.")
@click.option(
    "--structure",
    type=click.Choice(["auto", "text", "json", "jsonl", "csv", "markdown"]),
    default="auto",
)
@click.option("--strip-ansi", is_flag=True, help="Without a terminal's control sequences.")
@click.option("--collapse-progress", is_flag=True, help="Of redrawn lines the last state.")
@click.option("--summarise", is_flag=True, help="Pick sentences in place of head and tail.")
@click.option("--task", metavar="TEXT", help="What a summary is needed for.")
@click.option("--store", "path", metavar="STORE", help="Keep the original in this file.")
def _limit(file: str, path: str | None, task: str | None, summarise: bool, **settings: Any) -> int:
    """Bring a tool's output within a limit.

    FILE may be - for stdin. JSON stays JSON, tables keep their header and whole rows.
    What was done is said on stderr.

    \b
    Examples:
      turnfit limit build.log --max-tokens 2000
      curl -s https://example.org/api | turnfit limit - --max-tokens 4000
      turnfit limit build.log --max-tokens 2000 --store originals.db
    """
    text = _read(file)
    with _as_input_errors():
        spec = OutputLimit(**settings, on_excess="summarise" if summarise else "truncate")
        store = None if path is None else Store(path)
        limited = limit(text, spec, store=store, task=task)
    _write(limited.content)
    _tell(limited)
    return OK


def _tell(limited: Limited) -> None:
    if not limited.truncated:
        click.echo(f"turnfit: {limited.total_tokens:,} tokens, within the limit", err=True)
        return
    told = f"turnfit: {limited.total_tokens:,} tokens became {limited.tokens:,}"
    click.echo(f"{told}, {limited.omitted_chars:,} characters left out", err=True)
    if limited.handle:
        click.echo(f"  stored: {limited.handle}", err=True)


@click.command("page", context_settings=_HELP)
@_file
@_sized
@click.option("--cursor", metavar="CURSOR", help="Of the next page, as the last one's note has it.")
@click.option("--offset", type=click.IntRange(min=0), metavar="N", help="Begin there instead.")
@click.option("--lines", is_flag=True, help="Page by lines, not by characters.")
def _page(
    file: str,
    cursor: str | None,
    offset: int | None,
    lines: bool,
    max_tokens: int | None,
    max_chars: int | None,
) -> int:
    """Print one page of a file, and how to get the next.

    \b
    Examples:
      turnfit page chapter.txt --max-tokens 2000
      turnfit page chapter.txt --max-tokens 2000 --offset 7800
    """
    if cursor is not None and offset is not None:
        raise click.UsageError("give --cursor or --offset", click.get_current_context())
    text = _read(file)
    with _as_input_errors():
        source = text.splitlines() if lines else text
        spec = OutputLimit(max_tokens=max_tokens, max_chars=max_chars)
        page = paginate(source, offset if cursor is None else cursor, spec)
    _write(str(page))
    return OK


@click.group("store", context_settings=_HELP)
def _store() -> None:
    """Look into a store of originals."""


@_store.command("ls", context_settings=_HELP)
@_path
@_namespace
@_as_json
def _ls(path: str, namespace: str, as_json: bool) -> int:
    """List what a store holds, the last used first."""
    with _opened(path, namespace) as store:
        entries = list(store.entries())
    if as_json:
        rows = [{**vars(entry), "meta": entry.meta} for entry in entries]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return OK
    for entry in entries:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        tool = entry.meta.get("tool", "")
        click.echo(f"{entry.handle}  {entry.size:>12,} bytes  {used}  {tool}".rstrip())
    return OK


@_store.command("read", context_settings=_HELP)
@_path
@click.argument("handle", metavar="HANDLE")
@_namespace
@click.option("--offset", type=click.IntRange(min=0), default=0, metavar="N")
@click.option("--limit", "size", type=click.IntRange(min=0), metavar="N", help="Characters.")
@click.option("--lines", type=(int, int), metavar="FIRST LAST", help="Lines, from 1.")
@click.option("--pattern", metavar="REGEX", help="Only lines where it is found.")
@click.option("--from-end", is_flag=True, help="Count the offset from the end.")
@click.option("--max-tokens", type=click.IntRange(min=1), default=2_000, metavar="N")
def _read_store(
    path: str,
    handle: str,
    namespace: str,
    offset: int,
    size: int | None,
    max_tokens: int,
    **how: Any,
) -> int:
    """Print a part of an original, and how to read on."""
    with _as_input_errors():
        spec = OutputLimit(max_tokens=max_tokens)
        with _opened(path, namespace, read_limit=spec) as store:
            read = store.read(handle, offset, size, **how)
    _write(str(read))
    return OK


@_store.command("gc", context_settings=_HELP)
@_path
@click.option("--max-bytes", type=click.IntRange(min=1), default=_STORE_BYTES, metavar="N")
@click.option("--max-age", type=click.FloatRange(min=0, min_open=True), default=7.0, metavar="DAYS")
def _gc(path: str, max_bytes: int, max_age: float) -> int:
    """Forget what is too old, and then what was used least, until the rest is in bounds."""
    age = timedelta(days=max_age)
    with _opened(path, "", max_bytes=max_bytes, max_age=age) as store:
        gone = store.gc()
    click.echo(f"{gone:,} removed")
    return OK


@click.group("meter", context_settings=_HELP)
def _meter() -> None:
    """What was cut of which tool's output."""


@_meter.command("report", context_settings=_HELP)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@_as_json
@click.option("--suggest", is_flag=True, help="Limits that keep 95 of 100 outputs whole.")
def _report(files: tuple[str, ...], as_json: bool, suggest: bool) -> int:
    """Print what meters have counted, those of several processes as one.

    Each FILE is what turnfit.outputs.Meter.save has written.
    """
    meter = Meter()
    with _as_input_errors():
        for file in files:
            meter.merge(Meter.load(file))
    limits = {tool: spec.size for tool, spec in meter.suggest().items()} if suggest else {}
    report = meter.report()
    if as_json:
        tools = report.to_dict()
        for tool, size in limits.items():
            tools[tool]["suggested_max_tokens"] = size
        click.echo(json.dumps(tools, indent=2, ensure_ascii=False))
        return OK
    click.echo(str(report))
    for tool, size in limits.items():
        click.echo(f"suggested for {tool or '(unnamed)'}: max_tokens={size}")
    return OK


def _read(file: str) -> str:
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    return data.decode("utf-8", "replace")


def _write(text: str) -> None:
    sys.stdout.buffer.write(text.encode())
    if text and not text.endswith("\n"):
        sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


@contextmanager
def _as_input_errors() -> Iterator[None]:
    """What the library refuses is an input that can't be used."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise InputError(str(error)) from error


@contextmanager
def _opened(path: str, namespace: str, **settings: Any) -> Iterator[Store]:
    """A store that is there: looking into one makes none."""
    if not Path(path).exists():
        raise FileNotFoundError(ENOENT, "No such file or directory", path)
    with _as_input_errors(), Store(path, namespace=namespace, **settings) as store:
        yield store


OUTPUT_COMMANDS = (_limit, _page, _store, _meter)
"""What the group takes in."""
