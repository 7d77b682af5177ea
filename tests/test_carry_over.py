"""The record: merged without loss, rendered within a bound, read back as it was."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from support.records import records
from turnfit.compaction import (
    CarryOver,
    Command,
    Established,
    Handle,
    Open,
    RecordError,
    Remaining,
    Workspace,
    answer_schema,
    from_answer,
    from_dict,
    parse,
    render,
    structured_output,
    to_dict,
    tool,
)
from turnfit.compaction.rendering import MARK

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))
FORMATS = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock-converse",
    "langchain",
)


@settings(max_examples=EXAMPLES, deadline=None)
@given(records(), records(), records())
def test_merging_in_any_grouping_gives_the_same_record(
    a: CarryOver, b: CarryOver, c: CarryOver
) -> None:
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert to_dict(a.merge(b).merge(c)) == to_dict(a.merge(b.merge(c)))


@settings(max_examples=EXAMPLES, deadline=None)
@given(records())
def test_an_empty_record_changes_nothing(a: CarryOver) -> None:
    assert a.merge(CarryOver()) == a == CarryOver().merge(a)


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(records(), min_size=1, max_size=4))
def test_nothing_that_was_noted_is_lost_by_merging(parts: list[CarryOver]) -> None:
    whole = reduce(CarryOver.merge, parts)
    for part in parts:
        assert {(e.kind, e.text) for e in part.established} <= {
            (e.kind, e.text) for e in whole.established
        }
        assert {s for e in part.established for s in e.sources} <= {
            s for e in whole.established for s in e.sources
        }
        assert {*part.workspace.commands} <= {*whole.workspace.commands}
        assert {f.path for f in part.workspace.files} <= {f.path for f in whole.workspace.files}
        assert {(o.kind, o.text) for o in part.open} <= {(o.kind, o.text) for o in whole.open}
        assert {h.id for h in part.handles} <= {h.id for h in whole.handles}
        assert all(
            item in whole.extra[name] for name, items in part.extra.items() for item in items
        )


@settings(max_examples=EXAMPLES, deadline=None)
@given(records())
def test_a_record_is_read_back_as_it_was(record: CarryOver) -> None:
    assert from_dict(json.loads(json.dumps(to_dict(record)))) == record
    text = render(record).text
    assert text.startswith(MARK)
    assert parse(text) == record


@settings(max_examples=EXAMPLES, deadline=None)
@given(records(), st.integers(0, 400))
def test_a_bounded_record_keeps_its_bound_its_constraints_and_says_what_it_dropped(
    record: CarryOver, most: int
) -> None:
    constraints = [e for e in record.established if e.kind == "constraint"]
    try:
        rendered = render(record, most)
    except RecordError:
        alone = replace(CarryOver(), established=tuple(constraints))
        # What says that much was left out takes room of its own.
        assert tf.estimate(render(alone).text) + 60 > most
        return
    assert tf.estimate(rendered.text) <= most
    read = parse(rendered.text)
    assert read == rendered.record
    assert [e for e in read.established if e.kind == "constraint"] == constraints
    for name, count in rendered.dropped.items():
        assert f"{count} {name}" in rendered.text
        assert read.dropped[name] == record.dropped.get(name, 0) + count
    gone = len(record.workspace.commands) - len(read.workspace.commands)
    assert rendered.dropped.get("commands", 0) == gone


def test_what_goes_first_is_declared() -> None:
    record = CarryOver(
        workspace=Workspace(commands=(Command("ls", 0, 1), Command("make", 2, 3))),
        remaining=(Remaining("USD", 4.5, 0.5),),
        established=(
            Established("Times are UTC.", "fact", (4,)),
            Established("Never push.", "constraint"),
        ),
        open=(Open("The port was taken."),),
        handles=(Handle("h1", "the log"),),
        extra={"ticket": ("T-1",)},
    )
    lost: list[str] = []
    for most in range(tf.estimate(render(record).text), 0, -1):
        try:
            now = render(record, most).dropped
        except RecordError:
            break
        lost += [name for name in now if name not in lost]
    assert lost == ["commands", "extra", "handles", "established", "remaining", "open"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "version"),
        ({"version": 2}, "its version is 2"),
        ({"version": 1, "facts": []}, "facts: there is no such field"),
        ({"version": 1, "open": [{"kind": "blocked"}]}, "open[0]: 'text' is missing"),
        ({"version": 1, "open": [{"text": " "}]}, "open[0].text: it must not be blank"),
        ({"version": 1, "open": [{"text": "a", "kind": "x"}]}, "open[0].kind"),
        (
            {"version": 1, "established": [{"text": "a", "sources": [True]}]},
            "established[0].sources",
        ),
        ({"version": 1, "workspace": {"files": {}}}, "workspace.files: a list is wanted"),
        ({"version": 1, "remaining": [{"name": "USD", "spent": "1"}]}, "remaining[0].spent"),
        ([], "an object is wanted"),
    ],
)
def test_a_broken_record_is_told_with_its_place(values: Any, said: str) -> None:
    with pytest.raises(RecordError) as told:
        from_dict(values)
    assert said in str(told.value)


@pytest.mark.parametrize("text", ["", "hello", MARK, f"{MARK}\n{{broken"])
def test_a_text_that_holds_no_record_is_an_error(text: str) -> None:
    with pytest.raises(RecordError):
        parse(text)


# --- the model's half ---------------------------------------------------------------------------

SAID = [
    {"role": "user", "content": "Move the shop to the new API.\nDo NOT push to main!"},
    {"role": "assistant", "content": "I look at the docs first."},
    {"role": "user", "content": "All timestamps of this API are in UTC, by the way."},
]


def entry(text: str, kind: str, quote: str = "") -> dict[str, str]:
    return {"text": text, "kind": kind, "quote": quote}


@pytest.mark.parametrize("answer", ["", "  \n", "{", "[]", '"text"'])
def test_a_blank_or_broken_answer_is_an_error_and_no_record(answer: str) -> None:
    with pytest.raises(RecordError):
        from_answer(answer, SAID)


def test_an_answer_is_taken_as_arguments_as_json_and_in_a_fence() -> None:
    values = {
        "established": [entry("Times are UTC.", "fact", "timestamps of this API")],
        "open": [],
    }
    wanted = (Established("Times are UTC.", "fact", (2,)),)
    text = json.dumps(values)
    for answer in (values, text, f"```json\n{text}\n```"):
        assert from_answer(answer, SAID).established == wanted


def test_a_constraint_stays_in_the_users_own_words() -> None:
    told = entry("The user preferred not to push.", "constraint", "do not  push")
    kept = from_answer({"established": [told], "open": []}, SAID).established
    assert kept == (Established("Do NOT push to main!", "constraint", (0,)),)


def test_a_constraint_that_nobody_said_has_no_source() -> None:
    told = entry("Never use tabs.", "constraint", "tabs are evil")
    assert from_answer({"established": [told], "open": []}, SAID).established[0].sources == ()


def test_what_was_not_asked_for_is_told() -> None:
    with pytest.raises(RecordError, match="summary: it was not asked for"):
        from_answer({"established": [], "open": [], "summary": "All is well."})
    assert from_answer({"tickets": ["T-1"]}, extra={"tickets": {}}).extra == {"tickets": ("T-1",)}


@pytest.mark.parametrize("format", FORMATS)
def test_each_provider_gets_the_schema_where_it_wants_it(format: str) -> None:
    shown = json.dumps([tool(format), structured_output(format)])
    schema = json.dumps(answer_schema())
    inside = shown.replace('\\"', '"') if format == "bedrock-converse" else shown
    assert inside.count(schema) == 2
    assert tf.estimate_request([], tools=[tool(format)]) > 100


def test_a_format_that_there_is_not_is_told() -> None:
    with pytest.raises(ValueError, match="format must be one of"):
        tool("cohere")


def test_every_object_of_the_schema_is_strict() -> None:
    def strict(schema: Any) -> bool:
        if isinstance(schema, list):
            return all(map(strict, schema))
        if not isinstance(schema, dict):
            return True
        closed = schema.get("additionalProperties") is False
        named = sorted(schema.get("required", ())) == sorted(schema.get("properties", ()))
        return (schema.get("type") != "object" or (closed and named)) and all(
            map(strict, schema.values())
        )

    assert strict(answer_schema())
