"""Profiles: by what text is priced for one tokenizer family."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache, partial
from importlib.resources import files
from math import isqrt
from typing import TYPE_CHECKING, Any, TypeAlias

from turnfit import _core
from turnfit.tokens.frames import SCRIPT_FRAMES, Frames, family_of, frames_of
from turnfit.tokens.images import medium_tokens
from turnfit.tokens.models import profile_name
from turnfit.tokens.weights import GROUPS, LENGTH, UNIT, read_weights, rounded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    Text: TypeAlias = str | Buffer | NDArray[np.uint8]

__all__ = [
    "SCRIPT",
    "Features",
    "Media",
    "Pricing",
    "Profile",
    "Tariff",
    "features_many",
    "frames_in",
    "pricing_of",
    "profile",
    "profile_for",
    "profiles",
    "tariff_of",
]

Pricing: TypeAlias = "_core.Weights | Callable[[str], int] | None"
"""What the core prices texts by: weights, a callable, or None for the script's rates."""

Tariff: TypeAlias = "_core.Tariff | Pricing"
"""What the core prices messages by: texts, frames and media; or texts alone, with the
script's frames."""

Media: TypeAlias = "str | int | Callable[[Any], int] | None"
"""What media cost: by the published rule of a model, so many tokens, or what a callable says."""

ASCII_GROUP = "ASCII"
"""The name of all that is ASCII, and of all shapes, among a bound's groups."""


@dataclass(frozen=True)
class Bound:
    """How far the true count may lie above an estimate, by where the error comes from.

    Attributes:
        factors: by how much the share of each group of characters grows.
        root: and this times the root of the estimate, which matters for short texts.
    """

    factors: Mapping[str, float]
    root: float

    def by_part(self) -> list[float]:
        """By what ASCII and all shapes are multiplied, and then each of the `GROUPS`."""
        names = [ASCII_GROUP, *(group.name for group in GROUPS)]
        return [1 + self.factors.get(name, 0) for name in names]

    def weights(self, weights: list[int]) -> list[int]:
        """The weights of the bound."""
        ascii_, *scripts = self.by_part()
        factors = [ascii_] * LENGTH
        for group, factor in zip(GROUPS, scripts, strict=True):
            for at in group.indices:
                factors[at] = factor
        return rounded(weight * factor for weight, factor in zip(weights, factors, strict=True))


