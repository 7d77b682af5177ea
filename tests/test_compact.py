"""Compaction: safe cuts, one record, counted again, on every wire format."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import turnfit as tf
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import Format
from servers.thinking import PrefixChecker, is_thinking
from strategies import FORMATS, histories
from support.messages import Message, blocks, calls, result, rounds, says, use, used, user
from support.records import records
from turnfit.compaction import (
    Boundary,
    CarryOver,
    Compacted,
    CompactionError,
    Established,
    Open,
    RecordError,
    compact,
    is_record,
)
from turnfit.compaction.rendering import holds_record
from turnfit.messages.contents import contents
from turnfit.messages.formats import format_named

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))
NOW = Boundary.at_milestone(lambda _: True)
KEEP = CarryOver(established=(Established("Do NOT push.", "constraint", (0,)),))
LEAST: dict[str, Any] = {"least_gain": 0, "record_tokens": 10_000}


def tried(
    messages: Any, policy: tf.Policy | None, record: CarryOver = KEEP, **more: Any
) -> Compacted | None:
    """Compacted at any gain; None where nothing can be gained."""
    try:
        return compact(messages, NOW, record, policy, **{**LEAST, **more})
    except CompactionError:
        return None


def texts(messages: list[Any], format: str) -> list[str]:
    return [text for m in messages for text in contents(m, format_named(format)).texts]


def refused(messages: list[Any], format: str) -> set[str]:
    return {problem.rule for problem in tf.check(messages, format=format)}


@pytest.mark.parametrize("format", FORMATS)
def test_cuts_are_safe_and_the_history_stays_whole(format: Format) -> None:
    done = 0

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(histories(format), st.integers(1, 2_000))
    def check(messages: list[Any], keep: int) -> None:
        nonlocal done
        before = copy.deepcopy(messages)
        # Where neighbours of one role use one id, the provider pairs otherwise than we do.
        assume(not {"same-role", "repeated-id"} <= refused(messages, format))
        policy = tf.Policy(budget=100_000, keep=("tokens", keep))
        compacted = tried(messages, policy, format=format)
        assert messages == before
        if compacted is None:
            return
        done += 1
        event = compacted.event
        assert event is not None
        assert refused(compacted.messages, format) <= refused(messages, format)
        counted = tf.estimate_request(compacted.messages, format=format)
        # Joined neighbours save a frame, which fitting doesn't count on.
        assert counted == event.after or (format == "bedrock-converse" and counted < event.after)
        assert event.after < event.before
        found = [text for text in texts(compacted.messages, format) if holds_record(text)]
        assert len(found) == 1
        kept = {origin for origin in compacted.origins if origin is not None}
        gone = {index for span in event.dropped for index in span}
        assert kept | gone == {*range(event.at)}
        assert not kept & gone
        fitted = tf.fit(compacted.messages, compacted.policy, format=format)
        assert found[0] in texts(fitted.messages, format)

    check()
    assert done


@pytest.mark.parametrize("format", FORMATS)
def test_a_conversation_is_compacted_as_its_history_is(format: Format) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(histories(format), records(), st.integers(1, 2_000))
    def check(messages: list[Any], record: CarryOver, keep: int) -> None:
        policy = tf.Policy(budget=100_000, keep=("tokens", keep))
        conversation = tf.Conversation(policy, format=format)
        conversation.extend(messages)
        one, other = (
            tried(messages, policy, record, format=format),
            tried(conversation, None, record),
        )
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert other.messages == one.messages
            assert (other.event, other.record, other.policy) == (one.event, one.record, one.policy)
        assert conversation.history == messages or format == "bedrock-converse"

    check()


def test_the_record_outlasts_every_fitting() -> None:
    history = [user("Move the shop."), *rounds(20)]
    policy = tf.Policy(budget=12_000)
    done = compact(history, Boundary.at_share(0.5), KEEP, policy)
    conversation = tf.Conversation(done.policy)
    conversation.extend(done.messages)
    for messages in zip(*[iter(rounds(300, 30))] * 2, strict=True):
        conversation.extend(messages)
        fitted = conversation.fit()
        assert fitted.fits
        assert sum(map(is_record, fitted.messages)) == 1
        assert fitted.messages[0] == history[0]
    assert fitted.step == "rounds"


def test_three_compactions_in_a_row_keep_every_constraint_and_fact_verbatim() -> None:
    policy = tf.Policy(budget=8_000)
    messages: list[Message] = [user("Token: 7f3a. Do NOT push."), *rounds(6)]
    wanted: list[str] = []
    for number in range(3):
        fact = Established(f"Fact {number}: времена в UTC.", "fact", (number,))
        rule = Established(f"Rule {number}: never touch {number}.", "constraint", (number,))
        wanted += [fact.text, rule.text]
        done = compact(messages, NOW, CarryOver(established=(fact, rule)), policy)
        assert [e.text for e in done.record.established] == wanted
        assert done.messages[0] is messages[0]
        assert [is_record(m) for m in done.messages[:3]] == [False, True, False]
        policy = done.policy
        messages = [*done.messages, *rounds(6)]


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(records(), min_size=1, max_size=3))
def test_any_records_are_merged_as_compactions_follow_each_other(parts: list[CarryOver]) -> None:
    policy = tf.Policy(budget=200_000, keep=("tokens", 500))
    messages: list[Message] = [user("Start.")]
    whole = CarryOver()
    for part in parts:
        messages = [*messages, *rounds(8)]
        whole = whole.merge(part)
        if whole.is_blank:
            continue
        done = compact(messages, NOW, part, policy, record_tokens=100_000, least_gain=0)
        assert done.record == whole
        messages, policy = done.messages, done.policy


def test_below_the_boundary_nothing_happens() -> None:
    history = [user(), *rounds(3)]
    done = compact(history, Boundary.at_share(0.9), KEEP, tf.Policy(budget=100_000))
    assert done.event is None
    assert all(one is other for one, other in zip(done.messages, history, strict=True))
    assert compact([], Boundary.at_share(0.9), KEEP, tf.Policy(budget=1_000)).messages == []


@pytest.mark.parametrize("history", [[], [user()], [user(), calls("c1")], [says()]])
def test_where_nothing_can_be_dropped_it_is_an_error(history: list[Message]) -> None:
    with pytest.raises(CompactionError):
        compact(history, NOW, KEEP, tf.Policy(budget=1_000))


def test_a_call_in_flight_stays_with_what_follows_it() -> None:
    flying = calls("a", "b")
    history = [user(), *rounds(8), flying, result("a", "word " * 50)]
    done = compact(history, NOW, KEEP, tf.Policy(budget=4_000, keep=("tokens", 0)))
    assert flying in done.messages
    assert done.messages[-2:] == history[-2:]


def test_pinned_messages_stay_with_their_rounds() -> None:
    history = [user(), *rounds(9)]
    for pinned in ((6,), lambda message: message is history[6]):
        policy = tf.Policy(budget=8_000, keep=("tokens", 500), pinned=pinned)
        done = compact(history, NOW, KEEP, policy)
        assert history[5:7] == done.messages[2:4]
        fitted = tf.fit([*done.messages, *rounds(30)], done.policy)
        assert history[6] in fitted.messages
        assert sum(map(is_record, fitted.messages)) == 1


def test_too_little_gain_is_an_error_that_says_how_little() -> None:
    history = [user("word " * 5_000), *rounds(2, 50)]
    with pytest.raises(CompactionError, match="at least") as told:
        compact(history, NOW, KEEP, tf.Policy(budget=6_000, keep=("tokens", 0)))
    assert told.value.gained < 600


def test_a_conversation_brings_its_own_policy() -> None:
    with pytest.raises(TypeError, match="its own policy"):
        compact(tf.Conversation(budget=1_000), NOW, KEEP, tf.Policy(budget=1_000))


def test_keep_is_counted_in_results_too() -> None:
    history = [user(), *rounds(9)]
    policy = tf.Policy(budget=8_000, keep=("results", 3))
    assert len(compact(history, NOW, KEEP, policy).messages) == 2 + 2 * 3


# --- boundaries ---------------------------------------------------------------------------------


def event_of(boundary: Boundary, history: list[Message], record: CarryOver = KEEP) -> Any:
    return compact(history, boundary, record, tf.Policy(budget=8_000, window=10_000)).event


def test_boundaries_combine() -> None:
    history = [m for n in range(4) for m in (user(f"{n}"), *rounds(2))]
    share = tf.estimate_request(history) / 10_000
    below, above = Boundary.at_share(share), Boundary.at_share(min(1, share + 0.01))
    few, many = Boundary.every_turns(4), Boundary.every_turns(5)
    for one, other, either, both in (
        (below, few, True, True),
        (below, many, True, False),
        (above, few, True, False),
        (above, many, False, False),
    ):
        assert (event_of(one | other, history) is not None) is either
        assert (event_of(one & other, history) is not None) is both


def test_turns_are_counted_from_the_last_compaction() -> None:
    history = [m for n in range(4) for m in (user(f"{n}"), *rounds(2))]
    policy = tf.Policy(budget=8_000, keep=("tokens", 0))
    done = compact(history, Boundary.every_turns(4), KEEP, policy)
    again = compact(done.messages, Boundary.every_turns(4), KEEP, done.policy)
    assert done.event is not None
    assert again.event is None


def test_a_milestone_looks_at_what_was_recorded() -> None:
    boundary = Boundary.at_milestone(lambda record: bool(record.open))
    history = [user(), *rounds(6)]
    assert event_of(boundary, history) is None
    assert event_of(boundary, history, CarryOver(open=(Open("x"),))) is not None


def test_a_milestone_in_words_is_unverified_and_keeps_more() -> None:
    history = [user(), *rounds(9)]
    sure = event_of(Boundary.at_milestone(lambda _: True), history)
    said = event_of(Boundary.at_milestone("the tests pass"), history)
    assert not sure.unverified
    assert said.unverified
    assert said.after > sure.after
    both = event_of(Boundary.at_milestone("it works") | Boundary.every_turns(1), history)
    assert not both.unverified


@pytest.mark.parametrize("share", [0, -1, 1.5, float("nan")])
def test_a_share_that_cannot_be_is_told(share: float) -> None:
    with pytest.raises(ValueError, match="share must be"):
        Boundary.at_share(share)


def test_events_are_flat_figures_for_logs() -> None:
    event = event_of(NOW, [user(), *rounds(9)])
    assert event.as_dict()["gained"] == event.before - event.after > 0
    assert "workspace" in str(event)
    assert replace(event, relieved=False).as_dict()["relieved"] is False


def test_a_record_among_other_blocks_is_found() -> None:
    history = [
        blocks("user", {"type": "text", "text": "Go."}),
        blocks("assistant", use("a")),
        blocks("user", used("a", "word " * 900)),
    ]
    history = [
        *history,
        *[
            m
            for n in range(6)
            for m in (
                blocks("assistant", use(f"u{n}")),
                blocks("user", used(f"u{n}", "word " * 400)),
            )
        ],
    ]
    done = compact(history, NOW, KEEP, tf.Policy(budget=6_000, keep=("tokens", 500)))
    assert [is_record(m) for m in done.messages] == [
        False,
        True,
        *[False] * (len(done.messages) - 2),
    ]


def test_constraints_that_are_over_the_bound_are_an_error_and_nothing_is_lost() -> None:
    history = [user(), *rounds(9)]
    before = copy.deepcopy(history)
    rule = CarryOver(established=(Established("Never. " * 3_000, "constraint"),))
    with pytest.raises(RecordError, match="its constraints, which always stay, take"):
        compact(history, NOW, rule, tf.Policy(budget=8_000))
    assert history == before


def test_a_broken_record_in_the_history_is_told() -> None:
    broken = user('[turnfit: record@9, written by a program.]\n{"version": 9}')
    with pytest.raises(RecordError, match="its version is 9"):
        compact([user(), broken, *rounds(9)], NOW, KEEP, tf.Policy(budget=8_000))


def test_a_provider_that_checks_reasoning_refuses_nothing_after_a_compaction() -> None:
    """The record is new before all that stays, so the thinking in it is of no use any more."""
    checker, policy = PrefixChecker(), thinking_policy(model="claude-opus-5-5")
    history: list[Any] = [user()]
    compactions = 0
    for number in range(60):
        done = compact(history, Boundary.at_share(0.8), KEEP, policy)
        if done.event is not None:
            history, policy, compactions = list(done.messages), done.policy, compactions + 1
            assert not any(map(is_thinking, blocks_of(history)))
            assert len(done.origins) == len(done.messages)
        body = {"model": "claude-opus-5-5", "messages": tf.fit(history, policy).messages}
        checker.receive(body)
        thought = {"type": "thinking", "thinking": f"Now file {number}.", "signature": ""}
        answer = checker.sign(body, [thought, use(f"t{number}")])
        result = used(f"t{number}", "word " * 150)
        history += [blocks("assistant", *answer), blocks("user", result)]
    assert compactions >= 2
    assert any(map(is_thinking, blocks_of(history)))


def test_reasoning_that_no_provider_compares_stays_in_what_is_kept() -> None:
    history: list[Any] = [user()]
    for number in range(30):
        thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
        history += [
            blocks("assistant", thought, use(f"t{number}")),
            blocks("user", used(f"t{number}", "word " * 150)),
        ]
    kept = compact(history, Boundary.at_share(0.5), KEEP, thinking_policy()).messages
    assert any(map(is_thinking, blocks_of(kept)))


def thinking_policy(**more: Any) -> tf.Policy:
    return tf.Policy(budget=4_000, profile="script", **more)


def blocks_of(messages: list[Any]) -> Iterator[dict[str, Any]]:
    for message in messages:
        if isinstance(message["content"], list):
            yield from message["content"]
