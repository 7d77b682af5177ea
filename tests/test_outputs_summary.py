"""Summaries: measured by what they lost, and never in place of an original that is gone."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.labelled import Labelled, labelled
from support.outputs import some
from turnfit.outputs import (
    Fact,
    OutputLimit,
    Store,
    Summary,
    SummaryRequest,
    limit,
    limited,
    summarise,
)
from turnfit.outputs.facts import KINDS, facts_of, lost_facts

TEXTS = list(labelled())
PIECES = ("a", "%1", "1.", "/a", '"', "a_", "я", "a-", "1,", "-1", "0f", "A-1", "a@", "1:", "x://")
REPORT = "Build 4127 failed on 2026-03-05: see logs/build.log. " + "Nothing else happened. " * 300


def precision_and_recall(
    found: Callable[[Labelled], set[Fact]], wanted: Callable[[Labelled], frozenset[Fact]]
) -> tuple[float, float]:
    right = answers = labels = 0
    for each in TEXTS:
        got, true = found(each), wanted(each)
        right += len(got & true)
        answers += len(got)
        labels += len(true)
    return right / answers, right / labels


class TestLabelledTexts:
    def test_are_thirty_in_five_languages(self) -> None:
        assert len(TEXTS) == 30
        assert Counter(each.name.split()[0] for each in TEXTS) == dict.fromkeys(
            ("de", "en", "es", "ru", "zh"), 6
        )
        assert {fact.kind for each in TEXTS for fact in each.facts} == set(KINDS)

    def test_their_facts_are_found(self, record_property: Any) -> None:
        precision, recall = precision_and_recall(
            lambda each: set(facts_of(each.text)), lambda each: each.facts
        )
        record_property("facts", f"precision {precision:.3f}, recall {recall:.3f}")
        print(f"facts: precision {precision:.3f}, recall {recall:.3f}")
        assert precision >= 0.95
        assert recall >= 0.95

    def test_what_their_summaries_lost_is_counted(self, record_property: Any) -> None:
        precision, recall = precision_and_recall(
            lambda each: set(lost_facts(each.text, each.summary)), lambda each: each.lost
        )
        record_property("lost", f"precision {precision:.3f}, recall {recall:.3f}")
        print(f"lost facts: precision {precision:.3f}, recall {recall:.3f}")
        assert precision >= 0.95
        assert recall >= 0.95


class TestFacts:
    @pytest.mark.parametrize("each", TEXTS, ids=lambda each: each.name)
    def test_a_text_loses_nothing_of_itself(self, each: Labelled) -> None:
        assert lost_facts(each.text, each.text) == []

    @pytest.mark.parametrize(
        ("original", "summary"),
        [
            ("1,250", "1250"),
            ("1.250,50", "1250.5"),
            ("1 250 000", "1,250,000"),
            ("3,5", "3.50"),
            ("5 March 2026", "2026-03-05"),
            ("5. März 2026", "5 de marzo de 2026"),
            ("2026年3月5日", "5 марта 2026"),
            ("03/05/2026", "2026-05-03"),
            ('he said "never again"', "never again, he said"),
            ("see https://a.example/b.", "https://a.example/b"),
        ],
    )
    def test_written_in_another_way_are_kept(self, original: str, summary: str) -> None:
        assert facts_of(original)
        assert lost_facts(original, summary) == []

    @pytest.mark.parametrize(
        ("original", "summary"),
        [("1,250", "1,251"), ("12", "112"), ("5 March 2026", "5 March"), ("v1.2.3", "v1.2.4")],
    )
    def test_changed_are_lost(self, original: str, summary: str) -> None:
        assert [fact.text for fact in lost_facts(original, summary)] == [original]

    @some
    @given(st.text(st.sampled_from("0123456789.,:/-_#\"'abz AZ年月日«»\n"), max_size=300))
    def test_any_text_is_read_and_keeps_what_it_has(self, text: str) -> None:
        assert lost_facts(text, text) == []

    @pytest.mark.parametrize("piece", PIECES)
    def test_four_times_the_text_takes_about_four_times_as_long(self, piece: str) -> None:
        short, long = seconds(piece * 2_000), seconds(piece * 8_000)
        assert long < 10 * short + 0.05


def seconds(text: str) -> float:
    """The least of three, of the processor's time."""
    times = []
    for _ in range(3):
        start = time.process_time()
        facts_of(text)
        times.append(time.process_time() - start)
    return min(times)


