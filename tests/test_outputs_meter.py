"""What is cut is counted; percentiles of parts merge to those of the whole."""

from __future__ import annotations

import bisect
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.outputs import some
from turnfit.outputs import Meter, OutputLimit, ToolLimits, limit, summarise
from turnfit.outputs.limited import Limited
from turnfit.outputs.sketch import Sketch

SPEC = OutputLimit(max_tokens=100)
SHARES = (0.5, 0.95, 0.99)


def rank_error(sizes: list[int], share: float, answer: int) -> float:
    """How far an answer's ranks are from the share that was asked for."""
    ordered = sorted(sizes)
    low = bisect.bisect_left(ordered, answer) / len(sizes)
    high = bisect.bisect_right(ordered, answer) / len(sizes)
    return max(low - share, share - high, 0.0)


def merged(sizes: list[int], parts: int) -> Sketch:
    whole = Sketch()
    for part in range(parts):
        sketch = Sketch()
        sketch.update(sizes[part::parts])
        whole.merge(sketch)
    return whole


DISTRIBUTIONS: dict[str, Any] = {
    "even": lambda chance: chance.randrange(10**6),
    "skewed": lambda chance: int(chance.lognormvariate(6, 2)),
    "few values": lambda chance: chance.choice([1, 2, 3, 10**6]),
    "two humps": lambda chance: int(chance.gauss(*chance.choice([(100, 9), (9_000, 99)]))),
}


class TestPercentiles:
    @pytest.mark.parametrize("kind", DISTRIBUTIONS)
    @pytest.mark.parametrize("order", ["random", "rising", "falling"])
    def test_are_within_one_percent_after_merging_100_parts(self, kind: str, order: str) -> None:
        chance = random.Random(kind)
        sizes = [DISTRIBUTIONS[kind](chance) for _ in range(100_000)]
        if order != "random":
            sizes.sort(reverse=order == "falling")
        sketch = merged(sizes, 100)
        assert sketch.count == len(sizes)
        assert all(rank_error(sizes, share, sketch.quantile(share)) < 0.01 for share in SHARES)

    def test_are_within_one_percent_when_parts_are_unlike(self) -> None:
        sizes = sorted(random.Random(1).randrange(10**6) for _ in range(100_000))
        whole = Sketch()
        for part in range(100):
            sketch = Sketch()
            sketch.update(sizes[part * 1_000 : (part + 1) * 1_000])
            whole.merge(sketch)
        assert all(rank_error(sizes, share, whole.quantile(share)) < 0.01 for share in SHARES)

    def test_take_little_memory(self) -> None:
        sketch = Sketch()
        sketch.update(range(1_000_000))
        assert sum(map(len, sketch.to_dict()["levels"])) < 5_000

    @some
    @given(st.lists(st.integers(0, 10**9), min_size=1, max_size=900), st.floats(0.01, 1))
    def test_of_few_sizes_are_exact(self, sizes: list[int], share: float) -> None:
        sketch = Sketch()
        sketch.update(sizes)
        assert rank_error(sizes, share, sketch.quantile(share)) == 0

    @some
    @given(st.lists(st.integers(0, 10**6), max_size=4_000))
    def test_weigh_as_much_as_was_counted(self, sizes: list[int]) -> None:
        sketch = merged(sizes, 3)
        levels = sketch.to_dict()["levels"]
        assert sum(len(level) << height for height, level in enumerate(levels)) == len(sizes)

    def test_of_nothing_are_nothing(self) -> None:
        assert Sketch().quantile(0.95) == 0


