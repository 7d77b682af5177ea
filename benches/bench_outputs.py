"""Bringing an output within a limit, and keeping the original, against how it is done otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from turnfit.outputs import OutputLimit, Store, limit

from benches import sizes
from benches.record import Bench, Keep, describe
from benches.tokenizers import Encoding, rs_bpe_encoding, tiktoken_encoding

LIMIT = "limit a log"
TRIM = "trim JSON"
STORE = "store originals"

KEPT = 8_000
"""Characters that are left of a log."""
TOKENS = 2_000

LINES = {
    "English": "2026-03-05T10:{:02}:{:02} INFO request {} of user {} served in {} ms\n",
    "Russian": "2026-03-05T10:{:02}:{:02} INFO запрос {} пользователя {} обработан за {} мс\n",
}


@cache
def log(kind: str, length: int) -> str:
    chance = Random(length)
    line = LINES[kind]
    made: list[str] = []
    for number in range(length // 60 + 1):
        seconds, user = divmod(number, 60)[1], chance.randrange(10**6)
        made.append(line.format(number // 60 % 60, seconds, number, user, chance.randrange(900)))
    return "".join(made)[:length]


def log_of(kind: str, length: int) -> str:
    return f"{kind}, {length:,} characters"


of_all_logs = pytest.mark.parametrize(
    ("kind", "length"), [(kind, length) for kind in LINES for length in sizes.LOG]
)


@of_all_logs
@pytest.mark.parametrize("unit", ["tokens", "characters"])
def test_limit(benchmark: BenchmarkFixture, kind: str, length: int, unit: str) -> None:
    name = "turnfit" if unit == "characters" else "turnfit (tokens)"
    describe(benchmark, LIMIT, log_of(kind, length), name)
    text = log(kind, length)
    by_tokens = unit == "tokens"
    spec = OutputLimit(max_tokens=TOKENS) if by_tokens else OutputLimit(max_chars=KEPT)
    limited = benchmark(limit, text, spec)
    assert spec.price(limited.content) <= spec.size


@of_all_logs
@pytest.mark.parametrize("name", ["tiktoken", "rs-bpe"])
def test_encode_and_slice(benchmark: BenchmarkFixture, kind: str, length: int, name: str) -> None:
    if length > sizes.SLOW:
        pytest.skip("left out: a run would take long")
    made: Callable[[], Encoding] = {"tiktoken": tiktoken_encoding, "rs-bpe": rs_bpe_encoding}[name]
    encode, decode = made()
    describe(benchmark, LIMIT, log_of(kind, length), f"{name}: encode, slice, decode")
    text = log(kind, length)
    benchmark(lambda: decode(encode(text)[:TOKENS]))


@cache
def document(kind: str, nbytes: int) -> str:
    chance = Random(kind)
    rows: list[Any] = []
    made: dict[str, Callable[[int], Any]] = {
        "records": lambda number: {
            "id": number,
            "user": f"user{chance.randrange(10**6)}",
            "text": "served without a fault " * chance.randrange(1, 6),
            "ms": chance.random(),
            "tags": ["a", "b"],
            "ok": True,
        },
        "numbers": lambda number: [chance.random() for _ in range(10)],
        "Russian": lambda number: {"id": number, "text": "обработано без ошибок " * 4},
    }
    size = len(json.dumps(made[kind](0), ensure_ascii=False))
    rows.extend(map(made[kind], range(nbytes // size)))
    return json.dumps({"rows": rows, "count": len(rows)}, ensure_ascii=False)


of_all_documents = pytest.mark.parametrize("kind", ["records", "numbers", "Russian"])


def document_of(kind: str) -> str:
    return f"{kind}, {sizes.DOCUMENT / 1_000_000:g} MB"


@of_all_documents
def test_trim(benchmark: BenchmarkFixture, kind: str) -> None:
    describe(benchmark, TRIM, document_of(kind), "turnfit")
    text = document(kind, sizes.DOCUMENT)
    limited = benchmark(limit, text, OutputLimit(max_tokens=TOKENS))
    assert json.loads(limited.content)["count"] == json.loads(text)["count"]


@of_all_documents
def test_loads_cut_dumps(benchmark: BenchmarkFixture, kind: str) -> None:
    describe(benchmark, TRIM, document_of(kind), "json: loads, cut, dumps")
    text = document(kind, sizes.DOCUMENT)

    def cut() -> str:
        value = json.loads(text)
        rows = value["rows"]
        value["rows"] = [*rows[:40], {"shown": 40, "total": len(rows)}]
        return json.dumps(value, ensure_ascii=False)

    benchmark(cut)


class Files:
    """Each text in a file of its own, named by its hash."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, text: str) -> str:
        data = text.encode()
        name = sha256(data).hexdigest()
        (self.folder / name).write_bytes(data)
        return name

    def text(self, name: str) -> str:
        return (self.folder / name).read_bytes().decode()

    def close(self) -> None: ...


class DiskCache:
    """diskcache, with texts under their hashes."""

    def __init__(self, folder: Path) -> None:
        self.cache = pytest.importorskip("diskcache").Cache(str(folder), size_limit=2**31)

    def put(self, text: str) -> str:
        name = sha256(text.encode()).hexdigest()
        self.cache.set(name, text)
        return name

    def text(self, name: str) -> str:
        return str(self.cache.get(name))

    def close(self) -> None:
        self.cache.close()


KEEPERS: dict[str, Callable[[Path], Any]] = {
    "turnfit": lambda folder: Store(folder / "originals.db", max_bytes=2**31),
    "plain files": Files,
    "diskcache": DiskCache,
}


@pytest.mark.parametrize("name", KEEPERS)
def test_store(keep: Keep, tmp_path: Path, name: str) -> None:
    """Wall-clock time, since a disk is waited for; a throughput of the whole run."""
    base = "x" * (sizes.ORIGINAL - 10)
    texts = [f"{number:010}{base}" for number in range(sizes.ORIGINALS)]
    keeper = KEEPERS[name](tmp_path)
    handles, put = timed(lambda: [keeper.put(text) for text in texts])
    lengths, read = timed(lambda: [len(keeper.text(handle)) for handle in handles])
    keeper.close()
    assert lengths == [sizes.ORIGINAL] * len(texts)
    for given, seconds in (("put", put), ("read back", read)):
        each = seconds / len(texts)
        what = f"{given}, {len(texts):,} of {sizes.ORIGINAL // 1000} KB"
        keep(Bench(STORE, what, name, each, each, len(texts), nbytes=sizes.ORIGINAL))


def timed(call: Callable[[], list[Any]]) -> tuple[list[Any], float]:
    start = perf_counter()
    made = call()
    return made, perf_counter() - start
