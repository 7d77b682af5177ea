"""Making a profile on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress

from turnfit.cli.group import InputError
from turnfit.cli.telling import printable

if TYPE_CHECKING:
    from turnfit.tokens.calibration import Calibrated, Samples

__all__ = ["calibrate_profile", "print_errors"]

_HEAD = ("pieces", "median", "p95", "bias", "fitted median", "fitted p95", "above bound", "bound")


def calibrate_profile(
    texts: Path, column: str | None, tokenizer: str | None, name: str | None, version: int
) -> tuple[Calibrated, dict[str, Any]]:
    """The profile for a table of counts or a folder of texts, and where it comes from."""
    from turnfit.tokens.calibration import calibrate, corpus_samples
    from turnfit.tokens.calibration.calibrate import STEPS

    if (column is None) == (tokenizer is None):
        raise InputError("give either --column with a table of counts, or --tokenizer with texts")
    with Progress(console=Console(stderr=True), transient=True) as progress:
        try:
            if column is not None:
                samples = corpus_samples(texts, column)
            else:
                samples = _counted(texts, str(tokenizer), progress)
            task = progress.add_task("fitting", total=STEPS)
            made = calibrate(
                samples,
                name or column or str(tokenizer).rpartition(":")[2],
                version,
                lambda done: progress.advance(task, done),
            )
        except ValueError as error:
            raise InputError(str(error)) from None
    inputs = {"inputs": texts.name, "tokenizer": column or tokenizer}
    return made, inputs


def _counted(folder: Path, tokenizer: str, progress: Progress) -> Samples:
    from turnfit.tokens.calibration import counted_samples

    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    texts = {
        path.relative_to(folder).as_posix(): path.read_bytes().decode("utf-8", "replace")
        for path in paths
    }
    task = progress.add_task("counting", total=None)
    return counted_samples(texts, _callable(tokenizer), lambda done: progress.advance(task, done))


def _callable(named: str) -> Callable[[str], int]:
    """``module:function``, or what `turnfit.exact` knows by this name."""
    module, _, function = named.partition(":")
    if not function:
        from turnfit.tokens.exact import exact

        return exact(named)
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InputError(f"there is no tokenizer {named!r}: {error}") from None
    counted: Callable[[str], int] = found
    return counted


def print_errors(made: Calibrated, as_json: bool) -> None:
    """The errors on sources that the fit had not seen, by kind of text."""
    errors = made.errors()
    if as_json:
        click.echo(json.dumps({"profile": str(made.profile), **errors}, indent=2))
        return
    click.echo(f"{made.profile}: {len(made.samples):,} pieces, margin {made.profile.margin:.1%}")
    click.echo("errors in % on sources left out of the fit, and on those it was fitted to:")
    click.echo("".join(f"{title:>15}" for title in _HEAD) + "  kind")
    for kind, row in errors.items():
        figures = "".join(f"{row[title]:>15,}" for title in _HEAD)
        click.echo(f"{figures}  {printable(kind)}")
