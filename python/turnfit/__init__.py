"""turnfit keeps long agent work inside a model's context window.

>>> import turnfit as tf
>>> tf.estimate("Привет, мир!")
6
>>> fitted = tf.fit([{"role": "user", "content": "Hello!"}], budget=400_000)
>>> fitted.fits, fitted.step
(True, 'whole')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from turnfit._core import __version__
from turnfit.errors import BudgetError, BusyError, FormatError, HistoryError, TurnfitError
from turnfit.fitting.caching import CachePoint, mark_cache
from turnfit.fitting.conversation import Conversation
from turnfit.fitting.fit import fit
from turnfit.fitting.fitted import Cleared, Fitted, Largest
from turnfit.fitting.guidance import guidance
from turnfit.fitting.notes import Notes
from turnfit.fitting.policy import Policy
from turnfit.fitting.reasoning import StaleReasoning
from turnfit.fitting.serverside import ServerSide
from turnfit.messages.check import check
from turnfit.messages.columns import estimate_messages_many
from turnfit.messages.estimate import estimate_message, estimate_request
from turnfit.messages.formats.table import Body, Format, Shape
from turnfit.messages.native import Call, Media, Message, Result, Text
from turnfit.messages.reading import Problem
from turnfit.tokens import (
    FileEstimate,
    Profile,
    ScriptCounts,
    UsageCalibration,
    count_scripts,
    estimate,
    estimate_files,
    estimate_many,
    exact,
    features_many,
    image_size,
    image_tokens,
    input_tokens,
    profile,
    profile_for,
    profile_name,
    profiles,
    unsized_image_tokens,
)

if TYPE_CHECKING:
    from turnfit.auditing import Audit, AuditedModel, audit
    from turnfit.rejections import Rejection, classify_rejection, silent_overflow

__all__ = [
    "Audit",
    "AuditedModel",
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
    "HistoryError",
    "Largest",
    "Media",
    "Message",
    "Notes",
    "Policy",
    "Problem",
    "Profile",
    "Rejection",
    "Result",
    "ScriptCounts",
    "ServerSide",
    "Shape",
    "StaleReasoning",
    "Text",
    "TurnfitError",
    "UsageCalibration",
    "__version__",
    "audit",
    "check",
    "classify_rejection",
    "count_scripts",
    "estimate",
    "estimate_files",
    "estimate_many",
    "estimate_message",
    "estimate_messages_many",
    "estimate_request",
    "exact",
    "features_many",
    "fit",
    "guidance",
    "image_size",
    "image_tokens",
    "input_tokens",
    "mark_cache",
    "profile",
    "profile_for",
    "profile_name",
    "profiles",
    "silent_overflow",
    "unsized_image_tokens",
]

_LATER = {
    **dict.fromkeys(("Rejection", "classify_rejection", "silent_overflow"), "turnfit.rejections"),
    **dict.fromkeys(("Audit", "AuditedModel", "audit"), "turnfit.auditing"),
}


def __getattr__(name: str) -> Any:
    """Refusals are rare and audits too: their modules are imported when first asked for."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'turnfit' has no attribute {name!r}")
