"""Exact counters: the installed tokenizer's count, remembered within bounds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from turnfit.errors import MissingExtraError
from turnfit.tokens import exact

EXAMPLES = settings(max_examples=int(os.environ.get("TURNFIT_EXAMPLES", "200")), deadline=None)

MERGES = [b"th", b"the", b" the", b"in", b"ing", b"\xd0\xbf", b"  "]


@pytest.fixture(scope="module")
def encoding() -> Any:
    """An encoding of a few merges, built here, so that nothing is downloaded."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {merge: 256 + number for number, merge in enumerate(MERGES)}
    return tiktoken.Encoding(
        "tiny",
        pat_str=r" ?\w+|\s+|[^\w\s]+",
        mergeable_ranks=ranks,
        special_tokens={"<|end|>": 256 + len(MERGES)},
    )


@pytest.fixture(scope="module")
def tokenizer_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer.json that knows three words."""
    vocabulary = {"[UNK]": 0, "one": 1, "two": 2, "three": 3}
    file = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    rest = dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder"))
    whole: dict[str, Any] = {
        **rest,
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": model,
    }
    file.write_text(json.dumps(whole), "utf-8")
    return file


class Counted:
    """A tokenizer that tells how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode_ordinary(self, text: str) -> list[str]:
        self.asked.append(text)
        return text.split()


class TestCounts:
    def test_it_is_the_encodings_count(self, encoding: Any) -> None:
        count = exact(encoding)
        assert count("the thing") == len(encoding.encode_ordinary("the thing")) == 4
        assert (count(""), count.name, repr(count)) == (0, "tiny", "exact('tiny')")

    @EXAMPLES
    @given(text=st.text(st.characters(exclude_categories=()), max_size=60))
    def test_any_text_has_a_count_and_the_same_again(self, encoding: Any, text: str) -> None:
        count = exact(encoding)
        assert count(text) == count(text) == len(encoding.encode_ordinary(text))

    def test_a_special_tokens_name_in_a_text_is_text(self, encoding: Any) -> None:
        assert exact(encoding)("<|end|>") > 1

    def test_a_tokenizer_file_counts_without_special_tokens(self, tokenizer_file: Path) -> None:
        tokenizers = pytest.importorskip("tokenizers")
        assert exact(tokenizer_file)("one two  three four") == 4
        loaded = tokenizers.Tokenizer.from_file(str(tokenizer_file))
        assert exact(loaded)("one \ud800 two") == 3


class TestCache:
    def test_a_text_is_counted_once(self) -> None:
        counted = Counted()
        count = exact(counted)
        assert [count("a b"), count("a b"), count("c")] == [2, 2, 1]
        assert counted.asked == ["a b", "c"]

    def test_the_least_recently_used_is_forgotten_first(self) -> None:
        counted = Counted()
        room = 3 * (sys.getsizeof("a") + 200)
        count = exact(counted, cache_bytes=room)
        for text in ("a", "b", "c", "a", "d", "a", "b"):
            count(text)
        assert counted.asked == ["a", "b", "c", "d", "b"]

    @EXAMPLES
    @given(st.lists(st.text(max_size=300), max_size=60), st.integers(0, 3_000))
    def test_it_never_takes_more_than_it_may(self, texts: list[str], most: int) -> None:
        count = exact(Counted(), cache_bytes=most)
        for text in texts:
            assert count(text) == len(text.split())
            assert 0 <= count.held_bytes <= most

    def test_nothing_is_remembered_without_room(self) -> None:
        counted = Counted()
        count = exact(counted, cache_bytes=0)
        assert [count("a"), count("a"), count.held_bytes] == [1, 1, 0]
        assert counted.asked == ["a", "a"]

    def test_threads_share_it(self) -> None:
        count = exact(Counted(), cache_bytes=20_000)
        texts = [f"word {number % 150} {'x ' * (number % 40)}" for number in range(4_000)]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(count, texts)) == [len(text.split()) for text in texts]
        assert count.held_bytes <= 20_000


class TestErrors:
    @pytest.mark.parametrize("module", ["tiktoken", "tokenizers"])
    def test_without_the_extra_it_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch, module: str
    ) -> None:
        monkeypatch.setitem(sys.modules, module, None)
        name = {"tiktoken": "o200k_base", "tokenizers": "some/repository"}[module]
        with pytest.raises(MissingExtraError, match=r"pip install 'turnfit\[exact\]'"):
            exact(name)

    def test_a_name_of_nothing_is_told_with_what_there_is(self) -> None:
        pytest.importorskip("tiktoken")
        with pytest.raises(ValueError, match=r"o200k_base.*not 'no-such-encoding'"):
            exact("no-such-encoding")

    @pytest.mark.parametrize("tokenizer", [5, None, object()])
    def test_what_is_no_tokenizer_is_told(self, tokenizer: Any) -> None:
        with pytest.raises(TypeError, match="tokenizer must be a name"):
            exact(tokenizer)

    @pytest.mark.parametrize("size", [-1, 1.5, True])
    def test_a_size_that_is_none_is_told(self, size: Any) -> None:
        with pytest.raises(ValueError, match="cache_bytes must be an int of at least 0"):
            exact(Counted(), cache_bytes=size)

    def test_what_is_no_text_is_told(self) -> None:
        with pytest.raises(TypeError, match="text must be a str, not bytes"):
            exact(Counted())(b"x")  # type: ignore[arg-type]

    def test_importing_turnfit_imports_no_tokenizer(self) -> None:
        code = "import sys, turnfit.tokens; print({'tiktoken', 'tokenizers'} & set(sys.modules))"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        assert out == b"set()\n"
