"""turnfit keeps long agent work inside a model's context window.

>>> import turnfit as tf
>>> tf.estimate("Привет, мир!")
6
>>> fitted = tf.fit([{"role": "user", "content": "Hello!"}], budget=400_000)
>>> fitted.fits, fitted.step
(True, 'whole')
"""

from turnfit._core import __version__
from turnfit.errors import BudgetError, BusyError, FormatError, TurnfitError
from turnfit.fitting.caching import CachePoint, mark_cache
from turnfit.fitting.conversation import Conversation
from turnfit.fitting.fit import fit
from turnfit.fitting.fitted import Cleared, Fitted, Largest
from turnfit.fitting.guidance import guidance
from turnfit.fitting.notes import Notes
from turnfit.fitting.policy import Policy
from turnfit.fitting.serverside import ServerSide
from turnfit.messages.check import check
from turnfit.messages.estimate import estimate_message, estimate_request
from turnfit.messages.formats.table import Body, Format, Shape
from turnfit.messages.native import Call, Media, Message, Result, Text
from turnfit.messages.reading import Problem
from turnfit.tokens import (
    FileEstimate,
    ScriptCounts,
    count_scripts,
    estimate,
    estimate_files,
    estimate_many,
)

__all__ = [
    "Body",
    "BudgetError",
    "BusyError",
    "CachePoint",
    "Call",
    "Cleared",
    "Conversation",
    "FileEstimate",
    "Fitted",
    "Format",
    "FormatError",
    "Largest",
    "Media",
    "Message",
    "Notes",
    "Policy",
    "Problem",
    "Result",
    "ScriptCounts",
    "ServerSide",
    "Shape",
    "Text",
    "TurnfitError",
    "__version__",
    "check",
    "count_scripts",
    "estimate",
    "estimate_files",
    "estimate_many",
    "estimate_message",
    "estimate_request",
    "fit",
    "guidance",
    "mark_cache",
]
