"""What was lost is measured: fetched again, asked again, each laid to the event that lost it."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from support.recordings import coding, coding_named
from support.trajectories import needs_corpus, recorded
from turnfit.compaction import (
    Boundary,
    CarryOver,
    Effect,
    Effects,
    Established,
    Event,
    Rate,
    Regret,
    RegretTable,
    chart,
    compact,
    is_record,
    simulated,
)
from turnfit.compaction.presets import CLAUDE_CODE, SWE_AGENT
from turnfit.compaction.questions import Alike, plain_question, questions_in
from turnfit.compaction.table import wilson

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))
EFFECTS = CLAUDE_CODE | Effects({"pay": (Effect.acts(),)})


def does(name: str, text: str = "content", /, **arguments: Any) -> list[tf.Message]:
    return [
        tf.Message("assistant", tf.Call("c", name, arguments)),
        tf.Message("tool", tf.Result("c", text)),
    ]


def reads(path: str, text: str = "content", **more: Any) -> list[tf.Message]:
    return does("Read", text, file_path=path, **more)


def lost(at: int, *spans: range) -> Event:
    return Event(kind="compaction", at=at, dropped=spans)


def found(history: list[tf.Message], *events: Event, **more: Any) -> list[tuple[Any, ...]]:
    regret = Regret.of(history, events, effects=EFFECTS, **more)
    return [(one.what, one.subject, one.first, one.at, one.event) for one in regret.findings]


GONE = lost(2, range(2))


def test_a_file_read_again_after_it_had_gone_is_laid_to_the_event() -> None:
    assert found(reads("/a") * 2, GONE) == [("read", "/a", 1, 2, 0)]
    assert found([*reads("/a"), *reads("/a")], lost(2)) == []


def test_an_event_after_the_second_read_lost_nothing() -> None:
    assert found(reads("/a") * 2, lost(4, range(2))) == []


def test_the_event_that_lost_it_counts_not_the_last_one() -> None:
    history = [*reads("/a"), *reads("/b"), *reads("/c"), *reads("/a"), *reads("/b")]
    events = [lost(2, range(2)), lost(4, range(4)), lost(6, range(6))]
    assert found(history, *events) == [("read", "/a", 1, 6, 0), ("read", "/b", 3, 8, 1)]


def test_what_was_read_again_stands_in_view_again() -> None:
    regret = Regret.of(reads("/a") * 3, [GONE], effects=EFFECTS)
    assert len(regret.findings) == 1
    assert regret.in_view == {"read": 1}


def test_paths_are_normalised_and_parts_told_apart() -> None:
    assert found([*reads("/x/../a"), *reads("/a")], GONE)
    assert not found([*reads("/a", offset=1), *reads("/a", offset=9)], GONE)
    assert not found([*reads("/a"), *does("Bash", "content", command="head -5 /a")], GONE)
    assert found([*does("Bash", command="cat b")[:2], *does("Bash", command="cat ./b")], GONE)


@pytest.mark.parametrize(
    "change",
    [
        does("Edit", file_path="/d/a", old_string="x", new_string="y"),
        does("Write", file_path="/d/a", content="y"),
        does("Bash", "", command="cd /d && sed -i s/x/y/ a"),
        does("Bash", "", command="rm /d/a"),
    ],
)
def test_a_file_that_was_changed_in_between_does_not_count(change: list[tf.Message]) -> None:
    history = [*reads("/d/a"), *change, *reads("/d/a")]
    assert found(history, GONE) == []
    listed = does("Bash", command="grep -rn x /d")
    assert found([*listed, *change, *listed], GONE) == []


def test_a_file_that_comes_back_otherwise_does_not_count() -> None:
    assert found([*reads("/a", "old"), *reads("/a", "new")], GONE) == []


def test_a_call_repeated_with_equal_arguments_counts_and_order_does_not_matter() -> None:
    history = [*does("search", a=1, b=2), *does("search", b=2, a=1)]
    assert found(history, GONE) == [("call", 'search {"a": 1, "b": 2}', 1, 2, 0)]
    assert found([*does("search", a=1), *does("search", a=2)], GONE) == []
    assert found([*does("search", a=1), *does("search", "other", a=1)], GONE) == []


def test_a_command_run_again_after_something_was_written_does_not_count() -> None:
    run = does("Bash", "1 failed", command="pytest")
    edit = does("Edit", file_path="/a", old_string="x", new_string="y")
    assert found([*run, *run], GONE)
    assert found([*run, *edit, *run], GONE) == []


def test_an_act_repeated_counts_whatever_came_back() -> None:
    history = [*does("pay", "receipt 1", to="A"), *does("pay", "receipt 2", to="A")]
    assert [one[0] for one in found(history, GONE)] == ["call"]


def asks(question: str, answer: str = "Main.") -> list[tf.Message]:
    return [tf.Message("assistant", question), tf.Message("user", answer)]


@pytest.mark.parametrize(
    ("one", "again"),
    [
        ("Which branch should I use?", "which  branch should I use ?"),
        ("Which branch should I use for this?", "Which branch should I use for that?"),
        ("どのブランチを使いますか？", "どのブランチを使いますか?"),
        ("Какую ветку мне взять?", "КАКУЮ ветку мне взять?"),
        ("أي فرع أستخدم؟", "أي فرع أستخدم ؟"),
    ],
)
def test_a_question_asked_again_counts_in_any_script(one: str, again: str) -> None:
    history = [*asks(f"Done. {one}"), *asks(again)]
    assert [(row[0], row[3]) for row in found(history, GONE)] == [("question", 2)]
    assert found(history, lost(2)) == []


def test_another_question_and_code_are_no_repeats() -> None:
    assert found([*asks("Which branch?"), *asks("Which database?")], GONE) == []
    assert list(questions_in("```\nx = a if b else c?\n```")) == []


def test_a_cleared_result_counts_as_gone() -> None:
    first, second = reads("/a", "word " * 900), reads("/b", "word " * 900)
    policy = tf.Policy(budget=1_500, keep=("results", 1), clear_batch=1, grid=0)
    fitted = tf.fit([*first, *second], policy)
    assert [one.index for one in fitted.cleared] == [1]
    event = Event.of_fitted(fitted, 4)
    assert found([*first, *second, *first], event) == [("read", "/a", 1, 4, 0)]


def test_what_is_live_is_regret_and_what_is_recorded_is_exposed() -> None:
    for live, measure in ((True, "regret"), (False, "exposed")):
        regret = Regret.of(reads("/a") * 2, [GONE], effects=EFFECTS, live=live)
        assert {one.measure for one in regret.findings} == {measure}


def test_events_out_of_order_are_an_error() -> None:
    with pytest.raises(ValueError, match="order"):
        Regret.of(reads("/a") * 2, [lost(3), lost(1)])


def test_what_came_back_again_is_priced() -> None:
    text = "word " * 300
    [finding] = Regret.of(reads("/a", text) * 2, [GONE], effects=EFFECTS).findings
    assert finding.tokens == tf.estimate(text)
    both = does("Bash", text, command="cat /a /b")
    regret = Regret.of(both * 2, [GONE], effects=EFFECTS)
    assert [one.tokens for one in regret.findings] == [tf.estimate(text), 0]


def test_live_compactions_are_followed_through_their_records() -> None:
    keep = CarryOver(established=(Established("x"),))
    policy = tf.Policy(budget=3_000, keep=("tokens", 0))
    regret = Regret(EFFECTS, live=True)
    work = [tf.Message("user", "Go."), *(m for n in "abcd" for m in reads(n, f"{n} " * 900))]
    messages: list[Any] = []
    for message in work:
        regret.observe(message)
        messages.append(message)
        if len(messages) > 5:
            done = compact(messages, Boundary.at_milestone(lambda _: True), keep, policy)
            regret.compacted(done)
            messages, policy = done.messages, done.policy
    assert sum(map(is_record, messages)) == 1
    regret.extend([*reads("a", "a " * 900), *reads("d", "d " * 900)])
    assert [(one.subject, one.first, one.event) for one in regret.findings] == [("a", 2, 0)]


def _loses(event: Event, stood: int, called: int) -> bool:
    return stood < event.at <= called and stood in event.dropped[0]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=9), st.data())
def test_each_repeat_is_counted_once_as_gone_or_as_in_view(paths: list[str], data: Any) -> None:
    history = [m for path in paths for m in reads(path)]
    places = sorted(data.draw(st.lists(st.integers(0, len(history)), max_size=4)))
    events = [lost(at, range(data.draw(st.integers(0, at)))) for at in places]
    regret = Regret.of(history, events, effects=EFFECTS)
    assert len(regret.findings) + regret.in_view["read"] == len(paths) - len({*paths})
    naive = []
    for at, path in enumerate(paths):
        before = [place for place in range(at) if paths[place] == path]
        for place in before[-1:]:
            stood = place * 2 + 1
            hits = [n for n, one in enumerate(events) if _loses(one, stood, at * 2)]
            naive += [(path, stood, at * 2, hits[0])] if hits else []
    assert [(f.subject, f.first, f.at, f.event) for f in regret.findings] == naive


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.text(min_size=1), st.text(min_size=1))
def test_the_same_question_is_always_found(question: str, other: str) -> None:
    alike: Alike[int] = Alike()
    alike.put(plain_question(other), 0)
    alike.put(plain_question(question), 1)
    assert alike.get(plain_question(question)) == 1


def test_it_is_linear_in_the_messages() -> None:
    def seconds(rounds: int) -> float:
        history = [m for n in range(rounds) for m in reads(f"/{n % 50}", "some text")]
        events = [lost(at, range(at - 10)) for at in range(20, len(history), 20)]
        start = time.perf_counter()
        Regret.of(history, events, effects=EFFECTS)
        return time.perf_counter() - start

    small = min(seconds(1_000) for _ in range(3))
    assert min(seconds(8_000) for _ in range(3)) < 8 * small * 2.5


# --- recordings ---------------------------------------------------------------------------------


# By hand: the same file or query comes back, unchanged, in a later call.
EXPOSED = {
    "openhands-multiswe-0": {(10, 13), (14, 17)},
    "claudecode-spotter-8463": {(9, 37), (14, 43), (132, 170)},
}


@needs_corpus
@pytest.mark.parametrize("name", EXPOSED)
def test_exposed_re_reads_of_recordings_are_those_found_by_hand(name: str) -> None:
    one = coding_named(name)
    events = simulated(one.messages, Boundary.at_share(0.8), tf.Policy(budget=8_000))
    regret = Regret.of(one.messages, events, effects=one.effects)
    assert {(finding.first, finding.at) for finding in regret.findings} == EXPOSED[name]
    assert {finding.measure for finding in regret.findings} == {"exposed"}


# Whatever is fetched or asked again in any recording, by hand: whether it is the same thing once
# more. One question has the words of an earlier one and offers new options.
FETCHED_AGAIN = {
    "claudecode-spotter-8463c716.jsonl[0]": {37: True, 43: True, 170: True},
    "sweagent-BabyEncryption.traj[0]": {14: True},
    "sweagent-eps.traj[0]": {22: True, 24: True, 26: True},
    "openhands-multiswe-0.json[0]": {13: True, 17: True},
    "tau-airline-gpt4o-a.jsonl[7]": {18: False},
    "tau-airline-gpt4o-a.jsonl[9]": {12: True},
    "tau-airline-gpt4o-a.jsonl[13]": dict.fromkeys((16, 28, 40, 42, 46, 48, 52), True),
    "tau-airline-gpt4o-b.jsonl[7]": {20: True},
    "tau-airline-gpt4o-b.jsonl[9]": dict.fromkeys((54, 56, 58, 60), True),
    "tau-airline-gpt4o-b.jsonl[15]": {18: True},
}


@needs_corpus
def test_of_all_that_recordings_fetch_again_nearly_all_is_the_same_thing() -> None:
    found: dict[str, set[int]] = {}
    for one in recorded():
        events = [lost(at, range(at)) for at in range(1, len(one.messages))]
        regret = Regret.of(one.messages, events, effects=one.effects)
        if regret.findings:
            found[one.name] = {finding.at for finding in regret.findings}
    assert found == {name: set(told) for name, told in FETCHED_AGAIN.items()}
    told = [right for one in FETCHED_AGAIN.values() for right in one.values()]
    assert (sum(told), len(told)) == (23, 24)


def test_what_an_agent_submits_is_told_apart_to_its_end() -> None:
    def submits(answer: str) -> list[tf.Message]:
        said = tf.Message("assistant", f"```\nsubmit {answer}\n```")
        return [said, tf.Message("user", "Wrong.")]

    gone = lost(2, range(2))
    for answer, again in (("flag{a c}", 0), ("flag{a b}", 1)):
        work = submits("flag{a b}") + submits(answer)
        regret = Regret.of(work, [gone], effects=SWE_AGENT)
        assert len(regret.findings) == again


@needs_corpus
@pytest.mark.parametrize("window", [8_000, 32_000, 64_000])
def test_simulated_compactions_cut_safely_and_gain(window: int) -> None:
    for one in coding():
        policy = tf.Policy(budget=window)
        last = 0
        for event in simulated(one.messages, Boundary.at_share(0.8), policy):
            [span] = event.dropped
            assert last <= span.start < span.stop < event.at
            assert event.after < event.before
            assert event.before >= 0.8 * window
            last = span.stop


# --- the table ----------------------------------------------------------------------------------


def test_rates_are_asked_for_by_kind_of_task(tmp_path: Path) -> None:
    path = str(tmp_path / "regret.db")
    hard = Regret.of(reads("/a") * 2, [GONE], effects=EFFECTS)
    easy = Regret.of([*reads("/a"), *reads("/b")], [GONE], effects=EFFECTS)
    with RegretTable(path) as table:
        for number in range(3):
            table.add(hard, session=f"h{number}", task_type="bug fix")
            table.add(easy, session=f"e{number}", task_type="report")
        table.add(hard, session="h0", task_type="bug fix")
    with RegretTable(path) as table:
        first, second = table.by("task_type")
        assert (first.group, first.again, second.group, second.again) == ("bug fix", 3, "report", 0)
        assert first.tokens == 3 * tf.estimate("content")
        assert len(table.by("session")) == 6
        picture = ElementTree.fromstring(chart(table.by("task_type")))
        assert "bug fix: read (exposed)" in "".join(picture.itertext())
        with pytest.raises(ValueError, match="column must be"):
            table.by("tokens; DROP TABLE regret")  # type: ignore[arg-type]
    assert sqlite3.connect(path).execute("SELECT COUNT(*) FROM regret").fetchone() == (6,)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 500), st.integers(0, 500))
def test_an_interval_holds_its_rate(again: int, more: int) -> None:
    low, high = wilson(again, again + more)
    assert 0 <= low <= (again / (again + more) if again + more else 0.5) + 1e-12
    assert low < high <= 1
    rate = Rate("g", "regret", "read", again, again + more, low, high, 0, 0, 0, 1, 0)
    assert rate.rate <= high + 1e-12
    assert rate.view_rate == 0
