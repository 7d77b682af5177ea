"""Texts with their facts labelled; see tests/data/summaries/README.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from turnfit.outputs import Fact

FOLDER = Path(__file__).parents[1] / "data" / "summaries"
_LABEL = re.compile(r"\{(\w+)(!?)\|([^}]*)\}")


class Labelled(NamedTuple):
    """A text, a summary of it, its facts, and those that the summary lost."""

    name: str
    text: str
    summary: str
    facts: frozenset[Fact]
    lost: frozenset[Fact]


def labelled() -> Iterator[Labelled]:
    """Every labelled text."""
    for path in sorted(FOLDER.glob("*.txt")):
        for number, part in enumerate(path.read_text("utf-8").split("\n===\n")):
            marked, summary = part.split("\n---\n")
            labels = [(kind, lost, text) for kind, lost, text in _LABEL.findall(marked)]
            facts = frozenset(Fact(kind, text) for kind, _, text in labels)
            lost = frozenset(Fact(kind, text) for kind, gone, text in labels if gone)
            text = _LABEL.sub(lambda match: match[3], marked)
            yield Labelled(f"{path.stem} {number}", text, summary, facts, lost)
