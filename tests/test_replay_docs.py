"""The page on replaying runs, and prints what it says; its recipes give what `replay` gives."""

from __future__ import annotations

import gc
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.subagents import opening, rounds
from test_cli import run as run_command
from turnfit.replay import Prices, read_recordings, replay

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "replay.md").read_text("utf-8")
RECIPES = ("Arrow", "Ray Data", "PySpark")
SHOWN = re.compile(r"^print\(.+?\)  # (.+)$", flags=re.MULTILINE)


def code_of(text: str, language: str = "python") -> str:
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL))


GUIDE, *PARTS = re.split(r"^### (.+)\n", PAGE, flags=re.MULTILINE)
SECTIONS = dict(zip(PARTS[::2], PARTS[1::2], strict=True))


def test_the_pages_code_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    code = code_of(GUIDE)
    exec(compile(code, "replay.md", "exec", dont_inherit=True), {"__name__": "__main__"})
    shown = SHOWN.findall(code)
    assert len(shown) >= 4
    assert capsys.readouterr().out.splitlines() == shown


def test_the_prices_on_the_page_and_in_the_example_can_be_read() -> None:
    text = (ROOT / "docs" / "examples" / "prices.toml").read_text("utf-8")
    example, shown = Prices.from_toml(text), Prices.from_toml(code_of(PAGE, "toml"))
    assert example.of("claude-opus-4-5-20251101") == shown.of("claude-opus-4-5")


def test_the_table_on_the_page_is_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    command, *shown, rest = re.findall(r"```\n\$ (.*?)```", PAGE, re.DOTALL)[0].splitlines()
    assert rest == "..."
    arguments = command.split()[1:]
    printed = run_command(*arguments, env={"COLUMNS": "80"}).stdout.splitlines()
    assert [line.rstrip() for line in printed[: len(shown)]] == shown


# --- recipes ------------------------------------------------------------------------------------


def files() -> dict[str, bytes]:
    """Files of one history, of two, and of none."""
    told: dict[str, bytes] = {}
    for seed in range(6):
        work = rounds(seed, (20, 60))
        history = [*opening(seed), *(message for _ in range(12) for message in next(work))]
        told[f"{seed}.json"] = json.dumps(history).encode()
    lines = [json.dumps({"messages": json.loads(told[f"{seed}.json"])}) for seed in (0, 1)]
    return {**told, "two.jsonl": "\n".join(lines).encode(), "none.json": b"{}"}


FILES = files()


def wanted() -> list[tuple[Any, ...]]:
    """What one process makes of the files."""
    told: list[tuple[Any, ...]] = []
    for name, data in FILES.items():
        if name == "none.json":
            told.append((name, None, None))
            continue
        for recording in read_recordings(data, name):
            got = replay(recording, 20_000, window=60_000)
            told += [(recording.name, one.name, one.cache_read) for one in got.policies]
    return sorted(told, key=str)


def figures(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    told = [(row["history"], row["policy"], row["cache_read"]) for row in rows]
    errors = [row["error"] for row in rows if row["history"] == "none.json"]
    assert [error.startswith("none.json: ") for error in errors] == [True]
    return sorted(told, key=str)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Holds a folder `runs`, as the page has it."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "runs").mkdir()
    names = list(FILES)
    for number in range(2):
        some = names[number::2]
        table = pa.table({"name": some, "content": [FILES[name] for name in some]})
        pq.write_table(table, tmp_path / "runs" / f"{number}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*sections: str) -> dict[str, Any]:
    """What recipes leave, run as one script."""
    code = "\n".join(code_of(SECTIONS[section]) for section in sections)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, f"replay.md, {sections[-1]}", "exec", dont_inherit=True), names)
    return names


@pytest.mark.usefixtures("folder")
def test_a_batch_gives_what_one_process_gives() -> None:
    pa = pytest.importorskip("pyarrow")
    made = run("Arrow")
    batch = pa.table({"name": list(FILES), "content": list(FILES.values())})
    assert figures(made["replayed"](batch).to_pylist()) == wanted()


@pytest.fixture
def ray(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ray on two cores of this machine, with a token that it needn't keep in the home folder."""
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex())
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        num_cpus=2,
        object_store_memory=100_000_000,
        include_dashboard=False,
        log_to_driver=False,
    )
    yield
    ray.shutdown()
    gc.collect()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:ray[.]")
@pytest.mark.usefixtures("ray")
def test_ray_gives_what_one_process_gives() -> None:
    assert figures(run("Arrow", "Ray Data")["figures"].take_all()) == wanted()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.usefixtures("folder")
def test_spark_gives_what_one_process_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    sql = pytest.importorskip("pyspark.sql")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    session = sql.SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    try:
        rows = run("Arrow", "PySpark")["figures"].collect()
        assert figures([row.asDict() for row in rows]) == wanted()
    finally:
        session.stop()
        gc.collect()  # here its unclosed sockets are forgiven


def test_every_recipe_is_run_here() -> None:
    assert tuple(heading for heading, text in SECTIONS.items() if code_of(text)) == RECIPES
