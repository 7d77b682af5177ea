"""Recorded requests set against the usage that was reported of them.

A log has a line of JSON for each request: ``model``, ``request`` (the body that was sent)
and ``usage`` (what the provider reported); a ``response`` that holds the usage will do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil
from typing import Any, TypeAlias
from urllib.parse import unquote

from turnfit.errors import TurnfitError
from turnfit.fitting.fit import fit
from turnfit.fitting.policy import Policy
from turnfit.messages.requests import Request, read_request, tools_in
from turnfit.tokens.profiles import Profile, profile_for
from turnfit.tokens.usage import input_tokens

__all__ = ["Audit", "AuditedModel", "LogError", "audit"]

Pricing: TypeAlias = str | Profile | Callable[[str], int] | None


class LogError(TurnfitError, ValueError):
    """A line of a log that holds no JSON object."""


@dataclass(frozen=True)
class _Pair:
    line: int
    estimated: int
    reported: int

    @property
    def error(self) -> float:
        return (self.estimated - self.reported) / self.reported


@dataclass
class AuditedModel:
    """How a model's requests were estimated. Shares are of what was reported: 0.1 is 10 %.

    Attributes:
        model: its name as recorded.
        over: how many requests a policy would have changed; 0 without a policy.
        unfit: how many of those it couldn't bring into its budget.
        sent: the estimated tokens that would have been sent under the policy.
    """

    model: str
    over: int = 0
    unfit: int = 0
    sent: int = 0
    _pairs: list[_Pair] = field(default_factory=list, repr=False)

    @property
    def requests(self) -> int:
        """How many were audited."""
        return len(self._pairs)

    @property
    def estimated(self) -> int:
        """The sum of the estimates."""
        return sum(pair.estimated for pair in self._pairs)

    @property
    def reported(self) -> int:
        """The sum of the input tokens that the provider reported."""
        return sum(pair.reported for pair in self._pairs)

    @property
    def bias(self) -> float:
        """By what share all estimates together were too high; negative where too low."""
        return (self.estimated - self.reported) / self.reported

    def error(self, percentile: int) -> float:
        """The error, too high or too low, that so many of a hundred requests kept within."""
        errors = sorted(abs(pair.error) for pair in self._pairs)
        return errors[ceil(len(errors) * percentile / 100) - 1]

    @property
    def margin(self) -> float:
        """What share had to be added to every estimate so that none was too low."""
        return max(0.0, self._worst.reported / self._worst.estimated - 1)

    @property
    def worst_line(self) -> int:
        """The log's line, from 1, whose estimate was the lowest for what was reported."""
        return self._worst.line

    @property
    def _worst(self) -> _Pair:
        return max(self._pairs, key=lambda pair: pair.reported / pair.estimated)

    def to_dict(self) -> dict[str, Any]:
        """All figures, as JSON has them."""
        names = ("model", "requests", "estimated", "reported", "bias")
        errors = {f"p{percentile}": self.error(percentile) for percentile in (50, 95, 99)}
        rest = ("margin", "worst_line", "over", "unfit", "sent")
        figures = {name: getattr(self, name) for name in names}
        return {**figures, **errors, **{name: getattr(self, name) for name in rest}}


@dataclass
class Audit:
    """What an audit found.

    Attributes:
        models: each model's figures, the most requests first.
        skipped: how many lines were left out, by why.
    """

    models: list[AuditedModel]
    skipped: Counter[str]


def audit(
    lines: Iterable[str | bytes],
    name: str = "log",
    *,
    policy: Policy | None = None,
    plain: bool = False,
    least: int = 1,
    profile: Pricing = "model",
) -> Audit:
    """Set recorded requests against what was reported of them, model by model.

    Args:
        lines: the log's lines; read one at a time.
        name: what errors call the log.
        policy: what requests would have been fitted by, to tell what would have been sent.
        plain: leave out requests with media, with the provider's own tools, or with
            thinking: they cost tokens that are not in the text.
        least: leave out requests of which fewer input tokens were reported: in short ones
            the provider's frames outweigh the text.
        profile: by what text is priced: a profile's name, a `turnfit.Profile`, a callable
            from a str to its tokens, None for `script`, or ``"model"`` for the profile of
            the model that each request names (`profile_for`: ``any``, with a warning, for
            one that isn't known). A policy that names none is given it too.

    Raises:
        LogError: for a line that holds no JSON object, with its number.

    >>> line = {"model": "gpt-5.1", "usage": {"prompt_tokens": 11},
    ...         "request": {"messages": [{"role": "user", "content": "Hello, world!"}]}}
    >>> [found] = audit([json.dumps(line)]).models
    >>> found.requests, found.estimated, found.bias
    (1, 11, 0.0)
    """
    models: dict[str, AuditedModel] = {}
    skipped: Counter[str] = Counter()
    # Once for each model, so that an unknown one isn't warned of at every line.
    profile_of_model = cache(profile_for)
    for number, row in _rows(lines, name):
        try:
            model, request, reported = read_line(row, plain, least)
        except LeftOut as left_out:
            skipped[str(left_out)] += 1
            continue
        found = models.setdefault(model, AuditedModel(model))
        priced_by = profile_of_model(model) if profile == "model" else profile
        found._pairs.append(_Pair(number, request.tokens(priced_by), reported))
        if policy is not None:
            _fit(found, request, _policy_by(policy, priced_by))
    return Audit(sorted(models.values(), key=lambda found: -found.requests), skipped)


