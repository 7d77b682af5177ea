"""What would a policy have done to work that has been recorded?"""

from __future__ import annotations

from turnfit.replay.contenders import Contender, DropOldest, Fitting, KeepLast, Nothing, contenders
from turnfit.replay.prices import Price, PriceError, Prices
from turnfit.replay.recordings import Recording
from turnfit.replay.replayed import Played, Replayed, Steps, Totals, totals
from turnfit.replay.replaying import replay
from turnfit.replay.rules import CacheRules, cache_rules

__all__ = [
    "CacheRules",
    "Contender",
    "DropOldest",
    "Fitting",
    "KeepLast",
    "Nothing",
    "Played",
    "Price",
    "PriceError",
    "Prices",
    "Recording",
    "Replayed",
    "Steps",
    "Totals",
    "cache_rules",
    "contenders",
    "replay",
    "totals",
]
