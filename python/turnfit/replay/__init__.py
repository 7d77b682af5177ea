"""What would a policy have done to work that has been recorded?"""

from __future__ import annotations

from turnfit.replay.contenders import Contender, DropOldest, Fitting, KeepLast, Nothing, contenders
from turnfit.replay.many import ReplayedFile, recording_files, replay_files
from turnfit.replay.prices import Price, PriceError, Prices
from turnfit.replay.reading import read_recordings
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
    "ReplayedFile",
    "Steps",
    "Totals",
    "cache_rules",
    "contenders",
    "read_recordings",
    "recording_files",
    "replay",
    "replay_files",
    "totals",
]