def _rows(lines: Iterable[str | bytes], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            told = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise LogError(f"{name}:{number}: broken JSON: {told}") from None
        if not isinstance(row, dict):
            raise LogError(f"{name}:{number}: wanted is an object, not {type(row).__name__}")
        yield number, row


class LeftOut(Exception):  # noqa: N818 - it is no error
    """Why a line is left out."""


def read_line(row: dict[str, Any], plain: bool, least: int) -> tuple[str, Request, int]:
    """A line's model, request and reported tokens.

    Raises:
        LeftOut: for a line that `audit` leaves out, with why.
    """
    body = _body(row)
    reported = _reported(row, least)
    if why := _hidden(body) or (plain and _extras(body, row.get("usage"))):
        raise LeftOut(why)
    model = row.get("model") or body.get("model") or "?"
    return unquote(str(model)), _request(body), reported


def _reported(row: dict[str, Any], least: int) -> int:
    try:
        reported = input_tokens(row.get("usage") or row.get("response"))
    except ValueError:
        reported = 0
    if reported < max(1, least):
        raise LeftOut("short" if reported else "no usage")
    return reported


def _request(body: dict[str, Any]) -> Request:
    try:
        request = read_request(body)
        # A message that can't be read shows only when it is priced.
        request.tokens()
    except (TypeError, ValueError):
        raise LeftOut("unknown format") from None
    return request


def _body(row: dict[str, Any]) -> dict[str, Any]:
    body = row.get("request")
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            body = None
    if not isinstance(body, dict):
        raise LeftOut("no request")
    return body


def _policy_by(policy: Policy, profile: Pricing) -> Policy:
    """The policy, by this profile where it names neither a profile nor a model."""
    if profile is None or policy.profile is not None or policy.model is not None:
        return policy
    return replace(policy, profile=profile)


def _fit(found: AuditedModel, request: Request, policy: Policy) -> None:
    fitted = fit(
        request.messages,
        policy,
        system=request.system,
        tools=request.tools,
        format=request.format,
    )
    found.sent += fitted.tokens
    found.over += fitted.step != "whole"
    found.unfit += not fitted.fits


_HIDDEN = ("previous_response_id", "conversation", "cachedContent", "prompt", "container")
"""What stands for messages that the provider holds."""
_MEDIA = frozenset(
    (
        *("image", "image_url", "input_image", "document", "file", "input_file"),
        *("audio", "input_audio", "video", "video_url", "container_upload", "document_url"),
    )
)
_MEDIA_KEYS = frozenset(
    ("inlineData", "inline_data", "fileData", "file_data", "image", "document", "video", "audio")
)
_THINKING = frozenset(("thinking", "redacted_thinking", "reasoning", "reasoning.text"))
_CALLERS = frozenset((None, "function", "custom"))
_OWN_TOOLS = ("mcp_servers", "web_search_options", "plugins")
"""What of a body gives the model tools that the provider runs."""
_PLAIN_TOOL_KEYS = frozenset(
    ("name", "function", "functionDeclarations", "function_declarations", "toolSpec", "cachePoint")
)


def _hidden(body: Mapping[str, Any]) -> str:
    return "held by the provider" if any(body.get(key) for key in _HIDDEN) else ""


def _extras(body: Mapping[str, Any], usage: Any) -> str:
    """What of a request costs tokens that its text doesn't show."""
    kinds: set[str] = set()
    for key in ("messages", "contents", "input"):
        kinds |= _kinds(body.get(key))
    if kinds & _MEDIA:
        return "media"
    if _has_own_tools(body, usage):
        return "the provider's tools"
    asked = body.get("additionalModelRequestFields")
    asked = asked if isinstance(asked, Mapping) else {}
    settings = (body.get("thinking"), asked.get("thinking"), asked.get("reasoning_config"))
    thinks = any(map(_thinks, settings)) or bool(kinds & _THINKING)
    return "thinking" if thinks else ""


def _thinks(thinking: Any) -> bool:
    return isinstance(thinking, Mapping) and thinking.get("type") != "disabled"


def _kinds(value: Any) -> set[str]:
    """The types of all blocks in messages; a block of media may be told by its key."""
    found: set[str] = set()
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        elif isinstance(value, dict):
            kind = value.get("type")
            found |= {kind} if isinstance(kind, str) else _told_by_keys(value)
            left += value.values()
    return found


def _told_by_keys(block: Mapping[str, Any]) -> set[str]:
    held = {key for key in block if isinstance(block[key], dict)}
    thinks = {"thinking"} if "reasoningContent" in held else set()
    return thinks | ({"image"} if held & _MEDIA_KEYS else set())


def _has_own_tools(body: Mapping[str, Any], usage: Any) -> bool:
    own = any(body.get(key) for key in _OWN_TOOLS) or any(map(_is_own_tool, tools_in(body)))
    used = usage.get("server_tool_use") if isinstance(usage, dict) else None
    return own or (isinstance(used, dict) and any(used.values()))


def _is_own_tool(tool: Any) -> bool:
    if not isinstance(tool, dict):
        return True
    return tool.get("type") not in _CALLERS or _PLAIN_TOOL_KEYS.isdisjoint(tool)
