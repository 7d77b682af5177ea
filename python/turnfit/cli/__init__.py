"""The command line: ``turnfit fit``, ``explain``, ``estimate``, ``check`` and ``audit``.

It needs the extra ``cli`` (click and rich), which nothing else in turnfit imports.
"""

from __future__ import annotations

import os
import sys

from turnfit.cli.exits import INTERRUPTED, WRONG

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point ``turnfit``."""
    _open_what_is_closed()
    try:
        from turnfit.cli.commands import commands

        commands(prog_name="turnfit")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("click", "rich"):
            raise
        print("turnfit: for the command line: pip install 'turnfit[cli]'", file=sys.stderr)
        sys.exit(WRONG)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _open_what_is_closed() -> None:
    """A process may be started without the standard streams."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
