"""What providers add to the texts of a request: frames, tools, the schema of an answer.

The figures are data (``data/frames``), fitted to requests whose usage the providers
reported; ``benches/frames.py`` makes them, and docs/accuracy.md tells their errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import ceil
from typing import Any

from turnfit.tokens.models import plain_model_name, profile_name

__all__ = ["FAMILIES", "SCRIPT_FRAMES", "Frames", "descriptions", "family_of", "frames_of"]


@dataclass(frozen=True)
class Frames:
    """What a provider adds to the texts of a request, in tokens.

    Attributes:
        request: once.
        message: to each message.
        system: to a system prompt that stands beside the messages.
        call: to each call, beside its name, its id and its arguments.
        result: to each result.
        ids: whether the model is shown the ids of calls and results.
        tools: once, where there is a tool.
        tool: to each tool.
        schema: for each token of a definition's compact JSON.
        described: and for each token of the descriptions in it.
        answer: for the schema of an answer, beside its JSON.
        sealed: for each character of an encrypted payload (a signature, reasoning); None
            where it is priced as text.

    >>> clock = {"name": "get_time", "description": "Tells the time."}
    >>> Frames(tools=300, tool=10, schema=0.5, described=1).definitions([(clock, 20, 4)])
    324
    """

    request: int = 3
    message: int = 3
    system: int = 0
    call: int = 0
    result: int = 0
    ids: bool = True
    tools: int = 0
    tool: int = 0
    schema: float = 1.0
    described: float = 0.0
    answer: int = 0
    sealed: float | None = None

    def definitions(self, priced: Iterable[tuple[Any, int, int]]) -> int:
        """The tokens of tools, and of an answer's schema among them, each given with the
        price of its JSON and of the descriptions in it."""
        tools = answers = tokens = 0
        for definition, price, described in priced:
            tokens += ceil(round(self.schema * price + self.described * described, 6))
            if _is_answer(definition):
                answers += 1
            else:
                tools += _declared(definition)
        return tokens + bool(tools) * self.tools + tools * self.tool + answers * self.answer


SCRIPT_FRAMES = Frames()
"""OpenAI's published rule: 3 a message and 3 a request
(https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken)."""


def descriptions(definition: Any) -> Iterator[str]:
    """The descriptions in a definition, at any depth.

    >>> list(descriptions({"name": "f", "parameters": {"a": {"description": "A number."}}}))
    ['A number.']
    """
    left = [definition]
    while left:
        value = left.pop()
        if isinstance(value, Mapping):
            left += value.values()
            text = value.get("description")
            if isinstance(text, str):
                yield text
        elif isinstance(value, list | tuple):
            left += value


_NAMES = ("name", "function", "functionDeclarations", "function_declarations", "toolSpec", "type")


def _is_answer(definition: Any) -> bool:
    """A schema of an answer has no name, and a type that no tool has."""
    if not isinstance(definition, Mapping):
        return False
    kind = definition.get("type")
    schema_like = kind in ("object", "array", "string") or isinstance(kind, list)
    return "name" not in definition and (
        schema_like or not any(key in definition for key in _NAMES)
    )


def _declared(definition: Any) -> int:
    """How many tools a definition holds: Gemini's have several, a cache mark none."""
    if not isinstance(definition, Mapping):
        return 1
    for key in ("functionDeclarations", "function_declarations"):
        if isinstance(definition.get(key), list):
            return len(definition[key])
    return 0 if list(definition) == ["cachePoint"] else 1


FAMILIES: tuple[tuple[str, str], ...] = (
    (r".*gpt-oss", "gpt-oss"),
    (r"gpt-?[5-9]", "openai-5"),
    (r"gemini-3", "gemini-3"),
    (r"gemini-2[.-]5", "gemini-2.5"),
    (r"gemini-", "gemini-2.0"),
    (r"deepseek-v4", "deepseek-v4"),
    (r".*nova-(?:2-)?(?:micro|lite|pro|premier)", "nova"),
)
"""Models that are framed otherwise than the rest of their tokenizer: a pattern of the plain
name, and the family."""

_BY_PROFILE = {
    "claude_v3": "claude",
    "claude_v4_7": "claude-4.7",
    "o200k_base": "openai",
    "cl100k_base": "openai",
    "gemma3": "gemini-2.5",
    "llama3": "llama-3",
    "llama4": "llama-4",
    "mistral_tekken": "mistral",
    "deepseek_v3": "deepseek",
    "command_r": "command-r",
    "any": "claude",
}
"""Of a model that isn't known, the frames are of those that add the most among the large."""

_REST = "open"
"""Models of open weights of which too few requests were recorded: all of those together."""


def family_of(profile: str, model: str | None = None) -> str:
    """Which frames a model has, or a profile where no model is named.

    >>> family_of("o200k_base"), family_of("o200k_base", "openai/gpt-oss-120b")
    ('openai', 'gpt-oss')
    """
    if model is not None:
        name = plain_model_name(model)
        for pattern, family in FAMILIES:
            if re.match(pattern, name):
                return family
        profile = profile_name(model) or "any"
    return _BY_PROFILE.get(profile, _REST)


@cache
def frames_of(family: str, version: int = 1) -> Frames:
    """The frames of a family, or of the open weights together where it has none of its own;
    what a version says never changes.

    >>> frames_of("claude").tools > 300
    True
    """
    name = f"frames@{version}.json"
    data = files("turnfit.tokens").joinpath("data", "frames", name).read_text("utf-8")
    families = json.loads(data)["families"]
    return Frames(**families.get(family, families[_REST])["frames"])
