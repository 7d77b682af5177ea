"""What went wrong in practice when other tools compacted, each report for its whole kind.

The docstrings bear the rows' ids in ``field-reports.tsv``.
"""

from __future__ import annotations

import copy
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Format
from strategies import FORMATS, histories
from support.messages import Message, calls, result, rounds, says, user
from turnfit.compaction import (
    Boundary,
    CarryOver,
    CompactionError,
    Established,
    Open,
    RecordError,
    compact,
    from_answer,
    is_record,
    render,
)
from turnfit.compaction.rendering import MARK, holds_record
from turnfit.messages.contents import contents
from turnfit.messages.formats import format_named

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))
REPORTS = Path(__file__).parents[2] / "shared" / "field-reports.tsv"
NOW = Boundary.at_milestone(lambda _: True)
KEEP = CarryOver(established=(Established("The API's times are UTC.", "fact", (1,)),))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(1, 6), st.integers(1, 900), st.sampled_from([0.1, 0.5, 1.0]))
def test_no_progress_is_an_error_at_every_pass(count: int, words: int, share: float) -> None:
    """B131: messages that must all stay, over the budget."""
    history = [user("word " * words), *[m for _ in range(count) for m in (says(), user("Go."))]]
    policy = tf.Policy(budget=1_000, pinned=range(len(history)))
    before = copy.deepcopy(history)
    for _ in range(2):
        with suppress(CompactionError):
            assert compact(history, Boundary.at_share(share), KEEP, policy).event is None
    assert history == before


@pytest.mark.parametrize("freed", [1, 100, 1_400])
def test_a_pass_that_frees_little_is_refused(freed: int) -> None:
    """B132: the bulk is protected; every pass would free a little."""
    bulk = [user("word " * 20_000), says("word " * freed), user("Go on."), says()]
    policy = tf.Policy(budget=25_000, keep=("tokens", 20))
    with pytest.raises(CompactionError, match=r"would free -?[\d,]+ of [\d,]+ tokens"):
        compact(bulk, NOW, KEEP, policy)


