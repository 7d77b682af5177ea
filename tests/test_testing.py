"""Formats of one's own, as a table and as functions, and the proof of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
import turnfit as tf
from turnfit.testing import check_format

SAID = tf.Shape(
    "plain",
    {
        "who": "free",
        "says": "body",
        "does": tf.Shape("call", {"id": "id", "tool": "name", "with": "body"}),
    },
)
GAVE = tf.Shape("result", {"who": "free", "to": "id", "gave": tf.Body(wrap="text")})
TABLE = tf.Format(
    name="mine",
    told_by=("who",),
    roles={
        "rules": ("system", SAID),
        "me": ("user", SAID),
        "bot": ("assistant", SAID),
        "shell": ("tool", GAVE),
    },
    note=lambda wording: {"who": "me", "says": wording},
)
NAMES = {"system": "rules", "user": "me", "assistant": "bot"}


def write(message: tf.Message) -> list[Any]:
    texts = [part.text for part in message.parts if isinstance(part, tf.Text)]
    calls = [part for part in message.parts if isinstance(part, tf.Call)]
    results = [part for part in message.parts if isinstance(part, tf.Result)]
    if results:
        return [{"who": "shell", "to": r.id, "gave": {"text": r.content}} for r in results]
    does = [{"id": c.id, "tool": c.name, "with": dict(c.arguments)} for c in calls]  # type: ignore[arg-type]
    said = {"who": NAMES[message.role], "says": "".join(texts)}
    return [{**said, "does": does} if does else said]


@dataclass(frozen=True)
class Line:
    """A message of a framework that has objects."""

    role: Any
    text: str
    calls: tuple[tuple[str, str, Any], ...] = ()
    answers: str | None = None


def read(line: Any) -> Any:
    if not isinstance(line, Line):
        return None
    if line.answers is not None:
        return line.role, [("result", line.answers, None, line.text, True)]
    return line.role, [("text", line.text), *(("call", *call) for call in line.calls)]


def rewrite(line: Line, bodies: Mapping[int, Any]) -> Line:
    if line.answers is not None:
        return replace(line, text=bodies[0])
    calls = [
        (id_, name, bodies.get(number, arguments))
        for number, (id_, name, arguments) in enumerate(line.calls)
    ]
    return replace(line, calls=tuple(calls))


OBJECTS = tf.Format(
    name="lines",
    reader=read,
    rewriter=rewrite,
    note=lambda wording: Line("user", wording),
)


def write_lines(message: tf.Message) -> list[Line]:
    text = "".join(part.text for part in message.parts if isinstance(part, tf.Text))
    results = [part for part in message.parts if isinstance(part, tf.Result)]
    if results:
        return [Line("tool", str(part.content), answers=part.id) for part in results]
    calls = [
        (part.id, part.name, part.arguments) for part in message.parts if isinstance(part, tf.Call)
    ]
    return [Line(message.role, text, tuple(calls))]


def test_a_table_of_ones_own_holds() -> None:
    check_format(TABLE, write)


def test_functions_of_ones_own_hold() -> None:
    check_format(OBJECTS, write_lines)


def test_a_note_that_costs_more_than_its_wording_is_found() -> None:
    broken = replace(TABLE, note=lambda wording: {"who": "me", "says": wording + "!" * 9})
    with pytest.raises(AssertionError, match="a note must cost"):
        check_format(broken, write)


def test_a_result_that_forgets_its_call_is_found() -> None:
    shape = tf.Shape("result", {"who": "free", "to": "text", "gave": "body"})
    broken = replace(TABLE, roles={**TABLE.roles, "shell": ("tool", shape)})
    with pytest.raises(AssertionError, match="ids were read"):
        check_format(broken, write, examples=300)


def test_a_rewriter_that_changes_the_message_itself_is_found() -> None:
    def careless(line: Line, bodies: Mapping[int, Any]) -> Line:
        if line.answers is None:
            return rewrite(line, bodies)
        object.__setattr__(line, "text", bodies[0])
        return line

    with pytest.raises(AssertionError, match="changed"):
        check_format(replace(OBJECTS, rewriter=careless), write_lines, examples=300)


def test_what_is_no_message_of_the_format_is_told_with_its_index() -> None:
    with pytest.raises(tf.FormatError, match="message 1: a str is not a message of the format lin"):
        tf.fit([Line("user", "hi"), "text"], budget=99, format=OBJECTS)
    with pytest.raises(tf.FormatError, match="message 0: its role 'you' is not one of"):
        tf.fit([{"who": "you", "says": "hi"}], budget=99, format=TABLE)


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([("call", "c1", "read")], 'a row "call" has 4 entries, not 3'),
        ([("sound", "x")], 'unknown kind of row "sound"'),
    ],
)
def test_rows_that_cannot_be_are_told(rows: list[Any], what: str) -> None:
    odd = replace(OBJECTS, reader=lambda line: ("user", rows))
    with pytest.raises(tf.FormatError, match=what):
        tf.fit([Line("user", "hi")], budget=99, format=odd)


def test_a_format_of_ones_own_serves_everywhere() -> None:
    history = [{"who": "me", "says": "Count."}, {"who": "bot", "says": "One."}]
    conversation = tf.Conversation(budget=99, format=TABLE)
    conversation.extend(history)
    assert conversation.fit().messages == history
    assert tf.check(history, format=TABLE) == []
    assert tf.estimate_message(history[0], format=TABLE) == 3 + 2
    assert tf.fit(history, budget=99, format=TABLE).problems == ()
