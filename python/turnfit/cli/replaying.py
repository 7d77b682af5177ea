"""Recorded work under policies, side by side, as a table, JSON or a page."""

from __future__ import annotations

import json
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from turnfit.cli.exits import INPUT_ERROR, OK, WRONG
from turnfit.cli.group import InputError, complain
from turnfit.cli.telling import printable
from turnfit.errors import TurnfitError
from turnfit.fitting.policy import Policy
from turnfit.replay.contenders import Fitting
from turnfit.replay.many import ReplayedFile, recording_files, replay_all, replay_files
from turnfit.replay.prices import PriceError, Prices
from turnfit.replay.reading import read_recordings
from turnfit.replay.replayed import Replayed, totals
from turnfit.writing import write_file

__all__ = ["REPLAY_COMMAND"]

_HELP = {"help_option_names": ["-h", "--help"]}


@click.command("replay", context_settings=_HELP)
@click.argument("histories", metavar="HISTORY...", nargs=-1, required=True)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    required=True,
    metavar="TOKENS",
    help="The tokens that a request may take, all in.",
)
@click.option(
    "--window",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="What the model accepts at all; what is over it is refused.",
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="FILE.toml",
    help="A policy of your own, beside the others; its budget comes before --budget.",
)
@click.option("--model", metavar="NAME", help="The model; else the one that was recorded.")
@click.option("--prices", metavar="FILE.toml", help="What the models take per million tokens.")
@click.option(
    "--seconds-per-step",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long a step took, for the caches' lifetimes; else the recorded times.",
)
@click.option("--json", "as_json", is_flag=True, help="All figures, those of each request too.")
@click.option("--html", metavar="FILE", help="Where a page with charts goes.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Processes for many files."
)
def _replay(
    histories: tuple[str, ...],
    budget: int,
    window: int | None,
    policies: tuple[str, ...],
    model: str | None,
    prices: str | None,
    seconds_per_step: float | None,
    as_json: bool,
    html: str | None,
    jobs: int,
) -> int:
    """Show what policies would have done to recorded work.

    Each HISTORY (a file, - for stdin, or a folder of files) is walked step by step, as the
    agent grew it, under: nothing, where all is sent; drop oldest, which cuts at user
    messages; keep last 6, which clears all older results at every step; clear one, turnfit
    without batches and grid; turnfit's default; and your own policies.

    Known besides what the other commands read are the files of Claude Code, SWE-agent,
    OpenHands, tau-bench, Inspect, AgentBench and aider, and lines of recorded requests. A
    file that holds no history is reported, the others are replayed; then it exits 1.

    \b
    Examples:
      turnfit replay session.jsonl --budget 100000 --window 200000
      turnfit replay runs/ --budget 400000 --jobs 4 --html runs.html
      turnfit replay run.traj --budget 50000 --policy mine.toml --json | jq .totals
    """
    options: dict[str, Any] = {
        "budget": budget,
        "window": window,
        "model": model,
        "policies": [_own(path, budget, window, model) for path in policies],
        "prices": None if prices is None else _prices(prices),
        "seconds_per_step": seconds_per_step,
        "steps": as_json or html is not None,
    }
    _check(budget, window, options["policies"])
    with _quiet():
        files = list(_with_bar(_files(histories), options, jobs))
    for one in files:
        for error in one.errors:
            complain(error)
    replays = [replay for one in files for replay in one.replays]
    if not replays:
        return INPUT_ERROR
    _print(replays, as_json, html)
    return WRONG if any(one.errors for one in files) else OK


REPLAY_COMMAND = _replay
"""What the group takes in."""


def _print(replays: Sequence[Replayed], as_json: bool, html: str | None) -> None:
    if html is not None:
        _write_page(replays, html)
    if as_json:
        told = [replay.as_dict() for replay in replays]
        summed = [total.as_dict() for total in totals(told)]
        click.echo(json.dumps({"histories": told, "totals": summed}))
    elif html is None or html != "-":
        _print_table(replays)


def _write_page(replays: Sequence[Replayed], html: str) -> None:
    from turnfit.replay.page import page

    data = page([replay.as_dict() for replay in replays]).encode()
    if html == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_file(html, data)


