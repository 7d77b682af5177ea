"""What a policy may hold, and what it says when it may not."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given
from hypothesis import strategies as st
from turnfit.fitting.toml import to_toml


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("budget", 0),
        ("budget", 10**30),
        ("keep", ("tokens", 10**30)),
        ("keep_at_least", 10**30),
        ("clear_batch", 10**30),
        ("worth", 10**400),
        ("pinned", [10**30]),
        ("budget", -25),
        ("window", 10),
        ("output", -1),
        ("reserve", -1),
        ("keep", ("fraction", 1.5)),
        ("keep", ("tokens", -1)),
        ("keep", ("lines", 3)),
        ("keep_at_least", -1),
        ("clear_batch", 0),
        ("worth", 0.5),
        ("worth", float("nan")),
        ("grid", -0.1),
        ("grid", 1.1),
        ("pinned", [-1]),
    ],
)
def test_a_value_that_cannot_be_is_an_error_that_names_the_field(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=field):
        tf.Policy(**{"budget": 1000, field: value})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("budget", 1000.5),
        ("budget", "1000"),
        ("budget", True),
        ("keep", 5),
        ("keep", ("fraction",)),
        ("keep", ("tokens", 1.5)),
        ("exclude_tools", "read_file"),
        ("exclude_tools", 5),
        ("exclude_tools", [5]),
        ("no_rerun", 5),
        ("no_rerun", {"send": 1}),
        ("clear_tool_inputs", "yes"),
        ("pinned", 5),
        ("pinned", ["a"]),
        ("notes", "x"),
    ],
)
def test_a_value_of_another_type_is_an_error_that_names_the_field(field: str, value: Any) -> None:
    with pytest.raises(TypeError, match=field):
        tf.Policy(**{"budget": 1000, field: value})


def test_a_list_changed_later_does_not_change_the_policy() -> None:
    tools, pinned = ["read"], [1]
    policy = tf.Policy(budget=1000, exclude_tools=tools, pinned=pinned, no_rerun=tools)
    tools.append("send")
    pinned.append(2)
    assert (policy.exclude_tools, policy.pinned, policy.no_rerun) == (("read",), (1,), ("read",))


def test_a_policy_comes_from_a_mapping_as_files_have_it() -> None:
    values = {"budget": 1000, "keep": ["tokens", 5], "notes": {"cleared": "[gone]"}}
    policy = tf.Policy.from_dict(values)
    assert policy == tf.Policy(budget=1000, keep=("tokens", 5), notes=tf.Notes(cleared="[gone]"))


def test_an_unknown_field_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match="did you mean 'clear_batch'"):
        tf.Policy.from_dict({"budget": 1000, "clear_bacth": 4})


def test_an_unknown_or_mistyped_note_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="did you mean 'cleared'"):
        tf.Policy.from_dict({"budget": 1000, "notes": {"claered": "x"}})
    with pytest.raises(TypeError, match=r"notes\.cleared must be a str"):
        tf.Policy.from_dict({"budget": 1000, "notes": {"cleared": 5}})


def test_a_budget_without_room_for_messages_names_what_takes_it() -> None:
    policy = tf.Policy(budget=100, reserve=90)
    with pytest.raises(tf.BudgetError, match="reserve 90, system 25, frame 3") as error:
        tf.fit([], policy, system="a" * 100)
    assert error.value.parts == {"reserve": 90, "system": 25, "tools": 0, "frame": 3}


def test_fit_wants_either_a_policy_or_a_budget() -> None:
    for arguments in ({}, {"policy": tf.Policy(budget=10), "budget": 10}):
        with pytest.raises(TypeError, match="either a policy or a budget"):
            tf.fit([], **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("no_rerun", "names"),
    [
        (("send",), {"send"}),
        (lambda tool: tool.startswith("s"), {"send", "search"}),
        ({"send": {"destructiveHint": True}, "search": {"readOnlyHint": True}}, {"send"}),
    ],
)
def test_tools_that_must_not_run_again_are_told_by_name_predicate_or_annotations(
    no_rerun: Any, names: set[str]
) -> None:
    policy = tf.Policy(budget=10, no_rerun=no_rerun)
    assert {tool for tool in ("send", "search", "read") if policy.must_not_rerun(tool)} == names


@pytest.mark.parametrize("name", ["cleared", "cleared_done", "trimmed"])
def test_a_note_may_not_be_blank_or_endless(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        tf.Notes(**{name: "  "})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"{name} must be shorter"):
        tf.Notes(**{name: "a" * 2000})  # type: ignore[arg-type]


def test_the_guidance_tells_of_the_safety_net_and_is_constant() -> None:
    policy = tf.Policy(budget=400_000)
    text = tf.guidance(policy)
    assert text == tf.guidance(tf.Policy(budget=400_000))
    for piece in ("oldest tool results", "newest stay whole", "do not stop early", "run the tool"):
        assert piece in text
    careful = tf.guidance(tf.Policy(budget=10, no_rerun=("send",), clear_tool_inputs=True))
    assert "must not be repeated" in careful
    assert "arguments" in careful


NAMES = st.lists(st.text(max_size=8), max_size=3, unique=True)
HINTS = st.dictionaries(
    st.text(max_size=8), st.dictionaries(st.sampled_from(["readOnlyHint"]), st.booleans())
)
POLICIES = st.builds(
    tf.Policy,
    budget=st.integers(1, 10**9),
    window=st.none() | st.just(10**10),
    output=st.integers(0, 10**6),
    reserve=st.integers(0, 10**6),
    keep=st.one_of(
        st.tuples(st.just("fraction"), st.floats(0, 1)),
        st.tuples(st.sampled_from(["tokens", "results"]), st.integers(0, 10**6)),
    ),
    worth=st.floats(1, 100),
    grid=st.floats(0, 1),
    exclude_tools=NAMES,
    no_rerun=NAMES | HINTS,
    clear_tool_inputs=st.booleans(),
    pinned=st.lists(st.integers(0, 10**6), max_size=3),
    notes=st.builds(tf.Notes, cleared=st.text(min_size=1, max_size=40).filter(str.strip)),
)


@given(POLICIES)
def test_a_policy_survives_json_and_toml_with_its_profile_pinned(policy: tf.Policy) -> None:
    pinned = replace(policy, profile="script@1")
    assert tf.Policy.from_dict(json.loads(json.dumps(policy.to_dict()))) == pinned
    assert tf.Policy.from_toml(policy.to_toml()) == pinned


@pytest.mark.parametrize(
    ("choice", "pinned"),
    [
        ({}, "script@1"),
        ({"profile": "gemma3"}, "gemma3@1"),
        ({"model": "gpt-5.1"}, "o200k_base@1"),
        ({"model": "gpt-5.1", "profile": tf.profile("gemma3")}, "gemma3@1"),
    ],
)
def test_what_is_written_down_pins_every_version(choice: dict[str, Any], pinned: str) -> None:
    policy = tf.Policy(budget=1000, **choice)
    written = policy.to_dict()
    assert (written["profile"], written["rules"], written["guidance"]) == (pinned, 1, 1)
    assert written["notes"]["version"] == 1
    assert written["model"] == choice.get("model")
    read = tf.Policy.from_dict(written)
    assert read.to_dict() == written
    assert read.versions == policy.versions == {"rules": 1, "notes": 1, "profile": pinned}
    assert read.held_back == policy.held_back


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"rules": 2}, "rules: version 2 is unknown to this turnfit, which has 1"),
        ({"guidance": 7}, "guidance: version 7 is unknown"),
        ({"notes": {"version": 3}}, r"notes\.version: version 3 is unknown"),
        ({"profile": "gemma3@9"}, "profile 'gemma3' has no version '9', only @1"),
    ],
)
def test_a_version_that_is_not_known_is_refused_by_name(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        tf.Policy.from_dict({"budget": 1000, **values})
    with pytest.raises(ValueError, match=told):
        tf.Policy.from_toml(to_toml({"budget": 1000, **values}))


@pytest.mark.parametrize("version", [True, "1", 1.0])
def test_a_version_is_a_number(version: Any) -> None:
    with pytest.raises(TypeError, match="rules must be a version's number"):
        tf.Policy(budget=1000, rules=version)


def test_ones_own_wording_and_prices_have_no_version() -> None:
    policy = tf.Policy(budget=1000, profile=len, notes=tf.Notes(cleared="[gone]"))
    assert policy.versions == {"rules": 1, "notes": None, "profile": None}
    assert tf.fit([], policy).as_dict()["profile"] is None
    figures = tf.fit([], budget=1000).as_dict()
    assert (figures["rules"], figures["notes"], figures["profile"]) == (1, 1, "script@1")


def test_a_profile_that_turnfit_does_not_ship_cannot_be_written_down() -> None:
    own = replace(tf.profile("gemma3"), version=77)
    for changed in (own, replace(tf.profile("gemma3"), margin=0.5)):
        with pytest.raises(ValueError, match="is one of your own"):
            tf.Policy(budget=1000, profile=changed).to_dict()
    with pytest.raises(ValueError, match="profile is a callable"):
        tf.Policy(budget=1000, profile=len).to_dict()


def test_every_field_is_written_down() -> None:
    policy = tf.Policy(budget=1000)
    assert list(policy.to_dict()) == [entry.name for entry in fields(policy)]
    assert list(policy.to_dict()["notes"]) == [entry.name for entry in fields(policy.notes)]


@pytest.mark.parametrize("field", ["pinned", "no_rerun"])
def test_a_predicate_cannot_be_written_down_and_the_error_names_the_field(field: str) -> None:
    policy = tf.Policy(**{"budget": 1000, field: lambda _: True})  # type: ignore[arg-type]
    for write in (policy.to_dict, policy.to_toml):
        with pytest.raises(ValueError, match=f"{field} is a predicate"):
            write()


def test_the_example_file_shows_the_defaults() -> None:
    text = (Path(__file__).parents[1] / "docs" / "examples" / "policy.toml").read_text("utf-8")
    shown = tf.Policy.from_toml(text)
    given: dict[str, Any] = {"window": 1_000_000, "output": 32_000, "model": "claude-opus-5"}
    assert shown == tf.Policy(budget=400_000, **given)
    beside = {"profile", "scale", "margin", "notes", "rules", "guidance"}
    assert set(tomllib.loads(text)) == {field.name for field in fields(tf.Policy)} - beside


def test_an_unknown_name_in_toml_is_an_error_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'exclude_tools'"):
        tf.Policy.from_toml('budget = 9\nexclude_tool = ["read"]')
    with pytest.raises(ValueError, match="did you mean 'trimmed'"):
        tf.Policy.from_toml('budget = 9\n[notes]\ntrimed = "x"')
