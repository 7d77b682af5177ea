"""Learning from reported usage how far estimates are off, and by what."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice, pairwise
from math import ceil, isfinite
from typing import Any, NamedTuple

from turnfit.tokens.usage import input_tokens

__all__ = ["UsageCalibration"]

_WINDOW = 64
"""Requests remembered: enough for a median, and the tokenizer of a model doesn't change."""
_RECENT = 16
"""Of these, what the constant is taken from: it is another one when tools are added."""
_LEAST_RATE, _MOST_RATE = 0.5, 8.0
"""Beyond what any text costs by any profile; a usage outside is not of this request."""
_STEP = 0.05
_BEFORE_TRUST = (5, 4_000)
"""Increments, and estimated tokens in them, before a rate may move a cut.

In short ones the frames of the messages weigh more than their text does later.
"""


class _Request(NamedTuple):
    estimated: int
    reported: int


class UsageCalibration:
    """What a provider reports of requests, set against what was estimated of them.

    A request costs ``constant + rate * estimate``. The constant is what the caller's
    estimate doesn't see: a system prompt or tool schemas that another layer adds. The rate
    is how much the profile is off for these texts. Both are told apart by what one request
    has more than the one before: that has no constant in it.

    Medians make it robust: a request that was not the one estimated, or a context that
    shrank because it was compacted or begun anew, doesn't spoil what was learnt.

    It holds the newest 64 requests, so it costs the same however long one observes.

    >>> calibration = UsageCalibration()
    >>> for estimated in (1_000, 3_000, 4_000, 8_000):
    ...     calibration.observe(estimated, {"prompt_tokens": 20_000 + estimated * 5 // 4})
    >>> calibration.rate, calibration.constant
    (1.25, 20000)
    >>> calibration.scale(10_000)
    32500
    """

    def __init__(self) -> None:
        self._requests: deque[_Request] = deque(maxlen=_WINDOW)
        self._policy_scale = 1.0

    def observe(self, estimated: int, usage: Any) -> None:
        """Learn from one request.

        Args:
            estimated: its estimate, unscaled.
            usage: what the provider reported of it: see `input_tokens`.

        Raises:
            ValueError: for a usage without input tokens, or a negative estimate.
        """
        self._requests.append(_Request(_tokens("estimated", estimated), input_tokens(usage)))
        self._policy_scale = max(self._policy_scale, self._scale_now())

    def scale(self, estimate: int) -> int:
        """The tokens that a request will take whose estimate is `estimate`.

        The newest request speaks for the part of the text that both have in common, the
        constant and the rate for the rest; so a context that grew by a message is
        predicted from the one before, and one begun anew from what holds for all. Before
        anything was observed it is the estimate itself.

        Raises:
            ValueError: for a negative estimate.
        """
        _tokens("estimate", estimate)
        if not self._requests:
            return estimate
        newest = self._requests[-1]
        off = newest.reported - self._expected(newest.estimated)
        shorter, longer = sorted((estimate, newest.estimated))
        common = shorter / longer if longer else 1.0
        return max(0, round(self._expected(estimate) + off * common))

    def _expected(self, estimate: int) -> float:
        return self.constant + self.rate * estimate

    @property
    def rate(self) -> float:
        """Tokens per estimated token; from 0.5 to 8, and 1 until two requests tell."""
        slopes = _slopes(self._requests)
        if not slopes:
            return 1.0
        return min(max(_weighted_median(slopes), _LEAST_RATE), _MOST_RATE)

    @property
    def constant(self) -> int:
        """Tokens that every request takes besides what was estimated; at least 0."""
        if not self._requests:
            return 0
        rate = self.rate
        recent = islice(reversed(self._requests), _RECENT)
        rests = [(request.reported - rate * request.estimated, 1) for request in recent]
        return max(0, round(_weighted_median(rests)))

    @property
    def policy_scale(self) -> float:
        """What to multiply estimates by in fitting: the rate, in steps of 5 %, rounded up.

        It starts at 1, waits for some increments, and never falls until
        `new_conversation`: a scale that moved at every call would move the cut, and with
        it the start of the request that the provider has cached. The `constant` is not in
        it: that belongs into ``Policy.reserve``.
        """
        return self._policy_scale

    def new_conversation(self) -> None:
        """Let `policy_scale` start from what is known now, as it may before a first request."""
        self._policy_scale = self._scale_now()

    def _scale_now(self) -> float:
        grown = [length for _, length in _slopes(self._requests)]
        increments, tokens = _BEFORE_TRUST
        if len(grown) < increments or sum(grown) < tokens:
            return 1.0
        return max(1.0, _step_above(self.rate))

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, for `from_dict`.

        >>> calibration = UsageCalibration()
        >>> calibration.observe(900, 1_000)
        >>> calibration.to_dict()
        {'version': 1, 'requests': [[900, 1000]], 'policy_scale': 1.0}
        """
        requests = [list(request) for request in self._requests]
        return {"version": 1, "requests": requests, "policy_scale": self._policy_scale}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> UsageCalibration:
        """The calibration that `to_dict` made this of.

        Raises:
            ValueError: for anything else, with what is wrong.

        >>> saved = {"version": 1, "requests": [[900, 1000]], "policy_scale": 1.05}
        >>> UsageCalibration.from_dict(saved).to_dict() == saved
        True
        """
        if values.get("version") != 1:
            raise ValueError(f"version must be 1, not {values.get('version')!r}")
        calibration = cls()
        calibration._requests.extend(_read_requests(values.get("requests")))
        calibration._policy_scale = _read_scale(values.get("policy_scale"))
        return calibration

    def __repr__(self) -> str:
        observed = f"{len(self._requests)} requests"
        return f"UsageCalibration({observed}, rate={self.rate:.2f}, constant={self.constant})"


def _slopes(requests: Iterable[_Request]) -> list[tuple[float, int]]:
    """What each increment cost per estimated token, and its length: its weight.

    Where one of the two didn't grow, the requests are of two contexts.
    """
    return [
        ((later.reported - sooner.reported) / grown, grown)
        for sooner, later in pairwise(requests)
        if (grown := later.estimated - sooner.estimated) > 0 and later.reported > sooner.reported
    ]


def _weighted_median(values: list[tuple[float, int]]) -> float:
    ordered = sorted(values)
    # A single long increment must not outvote all others: it may be the outlier.
    most = sum(weight for _, weight in ordered) / 4
    weights = [min(weight, most) for _, weight in ordered]
    half, passed = sum(weights) / 2, 0.0
    for (value, _), weight in zip(ordered, weights, strict=True):
        passed += weight
        if passed >= half:
            return value
    return ordered[-1][0]


def _step_above(rate: float) -> float:
    # Rounded first, so that 1.1 isn't above 1.1 by the error of its binary fraction.
    return round(ceil(round(rate / _STEP, 9)) * _STEP, 2)


def _tokens(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, not {value}")
    return value


def _read_requests(rows: Any) -> list[_Request]:
    try:
        return [
            _Request(_tokens("requests", estimated), _tokens("requests", reported))
            for estimated, reported in rows
        ]
    except TypeError as error:
        raise ValueError(f"requests must be pairs of ints: {error}") from None


def _read_scale(scale: Any) -> float:
    number = isinstance(scale, int | float) and not isinstance(scale, bool)
    if not number or not isfinite(scale) or not 1 <= scale <= _MOST_RATE:
        raise ValueError(f"policy_scale must be from 1 to {_MOST_RATE:g}, not {scale!r}")
    return float(scale)