def _own(path: str, budget: int, window: int | None, model: str | None) -> Fitting:
    """A policy of a file; what it doesn't say, the command line does."""
    try:
        values = tomllib.loads(Path(path).read_text("utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    given: dict[str, Any] = {"budget": budget, "window": window}
    if "profile" not in values:
        given["model"] = model
    values = {**{key: value for key, value in given.items() if value is not None}, **values}
    try:
        return Fitting(Path(path).stem, Policy.from_dict(values))
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error


def _prices(path: str) -> Prices:
    try:
        return Prices.from_toml(Path(path).read_text("utf-8"))
    except (PriceError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error


def _check(budget: int, window: int | None, policies: Sequence[Fitting]) -> None:
    if window is not None and window < budget:
        raise InputError(f"--window {window:,} is less than --budget {budget:,}")
    names = ["nothing", "drop oldest", "keep last 6", "clear one", "default"]
    for policy in policies:
        if policy.name in names:
            raise InputError(f"there are two policies called {policy.name!r}")
        names.append(policy.name)


@contextmanager
def _quiet() -> Iterator[None]:
    """What the library warns of, once each and in one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for told in dict.fromkeys(str(one.message) for one in caught):
        complain(told)


def _files(histories: Iterable[str]) -> list[str]:
    """The files, those in folders too."""
    found: list[str] = []
    for name in histories:
        if name != "-" and Path(name).is_dir():
            inside = recording_files(name)
            if not inside:
                raise InputError(f"{name}: there is no file of a known kind in this folder")
            found += map(str, inside)
        else:
            found.append(name)
    return found


def _with_bar(paths: Sequence[str], options: dict[str, Any], jobs: int) -> Iterator[ReplayedFile]:
    if "-" in paths:
        yield _stdin(options)
    named = [path for path in paths if path != "-"]
    console = Console(stderr=True)
    if len(named) < 2 or not console.is_terminal:
        yield from replay_files(named, jobs=jobs, **options)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(named))
        for one in replay_files(named, jobs=jobs, **options):
            progress.advance(task)
            yield one


def _stdin(options: dict[str, Any]) -> ReplayedFile:
    try:
        recordings = read_recordings(sys.stdin.buffer.read(), "stdin")
    except TurnfitError as error:
        return ReplayedFile("stdin", (), [str(error)])
    return replay_all("stdin", recordings, **options)


Rows: TypeAlias = "Sequence[dict[str, Any]]"


@dataclass(frozen=True)
class _Line:
    """A line of the table: what it is called, and the policies' figures."""

    title: str
    cells: Callable[[Rows], list[str]]


def _print_table(replays: Sequence[Replayed]) -> None:
    console = Console(highlight=False)
    summed = [total.as_dict() for total in totals(replay.as_dict() for replay in replays)]
    # Captured, because a console that prints to a broken pipe ends the process itself.
    with console.capture() as printed:
        for line in _about(replays):
            console.print(Text(line), soft_wrap=True)
        console.print()
        for some in _chunks(summed, console.width):
            console.print(_table(replays, some))
    sys.stdout.write(printed.get())


def _about(replays: Sequence[Replayed]) -> Iterator[str]:
    """What was replayed, and by which measure."""
    first = replays[0]
    messages = sum(replay.messages for replay in replays)
    if len(replays) == 1:
        yield printable(first.name)
    many = "" if len(replays) == 1 else f"{len(replays):,} histories, "
    window = "" if first.window is None else f", window {first.window:,}"
    yield f"{many}{messages:,} messages; budget {first.budget:,}{window}"
    models = sorted({replay.model or "model not known" for replay in replays})
    model = models[0] if len(models) == 1 else f"{len(models):,} models"
    caches = ", ".join(sorted({replay.cache.name for replay in replays}))
    yield f"{printable(model)}; prefix cache: {caches}"


_TITLE, _COLUMN = 17, 9


def _chunks(summed: Sequence[dict[str, Any]], width: int) -> Iterator[Sequence[dict[str, Any]]]:
    """As many policies as stand side by side."""
    room = max(1, (width - _TITLE) // (_COLUMN + 1))
    for start in range(0, len(summed), room):
        yield summed[start : start + room]


def _table(replays: Sequence[Replayed], summed: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("", width=_TITLE)
    for one in summed:
        table.add_column(printable(one["name"]), justify="right", min_width=_COLUMN)
    for line in _lines(replays):
        if line is None:
            table.add_row()
        else:
            table.add_row(line.title, *line.cells(summed))
    return table


def _lines(replays: Sequence[Replayed]) -> Iterator[_Line | None]:
    if replays[0].window is not None:
        yield _Line("finished", lambda rows: list(map(_finished, rows)))
        yield _figure("refused", "refused")
    yield _figure("over budget", "over_budget")
    yield _figure("requests", "requests")
    yield None
    yield _figure("tokens sent", "tokens_sent")
    yield _figure("from cache", "cache_read")
    if any(replay.cache.counts_writes for replay in replays):
        yield _figure("written to cache", "cache_written")
    yield _figure("uncached", "uncached")
    yield _Line("share from cache", lambda rows: list(map(_share, rows)))
    currency = replays[0].currency
    if currency is not None:
        yield _Line(
            f"cost in {currency}"[:_TITLE], lambda rows: [f"{one['cost']:,.2f}" for one in rows]
        )
    yield None
    for title, key in (
        ("results cleared", "cleared"),
        ("turns dropped", "dropped_turns"),
        ("rounds dropped", "dropped_rounds"),
        ("start changed", "start_changes"),
        ("reasoning lost", "stale_reasoning"),
        ("fetched again", "exposed"),
        ("results unread", "unread"),
    ):
        yield _figure(title, key)
    yield _Line("seconds fitting", lambda rows: [f"{one['seconds']:,.3f}" for one in rows])


def _figure(title: str, key: str) -> _Line:
    return _Line(title, partial(_counts, key))


def _counts(key: str, rows: Rows) -> list[str]:
    """Whole numbers; in millions where one of them would be too long."""
    values = [int(one[key]) for one in rows]
    if max(values) < 1_000_000:
        return [f"{value:,}" for value in values]
    digits = 2 if max(values) < 1_000_000_000 else 0
    return [f"{value / 1e6:,.{digits}f}M" for value in values]


def _finished(one: dict[str, Any]) -> str:
    if one["histories"] == 1:
        return "yes" if one["finished"] else "no"
    return f"{one['finished']:,} of {one['histories']:,}"


def _share(one: dict[str, Any]) -> str:
    return f"{one['cache_read'] / one['tokens_sent']:.1%}" if one["tokens_sent"] else "-"
