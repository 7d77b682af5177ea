"""From samples to a profile, and what it is worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from turnfit.errors import MissingExtraError
from turnfit.tokens.calibration.bound import fit_bound, parts
from turnfit.tokens.calibration.fit import FOLDS, Design, as_written, fit_weights, left_out
from turnfit.tokens.calibration.samples import Samples
from turnfit.tokens.profiles import Bound, Profile
from turnfit.tokens.weights import UNIT, written_weights

__all__ = ["STEPS", "Calibrated", "calibrate"]

Array = NDArray[np.float64]

STEPS = FOLDS + 1
"""How often `calibrate` tells of progress."""

SHORT = 250
"""Errors are told for pieces from so many characters on."""


@dataclass(frozen=True)
class Calibrated:
    """A profile, and how well it does on texts that its fit had not seen.

    Attributes:
        profile: fitted to all samples.
        samples: what it was fitted to.
        left_out: the estimate of each sample by weights from other sources alone.
        upper: its bound, likewise.
        fitted: the estimate of each sample by the profile.
    """

    profile: Profile
    samples: Samples
    left_out: Array
    upper: Array
    fitted: Array

    def errors(self) -> dict[str, dict[str, float]]:
        """Errors on what was left out, by kind of text, and for whole texts: the median and
        the 95th percentile of the relative error, the bias, how many, and the bound's.

        Percentages, rounded to a tenth.
        """
        long = ~self.samples.whole & (self.samples.lengths >= SHORT)
        kinds = {kind: long & (self.samples.kinds == kind) for kind in _ordered(self.samples)}
        return {
            name: self._errors(chosen)
            for name, chosen in {**kinds, "whole": self.samples.whole}.items()
            if chosen.any()
        }

    def errors_by_script(self) -> dict[str, dict[str, dict[str, float]]]:
        """The same figures by kind of text and, in it, by script, as `Samples.scripts` has it."""
        samples = self.samples
        long = ~samples.whole & (samples.lengths >= SHORT)
        return {
            kind: {
                script: self._errors(of_kind & (samples.scripts == script))
                for script in sorted(set(samples.scripts[of_kind].tolist()))
            }
            for kind in _ordered(samples)
            if (of_kind := long & (samples.kinds == kind)).any()
        }

    def _errors(self, chosen: NDArray[np.bool_]) -> dict[str, float]:
        true = self.samples.counts[chosen]
        off = self.left_out[chosen] / true - 1
        fitted = np.abs(self.fitted[chosen] / true - 1)
        upper = self.upper[chosen] / true
        percent = {
            "median": np.median(np.abs(off)),
            "p95": np.percentile(np.abs(off), 95),
            "bias": np.median(off),
            "fitted median": np.median(fitted),
            "fitted p95": np.percentile(fitted, 95),
            "above bound": (upper < 1).mean(),
        }
        rounded = {name: round(100 * float(value), 1) for name, value in percent.items()}
        return {"pieces": int(chosen.sum()), **rounded, "bound": round(float(upper.mean()), 2)}

    def to_json(self, provenance: Mapping[str, Any]) -> str:
        """The profile's file."""
        profile = self.profile
        written = {
            "name": profile.name,
            "version": profile.version,
            "margin": profile.margin,
            "provenance": {
                "fitted": date.today().isoformat(),
                "sources": len(np.unique(self.samples.sources)),
                "pieces": len(self.samples),
                **provenance,
                "errors": self.errors(),
            },
            "bound": {"root": profile.bound.root, "factors": dict(profile.bound.factors)},
            "weights": written_weights(profile.weights),
        }
        return json.dumps(written, indent=1, ensure_ascii=False) + "\n"


def _ordered(samples: Samples) -> list[str]:
    return sorted(set(samples.kinds.tolist()))


def calibrate(
    samples: Samples,
    name: str,
    version: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Calibrated:
    """Fit a profile.

    Args:
        samples: texts and their true counts; the more sources and kinds, the better.
        name: the profile's name.
        version: its version.
        progress: called with 1 after each of `STEPS` steps.

    Raises:
        ValueError: for samples of fewer than `FOLDS` sources.
        MissingExtraError: without scipy (the extra ``calibrate``).
    """
    _need_scipy()
    if len(np.unique(samples.sources)) < FOLDS:
        raise ValueError(f"a fit needs texts of at least {FOLDS} sources, to leave some out")
    design = Design.of(samples)
    counts, lengths = samples.counts.astype(float), samples.lengths.astype(float)
    weights = as_written(fit_weights(design, counts, lengths))
    if progress is not None:
        progress(1)
    lots, of_lot = left_out(samples, design, progress)
    matrix = design.matrix[:, : len(weights)]
    unseen = np.vstack([parts(matrix[[row]], of_lot[lot]) for row, lot in enumerate(lots)])
    bound = fit_bound(unseen, counts, lengths)
    upper = _uppers(unseen, lots, counts, lengths)
    estimates = unseen.sum(1)
    margin = _margin(samples, estimates)
    profile = Profile(name, version, margin, tuple(weights.tolist()), bound)
    return Calibrated(profile, samples, estimates, upper, matrix @ weights / UNIT)


def _uppers(parts_: Array, lots: NDArray[np.int64], counts: Array, lengths: Array) -> Array:
    """The bound of each sample by factors from other sources alone."""
    upper = np.zeros(len(counts))
    for lot in range(FOLDS):
        other = lots != lot
        bound = fit_bound(parts_[other], counts[other], lengths[other])
        upper[~other] = _upper(parts_[~other], bound)
    return upper


def _upper(parts_: Array, bound: Bound) -> Array:
    grown = parts_ @ np.array(bound.by_part())
    upper: Array = np.ceil(grown + bound.root * np.sqrt(grown))
    return upper


REQUESTS, TEXTS = 2000, 12
"""Whole requests are made up to learn the margin: so many, of so many texts each."""


def _margin(samples: Samples, estimates: Array) -> float:
    """The share of a budget that 99 % of whole requests need as a reserve.

    A request holds one language and several kinds of tool output: texts of one source of
    prose, if there is any, and of others.
    """
    chance = np.random.RandomState(0)
    whole = np.flatnonzero(samples.whole)
    prose = whole[samples.kinds[whole] == "prose"]
    other = whole[samples.kinds[whole] != "prose"]
    pools = [pool for pool in (prose, other) if len(pool)]
    shortfall = []
    for _ in range(REQUESTS):
        few, many = pools[0], pools[-1]
        chosen = np.concatenate([chance.choice(few, 1), chance.choice(many, TEXTS - 1)])
        shortfall.append(1 - estimates[chosen].sum() / samples.counts[chosen].sum())
    return round(max(0.0, float(np.percentile(shortfall, 99))), 3)


def _need_scipy() -> None:
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise MissingExtraError("calibrating a profile", "calibrate") from None
