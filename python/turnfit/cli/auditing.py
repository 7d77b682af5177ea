"""An audit as a table or JSON, with a bar while a long log is read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

from turnfit.auditing import Audit, AuditedModel, audit
from turnfit.cli.group import complain
from turnfit.cli.printing import printable
from turnfit.fitting.policy import Policy

__all__ = ["audit_log", "is_within", "print_audit"]

_LONG = 8 << 20
"""Bytes from which on a bar is shown: below, all is over before one can look."""
_HEAD = ("requests", "bias", "p50", "p95", "p99", "margin")


def audit_log(log: str, policy: Policy | None, plain: bool, least: int, profile: str) -> Audit:
    """Audit a file, or the standard input for ``-``."""
    options: dict[str, Any] = {"policy": policy, "plain": plain, "least": least}
    if log == "-":
        return audit(sys.stdin.buffer, "stdin", profile=profile, **options)
    with open(log, "rb") as file, _with_bar(file) as lines:
        return audit(lines, log, profile=profile, **options)


@contextmanager
def _with_bar(file: IO[bytes]) -> Iterator[Iterable[bytes]]:
    size = os.fstat(file.fileno()).st_size
    console = Console(stderr=True)
    if size < _LONG or not console.is_terminal:
        yield file
        return
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=size)
        yield _advancing(file, lambda read: progress.advance(task, read))


def _advancing(file: Iterable[bytes], advance: Callable[[int], object]) -> Iterator[bytes]:
    for line in file:
        advance(len(line))
        yield line


def print_audit(found: Audit, as_json: bool, policy: Policy | None) -> None:
    """Print what an audit found."""
    if as_json:
        models = [model.to_dict() for model in found.models]
        click.echo(json.dumps({"models": models, "skipped": dict(found.skipped)}, indent=2))
        return
    if found.models:
        _print_models(found.models)
    for model in found.models if policy is not None else ():
        click.echo(_sent(model, policy))
    if found.skipped:
        whys = ", ".join(f"{why} {count:,}" for why, count in found.skipped.most_common())
        click.echo(f"skipped {found.skipped.total():,}: {whys}")


def _print_models(models: Iterable[AuditedModel]) -> None:
    click.echo("".join(f"{name:>10}" for name in _HEAD) + "  model")
    for model in models:
        errors = (f"{model.error(percentile):.1%}" for percentile in (50, 95, 99))
        row = (f"{model.requests:,}", f"{model.bias:+.1%}", *errors, f"{model.margin:.1%}")
        click.echo("".join(f"{figure:>10}" for figure in row) + f"  {printable(model.model)}")


def _sent(model: AuditedModel, policy: Policy | None) -> str:
    budget = f"{policy.budget:,}" if policy else ""
    changed = f"{printable(model.model)}: {model.over:,} of {model.requests:,} requests"
    sent = f"{model.estimated:,} tokens would have been {model.sent:,}"
    unfit = f"; {model.unfit:,} over it all the same" if model.unfit else ""
    return f"{changed} over the budget of {budget}: {sent}{unfit}"


def is_within(found: Audit, max_under: float | None) -> bool:
    """Whether no model needed a larger margin; those that did are told on stderr."""
    beyond = [each for each in found.models if max_under is not None and each.margin > max_under]
    for model in beyond:
        complain(
            f"{printable(model.model)}: too low by a margin of {model.margin:.1%}, "
            f"more than {max_under:.1%} (line {model.worst_line:,})"
        )
    return not beyond