class TestCounting:
    def test_what_comes_in_and_what_is_left_out(self) -> None:
        meter = Meter()
        for text in ("short", "x" * 4_000, "x" * 8_000):
            limit(text, SPEC, meter=meter, tool="logs")
        [use] = meter.report().tools
        assert (use.calls, use.truncated, use.tokens_in) == (3, 2, 2 + 1_000 + 2_000)
        assert 2_800 <= use.tokens_omitted < 3_000
        assert use.truncated_share == pytest.approx(2 / 3)
        assert (use.p50, use.p99) == (1_000, 2_000)

    @pytest.mark.parametrize(("cut", "flagged"), [(6, False), (7, True)])
    def test_a_tool_cut_in_over_60_percent_of_its_calls_is_flagged(
        self, cut: int, flagged: bool
    ) -> None:
        meter = Meter()
        for number in range(10):
            limit("x" * (4_000 if number < cut else 4), SPEC, meter=meter, tool="logs")
        report = meter.report()
        assert report.tools[0].flagged is flagged
        assert ("! logs was cut in 70% of its calls" in str(report)) is flagged

    def test_the_table_and_the_dict_say_the_same(self) -> None:
        meter = Meter()
        limits = ToolLimits({"logs": SPEC}, default=OutputLimit(max_tokens=50), meter=meter)
        limits.limit("logs", "x" * 4_000)
        limits.limit("list", "x" * 40)
        header, first, second, *_ = str(meter.report()).splitlines()
        assert header.split()[:3] == ["tool", "calls", "cut"]
        assert first.split()[:4] == ["logs", "1", "1", "100%!"]
        assert second.split()[:4] == ["list", "1", "0", "0%"]
        assert meter.report().to_dict()["list"]["tokens_in"] == 10

    def test_suggested_limits_keep_the_95th_percentile_whole(self) -> None:
        meter = Meter()
        for size in range(1, 1_001):
            meter.record(
                "logs",
                Limited(content="", truncated=False, total_chars=0, original=("word" * size,)),
            )
        for tool, spec in meter.suggest().items():
            assert tool == "logs"
            assert spec.max_tokens == pytest.approx(950, rel=0.1)
            assert spec.max_tokens is not None
            assert spec.max_tokens >= 950
        with pytest.raises(ValueError, match="share"):
            meter.suggest(share=0)

    def test_the_share_of_facts_that_summaries_lost(self) -> None:
        meter = Meter()
        text = "Run 17 took 250 ms. " + "Nothing else of note was seen. " * 100
        spec = OutputLimit(
            max_tokens=200, on_excess="summarise", summariser=lambda request: "Run 17 was fine."
        )
        limit(text, spec, meter=meter, tool="runs")
        use = meter.report().tools[0]
        assert (use.facts, use.facts_lost, use.facts_lost_share) == (2, 1, 0.5)
        assert summarise(text, lambda request: "Run 17 was fine.").lost_share == 0.5

    def test_threads_may_share_a_meter(self) -> None:
        meter = Meter()

        def work() -> None:
            for _ in range(200):
                limit("x" * 40, SPEC, meter=meter, tool="t")

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert meter.report().tools[0].calls == 1_600


class TestMerging:
    def test_meters_of_several_processes_merge(self, tmp_path: Path) -> None:
        script = (
            "import sys; from turnfit.outputs import Meter, OutputLimit, limit\n"
            "meter = Meter()\n"
            "for size in range(100):\n"
            "    limit('word' * size, OutputLimit(max_tokens=50), meter=meter, tool='t')\n"
            "meter.save(sys.argv[1])"
        )
        meter = Meter()
        for number in range(3):
            path = tmp_path / f"{number}.json"
            subprocess.run([sys.executable, "-c", script, str(path)], check=True)
            meter.merge(Meter.load(path))
        [use] = meter.report().tools
        assert (use.calls, use.truncated) == (300, 3 * 49)
        assert use.p50 in (49, 50)

    def test_a_meter_merged_with_itself_counts_twice(self) -> None:
        meter = Meter()
        limit("word", SPEC, meter=meter, tool="t")
        meter.merge(meter)
        assert meter.report().tools[0].calls == 2

    @pytest.mark.parametrize(
        "broken",
        [
            "{}",
            "[]",
            "nonsense",
            '{"format": "turnfit-meter", "version": 9, "tools": {}}',
            '{"format": "turnfit-meter", "version": 1, "tools": {"t": {}}}',
        ],
    )
    def test_a_file_that_holds_no_meter_is_told(self, tmp_path: Path, broken: str) -> None:
        path = tmp_path / "meter.json"
        path.write_text(broken)
        with pytest.raises(ValueError, match=r"meter\.json: "):
            Meter.load(path)


class TestOpenTelemetry:
    def test_the_figures_are_read_back_through_the_sdk(self) -> None:
        export = pytest.importorskip("opentelemetry.sdk.metrics.export")
        sdk = pytest.importorskip("opentelemetry.sdk.metrics")
        reader = export.InMemoryMetricReader()
        provider = sdk.MeterProvider(metric_readers=[reader])
        meter = Meter()
        meter.instrument(provider)
        for size in (10, 4_000, 8_000):
            limit("x" * size, SPEC, meter=meter, tool="logs")
        found = points(reader)
        assert found["turnfit.outputs.calls", "logs", None] == 3
        assert found["turnfit.outputs.truncated", "logs", None] == 2
        assert found["turnfit.outputs.tokens_in", "logs", None] == 3_003
        assert found["turnfit.outputs.size", "logs", "p50"] == 1_000
        assert found["turnfit.outputs.truncated_share", "logs", None] == pytest.approx(2 / 3)
        limit("x", SPEC, meter=meter, tool="logs")
        assert points(reader)["turnfit.outputs.calls", "logs", None] == 4
        provider.shutdown()

    def test_without_the_extra_it_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "opentelemetry", None)
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'turnfit\[otel\]'"):
            Meter().instrument()


def points(reader: Any) -> dict[tuple[str, str, str | None], float]:
    data = reader.get_metrics_data()
    return {
        (metric.name, point.attributes["gen_ai.tool.name"], point.attributes.get("percentile")): (
            point.value
        )
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }
