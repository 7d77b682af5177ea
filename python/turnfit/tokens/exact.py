"""Exact counts, by a tokenizer that is installed."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from threading import Lock
from typing import Any

from turnfit.errors import MissingExtraError

__all__ = ["ExactCounter", "exact"]

_ENTRY = 200
"""Bytes that an entry of the cache takes besides its text."""


class ExactCounter:
    """A tokenizer as a function from a text to its tokens, that remembers what it counted.

    It may be called from several threads at once. `exact` makes them.

    Attributes:
        name: the tokenizer's name.
        cache_bytes: the most that remembered texts may take.
    """

    def __init__(self, name: str, count: Callable[[str], int], cache_bytes: int) -> None:
        if isinstance(cache_bytes, bool) or not isinstance(cache_bytes, int) or cache_bytes < 0:
            raise ValueError(f"cache_bytes must be an int of at least 0, not {cache_bytes!r}")
        self.name = name
        self.cache_bytes = cache_bytes
        self._count = count
        self._known: OrderedDict[str, int] = OrderedDict()
        self._held = 0
        self._lock = Lock()

    def __call__(self, text: str, /) -> int:
        """The text's tokens, special tokens' names counted as the text that they are.

        Raises:
            TypeError: for anything else than a str.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        with self._lock:
            if text in self._known:
                self._known.move_to_end(text)
                return self._known[text]
        # Outside of the lock: tokenizers take long, and let other threads run.
        tokens = self._count(text)
        self._remember(text, tokens)
        return tokens

    @property
    def held_bytes(self) -> int:
        """What the remembered texts take now."""
        return self._held

    def _remember(self, text: str, tokens: int) -> None:
        if _size(text) > self.cache_bytes:
            return
        with self._lock:
            if text not in self._known:
                self._known[text] = tokens
                self._held += _size(text)
            while self._held > self.cache_bytes:
                oldest, _ = self._known.popitem(last=False)
                self._held -= _size(oldest)

    def __repr__(self) -> str:
        return f"exact({self.name!r})"


def exact(tokenizer: Any, *, cache_bytes: int = 16 << 20) -> ExactCounter:
    """A counter that is exact for one tokenizer, wherever turnfit takes a profile.

    It needs the extra ``exact`` (tiktoken and tokenizers), and is hundreds of times slower
    than a profile; so each text is counted once as long as it is remembered.

    Args:
        tokenizer: an encoding of tiktoken (``"o200k_base"``) or a model's name that it
            knows; a ``tokenizer.json``'s path; a repository of Hugging Face
            (``"Qwen/Qwen3-8B"``). tiktoken and tokenizers download what they don't have
            yet. Or a ``tiktoken.Encoding`` or ``tokenizers.Tokenizer`` itself.
        cache_bytes: the most that remembered texts may take; the least recently used are
            forgotten first. 0 remembers nothing.

    Raises:
        MissingExtraError: without the extra.
        ValueError: for a name that is of none of these.

    >>> class Words:
    ...     def encode_ordinary(self, text):
    ...         return text.split()
    >>> count = exact(Words())
    >>> count("one two three")
    3
    """
    if not isinstance(tokenizer, str | PathLike):
        return ExactCounter(_name_of(tokenizer), _count_by(tokenizer), cache_bytes)
    name = fspath(tokenizer)
    return ExactCounter(name, _count_by(_load(name)), cache_bytes)


def _load(name: str) -> Any:
    if Path(name).suffix == ".json":
        return _need("tokenizers").Tokenizer.from_file(name)
    if "/" in name:
        return _need("tokenizers").Tokenizer.from_pretrained(name)
    tiktoken = _need("tiktoken")
    if name in tiktoken.list_encoding_names():
        return tiktoken.get_encoding(name)
    try:
        return tiktoken.encoding_for_model(name)
    except KeyError:
        known = ", ".join(sorted(tiktoken.list_encoding_names()))
        raise ValueError(
            f"tokenizer must be an encoding of tiktoken ({known}), a model that it knows, "
            f"a tokenizer.json or a repository of Hugging Face, not {name!r}"
        ) from None


def _need(module: str) -> Any:
    try:
        return __import__(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise MissingExtraError(f"counting by {module}", "exact") from None


def _count_by(tokenizer: Any) -> Callable[[str], int]:
    if hasattr(tokenizer, "encode_ordinary"):
        return lambda text: len(tokenizer.encode_ordinary(text))
    if hasattr(tokenizer, "encode") and type(tokenizer).__module__.startswith("tokenizers"):
        return lambda text: len(tokenizer.encode(_said(text), add_special_tokens=False))
    raise TypeError(
        "tokenizer must be a name, a path, a tiktoken.Encoding or a tokenizers.Tokenizer, "
        f"not {type(tokenizer).__name__}"
    )


def _said(text: str) -> str:
    """The text with what UTF-8 can't say replaced, as tiktoken does by itself."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _name_of(tokenizer: Any) -> str:
    name = getattr(tokenizer, "name", None)
    return name if isinstance(name, str) else type(tokenizer).__name__


def _size(text: str) -> int:
    return sys.getsizeof(text) + _ENTRY
