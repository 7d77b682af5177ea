"""True tokens of what a request holds, counted by a tokenizer that is there without a network."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

RANKS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
FRAME = 3
"""Tokens around each block, as OpenAI's models have around a message."""


def shipped_ranks() -> Path | None:
    """The folder in which litellm ships the ranks that tiktoken would download."""
    spec = find_spec("litellm")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place, "litellm_core_utils", "tokenizers")
        # tiktoken calls a cached file by the hash of its address.
        if (folder / sha1(RANKS.encode()).hexdigest()).exists():
            return folder
    return None


@cache
def text_counter() -> Callable[[str], int]:
    """The tokens of a text by o200k_base, each text counted once; a skip where it isn't there."""
    tiktoken = pytest.importorskip("tiktoken")
    folder = shipped_ranks()
    if folder is None:
        pytest.skip("tiktoken would download its ranks; litellm, of the extra `sdks`, ships them")
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    encode = tiktoken.get_encoding("o200k_base").encode_ordinary
    return cache(lambda text: len(encode(text)))


def count_block(block: Any) -> int:
    """The tokens of a block: its texts and its frame; a tool's definition as JSON."""
    count = text_counter()
    if isinstance(block, Mapping) and ("function" in block or "input_schema" in block):
        return FRAME + count(json.dumps(block))
    return FRAME + _texts(block, count)


def _texts(value: Any, count: Callable[[str], int]) -> int:
    if isinstance(value, str):
        return count(value)
    if isinstance(value, Mapping):
        return sum(_texts(item, count) for key, item in value.items() if key not in _SILENT)
    if isinstance(value, list):
        return sum(_texts(item, count) for item in value)
    return 0


_SILENT = ("type", "role", "id", "tool_use_id", "tool_call_id", "signature")
"""Keys whose values the model doesn't read as text; the frame stands for them."""
