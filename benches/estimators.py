"""Other ways to tell how many tokens a text has: other answers, so not the same work.

Those with a star are exact for one vocabulary, `o200k_base`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benches.tokenizers import TokenCounter, rs_bpe, tiktoken, toktok_rs

__all__ = ["ESTIMATORS", "SLOW"]


def characters() -> TokenCounter:
    return lambda text: len(text) // 4


def encoded_bytes() -> TokenCounter:
    return lambda text: len(text.encode()) // 4


def langchain() -> TokenCounter:
    core = pytest.importorskip("langchain_core.messages")
    count, message = core.utils.count_tokens_approximately, core.HumanMessage
    return lambda text: int(count([message(text)]))


ESTIMATORS: dict[str, Callable[[], TokenCounter]] = {
    "`len(s) // 4`": characters,
    "`len(s.encode()) // 4`": encoded_bytes,
    "LangChain approximate": langchain,
    "toktok-rs*": toktok_rs,
    "rs-bpe*": rs_bpe,
    "tiktoken*": tiktoken,
}

SLOW = {"rs-bpe*", "tiktoken*"}
