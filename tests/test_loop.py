"""An agent at work: what a window loses, and what a record keeps."""

from __future__ import annotations

import pytest
import turnfit as tf
from support.scripted import EFFECTS, JOBS, READS, Job, seen_in, work
from turnfit.compaction import (
    Boundary,
    CarryOver,
    CompactionError,
    Event,
    FactLog,
    Regret,
    checklist,
    compact,
    from_answer,
    is_record,
)

POLICY = tf.Policy(budget=4_000, keep=("tokens", 1_000))
VAGUE = CarryOver(extra={"summary": ("The work went well so far; most files were read.",)})
each_job = pytest.mark.parametrize("job", JOBS, ids=lambda job: job.case)


def decided_after_truncation(job: Job) -> str:
    """Fitting alone: it keeps requests sound, but it can't know what will be needed."""
    fitted = tf.fit(list(work(job)), POLICY)
    assert fitted.step == "rounds"
    return job.decide(seen_in(fitted.messages))


def compacted_work(job: Job, asked: bool, noted: bool) -> tuple[str, CarryOver, list[Event]]:
    """Compaction at 80 %: with a record that is written, or with a vague one."""
    log, messages, policy = FactLog(EFFECTS), list[tf.Message](), POLICY
    record, history, events = CarryOver(), list[tf.Message](), list[Event]()
    for message in work(job):
        messages.append(message)
        history.append(message)
        log.observe(message)
        if message.role != "tool":
            continue
        known = log.record() if noted else VAGUE
        if asked:
            known = known.merge(from_answer(job.writes(seen_in(messages)), history))
        done = compact(messages, Boundary.at_share(0.8), known, policy)
        messages, policy, record = done.messages, done.policy, done.record
        events += [done.event] if done.event else []
    request = tf.fit(messages, policy).messages
    assert sum(map(is_record, request)) == 1
    return job.decide(seen_in(request)), record, events


@each_job
def test_with_everything_in_view_the_job_comes_out_right(job: Job) -> None:
    assert job.decide(seen_in(list(work(job)))) == job.right


@each_job
def test_plain_truncation_fails(job: Job) -> None:
    assert decided_after_truncation(job) != job.right


@each_job
def test_a_vague_record_fails_and_the_checklist_said_so(job: Job) -> None:
    decision, record, events = compacted_work(job, asked=False, noted=False)
    assert decision != job.right
    assert job.case in {gap.case for gap in checklist(record, work(job), effects=EFFECTS)}
    assert all(job.case in event.empty for event in events)


@each_job
def test_a_blank_record_is_refused(job: Job) -> None:
    with pytest.raises(CompactionError, match="blank"):
        compact(work(job), Boundary.at_share(0.8), CarryOver(), POLICY)


@each_job
def test_with_the_record_the_job_comes_out_right(job: Job) -> None:
    decision, record, events = compacted_work(job, asked=True, noted=True)
    assert decision == job.right
    assert len(events) >= 3
    gaps = checklist(record, work(job), effects=EFFECTS)
    assert [
        gap for gap in gaps if gap.case == job.case and "is established" not in gap.detail
    ] == []


def test_each_job_is_one_of_the_four_cases() -> None:
    assert [job.case for job in JOBS] == ["workspace", "remaining", "established", "open"]


def test_regret_proper_is_what_the_agent_fetched_because_it_lacked_it() -> None:
    """An agent that needs an early file late reads it again, unless it is still in view."""
    regret = Regret(EFFECTS, live=True)
    policy, messages = POLICY, list[tf.Message]()
    log = FactLog(EFFECTS)
    for message in work(JOBS[0]):
        messages.append(message)
        regret.observe(message)
        log.observe(message)
        if message.role == "tool":
            done = compact(messages, Boundary.at_share(0.8), log.record(), policy)
            messages, policy = done.messages, done.policy
            regret.compacted(done)
    assert regret.findings == []
    for number in (0, READS - 1):
        path = f"/repo/src/part_{number:02}.py"
        text = f"# part {number}\n" + "value = 1\n" * 60
        if text not in seen_in(messages):
            regret.observe(tf.Message("assistant", tf.Call("r", "Read", {"file_path": path})))
            regret.observe(tf.Message("tool", tf.Result("r", text)))
    [finding] = regret.findings
    assert (finding.measure, finding.what, finding.event) == ("regret", "read", 0)
    assert finding.subject.endswith("part_00.py")
