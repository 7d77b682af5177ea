"""Recorded work under policies: what `turnfit replay` does."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

from turnfit.cli.exits import INPUT_ERROR, OK, WRONG
from turnfit.cli.group import InputError, complain
from turnfit.cli.reading import read_toml
from turnfit.cli.side_by_side import print_table
from turnfit.errors import TurnfitError
from turnfit.fitting.policy import Policy
from turnfit.replay.contenders import Fitting, contenders
from turnfit.replay.many import ReplayedFile, recording_files, replay_all, replay_files
from turnfit.replay.prices import PriceError, Prices
from turnfit.replay.reading import read_recordings
from turnfit.replay.replayed import Replayed, totals
from turnfit.writing import write_file

__all__ = ["Options", "replay_histories"]


@dataclass(frozen=True)
class Options:
    """What the command line says, in the order of its options."""

    budget: int
    window: int | None
    model: str | None
    policies: Sequence[str]
    prices: str | None
    seconds_per_step: float | None
    as_json: bool
    html: str | None
    jobs: int

    def read(self) -> dict[str, Any]:
        """What `turnfit.replay.replay_files` takes: files are read, and checked."""
        _check_page(self)
        own = [_own(path, self) for path in self.policies]
        _check(self, own)
        return {
            "budget": self.budget,
            "window": self.window,
            "model": self.model,
            "policies": own,
            "prices": None if self.prices is None else _prices(self.prices),
            "seconds_per_step": self.seconds_per_step,
            "steps": self.as_json or self.html is not None,
        }


def replay_histories(histories: Sequence[str], options: Options) -> int:
    """Replay files and folders, print what came of it, and tell how to exit."""
    read = options.read()
    files = list(_with_bar(_files(histories), read, options.jobs))
    for warning in dict.fromkeys(warning for one in files for warning in one.warnings):
        complain(warning)
    for error in (error for one in files for error in one.errors):
        complain(error)
    replays = [replay for one in files for replay in one.replays]
    if not replays:
        return INPUT_ERROR
    _print(replays, options.as_json, options.html)
    return WRONG if any(one.errors for one in files) else OK


def _print(replays: Sequence[Replayed], as_json: bool, html: str | None) -> None:
    if as_json:
        told = [replay.as_dict() for replay in replays]
        summed = [total.as_dict() for total in totals(told)]
        click.echo(json.dumps({"histories": told, "totals": summed}))
    elif html != "-":
        print_table(replays)
    # Last: where it can't be written after all, the figures are printed already.
    if html is not None:
        _write_page(replays, html)


def _write_page(replays: Sequence[Replayed], html: str) -> None:
    from turnfit.replay.page import page

    data = page([replay.as_dict() for replay in replays]).encode()
    if html == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_file(html, data)


def _own(path: str, options: Options) -> Fitting:
    """A policy of a file; what it doesn't say, the command line does."""
    values = read_toml(path)
    _check_budget(path, values, options.window)
    given: dict[str, Any] = {"budget": options.budget, "window": options.window}
    if "profile" not in values:
        given["model"] = options.model
    values = {**{key: value for key, value in given.items() if value is not None}, **values}
    try:
        return Fitting(Path(path).stem, Policy.from_dict(values))
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error


def _check_budget(path: str, values: dict[str, Any], window: int | None) -> None:
    """Told by the names that were written, where one stands here and one there."""
    budget = values.get("budget")
    if window is None or "window" in values or not isinstance(budget, int):
        return
    if window < budget:
        raise InputError(f"{path}: its budget of {budget:,} is more than --window {window:,}")


def _prices(path: str) -> Prices:
    try:
        return Prices.from_toml(Path(path).read_text("utf-8"))
    except (PriceError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error


def _check_page(options: Options) -> None:
    """Told before the work, which may take long, and not after it."""
    html = options.html
    if html is None:
        return
    if html == "-":
        if options.as_json:
            raise InputError("--json and --html - would both print to stdout")
        return
    target = Path(os.path.realpath(html))
    if target.is_dir():
        raise InputError(f"--html {html}: it is a folder")
    if not target.parent.is_dir():
        raise InputError(f"--html {html}: there is no folder {target.parent}")
    # Only what is no file, such as a pipe, is written to in place.
    needed = target if target.exists() and not target.is_file() else target.parent
    if not os.access(needed, os.W_OK):
        raise InputError(f"--html {html}: {needed} can't be written to")


def _check(options: Options, own: Sequence[Fitting]) -> None:
    seconds = options.seconds_per_step
    if seconds is not None and not math.isfinite(seconds):
        raise InputError(f"--seconds-per-step {seconds} is no number of seconds")
    if options.window is not None and options.window < options.budget:
        raise InputError(f"--window {options.window:,} is less than --budget {options.budget:,}")
    names = [one.name for one in contenders(options.budget)]
    for policy in own:
        if policy.name in names:
            raise InputError(f"there are two policies called {policy.name!r}")
        names.append(policy.name)


def _files(histories: Sequence[str]) -> list[str]:
    """The files, those in folders too."""
    if list(histories).count("-") > 1:
        raise InputError("- is given twice, but stdin can be read only once")
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


_STEPS = 1_000
"""Of a file, on the bar."""


def _with_bar(paths: Sequence[str], options: dict[str, Any], jobs: int) -> Iterator[ReplayedFile]:
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from _in_order(paths, options, jobs)
        return
    columns = (BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=len(paths) * _STEPS)
        done = 0

        def told(share: float) -> None:
            progress.update(task, completed=done + int(share * _STEPS))

        for one in _in_order(paths, options, jobs, told):
            done += _STEPS
            progress.update(task, completed=done)
            yield one


def _in_order(
    paths: Sequence[str],
    options: dict[str, Any],
    jobs: int,
    told: Callable[[float], object] | None = None,
) -> Iterator[ReplayedFile]:
    """What comes of files, and of stdin where it stands among them."""
    named = [path for path in paths if path != "-"]
    files = replay_files(named, jobs=jobs, progress=told, **options)
    for path in paths:
        yield _stdin(options, told) if path == "-" else next(files)


def _stdin(options: dict[str, Any], told: Callable[[float], object] | None) -> ReplayedFile:
    try:
        recordings = read_recordings(sys.stdin.buffer.read(), "stdin")
    except TurnfitError as error:
        return ReplayedFile("stdin", (), [str(error)])
    return replay_all("stdin", recordings, progress=told, **options)
