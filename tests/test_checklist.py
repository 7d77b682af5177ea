"""The checklist names what a record leaves uncovered, by the four cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import turnfit as tf
from support.recordings import coding
from support.trajectories import needs_corpus
from turnfit.compaction import (
    CarryOver,
    Established,
    FactLog,
    FileState,
    Gap,
    Open,
    Workspace,
    checklist,
)
from turnfit.compaction.presets import CLAUDE_CODE


def did(name: str, text: str, failed: bool = False, **arguments: Any) -> list[tf.Message]:
    return [
        tf.Message("assistant", tf.Call("c", name, arguments)),
        tf.Message("tool", tf.Result("c", text, is_error=failed)),
    ]


HISTORY = [
    tf.Message("user", "Move the shop."),
    *did("Write", "File created successfully", file_path="/a", content="x"),
    *did("Bash", "Exit code 1\nport 80 is taken", True, command="./serve 80"),
    tf.Message("user", "Never touch /etc."),
]
COVERED = (
    FactLog(CLAUDE_CODE)
    .extend(HISTORY)
    .record()
    .merge(
        CarryOver(
            established=(Established("Never touch /etc.", "constraint", (5,)),),
            open=(Open("./serve could not bind port 80."),),
        )
    )
)


UNSAID = Established("Never use tabs.", "constraint")


def cases(record: CarryOver) -> list[str]:
    return [gap.case for gap in checklist(record, HISTORY, effects=CLAUDE_CODE)]


def test_a_record_that_covers_all_has_no_gap() -> None:
    assert cases(COVERED) == []


@pytest.mark.parametrize(
    ("record", "case"),
    [
        (replace(COVERED, workspace=replace(COVERED.workspace, files=())), "workspace"),
        (replace(COVERED, workspace=replace(COVERED.workspace, commands=())), "workspace"),
        (
            replace(
                COVERED,
                workspace=Workspace((FileState("/a", "deleted"),), COVERED.workspace.commands),
            ),
            "workspace",
        ),
        (replace(COVERED, remaining=()), "remaining"),
        (replace(COVERED, established=(Established("x"),)), "established"),
        (
            replace(COVERED, established=(Established("Never touch /etc.", "constraint"),)),
            "established",
        ),
        (replace(COVERED, open=()), "open"),
        (replace(COVERED, open=(Open("Something else."),)), "open"),
    ],
)
def test_what_is_left_out_is_one_gap_of_its_case(record: CarryOver, case: str) -> None:
    assert {*cases(record)} == {case}


def test_what_failed_and_then_succeeded_is_not_open() -> None:
    failed = did("Bash", "Exit code 1", True, command="make")
    failed += did("Read", "no such file", True, file_path="/x")
    assert [gap.case for gap in gaps_of(failed)] == ["open", "open"]
    fixed = [*did("Bash", "ok", command="make"), *did("Read", "text", file_path="/x")]
    assert gaps_of([*failed, *fixed]) == []


def gaps_of(history: list[tf.Message]) -> list[Gap]:
    known = CarryOver(established=(Established("x"),))
    record = FactLog(CLAUDE_CODE).extend(history).record().merge(known)
    return checklist(record, history, effects=CLAUDE_CODE)


@needs_corpus
def test_the_free_half_of_recorded_work_leaves_no_gap_in_workspace_and_remaining() -> None:
    for one in coding():
        record = FactLog(one.effects).extend(one.messages).record()
        gaps = {gap.case for gap in checklist(record, one.messages, effects=one.effects)}
        assert gaps <= {"established", "open"}
        if record.workspace.commands:
            blank = checklist(CarryOver(), one.messages, effects=one.effects)
            assert {"workspace", "remaining"} <= {gap.case for gap in blank}
