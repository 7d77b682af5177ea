"""Texts and their true token counts, as the fit takes them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turnfit.tokens.profiles import ASCII_GROUP, Features, features_many
from turnfit.tokens.weights import CHARACTERS, GROUPS, LENGTH

__all__ = ["Samples", "corpus_samples", "counted_samples", "known_columns"]

PIECE_LENGTHS = (60, 120, 500, 2000)
"""Texts are counted whole, and in pieces of about so many characters in turn."""


@dataclass(frozen=True)
class Samples:
    """Pieces of texts, their features and true counts.

    Attributes:
        sources: the source of each piece: what is left out of a fit is always a whole one.
        kinds: what kind of text each is, for the report: ``"prose"``, ``"tool"``, ...
        lengths: in characters.
        sizes: in bytes of UTF-8.
        whole: whether a piece is the whole of its source.
        features: what profiles weigh of them.
        counts: the true tokens.
    """

    sources: NDArray[np.str_]
    kinds: NDArray[np.str_]
    lengths: NDArray[np.int64]
    sizes: NDArray[np.int64]
    whole: NDArray[np.bool_]
    features: Features
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def scripts(self) -> NDArray[np.str_]:
        """The script of each piece: of the `GROUPS`, or ASCII, that with the most characters;
        ASCII only where the others are less than a tenth."""
        features, names = self.features, np.array([ASCII_GROUP, *(group.name for group in GROUPS)])
        pieces = np.repeat(np.arange(len(features)), np.diff(features.offsets))
        groups = _group_of_each_index()[features.indices]
        counted = groups >= 0
        counts = np.zeros((len(features), len(names)), np.int64)
        np.add.at(counts, (pieces[counted], groups[counted]), features.counts[counted])
        others = counts[:, 1:]
        is_ascii = others.sum(1) * 10 < counts.sum(1)
        scripts: NDArray[np.str_] = names[np.where(is_ascii, 0, 1 + others.argmax(1))]
        return scripts


def _group_of_each_index() -> NDArray[np.int64]:
    """The number of the group that each feature's characters are of; -1 for other features."""
    groups = np.full(LENGTH, -1)
    groups[CHARACTERS.start : CHARACTERS.start + 0x80] = 0
    for number, group in enumerate(GROUPS, 1):
        groups[list(group.indices)] = number
    return groups


@dataclass(frozen=True)
class _Piece:
    source: str
    kind: str
    text: str
    whole: bool


def known_columns(counts: Path) -> list[str]:
    """The tokenizers of a table of counts: all columns behind path, start and end."""
    with counts.open(encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines, delimiter="\t"))[3:]


def corpus_samples(counts: Path, column: str) -> Samples:
    """Samples from a table with the columns ``path``, ``start``, ``end`` (in characters)
    and one of true counts for each tokenizer, separated by tabs.

    Paths are relative to the table, and their first part is the kind of text.

    Args:
        counts: the table.
        column: the tokenizer; or ``"any"``: the highest count among all of them.

    Raises:
        ValueError: for a column that there is not.
    """
    columns = known_columns(counts)
    if column != "any" and column not in columns:
        raise ValueError(f"{counts} has no column {column!r}, only {', '.join(columns)}")
    pieces, true = [], []
    texts: dict[str, str] = {}
    with counts.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            path, start, end = row["path"], int(row["start"]), int(row["end"])
            if path not in texts:
                texts[path] = (counts.parent / path).read_bytes().decode("utf-8", "replace")
            text = texts[path]
            whole = start == 0 and end == len(text)
            pieces.append(_Piece(path, path.split("/")[0], text[start:end], whole))
            true.append(max(int(row[each]) for each in (columns if column == "any" else [column])))
    return _samples(pieces, true)


def counted_samples(
    texts: Mapping[str, str],
    tokenizer: Callable[[str], int],
    progress: Callable[[int], object] | None = None,
) -> Samples:
    """Samples from texts by their names, counted by a tokenizer.

    A name's first part, where it has several (``"prose/a.txt"``), is the kind of text.

    Args:
        texts: each is one source.
        tokenizer: from a text to its tokens, without any frame.
        progress: called with the number of pieces counted since.
    """
    pieces = [piece for name, text in texts.items() for piece in _pieces(name, text)]
    true = []
    for piece in pieces:
        true.append(tokenizer(piece.text))
        if progress is not None:
            progress(1)
    return _samples(pieces, true)


def _pieces(name: str, text: str) -> Iterator[_Piece]:
    kind = name.split("/")[0] if "/" in name else "text"
    start, turn = 0, 0
    while start < len(text):
        end = start + PIECE_LENGTHS[turn % len(PIECE_LENGTHS)]
        yield _Piece(name, kind, text[start:end], start == 0 and end >= len(text))
        start, turn = end, turn + 1
    if len(text) > PIECE_LENGTHS[0]:
        yield _Piece(name, kind, text, True)


def _samples(pieces: Sequence[_Piece], counts: Sequence[int]) -> Samples:
    kept = [at for at, count in enumerate(counts) if count > 0]
    pieces = [pieces[at] for at in kept]

    def column(values: Sequence[Any]) -> NDArray[Any]:
        return np.array(values)

    return Samples(
        column([piece.source for piece in pieces]),
        column([piece.kind for piece in pieces]),
        column([len(piece.text) for piece in pieces]),
        column([len(piece.text.encode("utf-8", "replace")) for piece in pieces]),
        column([piece.whole for piece in pieces]),
        features_many(piece.text for piece in pieces),
        column([counts[at] for at in kept]),
    )
