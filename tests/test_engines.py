"""The recipes of docs/engines.md run as they stand, and give what `estimate` gives."""

from __future__ import annotations

import gc
import json
import os
import re
import secrets
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from support.trajectories import CORPUS

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "engines.md").read_text("utf-8")
FILES = 4
ROWS_OF_A_GROUP = 500


def recipes() -> dict[str, str]:
    """The Python of each section, by its heading."""
    _, *parts = re.split(r"^## (.+)\n", GUIDE, flags=re.MULTILINE)
    blocks = (re.findall(r"```python\n(.*?)```", body, flags=re.DOTALL) for body in parts[1::2])
    return dict(zip(parts[::2], map("\n".join, blocks), strict=True))


def run(heading: str) -> dict[str, Any]:
    """What a recipe leaves, run as a script of its own."""
    code = compile(recipes()[heading], f"docs/engines.md, {heading}", "exec", dont_inherit=True)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(code, names)
    return names


def real_texts() -> list[str | None]:
    """The shipped history's contents, null where it calls tools alone; the corpus's lines."""
    history = json.loads((ROOT / "examples" / "subagent.json").read_text("utf-8"))
    prose = [path.read_text("utf-8") for path in sorted(CORPUS.glob("prose/*"))]
    lines = (line for text in prose for line in text.splitlines())
    return [*(message["content"] for message in history), "", *lines, None]


TEXTS = real_texts()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds a folder `texts`, as the guide has it: several files of several row groups."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path_factory.mktemp("engines")
    (folder / "texts").mkdir()
    for number in range(FILES):
        part = pa.table({"text": pa.array(TEXTS[number::FILES], pa.string())})
        path = folder / "texts" / f"{number}.parquet"
        pq.write_table(part, path, row_group_size=ROWS_OF_A_GROUP)
    return folder


@pytest.fixture
def batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of the columns that this process prices."""
    monkeypatch.chdir(folder)
    lengths: list[int] = []

    def spied(column: Any, *, exact_sum: bool = False) -> Any:
        lengths.append(len(column))
        return tf.tokens.estimate_many(column, exact_sum=exact_sum)

    monkeypatch.setattr(tf, "estimate_many", spied)
    return lengths


@pytest.fixture
def spark(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A session on two cores of this machine that talks to nobody else."""
    sql = pytest.importorskip("pyspark.sql")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_OF_A_GROUP),
    }
    session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    yield session
    session.stop()
    gc.collect()  # here its unclosed sockets are forgiven


@pytest.fixture
def ray(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ray on two cores of this machine, with a token that it needn't keep in the home folder."""
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex())
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        num_cpus=2,
        object_store_memory=100_000_000,
        include_dashboard=False,
        log_to_driver=False,
    )
    context = ray.data.DataContext.get_current()
    monkeypatch.setattr(context, "target_max_block_size", 50_000)
    yield
    ray.shutdown()
    gc.collect()


def assert_priced(rows: Iterable[tuple[str | None, int | None]], total: int) -> None:
    found = list(rows)
    assert Counter(text for text, _ in found) == Counter(TEXTS)
    assert found == [(text, None if text is None else tf.estimate(text)) for text, _ in found]
    assert total == tf.estimate("".join(text for text in TEXTS if text is not None))
    assert total < sum(tokens for _, tokens in found if tokens is not None)


def test_polars_streams_what_estimate_gives(batches: list[int]) -> None:
    pytest.importorskip("polars")
    left = run("polars")
    assert_priced(left["priced"].rows(), left["total"])
    assert len(batches) >= 2 * FILES
    assert sum(batches) == 2 * len(TEXTS)


def test_duckdb_computes_what_estimate_gives(batches: list[int]) -> None:
    pytest.importorskip("duckdb")
    left = run("DuckDB")
    with left["duck"]:
        assert_priced(left["priced"].fetchall(), left["total"])
    assert len(batches) >= 2 * FILES
    assert 1 < max(batches) <= 2048


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_maps_to_what_estimate_gives(spark: Any) -> None:
    left = run("PySpark")
    assert left["spark"] is spark
    assert left["priced"].rdd.getNumPartitions() > 1
    assert_priced(map(tuple, left["priced"].collect()), left["total"])


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray[.]")
@pytest.mark.usefixtures("ray")
def test_ray_maps_to_what_estimate_gives() -> None:
    left = run("Ray Data")
    priced = left["priced"].materialize()
    assert priced.num_blocks() > FILES
    assert_priced(((row["text"], row["tokens"]) for row in priced.take_all()), left["total"])


def test_every_recipe_is_run_here() -> None:
    assert [heading for heading, code in recipes().items() if code] == [
        "polars",
        "DuckDB",
        "PySpark",
        "Ray Data",
    ]
