"""What an image costs by its provider's published rule, from its size.

- Anthropic: a token for each patch of 28 pixels square, after scaling down to what the
  model sees: a long edge of 1,568 pixels and 1,568 tokens, from Claude 4.7 on 2,576 and
  4,784 (https://platform.claude.com/docs/en/build-with-claude/vision, 2026-11).
- OpenAI: patches of 32 pixels square within a budget, by the newer models; tiles of 512,
  by the older ones (https://developers.openai.com/api/docs/guides/images-vision, 2026-11).
- Gemini: from 3 on a number by ``media_resolution`` whatever the size
  (https://ai.google.dev/gemini-api/docs/media-resolution, 2026-11); before, 258 for each
  tile (https://ai.google.dev/gemini-api/docs/image-understanding, 2026-11).
- Bedrock and other gateways: as the model that they serve.

For a model that isn't known it is Claude's newer rule, the dearest of those with a limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, floor, sqrt
from typing import Any, TypeAlias

from turnfit.tokens.headers import image_size
from turnfit.tokens.models import plain_model_name, profile_name

__all__ = ["MEDIUM", "image_tokens", "medium_tokens", "unsized_image_tokens"]

MEDIUM = 1_600
"""What a sound, a file, or an image of unknown size costs in a message: about the most
that an image costs with Claude before 4.7, a little over OpenAI's high detail."""

_UNSIZED = (2_048, 2_048)
"""For an image of unknown size: what a large screenshot comes to, after any scaling down."""


@dataclass(frozen=True)
class _Patches:
    """Patches of `edge` pixels square; at most `budget`, along at most `longest` pixels."""

    edge: int
    budget: int | None = None
    longest: int | None = None
    multiplier: float = 1

    def tokens(self, width: int, height: int) -> int:
        if self.longest is not None:
            width, height = _within(width, height, self.longest)
        patches = _patches(width, height, self.edge)
        if self.budget is not None and patches > self.budget:
            patches = self._shrunk(width, height, self.budget)
        # Rounded first: 1.1 is a little above 1.1.
        return ceil(round(patches * self.multiplier, 6))

    def _shrunk(self, width: int, height: int, budget: int) -> int:
        """As OpenAI shrinks: so far that whole patches come to the budget at most."""
        factor = sqrt(self.edge**2 * budget / (width * height))
        across, down = (side * factor / self.edge for side in (width, height))
        kept = min(floor(across) / across, floor(down) / down)
        if not kept:
            return budget
        # Rounded first: 1056 may come out a little below.
        width, height = (max(1, floor(round(side * factor * kept, 6))) for side in (width, height))
        return min(budget, _patches(width, height, self.edge))


@dataclass(frozen=True)
class _Fitted:
    """Claude's patches: the largest of the same proportions within both limits."""

    longest: int
    budget: int
    edge: int = 28

    def tokens(self, width: int, height: int) -> int:
        sides = _within(width, height, self.longest)
        if _patches(*sides, self.edge) <= self.budget:
            return _patches(*sides, self.edge)
        low, high = 0.0, max(sides) / max(width, height)
        for _ in range(40):
            middle = (low + high) / 2
            fits = _patches(*_scaled(width, height, middle), self.edge) <= self.budget
            low, high = (middle, high) if fits else (low, middle)
        return _patches(*_scaled(width, height, low), self.edge)


@dataclass(frozen=True)
class _Tiles:
    """OpenAI's tiles of 512 pixels, after scaling down to 2,048 and 768 on the short side."""

    base: int
    tile: int

    def tokens(self, width: int, height: int) -> int:
        width, height = _within(width, height, 2_048)
        factor = min(1.0, 768 / min(width, height))
        width, height = _scaled(width, height, factor)
        return self.base + self.tile * _patches(width, height, 512)


@dataclass(frozen=True)
class _Crops:
    """Gemini's tiles before 3: one where both sides are small, else by the short side."""

    tile: int = 258

    def tokens(self, width: int, height: int) -> int:
        if max(width, height) <= 384:
            return self.tile
        unit = min(max(floor(min(width, height) / 1.5), 256), 768)
        return self.tile * _patches(width, height, unit)


