"""What each command does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from turnfit import __version__
from turnfit.cli.auditing import audit_log, is_within, print_audit
from turnfit.cli.calibrating import calibrate_profile, print_errors
from turnfit.cli.estimating import print_estimates
from turnfit.cli.exits import OK, WRONG
from turnfit.cli.explaining import explain_fit
from turnfit.cli.group import Commands, InputError
from turnfit.cli.outputs import OUTPUT_COMMANDS
from turnfit.cli.reading import read_history, read_toml
from turnfit.cli.replaying import REPLAY_COMMAND
from turnfit.cli.telling import tell
from turnfit.errors import FormatError, HistoryError, TurnfitError
from turnfit.fitting.fit import fit
from turnfit.fitting.fitted import Fitted
from turnfit.fitting.policy import Policy
from turnfit.histories import History
from turnfit.messages.check import check
from turnfit.messages.formats import FORMATS, format_of
from turnfit.writing import write_file

__all__ = ["commands"]

_OPTIONS: dict[str, Any] = {"context_settings": {"help_option_names": ["-h", "--help"]}}

# Formats of objects can't come from a file.
_format = click.option(
    "--format",
    metavar="NAME",
    type=click.Choice([name for name, format_ in FORMATS.items() if not format_.of_objects]),
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
_model = click.option(
    "--model",
    metavar="NAME",
    help="The model, by whose tokenizer text is priced; else the policy's, or the body's.",
)


@click.group(cls=Commands, no_args_is_help=False, **_OPTIONS)
@click.version_option(__version__, message="%(prog)s %(version)s")
def commands() -> None:
    """Keep long agent work inside a model's context window.

    A HISTORY is a file (or - for stdin) with a JSON list of messages, a request's body (an
    object with "messages", "contents" or "input"), JSON lines with a message a line, or one
    piece of recorded work, such as a session of Claude Code.

    \b
    Examples:
      turnfit estimate chapters/*.md
      turnfit explain history.json --budget 400000
      turnfit fit history.json --budget 400000 --out request.json
      turnfit check history.jsonl
      turnfit audit requests.jsonl
      turnfit replay session.jsonl --budget 100000 --window 200000
      turnfit limit build.log --max-tokens 2000
    """


for command in (*OUTPUT_COMMANDS, REPLAY_COMMAND):
    commands.add_command(command)


@commands.command("fit", **_OPTIONS)
@_history
@_budget
@_policy
@_model
@_format
@click.option("--out", metavar="FILE", help="Where the request goes; may be HISTORY itself.")
def _fit(
    history: str,
    budget: int | None,
    policy: str | None,
    model: str | None,
    format: str | None,
    out: str | None,
) -> int:
    """Fit a history into a budget.

    Writes the request in the container of the history, to stdout if not told otherwise,
    and says on stderr what was done. Exits 1 if the request is over the budget all the same.

    \b
    Examples:
      turnfit fit history.json --budget 400000 > request.json
      turnfit fit history.jsonl --policy agent.toml --out history.jsonl
      sed -n 3p histories.jsonl | turnfit fit - --budget 400000
    """
    read = read_history(history)
    format = format or read.format
    rules = _rules(policy, budget, model, read)
    fitted = _fitted(history, read, rules, format)
    _write(out, read.to_bytes(fitted.messages))
    tell(read, fitted, rules, format)
    return OK if fitted.fits else WRONG


@commands.command("explain", **_OPTIONS)
@_history
@_budget
@_policy
@_model
@_format
@click.option("--all", "whole", is_flag=True, help="Every message, not only head and tail.")
def _explain(
    history: str,
    budget: int | None,
    policy: str | None,
    model: str | None,
    format: str | None,
    whole: bool,
) -> int:
    """Show where the tokens are and what would go.

    \b
    Examples:
      turnfit explain history.json --budget 400000
      turnfit explain history.json --budget 400000 --all | less
    """
    read = read_history(history)
    format = format or read.format
    rules = _rules(policy, budget, model, read)
    fitted = _fitted(history, read, rules, format)
    explain_fit(read, fitted, rules, format_of(read.messages, format), whole)
    return OK


@commands.command("estimate", **_OPTIONS)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="A JSON list with an object per file.")
def _estimate(files: tuple[str, ...], as_json: bool) -> int:
    """Estimate the tokens of files.

    Prints tokens and characters by script: ASCII; Chinese, Japanese, Korean; other. A
    file that can't be read is reported, the others are counted; then it exits 1.

    \b
    Examples:
      turnfit estimate chapters/*.md
      git diff | turnfit estimate -
      turnfit estimate --json notes.md | jq '.[].tokens'
    """
    return OK if print_estimates(files, as_json) else WRONG


@commands.command("check", **_OPTIONS)
@_history
@_format
def _check(history: str, format: str | None) -> int:
    """Print what a provider would refuse.

    One problem a line; exits 1 if there are any.

    \b
    Examples:
      turnfit check history.json
      turnfit check request.jsonl --format anthropic
    """
    read = read_history(history)
    messages, format = read.messages, format or read.format
    with _named(history):
        problems = check(messages, format=format)
    for problem in problems:
        click.echo(str(problem))
    if not problems:
        name = format_of(messages, format).name
        click.echo(f"nothing wrong in {len(messages):,} messages ({name})")
    return WRONG if problems else OK


@commands.command("audit", **_OPTIONS)
@click.argument("log", metavar="LOG.jsonl")
@_budget
@_policy
@click.option(
    "--profile",
    metavar="NAME",
    default="model",
    help="By what text is priced, such as script. Default: each model's own.",
)
@click.option("--plain", is_flag=True, help="Leave out media, the provider's tools, thinking.")
@click.option(
    "--least",
    type=click.IntRange(min=1),
    default=1,
    metavar="TOKENS",
    help="Leave out requests of fewer input tokens.",
)
@click.option(
    "--max-under",
    type=click.FloatRange(min=0),
    metavar="SHARE",
    help="Exit 1 if a model needed a larger margin, such as 0.1.",
)
@click.option("--json", "as_json", is_flag=True, help="A JSON object with all figures.")
def _audit(
    log: str,
    budget: int | None,
    policy: str | None,
    profile: str,
    plain: bool,
    least: int,
    max_under: float | None,
    as_json: bool,
) -> int:
    """Set recorded requests against the usage that was reported.

    A LOG (or - for stdin) has a line of JSON for each request: "model", "request" (the
    body that was sent) and "usage" (what the provider reported). For each model it prints
    how far all estimates together were off, the error that 50, 95 and 99 of a hundred
    requests kept within, and the margin by which every estimate had to be raised so that
    none was too low; with --budget or --policy also what would have been sent instead.

    \b
    Examples:
      turnfit audit requests.jsonl
      turnfit audit requests.jsonl --plain --least 500 --max-under 0.1
      turnfit audit requests.jsonl --budget 100000 --json | jq '.models[0].sent'
    """
    rules = None if budget is None and policy is None else _rules(policy, budget)
    with _told():
        found = audit_log(log, rules, plain, least, profile)
    print_audit(found, as_json, rules)
    return OK if is_within(found, max_under) else WRONG


def _write(out: str | None, data: bytes) -> None:
    if out is not None and out != "-":
        write_file(out, data)
        return
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@contextmanager
def _named(history: str) -> Iterator[None]:
    """What is wrong with a message is said with the file's name."""
    try:
        yield
    except FormatError as error:
        name = "stdin" if history == "-" else history
        raise HistoryError(f"{name}: {error}") from error


@contextmanager
def _told() -> Iterator[None]:
    """A profile that there is not is a wrong argument."""
    try:
        yield
    except TurnfitError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def _fitted(name: str, history: History, policy: Policy, format: str | None) -> Fitted:
    with _named(name):
        return fit(
            history.messages, policy, system=history.system, tools=history.tools, format=format
        )


def _rules(
    path: str | None,
    budget: int | None,
    model: str | None = None,
    history: History | None = None,
) -> Policy:
    if path is None and budget is None:
        raise click.UsageError("give --budget or --policy", click.get_current_context())
    values = {} if path is None else read_toml(path)
    if budget is not None:
        values["budget"] = budget
    sent_to = None if history is None else history.around.get("model")
    if model is not None:
        values["model"] = model
    elif isinstance(sent_to, str) and not {"model", "profile"} & values.keys():
        values["model"] = sent_to
    try:
        return Policy.from_dict(values)
    except (TypeError, ValueError) as error:
        where = "" if path is None else f"{path}: "
        raise InputError(f"{where}{error}") from error


@commands.command("calibrate", **_OPTIONS)
@click.argument("texts", metavar="TEXTS", type=click.Path(exists=True, path_type=Path))
@click.option("--column", metavar="NAME", help="The column of a table of true counts.")
@click.option(
    "--tokenizer",
    metavar="NAME",
    help="What counts the texts of a folder: module:function, or a name that turnfit.exact knows.",
)
@click.option("--name", metavar="NAME", help="The profile's name.")
@click.option("--version", type=click.IntRange(min=1), default=1, help="The profile's version.")
@click.option("--out", metavar="FILE", help="Where the profile goes.")
@click.option("--json", "as_json", is_flag=True, help="Print the errors as JSON.")
def _calibrate(
    texts: Path,
    column: str | None,
    tokenizer: str | None,
    name: str | None,
    version: int,
    out: str | None,
    as_json: bool,
) -> int:
    """Make a profile out of texts whose true token counts are known.

    TEXTS is a folder of texts, which --tokenizer counts, or a table with the columns path,
    start, end and a --column of true counts, separated by tabs. The first part of a path is
    the kind of text. Prints the errors on whole sources that were left out of the fit.

    \b
    Examples:
      turnfit calibrate texts/ --tokenizer mine:count --name mine --out mine.json
      turnfit calibrate corpus/counts.tsv --column o200k_base --out o200k_base.json
    """
    made, inputs = calibrate_profile(texts, column, tokenizer, name, version)
    print_errors(made, as_json)
    if out is not None:
        write_file(out, made.to_json(inputs).encode())
    return OK
