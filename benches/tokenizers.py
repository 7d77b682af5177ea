"""tiktoken's ranks, found where the litellm package ships them."""

from __future__ import annotations

import os
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

__all__ = ["o200k_base", "use_shipped_ranks"]

RANKS = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"


def use_shipped_ranks() -> None:
    """Let tiktoken read its ranks from disk; without this it downloads them."""
    spec = find_spec("litellm")
    for place in spec.submodule_search_locations or () if spec else ():
        folder = Path(place, "litellm_core_utils", "tokenizers")
        # tiktoken calls a cached file by the hash of its address.
        if (folder / sha1(RANKS.encode()).hexdigest()).exists():
            os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))


def o200k_base() -> Any:
    tiktoken = pytest.importorskip("tiktoken")
    use_shipped_ranks()
    if "TIKTOKEN_CACHE_DIR" not in os.environ:
        pytest.skip("tiktoken would download its ranks; no litellm is installed that ships them")
    return tiktoken.get_encoding("o200k_base")
