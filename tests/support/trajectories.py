"""Recorded agent work, as the product reads the files that it was recorded in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from turnfit.errors import HistoryError
from turnfit.messages.formats import format_of
from turnfit.replay import Recording, read_recordings

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
FOLDER = CORPUS / "trajectories"

needs_corpus = pytest.mark.skipif(not FOLDER.exists(), reason="the corpus is not here")

SHAPES = ("openai-chat", "anthropic")


def recordings() -> Iterator[Recording]:
    """Every history of the corpus that has more than one message."""
    for path in sorted(FOLDER.glob("*")):
        try:
            found = read_recordings(path.read_bytes(), path.name)
        except HistoryError:
            assert path.name.startswith("bfcl-")
            continue
        for number, one in enumerate(found):
            if len(one.messages) > 1:
                yield replace(one, name=f"{path.name}[{number}]")


def recorded() -> Iterator[Recording]:
    """Those in OpenAI-chat or Anthropic shape."""
    return (one for one in recordings() if format_of(one.messages, one.format).name in SHAPES)
