"""Exact tokenizers, without a network: their ranks are compiled in, or litellm ships them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

import pytest

__all__ = [
    "Encoding",
    "TokenCounter",
    "rs_bpe",
    "rs_bpe_encoding",
    "tiktoken",
    "tiktoken_encoding",
    "toktok_rs",
    "use_shipped_ranks",
]

TokenCounter: TypeAlias = Callable[[str], int]
Encoding: TypeAlias = tuple[Callable[[str], list[int]], Callable[[list[int]], str]]
"""To tokens, and back."""

RANKS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def use_shipped_ranks() -> None:
    """Let tiktoken read its ranks from disk; without this it downloads them."""
    spec = find_spec("litellm")
    for place in spec.submodule_search_locations or () if spec else ():
        folder = Path(place, "litellm_core_utils", "tokenizers")
        # tiktoken calls a cached file by the hash of its address.
        if (folder / sha1(RANKS.encode()).hexdigest()).exists():
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))


def tiktoken() -> TokenCounter:
    encode, _ = tiktoken_encoding()
    return lambda text: len(encode(text))


def tiktoken_encoding() -> Encoding:
    module = pytest.importorskip("tiktoken")
    use_shipped_ranks()
    if "TIKTOKEN_CACHE_DIR" not in os.environ:
        pytest.skip("tiktoken would download its ranks; no litellm is installed that ships them")
    encoding = module.get_encoding("o200k_base")
    return partial(encoding.encode, disallowed_special=()), encoding.decode


def toktok_rs() -> TokenCounter:
    count = pytest.importorskip("toktok").batch_count
    return lambda text: int(count([text], "o200k_base", threads=1)[0])


def rs_bpe() -> TokenCounter:
    count: TokenCounter = pytest.importorskip("rs_bpe.bpe").openai.o200k_base().count
    return count


def rs_bpe_encoding() -> Encoding:
    encoding = pytest.importorskip("rs_bpe.bpe").openai.o200k_base()
    return encoding.encode, encoding.decode