@dataclass(frozen=True)
class _Flat:
    """The same for every size."""

    count: int

    def tokens(self, width: int, height: int) -> int:
        return self.count


_Rule: TypeAlias = _Patches | _Fitted | _Tiles | _Crops | _Flat
_ByDetail: TypeAlias = Mapping[str, _Rule]


def _openai_patches(budget: int, multiplier: float = 1, **more: _Rule) -> _ByDetail:
    high = _Patches(32, budget, 2_048, multiplier)
    return {"": high, "high": high, "low": _Patches(32, None, 512, multiplier), **more}


def _openai_tiles(base: int, tile: int) -> _ByDetail:
    return {"": _Tiles(base, tile), "low": _Flat(base)}


_ORIGINAL = _Patches(32, 10_000, 6_000)
_UNLIMITED = _Patches(32)
_CLAUDE = {"": _Fitted(1_568, 1_568)}
_CLAUDE_SHARP = {"": _Fitted(2_576, 4_784)}
_RESOLUTIONS = {"low": _Flat(280), "medium": _Flat(560), "high": _Flat(1_120)}

_OPENAI: tuple[tuple[str, _ByDetail], ...] = (
    (r"gpt-4o-mini", _openai_tiles(2_833, 5_667)),
    (r"gpt-4\.1-mini", _openai_patches(1_536, 1.62)),
    (r"gpt-4\.1-nano", _openai_patches(1_536, 2.46)),
    (r"(?:chat)?gpt-?4", _openai_tiles(85, 170)),
    (r"gpt-5(?:[.-]4)?-mini", _openai_patches(1_536, 1.62)),
    (r"gpt-5(?:[.-]4)?-nano", _openai_patches(1_536, 2.46)),
    (r"gpt-5[.-]4", _openai_patches(2_500, original=_ORIGINAL)),
    (r"gpt-5[.-]5", {**_openai_patches(2_500, original=_ORIGINAL), "": _ORIGINAL}),
    (
        r"gpt-5[.-]6|gpt-6",
        {**_openai_patches(2_500, original=_UNLIMITED), "": _UNLIMITED},
    ),
    (r"gpt-5[.-][23]|gpt-5(?:[.-]1)?-codex-mini", _openai_patches(1_536)),
    (r"gpt-5", _openai_tiles(70, 140)),
    (r"o4-mini", _openai_patches(1_536, 1.72)),
    (r"o[134]", _openai_tiles(75, 150)),
    (r"computer-use-preview", _openai_tiles(65, 129)),
)
_GEMINI: tuple[tuple[str, _ByDetail], ...] = (
    (r"gemini-[12]", {"": _Crops(), "low": _Flat(64), "medium": _Flat(256)}),
    (r"gemini-", {"": _Flat(1_120), "ultra_high": _Flat(2_240), **_RESOLUTIONS}),
)


_LONGEST_SENT = 65_535
"""Pixels; a header that tells more is not believed. No provider takes as many, and a JPEG has
no room for more."""

_LONGEST = 2**31 - 1
"""Pixels; what the header of a PNG can say: https://www.w3.org/TR/png-3/#11IHDR."""


def image_tokens(width: int, height: int, model: str = "", detail: str | None = None) -> int:
    """The tokens that an image of this size costs.

    Args:
        width: in pixels, at least 1.
        height: likewise.
        model: the model's name in any spelling that `profile_name` reads; an unknown one
            is priced by Claude's newer rule.
        detail: OpenAI's ``detail`` (``low``, ``high``, ``original``, ``auto``) or Gemini's
            ``media_resolution`` (``low`` or ``MEDIA_RESOLUTION_LOW``, ...). What the model
            doesn't have is its default.

    Raises:
        ValueError: for a size that no image has.

    >>> image_tokens(1920, 1080, "claude-sonnet-4-5"), image_tokens(1920, 1080, "claude-opus-5")
    (1560, 2691)
    >>> image_tokens(1024, 1024, "gpt-4o"), image_tokens(1024, 1024, "gpt-4o", detail="low")
    (765, 85)
    >>> image_tokens(1920, 1080, "gemini-3-pro-preview")
    1120
    """
    if not isinstance(detail, str | None):
        raise TypeError(f"detail must be a str, not {type(detail).__name__}")
    for name, side in (("width", width), ("height", height)):
        if isinstance(side, bool) or not isinstance(side, int) or side < 1:
            raise ValueError(f"{name} must be an int of at least 1, not {side!r}")
        if side > _LONGEST:
            raise ValueError(f"{name} must be at most {_LONGEST:,}")
    return _rule(model, detail).tokens(width, height)


