"""What happened is collected from calls and results, whatever the wire format."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Format
from strategies import FORMATS
from support.conversions import converted
from support.recordings import coding, coding_named
from support.trajectories import needs_corpus
from turnfit.compaction import CarryOver, Effect, Effects, FactLog, Regret, Remaining
from turnfit.compaction.presets import CLAUDE_CODE, CODING, SWE_AGENT
from turnfit.compaction.shell import parse_shell

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))
PONY = "/workspace/ponylang__ponyc__0.1"
GQC = "/home/USER/projects/spotter-worktrees/spotter-gqc"

# By hand, from the recordings.
FILES = {
    "openhands-basic": [
        ("written", "/workspace/todo-app"),
        ("created", "/workspace/todo-app/index.html"),
        ("created", "/workspace/todo-app/app.js"),
    ],
    "openhands-multiswe-0": [
        ("written", f"{PONY}/src/libponyc/ast/parser.c"),
        ("written", "/workspace/test.c"),
        ("written", "/workspace/test.pony"),
    ],
    "sweagent-marshmallow": [
        ("temporary", "/testbed/reproduce.py"),
        ("written", "/testbed/src/marshmallow/fields.py"),
    ],
    "sweagent-swe-agent__test": [
        ("written", "/klieret__swe-agent-test-repo/tests/missing_colon.py"),
    ],
    "claudecode-spotter-258": [
        *[
            ("written", f"{GQC}/{path}")
            for path in (
                "assets/js/app.js",
                "config/test.exs",
                "lib/spotter/application.ex",
                "lib/spotter/services/tmux.ex",
                "lib/spotter/services/transcript_renderer.ex",
                "lib/spotter/transcripts.ex",
                "lib/spotter/transcripts/annotation.ex",
                "lib/spotter/transcripts/message.ex",
                "lib/spotter_web/live/pane_list_live.ex",
                "lib/spotter_web/live/session_live.ex",
                "lib/spotter_web/router.ex",
                "mix.exs",
                "priv/repo/migrations/20260211203856_add_annotation_message_refs_and_source.exs",
                "priv/repo/migrations/20260211205820_add_state_to_annotations.exs",
                "spotter-plugin/hooks/hooks.json",
                "test/spotter/services/transcript_renderer_test.exs",
                "test/spotter/transcripts/resources_test.exs",
            )
        ],
        *[
            ("created", f"{GQC}/{path}")
            for path in (
                "lib/spotter/services/review_context_builder.ex",
                "lib/spotter/services/review_token_store.ex",
                "lib/spotter/transcripts/annotation_message_ref.ex",
                "lib/spotter_web/controllers/review_context_controller.ex",
                "lib/spotter_web/live/project_review_live.ex",
                "spotter-plugin/scripts/review-context-session-start.sh",
                "test/spotter/services/review_context_builder_test.exs",
                "test/spotter_web/controllers/review_context_controller_test.exs",
                "test/spotter_web/live/project_review_live_test.exs",
            )
        ],
    ],
}
COMMANDS = {
    "openhands-basic": [0, -1],
    "openhands-multiswe-0": [0, 0, 0, 0, 0, 0, 0, 127, 2, 2, 127, 0, 127],
    "sweagent-marshmallow": [None, None, None, 0],
    "sweagent-swe-agent__test": [None],
}


@needs_corpus
@pytest.mark.parametrize("name", FILES)
def test_files_and_commands_agree_with_a_list_made_by_hand(name: str) -> None:
    one = coding_named(name)
    space = FactLog(one.effects).extend(one.messages).record().workspace
    assert sorted((f.state, f.path) for f in space.files) == sorted(FILES[name])
    if name in COMMANDS:
        assert [command.exit for command in space.commands] == COMMANDS[name]
    else:
        failed = [(c.exit, c.command.split()[0]) for c in space.commands if c.exit != 0]
        assert failed == [(128, "git"), (1, "mix"), (2, "mix"), (2, "mix"), (2, "mix")]
        assert len(space.commands) == 79


@needs_corpus
def test_the_presets_read_every_recorded_session() -> None:
    kinds = {one.name.split("-")[0]: FactLog(one.effects).extend(one.messages) for one in coding()}
    assert {*kinds} == {"claudecode", "sweagent", "openhands", "aider"}
    for log in kinds.values():
        assert log.record().workspace.files or log.record().workspace.commands


@needs_corpus
@pytest.mark.parametrize("format", FORMATS)
def test_the_same_facts_are_collected_from_every_wire_format(format: Format) -> None:
    for name in ("openhands-multiswe-0", "openhands-basic", "sweagent-function"):
        one = coding_named(name)
        plain = FactLog(one.effects).extend(converted(one.messages, "openai-chat"))
        other = FactLog(one.effects, format=format).extend(converted(one.messages, format))
        assert _timeless(other.record()) == _timeless(plain.record())


def _timeless(record: CarryOver) -> Any:
    """Without indices, which depend on how a format cuts messages."""
    commands = [(command.command, command.exit) for command in record.workspace.commands]
    return record.workspace.files, commands, record.remaining


# --- native messages and declared effects -------------------------------------------------------


def worked(name: str, arguments: Any, text: str = "ok", **more: Any) -> list[tf.Message]:
    return [
        tf.Message("assistant", tf.Call("c1", name, arguments)),
        tf.Message("tool", tf.Result("c1", text, **more)),
    ]


def record_of(effects: Effects, *histories: list[tf.Message]) -> CarryOver:
    return FactLog(effects).extend([m for history in histories for m in history]).record()


def test_a_call_that_failed_changes_nothing() -> None:
    written = worked("Write", {"file_path": "a", "content": ""}, "denied", is_error=True)
    assert record_of(CLAUDE_CODE, written).workspace.files == ()
    waiting = worked("Write", {"file_path": "a", "content": ""})[:1]
    assert record_of(CLAUDE_CODE, waiting).workspace.files == ()


def test_what_is_spent_is_summed_and_calls_are_counted() -> None:
    effects = Effects({"buy": (Effect.spends("price", "USD"),)})
    record = record_of(effects, worked("buy", {"price": 2}), worked("buy", {"price": 0.5}))
    assert record.remaining == (Remaining("tool calls", None, 2), Remaining("USD", None, 2.5))


def test_a_log_goes_on_from_an_earlier_record() -> None:
    first = FactLog(CLAUDE_CODE).extend(worked("Bash", {"command": "ls"})).record()
    later = FactLog(CLAUDE_CODE, since=first).extend(worked("Bash", {"command": "pwd"})).record()
    assert [c.command for c in later.workspace.commands] == ["ls", "pwd"]
    assert later.remaining == (Remaining("tool calls", None, 2),)


def test_tools_of_mcp_servers_act_unless_they_say_that_they_only_read() -> None:
    tools: list[dict[str, Any]] = [
        {"name": "send", "annotations": {"destructiveHint": False}},
        {"name": "look", "annotations": {"readOnlyHint": True}},
        {"name": "unknown"},
    ]
    effects = Effects.of_mcp(tools)
    record = record_of(effects, *(worked(tool["name"], {"n": 1}) for tool in tools))
    assert [c.command for c in record.workspace.commands] == ['send {"n": 1}', 'unknown {"n": 1}']


def test_a_fence_in_an_answer_is_a_command_only_to_an_agent_that_acts_so() -> None:
    told = [tf.Message("assistant", "Run this:\n```\nrm a\n```"), tf.Message("user", "ok")]
    assert record_of(CODING, told).is_blank
    assert [file.state for file in record_of(SWE_AGENT, told).workspace.files] == ["deleted"]


def test_the_effects_of_agents_are_joined_and_the_right_one_tells() -> None:
    mine = Effects({"Bash": (Effect.acts(),), "sh": (Effect.runs("script"),)})
    both = CLAUDE_CODE | mine
    assert both.tools["Bash"] == (Effect.acts(),)
    assert both.tools["Read"] == CLAUDE_CODE.tools["Read"]
    assert both.created is CLAUDE_CODE.created
    assert (mine | SWE_AGENT).words is SWE_AGENT.words


def test_a_file_that_was_made_and_removed_again_is_temporary() -> None:
    made = worked("Write", {"file_path": "/a/b", "content": "x"}, "File created successfully")
    gone = worked("Bash", {"command": "cd /a && rm b"})
    assert [f.state for f in record_of(CLAUDE_CODE, made, gone).workspace.files] == ["temporary"]


@pytest.mark.parametrize(
    ("text", "failed", "status"),
    [
        ("Exit code 2\nno", True, 2),
        ("no", True, 1),
        ("#!/bin/sh\nexit 1", False, None),
        ("done\n[The command completed with exit code 7.]", False, 7),
        ('{"output": "x", "metadata": {"exit_code": 3}}', False, 3),
        ("Process exited with code 0", False, 0),
        ("Your command ran successfully and did not produce any output.", False, 0),
        (f"{'x' * 500} exit code 1 {'x' * 500}", False, None),
    ],
)
def test_the_status_of_a_command_is_read_where_tools_tell_it(
    text: str, failed: bool, status: int | None
) -> None:
    record = record_of(SWE_AGENT, worked("bash", {"command": "x"}, text, is_error=failed))
    assert [ran.exit for ran in record.workspace.commands] == [status]


def test_a_tool_that_marks_failures_is_believed_more_than_what_it_prints() -> None:
    worked_well = worked("Bash", {"command": "cat log"}, "it ended with exit code 1")
    assert record_of(CLAUDE_CODE, worked_well).workspace.commands[0].exit == 0


def test_the_shell_remembers_where_it_is() -> None:
    record = record_of(
        CLAUDE_CODE,
        worked("Bash", {"command": "cd /repo/src"}),
        worked("Bash", {"command": "touch a.py"}),
        worked("Bash", {"command": "cd /nowhere", "x": 1}, "Exit code 1", is_error=True),
        worked("Bash", {"command": "touch ../b.py"}),
    )
    assert [file.path for file in record.workspace.files] == ["/repo/src/a.py", "/repo/b.py"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
SHELL = [*"$(){}[]<>|&;'\"` \n", "cat ", "a", "<<EOF\n", "EOF\n"]
NAMES = ("path", "file_path", "command", "content", "old_string", "questions", "view_range")


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from([*CODING.tools]),
    st.dictionaries(st.sampled_from(NAMES), JSON),
    st.text(),
    st.booleans(),
)
def test_no_arguments_and_no_outcome_break_the_log(
    name: str, arguments: Any, text: str, failed: bool
) -> None:
    log = FactLog(CODING).extend(worked(name, arguments, text, is_error=failed))
    assert log.record().remaining == (Remaining("tool calls", None, 1),)
    Regret.of(worked(name, arguments, text, is_error=failed), [])


def test_arguments_that_are_nested_too_deeply_break_nothing() -> None:
    deep: Any = {"command": "ls"}
    for _ in range(5_000):
        deep = {"a": deep}
    for arguments in (deep, '{"a":' * 5_000):
        Regret.of(worked("Bash", arguments), [])
    assert parse_shell("(" * 5_000 + "cat a" + ")" * 5_000).effects == ()


# --- shell --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "effects"),
    [
        ("cat a.txt", [("reads", "a.txt")]),
        ("cat a.txt > b.txt", [("writes", "b.txt")]),
        ("cat a.txt 2>/dev/null", [("reads", "a.txt")]),
        (
            "cd x && sed -n '1,9p' a && rm b > log",
            [("reads", "a"), ("deletes", "b"), ("writes", "log")],
        ),
        ("sed -i 's/a/b/' x y", [("writes", "x"), ("writes", "y")]),
        ("grep -n 'x y' a.txt | head -3", [("reads", "a.txt")]),
        ("mv a b/", [("deletes", "a"), ("writes", "b/a")]),
        ("cp -r x y z", [("writes", "z/x"), ("writes", "z/y")]),
        ("echo hi | tee -a out", [("writes", "out")]),
        ("cat > f <<'EOF' && cat g\n$x\nEOF", [("writes", "f"), ("reads", "g")]),
        ("cat <<EOF > f\nhi\nEOF", [("writes", "f")]),
        ("(cd sub; cat q); cat r", [("reads", "q"), ("reads", "r")]),
        ("if [ -f a ]; then cat a; fi", [("reads", "a")]),
        ("timeout 5 sudo cat 'a b'", [("reads", "a b")]),
        ("cat $FILE *.py {a,b}", []),
        ("x=$(cat secret); echo $x > out", [("writes", "out")]),
        (
            "git checkout -- a && git rm b && git mv c d",
            [("writes", "a"), ("deletes", "b"), ("deletes", "c"), ("writes", "d")],
        ),
        ("curl -sL http://x -o y", [("writes", "y")]),
        ("echo 'unterminated", []),
        ("", []),
    ],
)
def test_what_a_shell_command_does_to_files(command: str, effects: list[tuple[str, str]]) -> None:
    assert [(effect.kind, effect.path) for effect in parse_shell(command).effects] == effects


def test_a_here_document_tells_the_content_unless_the_shell_expands_it() -> None:
    for start, content in (("'EOF'", "a $x\n"), ("EOF", None)):
        [effect] = parse_shell(f"cat > f <<{start}\na $x\nEOF").effects
        assert effect.content == content


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists(st.sampled_from([*"$(){}[]<>|&;'\"` \n", "cat ", "a", "<<EOF\n", "EOF\n"])).map(
        "".join
    )
)
def test_no_text_breaks_the_parser(command: str) -> None:
    for effect in parse_shell(command).effects:
        assert effect.path


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from turnfit.compaction import shell

    shell._parser.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    with pytest.raises(ModuleNotFoundError, match=r"turnfit\[shell\]"):
        parse_shell("ls")
    shell._parser.cache_clear()
