"""Recorded work under policies: what comes of it, step by step."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import time
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from hypothesis import assume, given
from strategies import Case, cases
from support.messages import blocks, use, used, user
from support.subagents import opening, rounds
from support.trajectories import needs_corpus, recordings
from test_fit import MANY, policy_of
from turnfit.compaction import Event, Regret
from turnfit.replay import (
    Fitting,
    Played,
    Recording,
    Replayed,
    replay,
    replay_files,
    totals,
)
from turnfit.replay.contenders import Player
from turnfit.replay.many import replay_all
from turnfit.replay.track import Track

WINDOW, BUDGET = 1_000_000, 400_000
SUBAGENTS = range(8)
Message = dict[str, Any]


def subagent(seed: int) -> list[Message]:
    """One instruction, and reads until the history no longer fits the window."""
    history, work = opening(seed), rounds(seed)
    tokens = tf.estimate_request(history)
    while tokens <= WINDOW:
        more = next(work)
        history += more
        tokens += tf.estimate_request(more)
    return history


def replayed(messages: list[Message], budget: int = BUDGET, **options: Any) -> Replayed:
    return replay(Recording(name="work", messages=messages), budget, **options)


def used_up(played: Played) -> int:
    return played.cache_read + played.cache_written + played.uncached


# --- the scenario -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def eight() -> list[Replayed]:
    return [replayed(subagent(seed), window=WINDOW) for seed in SUBAGENTS]


@pytest.mark.parametrize("name", ["nothing", "drop oldest"])
def test_all_subagents_are_refused_where_nothing_is_done_or_only_turns_are_cut(
    eight: list[Replayed], name: str
) -> None:
    assert [one[name].finished for one in eight] == [False] * 8
    assert [one[name].dropped_turns for one in eight] == [0] * 8


def test_no_subagent_is_refused_under_turnfit_and_all_finish(eight: list[Replayed]) -> None:
    for name in ("default", "clear one"):
        assert [one[name].finished for one in eight] == [True] * 8
        assert {one[name].over_budget for one in eight} == {0}
        assert {one[name].unread for one in eight} == {0}
    summed = {total.name: total for total in totals(one.as_dict() for one in eight)}
    assert (summed["default"].finished, summed["default"].histories) == (8, 8)
    assert (summed["nothing"].finished, summed["nothing"].histories) == (0, 8)


def test_forty_long_chapters_read_by_one_subagent_end_with_all_forty_read() -> None:
    history, work = opening(0), rounds(0, (2_000, 3_000))
    for _ in range(40):
        history += next(work)
    got = replayed(history, window=WINDOW)
    assert tf.estimate_request(history) > WINDOW
    assert (got["default"].results, got["default"].unread) == (40, 0)
    assert got["default"].finished
    assert not got["nothing"].finished
    assert got["nothing"].unread > 0


# --- what each policy sends ---------------------------------------------------------------------


def steps(played: Played) -> dict[str, list[Any]]:
    assert played.steps is not None
    return vars(played.steps)


@MANY
@given(cases())
def test_a_policy_sends_what_fit_makes_of_each_beginning(case: Case) -> None:
    assume(case.messages)
    beside: dict[str, Any] = {"system": case.system, "tools": case.tools, "format": case.format}
    recording = Recording(name="drawn", messages=case.messages, **beside)
    assume(len(recording.split()) == 1)
    policy = policy_of(case)
    before = copy.deepcopy(case.messages)
    got = replay(recording, policy.budget, policies=[Fitting("own", policy)])["own"]
    columns = steps(got)
    fits = [tf.fit(case.messages[:at], policy, **beside) for at in columns["at"]]
    assert columns["tokens"] == [tf.estimate_request(one.messages, **beside) for one in fits]
    assert case.messages == before
    cleared = {(row.index, row.call_id) for fitted in fits for row in fitted.cleared}
    assert got.cleared >= len(cleared)
    stale = {row.index for fitted in fits for row in fitted.stale_reasoning}
    assert got.stale_reasoning == len(stale)
    events = [Event.of_fitted(one, at) for one, at in zip(fits, columns["at"], strict=True)]
    regret = Regret.of(case.messages, events, format=case.format)
    assert got.exposed == len(regret.findings)


@MANY
@given(cases())
def test_the_parts_of_a_request_add_up_to_the_history(case: Case) -> None:
    assume(case.messages)
    beside: dict[str, Any] = {"system": case.system, "tools": case.tools, "format": case.format}
    recording = Recording(name="drawn", messages=case.messages, **beside)
    assume(len(recording.split()) == 1)
    got = replay(recording, policy_of(case).budget, policies=[Fitting("own", policy_of(case))])
    track = Track.of(recording)
    for played in got.policies:
        columns = steps(played)
        assert {len(column) for column in columns.values()} == {played.requests}
        for at, tokens, kept, notes, cleared, dropped in zip(
            *(columns[key] for key in ("at", "tokens", "kept", "notes", "cleared", "dropped")),
            strict=True,
        ):
            assert tokens == kept + notes
            assert tokens + cleared + dropped == max(tokens, track.fixed + track.sums[at])
            assert min(kept, notes, cleared, dropped) >= 0
        assert used_up(played) == played.tokens_sent == sum(columns["tokens"])


def test_what_a_note_costs_is_taken_off_what_was_dropped() -> None:
    history = [*turns(20), user("last")]
    got = replayed(history, budget=tf.estimate_request(history[-7:]))["default"]
    columns = steps(got)
    track = Track.of(Recording(name="work", messages=history))
    assert got.dropped_turns > 0
    assert set(columns["cleared"]) == {0}
    saved = [
        track.fixed + track.sums[at] - tokens
        for at, tokens in zip(columns["at"], columns["tokens"], strict=True)
    ]
    assert columns["dropped"] == saved


def test_a_request_stands_before_each_answer_and_at_the_end_where_one_is_awaited() -> None:
    history = [user("a"), blocks("assistant", use("1")), blocks("user", used("1", "x"))]
    history += [blocks("assistant", use("2")), blocks("user", used("2", "y"))]
    assert steps(replayed(history)["nothing"])["at"] == [1, 3, 5]
    answered = [*history, blocks("assistant", {"type": "text", "text": "done"})]
    assert steps(replayed(answered)["nothing"])["at"] == [1, 3, 5]


def test_parallel_calls_that_are_items_of_their_own_are_one_answer() -> None:
    call: Message = {"type": "function_call", "name": "f", "arguments": "{}"}
    back: Message = {"type": "function_call_output", "output": "x"}
    history = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "r", "summary": []},
        *({**call, "call_id": name} for name in "ab"),
        *({**back, "call_id": name} for name in "ab"),
    ]
    got = replay(Recording(name="w", messages=history, format="openai-responses"), 1000)
    assert steps(got["nothing"])["at"] == [1, 6]


def turns(count: int, words: int = 100) -> Iterator[Message]:
    for number in range(count):
        yield {"role": "user", "content": f"{number} " + "word " * words}
        yield {"role": "assistant", "content": "word " * words}


def test_drop_oldest_cuts_at_user_messages_and_goes_no_further_than_it_must() -> None:
    history = [{"role": "system", "content": "Be brief."}, *turns(20), user("last")]
    budget = tf.estimate_request([history[0], *history[-5:]])
    got = replayed(history, budget=budget)["drop oldest"]
    columns = steps(got)
    assert columns["tokens"][-1] == budget
    assert got.dropped_turns == 18
    assert max(columns["tokens"]) <= budget
    assert columns["first_changed"].count(1) == got.start_changes > 0


def test_keep_last_six_clears_all_other_results_at_every_step() -> None:
    history = [user("go")]
    for number in range(10):
        history += [
            blocks("assistant", use(f"t{number}")),
            blocks("user", used(f"t{number}", "word " * 400)),
        ]
    got = replay(Recording(name="w", messages=history), 10**6)["keep last 6"]
    assert got.cleared == 4
    note = tf.estimate_request([*history[:1], *tf.fit(history, budget=1000).messages[1:3]])
    whole = tf.estimate_request(history[:3])
    saved = 4 * (whole - note)
    assert steps(got)["cleared"][-1] == saved
    assert steps(got)["first_changed"] == [*[-1] * 7, 2, 4, 6, 8]


def test_keep_last_six_leaves_results_that_are_shorter_than_the_note() -> None:
    history = [user("go")]
    for number in range(10):
        text = "word " * 400 if number % 2 else "ok"
        history += [
            blocks("assistant", use(f"t{number}")),
            blocks("user", used(f"t{number}", text)),
        ]
    got = replay(Recording(name="w", messages=history), 10**6)["keep last 6"]
    assert got.cleared == 2
    assert steps(got)["first_changed"] == [*[-1] * 8, 4, -1, 8]


def test_keep_last_six_makes_the_reasoning_behind_each_change_stale() -> None:
    history = [user("go")]
    for number in range(9):
        thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
        call, result = use(f"t{number}"), used(f"t{number}", "word " * 400)
        history += [blocks("assistant", thinking, call), blocks("user", result)]
    got = replay(Recording(name="w", messages=history), 10**6)
    # The first three results are cleared; of the first message nothing before has changed.
    assert got["keep last 6"].stale_reasoning == 8
    assert got["nothing"].stale_reasoning == 0


def test_keep_last_six_tells_the_results_of_one_message_apart() -> None:
    names = [f"t{number}" for number in range(8)]
    history = [
        user("go"),
        blocks("assistant", *map(use, names)),
        blocks("user", *(used(name, "word " * 400) for name in names)),
        blocks("assistant", use("u")),
        blocks("user", used("u", "word " * 400)),
    ]
    got = replay(Recording(name="w", messages=history), 10**6)["keep last 6"]
    assert got.cleared == 3
    assert steps(got)["first_changed"] == [-1, -1, 2]
    assert got.unread == 2


def test_a_refused_request_costs_nothing_and_leaves_nothing_in_the_cache() -> None:
    history = [user("word " * 3000), {"role": "assistant", "content": "ok"}, user("word " * 9000)]
    history += [{"role": "assistant", "content": "ok"}, user("again")]
    got = replayed(history, budget=5_000, window=6_000)
    refused = got["nothing"]
    assert steps(refused)["refused"] == [False, True, True]
    assert refused.tokens_sent == steps(refused)["tokens"][0] == used_up(refused)
    assert not refused.finished
    dropping = got["drop oldest"]
    assert steps(dropping)["refused"] == [False, True, False]
    assert dropping.refused == 1


def test_what_the_answer_may_take_counts_against_the_window() -> None:
    policy = tf.Policy(budget=900, window=1000, output=100)
    history = [user("word " * 720)]
    got = replayed(history, budget=900, window=1000, policies=[Fitting("own", policy)])
    assert (got["nothing"].refused, got["own"].refused) == (0, 1)


# --- caches and time -----------------------------------------------------------------------------


def test_recorded_times_let_the_cache_expire_and_seconds_per_step_go_before_them() -> None:
    history = [*turns(6, words=2000), user("last")]
    times = [float(600 * number) for number in range(len(history))]
    work = Recording(name="w", messages=history, model="gpt-5.1", times=times)
    assert replay(work, 10**6)["nothing"].cache_read == 0
    assert replay(work, 10**6, seconds_per_step=1)["nothing"].cache_read > 0
    assert replay(replace(work, times=None), 10**6)["nothing"].cache_read > 0


# --- real work, and much of it ------------------------------------------------------------------


@needs_corpus
@pytest.mark.filterwarnings("ignore:no profile is known:UserWarning")
def test_recorded_work_is_replayed_in_every_format() -> None:
    formats = set()
    for one in recordings():
        got = replay(one, 20_000, window=40_000)
        formats.add(got.format)
        assert got["default"].refused == 0 or got["default"].over_budget > 0
        for played in got.policies:
            assert used_up(played) == played.tokens_sent
    wanted = {"openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse"}
    assert formats == wanted


@needs_corpus
def test_a_pool_gives_what_one_process_gives_in_the_same_order() -> None:
    from support.trajectories import FOLDER

    paths = [*sorted(FOLDER.glob("sweagent-*")), *sorted(FOLDER.glob("bfcl-*"))]

    def told(jobs: int, paths: list[Any]) -> list[Any]:
        files = list(replay_files(paths, 5_000, window=10_000, jobs=jobs, steps=True))
        rows = [(one.path, one.errors, [r.as_dict() for r in one.replays]) for one in files]
        for _, _, replays in rows:
            for policy in (policy for one in replays for policy in one["policies"]):
                del policy["seconds"]
        return rows

    alone = told(1, paths)
    assert told(2, paths) == alone
    assert told(3, paths[::-1]) == alone[::-1]
    assert [bool(errors) for _, errors, _ in alone].count(True) == 1


def test_a_history_with_a_compaction_is_split_and_not_replayed_as_one() -> None:
    marker = {"type": "compaction", "id": "c", "encrypted_content": "x"}
    history = [user("a"), {"role": "assistant", "content": "b"}, marker, user("c")]
    work = Recording(name="w", messages=history, format="openai-responses", times=[1, 2, 3, 4])
    with pytest.raises(tf.HistoryError, match="message 2 stands for those before it"):
        replay(work, 1000)
    first, second = work.split()
    assert (first.messages, second.messages) == (history[:2], history[2:])
    assert (second.name, second.times) == ("w after compaction 1", [3, 4])


def test_what_cannot_be_read_is_told_with_the_recordings_name() -> None:
    with pytest.raises(tf.HistoryError, match=r"broken\.json: message 1"):
        replay(Recording(name="broken.json", messages=[user("a"), {"role": "wizard"}]), 1000)
    with pytest.raises(tf.HistoryError, match=r"empty.json: there is no message"):
        replay(Recording(name="empty.json", messages=[]), 1000)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_seconds_that_no_step_can_take_are_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds_per_step must be 0 or more, not"):
        replayed([user("hi")], seconds_per_step=seconds)


def test_a_budget_without_room_is_told_with_its_policy() -> None:
    mine = Fitting("mine", tf.Policy(budget=1))
    with pytest.raises(tf.BudgetError, match=r"^policy 'mine': the budget of 1 tokens") as caught:
        replayed([user("hi")], policies=[mine])
    assert caught.value.parts


def test_an_error_that_only_begins_as_the_recordings_name_is_named_too() -> None:
    recording = Recording(name="policy", messages=[user("hi")])
    got = replay_all("file", [recording], budget=1)
    assert got.errors[0].startswith("policy: policy 'clear one': ")


class Kills(Fitting):
    """A policy that ends its process once a file of its name is there."""

    def play(self, track: Track) -> Player:
        if len(track.messages) == 3:
            while not Path(self.name).exists():
                time.sleep(0.01)
            os._exit(9)
        return super().play(track)


def test_a_killed_process_costs_only_the_files_that_were_not_replayed(tmp_path: Path) -> None:
    files = [str(tmp_path / f"{number}.json") for number in range(3)]
    for file, count in zip(files, (1, 1, 3), strict=True):
        Path(file).write_text(json.dumps([user("hi")] * count), "utf-8")
    now = tmp_path / "now"
    mine = Kills(str(now), tf.Policy(budget=1000))
    got = replay_files(files, 1000, policies=[mine], jobs=2)
    assert [len(next(got).replays) for _ in range(2)] == [1, 1]
    now.touch()
    [last] = got
    assert last.replays == ()
    assert last.errors == [f"{files[2]}: not replayed: a process ended abruptly"]


def test_who_wants_no_more_files_does_not_wait_for_them(tmp_path: Path) -> None:
    files = [str(tmp_path / f"{number}.json") for number in range(2)]
    for file, count in zip(files, (1, 3), strict=True):
        Path(file).write_text(json.dumps([user("hi")] * count), "utf-8")
    mine = Kills(str(tmp_path / "never"), tf.Policy(budget=1000))
    got = replay_files(files, 1000, policies=[mine], jobs=2)
    assert len(next(got).replays) == 1
    assert isinstance(got, Generator)
    got.close()
    assert multiprocessing.active_children() == []
