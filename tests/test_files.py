"""Files of any size, counted block by block."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest
import turnfit as tf

BLOCK = 4 << 20


def mixed(size: int, seed: int) -> bytes:
    """Valid text of several scripts with noise in it, of about so many bytes."""
    rng = random.Random(seed)
    pieces = ["word ", "слово ", "世界", "🙂", "é", "한"]
    whole = bytearray()
    while len(whole) < size:
        whole += "".join(rng.choices(pieces, k=1000)).encode()
        whole += rng.randbytes(rng.randrange(8))
    return bytes(whole)


@pytest.mark.parametrize("threads", [1, 2, 3, None])
def test_blocks_add_up_to_the_whole(tmp_path: Path, threads: int | None) -> None:
    paths, wanted = [], []
    for number, size in enumerate((0, 1, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5)):
        data = mixed(size, number)[:size]
        path = tmp_path / f"{number}.txt"
        path.write_bytes(data)
        paths.append(path)
        wanted.append(tf.count_scripts(data))
    got = tf.estimate_files(paths, threads=threads)
    assert [each.counts for each in got] == wanted
    assert [each.path for each in got] == list(map(str, paths))
    assert [each.tokens for each in got] == [counts.tokens for counts in wanted]


@pytest.mark.parametrize("shift", range(8))
@pytest.mark.parametrize("piece", ["я", "世", "🙂", "\u0080", "a🙂"])
def test_a_block_may_end_inside_a_character(tmp_path: Path, piece: str, shift: int) -> None:
    data = (b"x" * shift + piece.encode() * BLOCK)[: BLOCK + 64]
    path = tmp_path / "cut.txt"
    path.write_bytes(data)
    assert tf.estimate_files([path], threads=2)[0].counts == tf.count_scripts(data)


def test_a_file_that_cannot_be_read_tells_why_and_the_others_are_counted(tmp_path: Path) -> None:
    good = tmp_path / "good.txt"
    good.write_text("привет")
    missing, folder, counted = tf.estimate_files([tmp_path / "no", tmp_path, good])
    assert isinstance(missing.error, FileNotFoundError)
    assert missing.error.filename == str(tmp_path / "no")
    assert isinstance(folder.error, IsADirectoryError)
    assert (counted.error, counted.tokens) == (None, 3)


def test_progress_tells_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"a" * (3 * BLOCK + 7))
    told: list[int] = []
    tf.estimate_files([path], progress=told.append)
    assert sum(told) == 3 * BLOCK + 7


def test_an_error_of_progress_reaches_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"a" * (8 * BLOCK))

    def broken(_: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tf.estimate_files([path], progress=broken)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_has_no_size_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = mixed(2 * BLOCK, 1)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    assert tf.estimate_files([pipe])[0].counts == tf.count_scripts(data)
    writer.join()


def test_one_path_is_no_collection_of_paths(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="collection of paths"):
        tf.estimate_files(tmp_path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threads"):
        tf.estimate_files([], threads=0)


class TestByAProfile:
    @pytest.mark.parametrize("threads", [1, 3])
    def test_a_file_costs_what_its_text_does(self, tmp_path: Path, threads: int) -> None:
        paths, wanted = [], []
        for number, size in enumerate((0, 1, 1000, BLOCK - 1, BLOCK + 1, 2 * BLOCK + 5)):
            data = mixed(size, number)[:size]
            path = tmp_path / f"{number}.txt"
            path.write_bytes(data)
            paths.append(path)
            wanted.append((tf.estimate(data, profile="o200k_base"), tf.count_scripts(data)))
        got = tf.estimate_files(paths, profile="o200k_base", threads=threads)
        assert [(each.tokens, each.counts) for each in got] == wanted

    def test_a_word_over_the_end_of_a_block_is_one(self, tmp_path: Path) -> None:
        path = tmp_path / "long.txt"
        path.write_bytes(b"supercalifragilistic" * (BLOCK // 10))
        [got] = tf.estimate_files([path], profile=tf.profile("claude_v4_7"))
        assert got.tokens == tf.estimate(path.read_bytes(), profile="claude_v4_7")

    def test_progress_tells_every_byte(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes(b"a b " * 1_000)
        told: list[int] = []
        tf.estimate_files([path], profile="any", progress=told.append)
        assert sum(told) == 4_000

    def test_a_file_that_cannot_be_read_tells_why(self, tmp_path: Path) -> None:
        [missing] = tf.estimate_files([tmp_path / "no"], profile="any")
        assert isinstance(missing.error, FileNotFoundError)
        assert missing.tokens == 0

    def test_a_callable_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="files can't be priced by a callable"):
            tf.estimate_files([tmp_path], profile=len)  # type: ignore[arg-type]
