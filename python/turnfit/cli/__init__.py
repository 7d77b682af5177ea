"""The command line: ``turnfit fit``, ``explain``, ``estimate`` and ``check``.

It needs the extra ``cli`` (click and rich), which nothing else in turnfit imports.
"""

from __future__ import annotations

import sys

from turnfit.cli.exits import INTERRUPTED, WRONG

__all__ = ["main"]


def main() -> None:
    """Run the command line; the entry point ``turnfit``."""
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
