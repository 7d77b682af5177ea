"""Estimating files, without holding them in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from turnfit import _core
from turnfit.tokens.scripts import ScriptCounts

__all__ = ["FileEstimate", "estimate_files"]


@dataclass(frozen=True)
class FileEstimate:
    """What a file costs, or why it couldn't be read.

    Attributes:
        path: the file, as it was named.
        counts: its characters by script class; zeros where it couldn't be read.
        error: why it couldn't be read.
    """

    path: str
    counts: ScriptCounts
    error: OSError | None = None

    @property
    def tokens(self) -> int:
        """The estimate of the whole file as one text."""
        return self.counts.tokens


def estimate_files(
    paths: Iterable[str | os.PathLike[str]],
    *,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[FileEstimate]:
    """Estimate the tokens of files of UTF-8, however large.

    Files are read in blocks, and the blocks are spread over the threads, so that one
    large file uses all cores as well as many small ones. What is not UTF-8 counts as
    `estimate` counts it in bytes.

    Args:
        paths: the files.
        threads: how many to use; all cores where it is not given.
        progress: called now and then with the number of bytes counted since.

    Returns:
        One `FileEstimate` per path, in their order. A file that can't be read doesn't
        keep the others from being counted: its `error` tells why.

    >>> [missing] = estimate_files(["no-such-file.txt"])
    >>> type(missing.error).__name__
    'FileNotFoundError'
    """
    if isinstance(paths, str | bytes | os.PathLike):
        raise TypeError("paths must be a collection of paths, not one path")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    named = [os.fspath(path) for path in paths]
    counted = _core.count_files(named, threads or os.cpu_count() or 1, progress)
    return [_estimate(path, counts) for path, counts in zip(named, counted, strict=True)]


def _estimate(path: str, counts: tuple[int, int, int] | int) -> FileEstimate:
    if isinstance(counts, int):
        error = OSError(counts, os.strerror(counts), path)
        return FileEstimate(path, ScriptCounts(0, 0, 0), error)
    return FileEstimate(path, ScriptCounts(*counts))