@pytest.mark.parametrize("format", FORMATS)
def test_records_never_stack(format: Format) -> None:
    """B134: three passes over the same history."""

    @settings(max_examples=max(10, EXAMPLES // 4), deadline=None)
    @given(histories(format), histories(format))
    def check(messages: list[Any], more: list[Any]) -> None:
        policy = tf.Policy(budget=100_000, keep=("tokens", 200))
        for number in range(3):
            fact = CarryOver(established=(Established(f"Fact {number}.", "fact"),))
            try:
                done = compact(messages, NOW, fact, policy, format=format, least_gain=0)
            except CompactionError:
                return
            texts = [t for m in done.messages for t in _texts(m, format)]
            assert sum(map(holds_record, texts)) == 1
            assert len(done.record.established) == number + 1
            messages, policy = [*done.messages, *more], done.policy

    check()


def _texts(message: Any, format: str) -> list[str]:
    return contents(message, format_named(format)).texts


def test_what_can_be_gained_is_taken_and_flagged_if_it_is_not_enough() -> None:
    """B135: 36.6 % could be had, 40 % was asked for, and nothing was done."""
    kept = user("word " * 600)
    history = [kept, says("word " * 420), user("Go on."), says("Done.")]
    policy = tf.Policy(budget=1_000, keep=("tokens", 20))
    event = compact(history, Boundary.at_share(0.5), KEEP, policy).event
    assert event is not None
    assert 0.1 < event.gained / event.before < 0.4
    assert event.after > 500
    assert not event.relieved
    assert "still reached" in str(event)


def test_the_record_is_bounded_however_large_the_window() -> None:
    """B137: a share of a 1M window was more than the model could write."""
    facts = tuple(Established(f"Fact {n}: " + "word " * 50, "fact") for n in range(2_000))
    history = [user(), *rounds(150, 2_000)]
    done = compact(history, NOW, CarryOver(established=facts), tf.Policy(budget=1_000_000))
    assert done.event is not None
    assert done.event.record <= 16_100
    assert dict(done.event.left_out)["established"] > 1_000
    assert len(done.record.established) == 2_000


@pytest.mark.parametrize("answer", [None, "", "   ", '{"established": [{"te', "I can't.", 7])
def test_a_failed_or_blank_answer_is_an_error_and_the_history_stays(answer: Any) -> None:
    """B142, B137"""
    history = [user(), *rounds(6)]
    before = copy.deepcopy(history)
    with pytest.raises(RecordError):
        from_answer(answer, history)
    with pytest.raises(CompactionError, match="blank"):
        compact(history, NOW, CarryOver(), tf.Policy(budget=5_000))
    assert history == before


@pytest.mark.parametrize("passes", [1, 2, 3, 7])
def test_the_first_request_and_earlier_records_survive_every_pass(passes: int) -> None:
    """B138: a token stated in the first turn was gone after the second fold."""
    first = user("The token is 7f3a-91. Move the shop.")
    messages, policy = [first], tf.Policy(budget=6_000)
    for number in range(passes):
        fact = Established(f"Table {number} is moved.", "fact")
        messages = [*messages, *rounds(6)]
        done = compact(messages, NOW, CarryOver(established=(fact,)), policy)
        messages, policy = done.messages, done.policy
    assert messages[0] is first
    shown = messages[1]["content"]
    assert all(f"Table {number} is moved." in shown for number in range(passes))


@pytest.mark.parametrize(
    ("said", "told", "quote"),
    [
        ("Fix the build. Do NOT push!", "The user asked not to push.", "Do NOT push!"),
        ("不要推送。先修构建。", "用户不想推送", "不要推送"),
        ("Почини сборку.\nНЕ пушить!", "Пользователь просил не пушить.", "НЕ пушить!"),
    ],
)
def test_constraints_stay_verbatim_in_their_own_field(said: str, told: str, quote: str) -> None:
    """B139: 'Do NOT push' became past-tense narrative."""
    history = [user(said), *rounds(6)]
    entry = {"text": told, "kind": "constraint", "quote": quote}
    record = from_answer({"established": [entry], "open": []}, history)
    done = compact(history, NOW, record, tf.Policy(budget=5_000))
    [kept] = done.record.established
    assert kept.kind == "constraint"
    assert kept.text in said
    assert quote in kept.text
    assert kept.text in done.messages[1]["content"]


@pytest.mark.parametrize("keep", range(0, 1_100, 50))
def test_what_was_said_of_a_call_goes_with_the_call(keep: int) -> None:
    """B141: narration without calls taught the model to claim without calling."""
    history: list[Message] = [user("Open pull requests.")]
    for number in range(9):
        history += [calls(f"c{number}", name="open_pr"), result(f"c{number}", "word " * 90)]
        history += [says(f"I opened pull request {number}."), user("Next.")]
    policy = tf.Policy(budget=4_000, keep=("tokens", keep))
    done = compact(history, NOW, KEEP, policy)
    said = {m["content"][-2] for m in done.messages if "I opened" in str(m.get("content"))}
    made = {c["id"][1:] for m in done.messages for c in m.get("tool_calls", ())}
    assert said == made


def test_the_record_is_no_question_of_the_user() -> None:
    """B144: an injected question of the user changed what the model did."""
    record = CarryOver(open=(Open("Which port?"),), established=KEEP.established)
    text = render(record).text
    assert text.startswith("[turnfit: record@1, written by a program.")
    assert "?" not in MARK
    assert "no message of the user" in MARK
    done = compact([user(), *rounds(6)], NOW, record, tf.Policy(budget=5_000))
    assert is_record(done.messages[1])
    assert all(not is_record(m) for m in (*done.messages[:1], *done.messages[2:]))


@pytest.mark.skipif(not REPORTS.exists(), reason="the field reports are not here")
def test_every_report_on_compaction_has_its_test() -> None:
    rows = REPORTS.read_text("utf-8").splitlines()
    ids = {row.split("\t")[0] for row in rows if "\tcompact/" in row}
    assert ids <= {*re.findall(r"\bB\d{3}\b", Path(__file__).read_text("utf-8"))}
