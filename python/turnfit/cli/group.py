"""A click group that speaks of errors in one line and exits as a Unix tool does."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from turnfit.cli.exits import BROKEN_PIPE, INPUT_ERROR, INTERRUPTED
from turnfit.cli.printing import printable
from turnfit.errors import TurnfitError

__all__ = ["Commands", "InputError", "complain"]


def complain(what: str) -> None:
    """Say one line on stderr."""
    click.echo(f"turnfit: {printable(' '.join(what.splitlines()))}", err=True)


class InputError(click.ClickException):
    """An input that can't be used, said in one line."""

    exit_code = INPUT_ERROR


class Commands(click.Group):
    """Commands that return their exit code."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and exit by its code, or with one line on what is wrong."""
        try:
            code = super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.ClickException as error:
            complain(_with_help(error))
            code = error.exit_code
        except click.Abort:
            code = INTERRUPTED
        sys.exit(code or 0)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its errors in the input become one line."""
        _never_fail_on_a_character()
        try:
            with _warnings_in_a_line():
                code = super().invoke(ctx)
            # Here and not at the interpreter's end, where a broken pipe makes noise.
            sys.stdout.flush()
            return code
        except BrokenPipeError:
            return _quiet_end()
        except KeyboardInterrupt:
            return INTERRUPTED
        except OSError as error:
            complain(f"{_file_of(error)}{error.strerror or error}")
        except TurnfitError as error:
            complain(str(error))
        return INPUT_ERROR


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """What was warned of is said as errors are, once each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for told in dict.fromkeys(str(warning.message) for warning in caught):
                complain(told)


def _with_help(error: click.ClickException) -> str:
    what = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx:
        return f"{what.removesuffix('.')} (see '{error.ctx.command_path} --help')"
    return what


def _file_of(error: OSError) -> str:
    return f"{os.fsdecode(error.filename)}: " if error.filename else ""


def _never_fail_on_a_character() -> None:
    """File names and tool names may hold what the terminal's encoding can't say."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _quiet_end() -> int:
    """Let what is still buffered go nowhere: the reader is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
