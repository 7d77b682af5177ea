"""The agent of the examples against a server that behaves as providers do: writes docs/loop.md.

    PYTHONPATH=tests python -m benches.loop

The clients and the tokenizer's ranks come with the extra `sdks`.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from support.loop_page import PAGE, tables
from support.scenarios import Scenarios

TABLE = re.compile(r"^\|.*(?:\n\|.*)+", flags=re.MULTILINE)


def main() -> None:
    """Puts the tables of a run in the place of those that stand there."""
    with TemporaryDirectory() as folder:
        made = iter(tables(Scenarios(Path(folder))))
    PAGE.write_text(TABLE.sub(lambda _: next(made), PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
