"""Fitting weights: least squares of the relative error, none of them negative.

A text's count is a sum of weights, so the fit is linear. Three things keep it from learning
its texts by heart: weights are not negative; they are pulled towards 0, those of letter pairs
and of single characters more than those of their script, so that a letter seldom seen costs
what its script does; and large errors count less than their squares, so that one odd text
doesn't bend all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from turnfit.tokens.calibration.samples import Samples
from turnfit.tokens.weights import (
    CHARACTERS,
    GROUPS,
    LENGTH,
    LETTER_PAIRS,
    STEP,
    UNIT,
    byte_lengths,
    reachable,
    rounded,
)

__all__ = ["FOLDS", "Design", "as_written", "fit_weights", "left_out"]

Array = NDArray[np.float64]

FOLDS = 8
"""The sources are left out of the fit in so many lots, in turn."""

LONG = 500
"""Pieces from so many characters on weigh alike; shorter ones, less."""

RIDGE = 4e-8
"""How strongly weights are pulled towards 0, for each sample; chosen by leaving sources out."""

PULL_OF_SHAPES, PULL_OF_SCRIPTS, PULL_OF_CHARACTERS, PULL_OF_PAIRS = 0.3, 0.2, 1.0, 3.0
"""How strongly each kind is, beside the others."""

ROUNDS, SMALL_ERROR = 4, 0.03
"""So often large errors are given less weight; up to this one, none is large."""

CHANCES, TINY = 10, 1e-9
"""So often pivoting may get no better before it goes one by one; less than this is zero."""

UNSEEN = 90
"""A script that no sample has costs, for each byte, what this percentile of the scripts does
that the samples have: it is likely one of those that the vocabulary merged little of."""

SEEN = 200
"""A script is known by at least so many characters."""


@dataclass(frozen=True)
class Design:
    """The samples as a matrix: a row each; features first, then sums over each script."""

    matrix: Array
    pull: Array

    @classmethod
    def of(cls, samples: Samples) -> Design:
        """The matrix of all samples."""
        features = np.zeros((len(samples), LENGTH))
        rows = np.repeat(np.arange(len(samples)), np.diff(samples.features.offsets))
        features[rows, samples.features.indices] = samples.features.counts
        scripts = [features[:, group.indices].sum(1) for group in GROUPS]
        pull = np.full(LENGTH + len(GROUPS), PULL_OF_CHARACTERS)
        pull[: CHARACTERS.start + 0x80] = PULL_OF_SHAPES
        pull[LETTER_PAIRS] = PULL_OF_PAIRS
        pull[LENGTH:] = PULL_OF_SCRIPTS
        return cls(np.column_stack([features, *scripts]), pull)


def fit_weights(design: Design, counts: Array, lengths: Array) -> Array:
    """The weights of all features, in tokens."""
    used = design.matrix.any(0)
    shares = design.matrix[:, used] / counts[:, None]
    importance = np.sqrt(np.minimum(lengths, LONG) / LONG)
    ridge = np.diag(RIDGE * len(counts) * design.pull[used] ** 2)
    trust, free = np.ones(len(counts)), np.ones(shares.shape[1], bool)
    for _ in range(ROUNDS):
        scale = importance * trust
        scaled = shares * scale[:, None]
        found = _not_negative(scaled.T @ scaled + ridge, scaled.T @ scale, free)
        free = found > 0
        error = np.abs(shares @ found - 1)
        trust = 1 / np.sqrt(np.maximum(error, SMALL_ERROR))
        trust /= np.sqrt((trust**2).mean())
    weights = np.zeros(design.matrix.shape[1])
    weights[used] = found
    return _with_scripts(weights, design.matrix)


def _not_negative(normal: Array, target: Array, free: NDArray[np.bool_]) -> Array:
    """What solves the normal equations best without a negative.

    By block principal pivoting (Kim and Park 2011, https://doi.org/10.1137/110821172), which
    moves many weights between zero and not zero at once: some ten times as fast here as
    adding one after the other, with the same result.

    Args:
        normal: their matrix.
        target: their right side.
        free: a guess of which are not 0.
    """
    size = np.sqrt(np.diag(normal))
    normal, target = normal / size[:, None] / size, target / size
    free = free.copy()
    fewest, chances = len(target) + 1, CHANCES
    while chances:
        found = _solved(normal, target, free)
        pull = np.where(free, 0, normal @ found - target)
        wrong = (free & (found < -TINY)) | (~free & (pull < -TINY))
        if not wrong.any():
            return np.maximum(found, 0) / size
        chances = CHANCES if wrong.sum() < fewest else chances - 1
        fewest = min(fewest, int(wrong.sum()))
        free ^= wrong
    return _one_by_one(normal, target, free) / size


def _solved(normal: Array, target: Array, free: NDArray[np.bool_]) -> Array:
    """What solves the equations of those that are free, with 0 for the others."""
    found = np.zeros(len(target))
    found[free] = np.linalg.solve(normal[np.ix_(free, free)], target[free])
    return found


def _one_by_one(normal: Array, target: Array, free: NDArray[np.bool_]) -> Array:
    """The same from a guess that pivoting came to when it went in circles.

    By active sets (Lawson and Hanson 1974): never worse than before, so that it ends.
    """
    best = np.maximum(_solved(normal, target, free), 0)
    while True:
        found = _solved(normal, target, free)
        while (low := free & (found < -TINY)).any():
            best += (best[low] / (best[low] - found[low])).min() * (found - best)
            free = free & ~(low & (best < TINY))
            best[~free] = 0
            found = _solved(normal, target, free)
        best = np.maximum(found, 0)
        pull = np.where(free, 0, normal @ best - target)
        if pull.min() > -TINY:
            return best
        free[pull.argmin()] = True


def _with_scripts(weights: Array, matrix: Array) -> Array:
    """The weights of single features, with those of their scripts added to them."""
    single = weights[:LENGTH].copy()
    sizes = np.array([0.0] * CHARACTERS.start + _reachable_bytes())
    known = np.zeros(LENGTH, bool)
    known[: CHARACTERS.start + 0x80] = True
    per_byte = []
    for place, group in enumerate(GROUPS, LENGTH):
        single[group.indices] += weights[place]
        counts = matrix[:, group.indices].sum(0)
        cost = counts @ single[group.indices] / max(counts @ sizes[group.indices], 1)
        if counts.sum() >= SEEN:
            known[group.indices] = True
            per_byte.append(cost)
    unseen = sizes * (np.percentile(per_byte, UNSEEN) if per_byte else 1)
    return np.where(known, single, np.maximum(single, unseen))


def _reachable_bytes() -> list[float]:
    return [float(size * reachable(at)) for at, size in enumerate(byte_lengths())]


def left_out(
    samples: Samples, design: Design, progress: Callable[[int], object] | None = None
) -> tuple[NDArray[np.int64], Array]:
    """What each sample costs by weights from other sources alone.

    Returns:
        The lot of each sample, and the weights fitted without each lot, in tokens.
    """
    lots = _lots(samples, design)
    weights = np.zeros((FOLDS, LENGTH))
    for lot in range(FOLDS):
        kept = lots != lot
        part = Design(design.matrix[kept], design.pull)
        weights[lot] = fit_weights(
            part, samples.counts[kept].astype(float), samples.lengths[kept].astype(float)
        )
        if progress is not None:
            progress(1)
    return lots, np.array([as_written(of_lot) / UNIT for of_lot in weights])


def as_written(weights: Array) -> NDArray[np.int64]:
    """Weights in tokens, as a profile has them."""
    halves = np.full(LENGTH, 0.5)
    halves[LETTER_PAIRS] *= STEP
    return np.array(rounded(np.maximum(weights * UNIT - halves, 0)))


def _lots(samples: Samples, design: Design) -> NDArray[np.int64]:
    """A lot for each source. Sources of one script and of one language, as far as their names
    tell, go to different lots, so that no lot takes all of a script with it."""
    names, inverse = np.unique(samples.sources, return_inverse=True)
    scripts = np.zeros((len(names), len(GROUPS)))
    np.add.at(scripts, inverse, design.matrix[:, LENGTH:])
    order = np.lexsort((names, scripts.argmax(1)))
    lots = np.empty(len(names), np.int64)
    lots[order] = np.arange(len(names)) % FOLDS
    return lots[inverse]
