"""What each command does."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, TypeAlias

import click

from turnfit import __version__
from turnfit.cli.estimating import estimate_files
from turnfit.cli.explaining import explain_fit
from turnfit.cli.group import Commands, complain
from turnfit.fitting.fit import fit
from turnfit.fitting.fitted import Fitted
from turnfit.fitting.policy import Policy
from turnfit.histories import History, HistoryError, parse_history, write_file
from turnfit.messages.check import check
from turnfit.messages.estimate import estimate_request
from turnfit.messages.formats import FORMATS, format_of

__all__ = ["commands"]

_OPTIONS: dict[str, Any] = {"context_settings": {"help_option_names": ["-h", "--help"]}}
_OK, _WRONG = 0, 1

# Formats of objects can't come from a file.
_format = click.option(
    "--format",
    metavar="NAME",
    type=click.Choice([name for name, format_ in FORMATS.items() if format_.reader is None]),
    help="The wire format; recognised from the messages where it is not given.",
)
_history = click.argument("history", metavar="HISTORY")
_budget = click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="The tokens that the request may take, all in.",
)
_policy = click.option(
    "--policy",
    metavar="FILE.toml",
    help="A file with the fields of turnfit.Policy; --budget comes before its budget.",
)


@click.group(cls=Commands, no_args_is_help=False, **_OPTIONS)
@click.version_option(__version__, message="%(prog)s %(version)s")
def commands() -> None:
    """Keep long agent work inside a model's context window.

    A HISTORY is a file (or - for stdin) with a JSON list of messages, an object with
    "messages", or JSON lines with a message a line.

    \b
    Examples:
      turnfit estimate chapters/*.md
      turnfit explain history.json --budget 400000
      turnfit fit history.json --budget 400000 --out request.json
      turnfit check history.jsonl
    """


@commands.command("fit", **_OPTIONS)
@_history
@_budget
@_policy
@_format
@click.option("--out", metavar="FILE", help="Where the request goes; may be HISTORY itself.")
def _fit(
    history: str, budget: int | None, policy: str | None, format: str | None, out: str | None
) -> int:
    """Fit a history into a budget and write the request.

    The request has the container of the history and goes to stdout; what was done is
    told on stderr. Exits 1 if the request is over the budget all the same.

    \b
    Examples:
      turnfit fit history.json --budget 400000 > request.json
      turnfit fit history.jsonl --policy agent.toml --out history.jsonl
      sed -n 3p histories.jsonl | turnfit fit - --budget 400000
    """
    read = _read(history)
    rules = _rules(policy, budget)
    fitted = _fitted(read, rules, format)
    _write(out, read.to_bytes(fitted.messages))
    _tell(read, fitted, rules.reserve, format)
    return _OK if fitted.fits else _WRONG


@commands.command("explain", **_OPTIONS)
@_history
@_budget
@_policy
@_format
@click.option("--all", "whole", is_flag=True, help="Every message, not only head and tail.")
def _explain(
    history: str, budget: int | None, policy: str | None, format: str | None, whole: bool
) -> int:
    """Show what takes the tokens of a history, and what fitting would do to it.

    \b
    Examples:
      turnfit explain history.json --budget 400000
      turnfit explain history.json --budget 400000 --all | less
    """
    read = _read(history)
    fitted = _fitted(read, _rules(policy, budget), format)
    explain_fit(read, fitted, format_of(read.messages, format), whole)
    return _OK


@commands.command("estimate", **_OPTIONS)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="A JSON list with an object per file.")
def _estimate(files: tuple[str, ...], as_json: bool) -> int:
    """Estimate the tokens of files, and count their characters by script.

    A file that can't be read is reported, the others are counted; then it exits 1.

    \b
    Examples:
      turnfit estimate chapters/*.md
      git diff | turnfit estimate -
      turnfit estimate --json notes.md | jq '.[].tokens'
    """
    return _OK if estimate_files(files, as_json) else _WRONG


@commands.command("check", **_OPTIONS)
@_history
@_format
def _check(history: str, format: str | None) -> int:
    """Print what a provider would refuse in a history; exits 1 if there is anything.

    \b
    Examples:
      turnfit check history.json
      turnfit check request.jsonl --format anthropic
    """
    messages = _read(history).messages
    problems = _named(history, lambda: check(messages, format=format))
    for problem in problems:
        click.echo(str(problem))
    if not problems:
        name = format_of(messages, format).name
        click.echo(f"nothing wrong in {len(messages):,} messages ({name})")
    return _WRONG if problems else _OK