def unsized_image_tokens(model: str = "", detail: str | None = None) -> int:
    """What to count for an image whose size can't be read: one of 2,048 pixels square.

    That is as dear as an image gets for the models that scale down, or near it.

    >>> unsized_image_tokens("claude-sonnet-4-5"), unsized_image_tokens("gpt-4o")
    (1521, 765)
    """
    return image_tokens(*_UNSIZED, model, detail)


_HELD_IN = ("url", "data", "bytes", "base64", "source", "image_url", "file_data")
_TYPED_IN = ("mimeType", "mime_type", "media_type")
_IMAGES = ("image", "image_url", "input_image")


def medium_tokens(model: str, medium: Any, holder: Mapping[str, Any] | None = None) -> int:
    """The tokens of an image as a message has it, in whichever wire format.

    Its size is read from the header of what it bears in bytes or base64. An image that
    only an address stands for, a sound or a file is `MEDIUM`; an image whose price
    doesn't depend on its size has that price.

    Args:
        model: as in `image_tokens`.
        medium: a data URL, base64 or bytes, or the dict around them.
        holder: the dict in which it stands, where its detail may be told.

    >>> gif = "R0lGODlhgALgAQ=="
    >>> medium_tokens("claude-opus-5", {"type": "base64", "data": gif})
    414
    >>> medium_tokens("gpt-4o", {"url": "https://example.org/a.png", "detail": "low"},
    ...               {"type": "image_url"})
    85
    """
    rule = _rule(model, _detail(medium) or _detail(holder))
    data = _data(medium)
    size = None if data is None else image_size(data)
    if size is not None and max(size) <= _LONGEST_SENT:
        return rule.tokens(*size)
    is_flat = isinstance(rule, _Flat) and _is_image(medium, holder)
    return rule.tokens(1, 1) if is_flat else MEDIUM


def _data(medium: Any) -> str | bytes | None:
    while isinstance(medium, Mapping):
        medium = next((medium[key] for key in _HELD_IN if medium.get(key) is not None), None)
    return medium if isinstance(medium, str | bytes) else None


def _detail(medium: Any) -> str | None:
    if not isinstance(medium, Mapping):
        return None
    for key in ("detail", "mediaResolution", "media_resolution"):
        told = medium.get(key)
        told = told.get("level") if isinstance(told, Mapping) else told
        if isinstance(told, str):
            return told
    return None


def _is_image(medium: Any, holder: Any) -> bool:
    if isinstance(medium, str) and medium.startswith("data:"):
        return medium.startswith("data:image/")
    told = [each for each in (medium, holder) if isinstance(each, Mapping)]
    types = [str(each[key]) for each in told for key in _TYPED_IN if isinstance(each.get(key), str)]
    if types:
        return types[0].startswith("image/")
    return any(each.get("type") in _IMAGES or "image" in each for each in told)


def _rule(model: str, detail: str | None) -> _Rule:
    details = _details(plain_model_name(model), model)
    wanted = (detail or "").lower().removeprefix("media_resolution_")
    return details.get(wanted, details[""])


@lru_cache(maxsize=256)
def _details(name: str, model: str) -> _ByDetail:
    for pattern, details in (*_OPENAI, *_GEMINI):
        if re.match(pattern, name):
            return details
    old = profile_name(model) == "claude_v3" or re.match(r"claude-(?:instant|v?[12])", name)
    return _CLAUDE if old else _CLAUDE_SHARP


def _within(width: int, height: int, longest: int) -> tuple[int, int]:
    return _scaled(width, height, min(1.0, longest / max(width, height)))


def _scaled(width: int, height: int, factor: float) -> tuple[int, int]:
    return max(1, round(width * factor)), max(1, round(height * factor))


def _patches(width: int, height: int, edge: int) -> int:
    return ceil(width / edge) * ceil(height / edge)
