"""Making profiles out of texts whose true token counts are known."""

from __future__ import annotations

from turnfit.tokens.calibration.calibrate import Calibrated, calibrate
from turnfit.tokens.calibration.samples import Samples, corpus_samples, counted_samples

__all__ = ["Calibrated", "Samples", "calibrate", "corpus_samples", "counted_samples"]