@dataclass(frozen=True)
class Profile:
    """The weights by which text is priced for one tokenizer family.

    Attributes:
        name: the name without a version.
        version: what a version weighs never changes.
        margin: the share of a budget to hold back, so that 99 % of whole requests truly fit.
        provenance: from what it was fitted, when, and its errors there and on what was left
            out of the fit.
        frames: what the provider adds to texts.
        media: what an image costs in a message: by the rule of the model that is named here
            (see `turnfit.tokens.images.medium_tokens`), or so many tokens, or what a callable
            from the medium, as the message has it, to tokens says: for a proxy that bills
            base64 as text, ``dataclasses.replace(profile, media=...)``. None for 1,600.

    >>> profile("o200k_base").estimate("How many tokens is this?")
    5
    """

    name: str
    version: int
    margin: float
    weights: tuple[int, ...] = field(repr=False)
    bound: Bound = field(repr=False)
    provenance: Mapping[str, Any] = field(repr=False, default_factory=dict)
    frames: Frames = field(repr=False, default=SCRIPT_FRAMES)
    media: Media = None

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    @cached_property
    def pricing(self) -> Pricing:
        """What the core prices texts by."""
        return _core.Weights(list(self.weights))

    @cached_property
    def tariff(self) -> Tariff:
        """What the core prices messages by."""
        return _core.Tariff(self.pricing, self.frames, self.media_pricing)

    @cached_property
    def media_pricing(self) -> Callable[[Any, Any], int] | None:
        """What the core prices media by."""
        media = self.media
        if media is None:
            return None
        if isinstance(media, str):
            return partial(medium_tokens, media)
        if callable(media):
            return lambda medium, holder: media(medium)
        return lambda medium, holder: media

    @cached_property
    def _upper(self) -> _core.Weights:
        return _core.Weights(self.bound.weights(list(self.weights)))

    def estimate(self, text: Text) -> int:
        """The tokens of a text, without bias: as often too high as too low.

        A longer text is never cheaper.

        >>> profile("claude_v4_7").estimate("привет"), profile("claude_v4_7").estimate("привет мир")
        (2, 3)
        """
        return _core.estimate(text, profile=self)

    def upper(self, text: Text) -> int:
        """A number of tokens that the true count exceeds in at most 1 % of texts of 40
        characters or more, measured on texts left out of the fit.

        >>> profile("o200k_base").upper("How many tokens is this?") > 6
        True
        """
        return self._bounded(self._upper.weigh(text))

    def _bounded(self, weight: int) -> int:
        root = int(self.bound.root * 1000)
        return -(-(weight + root * isqrt(weight * UNIT) // 1000) // UNIT)

    def apply(self, features: Features) -> NDArray[np.int64]:
        """The tokens of texts whose features were counted before, as `estimate` prices them.

        >>> profile("o200k_base").apply(features_many(["one", "two words"])).tolist()
        [1, 4]
        """
        import numpy as np

        weights = np.asarray(self.weights, np.int64)
        weighed = weights[features.indices] * features.counts
        sums = np.concatenate([[0], np.cumsum(weighed)])
        starts, ends = features.offsets[:-1], features.offsets[1:]
        tokens: NDArray[np.int64] = -((sums[starts] - sums[ends]) // UNIT)
        return tokens


@dataclass(frozen=True)
class Features:
    """What profiles weigh of some texts, one behind the other.

    Text i has ``counts[offsets[i]:offsets[i + 1]]`` of the features
    ``indices[offsets[i]:offsets[i + 1]]``, none of them 0.
    """

    offsets: NDArray[np.int64]
    indices: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def features_many(texts: Iterable[Text]) -> Features:
    """The features of texts, to be priced by any number of profiles without reading again.

    Raises:
        TypeError: for what is no text.

    >>> len(features_many(["one", "two"]))
    2
    """
    import numpy as np

    counted = [_core.features(text) for text in texts]
    offsets = np.cumsum([0, *(len(indices) for indices, _ in counted)])
    return Features(
        offsets.astype(np.int64),
        np.array([at for indices, _ in counted for at in indices], np.int64),
        np.array([count for _, counts in counted for count in counts], np.int64),
    )


class ScriptProfile(Profile):
    """The rule of thumb, which needs no data: see `turnfit.estimate`."""

    @property
    def pricing(self) -> Pricing:
        """The core's own rates."""
        return None

    @property
    def tariff(self) -> Tariff:
        """The core's own rates, frames and price of media."""
        return None

    def estimate(self, text: Text) -> int:
        """The tokens of a text by its script alone."""
        return _core.estimate(text)

    def upper(self, text: Text) -> int:
        """There is no bound: the rates can be too low by any factor up to 6."""
        raise NotImplementedError("the profile script has no bound; calibrated profiles have")

    def apply(self, features: Features) -> NDArray[np.int64]:
        """The script's ranges are finer than what features tell apart."""
        raise NotImplementedError("the profile script can't be applied; use estimate_many")


SCRIPT = ScriptProfile("script", 1, 0.0, (), Bound({}, 0.0))
"""The profile where none is named."""


def profiles() -> list[str]:
    """The names of all profiles that turnfit ships.

    >>> "any" in profiles()
    True
    """
    data = files("turnfit.tokens").joinpath("data")
    names = {entry.name.partition("@")[0] for entry in data.iterdir() if "@" in entry.name}
    return sorted(names | {SCRIPT.name})


@lru_cache(maxsize=64)
def profile(name: str) -> Profile:
    """The profile with a name, such as ``"o200k_base"`` or ``"claude_v4_7@1"``.

    Without a version it is the newest: that moves only with a minor release of turnfit.

    Raises:
        ValueError: for a name or version that there is not, with the nearest name.

    >>> str(profile("gemma3")), profile("gemma3") is profile("gemma3")
    ('gemma3@1', True)
    """
    if name in ("script", "script@1"):
        return SCRIPT
    base, _, version = name.partition("@")
    data = files("turnfit.tokens").joinpath("data")
    found = {
        int(match[1]): entry
        for entry in data.iterdir()
        if (match := re.fullmatch(re.escape(base) + r"@(\d+)\.json", entry.name))
    }
    if not found:
        near = get_close_matches(base, profiles(), 1, 0.4)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"there is no profile {base!r}{hint}")
    if version and (not version.isdigit() or int(version) not in found):
        has = ", ".join(f"@{number}" for number in sorted(found))
        raise ValueError(f"profile {base!r} has no version {version!r}, only {has}")
    chosen = int(version) if version else max(found)
    read = profile_of(json.loads(found[chosen].read_text("utf-8")))
    return replace(read, frames=frames_of(family_of(base)), media=_MEDIA.get(base))


_MEDIA = {
    "claude_v3": "claude-sonnet-4-5",
    "claude_v4_7": "claude-opus-4-7",
    "gemma3": "gemini-2.5-flash",
}
"""By whose rule a profile prices images, where all models of its tokenizer have one."""


def profile_of(written: Mapping[str, Any]) -> Profile:
    """The profile that a file of `turnfit calibrate` holds, as parsed JSON.

    Raises:
        ValueError: for a file that is no profile, with what is wrong.
    """
    try:
        bound = Bound(written["bound"]["factors"], written["bound"]["root"])
        name, version, margin = written["name"], written["version"], written["margin"]
        weights = read_weights(written["weights"])
    except KeyError as error:
        raise ValueError(f"a profile needs {error.args[0]!r}") from None
    return Profile(name, version, margin, tuple(weights), bound, written.get("provenance", {}))


def pricing_of(profile_: str | Profile | Callable[[str], int] | None) -> Pricing:
    """What the core prices by, for whatever names a profile."""
    if isinstance(profile_, str):
        return profile(profile_).pricing
    if isinstance(profile_, Profile):
        return profile_.pricing
    if profile_ is None or callable(profile_):
        return profile_
    kind = type(profile_).__name__
    raise TypeError(f"profile must be a name, a Profile or a callable, not {kind}")


def tariff_of(
    profile_: str | Profile | Callable[[str], int] | None, model: str | None = None
) -> Tariff:
    """What the core prices messages by: texts by the profile or else the model's, frames
    and media by the model or else the profile's. The profile ``script`` stays as it is.

    Raises:
        TypeError: for what names no profile or no model.
        ValueError: for a profile that there is not.
    """
    named = profile(profile_) if isinstance(profile_, str) else profile_
    if isinstance(named, ScriptProfile):
        return None
    if model is None:
        return named.tariff if isinstance(named, Profile) else pricing_of(named)
    own = profile_for(model)
    if named is None:
        return own.tariff
    return _core.Tariff(pricing_of(named), own.frames, own.media_pricing)


def frames_in(tariff: Tariff) -> Frames:
    """The frames by which messages are priced.

    >>> frames_in(None).message
    3
    """
    return tariff.frames if isinstance(tariff, _core.Tariff) else SCRIPT_FRAMES


def profile_for(model: str) -> Profile:
    """The profile of a model, by its public name.

    A gateway's spelling, a provider in front, a date, a region or a tag behind are all
    understood (``"openrouter/anthropic/claude-sonnet-4.5"``,
    ``"us.anthropic.claude-sonnet-4-5-20250929-v1:0"``).

    Args:
        model: the name, as it is sent.

    Returns:
        The profile, with the frames of this model and the rule by which it prices images;
        for a model that isn't known ``any``, with a warning: it is priced as the dearest of
        all known tokenizers would count.

    >>> profile_for("gpt-5.1").name, profile_for("anthropic/claude-opus-4-7").name
    ('o200k_base', 'claude_v4_7')
    """
    name = profile_name(model)
    if name is None:
        warnings.warn(
            f"no profile is known for the model {model!r}: it is priced by 'any', which is "
            "too high for most; name a profile to be closer",
            stacklevel=2,
        )
    return _profile_of_model(model)


@lru_cache(maxsize=256)
def _profile_of_model(model: str) -> Profile:
    own = profile(profile_name(model) or "any")
    family = family_of(own.name, model)
    return replace(own, frames=frames_of(family, own.version), media=model)
