"""Making a profile on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress

from turnfit.cli.group import InputError
from turnfit.cli.printing import printable

if TYPE_CHECKING:
    from turnfit.tokens.calibration import Calibrated, Samples

__all__ = ["calibrate_profile", "print_errors"]

_WIDTH = 40
"""Columns of the longest bar."""
_MOST = 100
"""Errors beyond are drawn as this, in percent."""
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
        by_script = made.errors_by_script()
        told = {"profile": str(made.profile), **errors, "by script": by_script}
        click.echo(json.dumps(told, indent=2))
        return
    click.echo(f"{made.profile}: {len(made.samples):,} pieces, margin {made.profile.margin:.1%}")
    click.echo("errors in % on sources left out of the fit, and on those it was fitted to:")
    click.echo("".join(f"{title:>15}" for title in _HEAD) + "  kind")
    for kind, row in errors.items():
        figures = "".join(f"{row[title]:>15,}" for title in _HEAD)
        click.echo(f"{figures}  {printable(kind)}")
    click.echo()
    print_plot(made)


def print_plot(made: Calibrated) -> None:
    """Bars of the errors by kind and script, the worst first: what to gather more texts of."""
    bar, line = _signs()
    rows = [
        (row, f"{kind}, {script}")
        for kind, scripts in made.errors_by_script().items()
        for script, row in scripts.items()
    ]
    if not rows:
        return
    rows.sort(key=lambda entry: -entry[0]["median"])
    most = min(_MOST, max(row["p95"] for row, _ in rows)) or 1
    click.echo(f"median {bar * 3} and 95th percentile {line * 3}, up to {most:g} %:")
    click.echo(" " * _WIDTH + f"{'median':>8}{'p95':>8}{'pieces':>8}  kind, script")
    for row, name in rows:
        lengths = [round(_WIDTH * min(row[key], most) / most) for key in ("median", "p95")]
        drawn = bar * lengths[0] + line * (lengths[1] - lengths[0])
        figures = f"{row['median']:>8,}{row['p95']:>8,}{row['pieces']:>8,}"
        click.echo(f"{drawn:<{_WIDTH}}{figures}  {printable(name)}")


def _signs() -> tuple[str, str]:
    """What bars are drawn of, as far as the terminal can show it."""
    signs = ("\N{FULL BLOCK}", "\N{BOX DRAWINGS LIGHT HORIZONTAL}")
    try:
        "".join(signs).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "#", "-"
    return signs
