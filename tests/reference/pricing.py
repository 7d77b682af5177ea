"""What texts and values cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Literal

Format = Literal[
    "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse", "langchain"
]
Message = Any
Spot = tuple[int, int]
"""A call or a result: the index of its message, and which of the message's calls (results)."""

FRAME = 3
"""A message costs 3 besides its texts."""
REQUEST_FRAME = 3
"""A request costs 3 besides its messages."""
MEDIUM = 1_600
"""A picture, a sound, a file or a document."""
CLEARED_ARGUMENTS = {"_cleared": "arguments left out to save context"}

CJK = (
    (0x1100, 0x11FF),
    (0x2E80, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
    (0x1AFF0, 0x1B16F),
    (0x1F200, 0x1F2FF),
    (0x20000, 0x3FFFF),
)


def quarters(character: str) -> int:
    """'ascii at 4 characters a token, cjk at 1, other at 2', in quarters of a token."""
    code = ord(character)
    if code <= 0x7F:
        return 1
    if any(first <= code <= last for first, last in CJK):
        return 4
    return 2


def rounded_up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


@cache
def price(text: str) -> int:
    """'tokens = ceil((ascii + 4*cjk + 2*other) / 4). The empty text is 0.'"""
    return rounded_up(sum(quarters(character) for character in text), 4)


def is_data_url(text: str) -> bool:
    return text.startswith("data:") and text.isascii() and ";base64," in text[:128]


def compact(value: Any) -> str:
    """'compact JSON ({"a":1}, no spaces, no \\u escapes beyond what JSON demands)'"""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def without_media(value: Any) -> tuple[str, int]:
    """The compact JSON without the strings that are data URLs, and how many those are."""
    if isinstance(value, str) and is_data_url(value):
        return "", 1
    if isinstance(value, dict):
        inner = [(compact(key) + ":", *without_media(item)) for key, item in value.items()]
        return "{" + ",".join(key + text for key, text, _ in inner) + "}", sum(n for *_, n in inner)
    if isinstance(value, list | tuple):
        items = [without_media(item) for item in value]
        return "[" + ",".join(text for text, _ in items) + "]", sum(n for _, n in items)
    return compact(value), 0


def json_price(value: Any) -> int:
    text, media = without_media(value)
    return price(text) + MEDIUM * media


def value_price(value: Any) -> int:
    """A key's value: nothing for null, a text as itself, anything else as its JSON.

    'Arguments given as an object are priced as compact JSON. Given as a string they are priced as
    that string.'
    """
    if value is None:
        return 0
    return price(value) if isinstance(value, str) else price(compact(value))


def unknown_keys_price(mapping: Mapping[str, Any], known: AbstractSet[str]) -> int:
    """'A key that the format doesn't know is priced as the JSON of its value; null is free.'

    `cache_control` is free everywhere.
    """
    return sum(
        json_price(value)
        for key, value in mapping.items()
        if key not in known and key != "cache_control" and value is not None
    )


def unknown_block_price(block: Any) -> int:
    """'A block of unknown type is priced as the JSON of the whole block.'"""
    if isinstance(block, dict):
        block = {key: value for key, value in block.items() if key != "cache_control"}
    return json_price(block)


def text_block_price(block: Mapping[str, Any]) -> int:
    return value_price(block.get("text")) + unknown_keys_price(block, {"type", "text"})