class TestSummarise:
    def test_the_original_goes_to_the_store_first(self) -> None:
        store = Store()

        def look(request: SummaryRequest) -> str:
            assert [entry.size for entry in store.entries()] == [len(REPORT)]
            return "Build 4127 failed."

        summary = summarise(REPORT, look, store=store)
        assert summary.handle is not None
        assert store.text(summary.handle) == REPORT
        assert f"Stored whole as {summary.handle}: read it by ranges." in summary.content

    def test_the_task_is_part_of_the_request(self) -> None:
        seen: list[SummaryRequest] = []

        def note(request: SummaryRequest) -> str:
            seen.append(request)
            return "short"

        summarise(REPORT, note, task="find the build")
        assert seen[0].task == "find the build"
        assert "for this task: find the build" in seen[0].prompt
        assert seen[0].prompt.endswith(REPORT)

    def test_what_was_lost_is_counted_and_named(self) -> None:
        summary = summarise(REPORT, lambda request: "Build 4127 failed.")
        assert summary.used
        assert summary.facts == 3
        assert {fact.text for fact in summary.lost} == {"2026-03-05", "logs/build.log"}
        assert summary.lost_share == pytest.approx(2 / 3)
        assert summary.lost_counts["date"] == summary.lost_counts["path"] == 1
        assert summary.content.endswith(" Lost: 2026-03-05; logs/build.log.]")

    @pytest.mark.parametrize(
        ("summariser", "reason"),
        [
            (lambda request: "", "the summary was blank"),
            (lambda request: " \n ", "the summary was blank"),
            (lambda request: request.text + "!", "no shorter than the original"),
            (lambda request: 1 / 0, "the summariser failed with ZeroDivisionError"),
            (lambda request: None, "gave NoneType"),
        ],
    )
    def test_what_is_no_summary_leaves_the_original_cut(self, summariser: Any, reason: str) -> None:
        spec = OutputLimit(max_tokens=200)
        summary = summarise(REPORT, summariser, spec=spec)
        assert not summary.used
        assert summary.reason is not None
        assert reason in summary.reason
        assert reason in summary.content
        assert "Build 4127 failed" in summary.content
        assert spec.price(summary.content) <= 200

    def test_a_summary_that_saves_nothing_leaves_the_original(self) -> None:
        summary = summarise("Run 17 took 250 ms.", lambda request: "Run 17.")
        assert not summary.used
        assert "saves nothing" in summary.content
        assert summary.content.endswith("Run 17 took 250 ms.")
        assert summary.lost == ()

    def test_an_async_summariser_is_awaited(self) -> None:
        async def slow(request: SummaryRequest) -> str:
            await asyncio.sleep(0)
            return "Build 4127 failed."

        async def broken(request: SummaryRequest) -> str:
            raise RuntimeError

        async def run() -> tuple[Summary, Summary]:
            return await summarise(REPORT, slow), await summarise(REPORT, broken)

        good, bad = asyncio.run(run())
        assert good.content.startswith("Build 4127 failed.")
        assert bad.reason == "the summariser failed with RuntimeError"

    @some
    @given(st.text("ab. 1\n", max_size=300), st.integers(1, 20), st.integers(41, 400))
    def test_the_content_is_within_its_limit(self, text: str, times: int, size: int) -> None:
        spec = OutputLimit(max_tokens=size)
        for summariser in (None, lambda request: "x" * 5_000, lambda request: ""):
            summary = summarise("start " + text * times, summariser, spec=spec)
            assert spec.price(summary.content) <= size


class TestBuiltIn:
    @pytest.mark.parametrize("each", TEXTS, ids=lambda each: each.name)
    def test_it_picks_sentences_of_the_text_in_their_order(self, each: Labelled) -> None:
        summary = summarise("\n".join([each.text] * 12), spec=OutputLimit(max_tokens=240))
        sentences = summary.content.rpartition("\n[turnfit")[0].split("\n")
        places = [each.text.find(sentence) for sentence in sentences]
        assert summary.used
        assert -1 not in places

    def test_it_keeps_more_facts_than_as_much_of_the_start(self) -> None:
        text = "Nothing happened here today. " * 40 + "".join(
            f"Run {number} took {number * 7} ms. " for number in range(100, 130)
        )
        spec = OutputLimit(max_tokens=300)
        lost = len(summarise(text, spec=spec).lost)
        assert lost < len(lost_facts(text, limit(text, spec).content))

    def test_it_prefers_what_the_task_speaks_of(self) -> None:
        text = "The sky was blue. " * 200 + "The harbour master resigned. " + "Birds sang. " * 200
        summary = summarise(text, task="harbour master", spec=OutputLimit(max_tokens=110))
        assert "The harbour master resigned." in summary.content


class TestOnExcess:
    SPEC = OutputLimit(max_tokens=200, on_excess="summarise")

    def test_a_limit_may_ask_for_a_summary(self) -> None:
        store = Store()
        made = limit(REPORT, self.SPEC, store=store, task="build")
        assert made.truncated
        assert made.tokens <= 200
        assert made.summary is not None
        assert made.handle == made.summary.handle
        assert "Build 4127 failed on 2026-03-05" in made.content

    def test_an_async_tool_may_have_an_async_summariser(self) -> None:
        async def model(request: SummaryRequest) -> str:
            return "Build 4127 failed."

        spec = OutputLimit(max_tokens=200, on_excess="summarise", summariser=model)

        @limited(spec)
        async def build() -> str:
            return REPORT

        assert asyncio.run(build()).startswith("Build 4127 failed.\n[turnfit: a summary")

        @limited(spec)
        def build_at_once() -> str:
            return REPORT

        with pytest.raises(TypeError, match="this summariser is async"):
            build_at_once()
