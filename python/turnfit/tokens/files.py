"""Estimating files, without holding them in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from turnfit import _core
from turnfit.tokens.columns import weights_of
from turnfit.tokens.profiles import Profile
from turnfit.tokens.scripts import ScriptCounts

__all__ = ["FileEstimate", "estimate_files"]


@dataclass(frozen=True)
class FileEstimate:
    """What a file costs, or why it couldn't be read.

    Attributes:
        path: the file, as it was named.
        counts: its characters by script class; zeros where it couldn't be read.
        error: why it couldn't be read.
        priced: its tokens by a profile, where one was given.
    """

    path: str
    counts: ScriptCounts
    error: OSError | None = None
    priced: int | None = None

    @property
    def tokens(self) -> int:
        """The estimate of the whole file as one text."""
        return self.counts.tokens if self.priced is None else self.priced


def estimate_files(
    paths: Iterable[str | os.PathLike[str]],
    *,
    profile: str | Profile | None = None,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[FileEstimate]:
    """Estimate the tokens of files of UTF-8, however large.

    Files are read in blocks, and the blocks are spread over the threads, so that one
    large file uses all cores as well as many small ones. What is not UTF-8 counts as
    `estimate` counts it in bytes.

    Args:
        paths: the files.
        profile: the name of a profile, or a `turnfit.Profile`; by script where it is not
            given. A profile needs to know what was before, so that a file is then read by
            one thread, and several files by several.
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
    weights = weights_of(profile, "files")
    counted = _core.count_files(named, threads or os.cpu_count() or 1, progress, weights)
    return [_estimate(path, counts) for path, counts in zip(named, counted, strict=True)]


def _estimate(path: str, counts: tuple[int, int, int, int | None] | int) -> FileEstimate:
    if isinstance(counts, int):
        error = OSError(counts, os.strerror(counts), path)
        return FileEstimate(path, ScriptCounts(0, 0, 0), error)
    *characters, priced = counts
    return FileEstimate(path, ScriptCounts(*characters), priced=priced)
