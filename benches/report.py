"""Run the benches, or read a run, and write what came out into the docs.

``python -m benches.report`` runs them all; with a file of pytest-benchmark it reads that.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from benches.chart import draw
from benches.promises import promises
from benches.record import Bench, Run
from benches.tables import page, readme_figures

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
CHART = ROOT / "docs" / "scan.svg"
RESULTS = ROOT / "benches" / "results.json"
README = ROOT / "README.md"
FIGURES = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end -->)", flags=re.DOTALL)


class Progress:
    """One line for each bench in place of pytest's dots."""

    def __init__(self) -> None:
        self.done = 0
        self.all = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.all = len(items)

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        if report.when != "call" and report.outcome == "passed":
            return None
        self.done += 1
        bench = report.nodeid.removeprefix("bench_")
        line = f"{self.done:4}/{self.all} {report.outcome} {report.duration:6.1f} s  {bench}\n"
        return report.outcome, line, report.outcome.upper()


def run_benches() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        file = Path(folder, "run.json")
        options = ["-q", "--benchmark-quiet", f"--benchmark-json={file}", "-p", "no:cacheprovider"]
        status = pytest.main(
            [str(ROOT / "benches"), "-o", "console_output_style=classic", *options],
            plugins=[Progress()],
        )
        if status != pytest.ExitCode.OK:
            sys.exit(int(status))
        return read(file)


def read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def run_of(recorded: dict[str, Any]) -> Run:
    machine = recorded["machine_info"]
    cpu = machine["cpu"]
    facts = {
        "date": recorded["datetime"][:10],
        "CPU": f"{cpu.get('brand_raw', machine['machine'])}, {cpu['count']} cores",
        "system": f"{machine['system']} {machine['release']}",
        "load average": str(machine["load"]),
        "Python": machine["python_version"],
        **{name: version or "not installed" for name, version in machine["packages"].items()},
    }
    if machine["smoke"]:
        facts["sizes"] = "those of a smoke run"
    return Run(facts, [Bench.of(bench) for bench in recorded["benchmarks"]])


def as_json(run: Run) -> str:
    """One bench a line, so that a later run's differences can be read."""
    benches = ",\n".join(json.dumps(bench.as_dict()) for bench in run.benches)
    return f'{{"facts": {json.dumps(run.facts)},\n"benches": [\n{benches}\n]}}\n'


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benches.report", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="a run's --benchmark-json file")
    file = parser.parse_args().file
    run = run_of(read(file) if file else run_benches())
    PAGE.write_text(page(run))
    CHART.write_text(draw(run))
    RESULTS.write_text(as_json(run))
    README.write_text(FIGURES.sub(lambda _: f"{readme_figures(run)}\n", README.read_text()))
    print("\n".join(promises(run)))
    written = ", ".join(str(path.relative_to(ROOT)) for path in (PAGE, CHART, RESULTS))
    print(f"\n{written} and the README's figures were written.")


if __name__ == "__main__":
    main()
