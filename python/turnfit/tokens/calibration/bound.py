"""How far true counts lie above estimates, by where the error comes from.

An estimate is a sum over kinds of characters. Some kinds are priced well and others badly, so
the bound lets each kind's part grow by a factor of its own, and adds a multiple of the root,
which short texts need. The factors are a quantile regression on estimates of sources that
their fit had not seen: the lowest bound, on average, that all but a few stay below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from turnfit.tokens.profiles import ASCII_GROUP, Bound
from turnfit.tokens.weights import CHARACTERS, GROUPS

__all__ = ["fit_bound"]

Array = NDArray[np.float64]

QUANTILE = 0.9978
"""Somewhat more than 0.99, since the factors are fitted to the same samples."""

LEAST, MOST = 0.2, 3.0
"""The factor of a script is at least the first, since other languages may be written in it than
those sampled, and at most the second, since no script is that uneven."""

SHORT = 40
"""No bound is promised for texts of fewer characters."""


def parts(matrix: Array, weights: Array) -> Array:
    """The part of each estimate that each kind of characters makes: ASCII and all shapes,
    then by script; the last, whatever is in none."""
    weighed = matrix * weights
    scripts = np.column_stack([weighed[:, group.indices].sum(1) for group in GROUPS])
    ascii_ = weighed[:, : CHARACTERS.start + 0x80].sum(1)
    return np.column_stack([ascii_, scripts])


def fit_bound(parts_: Array, counts: Array, lengths: Array) -> Bound:
    """The bound for samples with these parts."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, eye, hstack

    enough = lengths >= SHORT
    parts_, counts = parts_[enough], counts[enough]
    estimates = parts_.sum(1)
    columns = np.column_stack([parts_, np.sqrt(estimates)]) / counts[:, None]
    misses = 1 - estimates / counts
    used = columns.any(0)
    rows, kinds = columns[:, used].shape
    # misses = columns @ factors + above - below; above is what the bound lacks.
    equal = hstack([csr_matrix(columns[:, used]), eye(rows), -eye(rows)], format="csr")
    cost = np.concatenate(
        [np.full(kinds, 1e-6), np.full(rows, QUANTILE), np.full(rows, 1 - QUANTILE)]
    )
    found = linprog(cost, A_eq=equal, b_eq=misses, bounds=(0, None), method="highs").x[:kinds]
    factors = np.zeros(columns.shape[1])
    factors[used] = np.ceil(found * 1000) / 1000
    names = [ASCII_GROUP, *(group.name for group in GROUPS)]
    scripts = np.clip(factors[1:-1], LEAST, MOST)
    by_name = dict(zip(names, [factors[0], *scripts], strict=True))
    return Bound({name: float(factor) for name, factor in by_name.items()}, float(factors[-1]))
