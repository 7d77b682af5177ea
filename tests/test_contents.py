"""What a message says is found by the same tables by which it is priced."""

from __future__ import annotations

import os
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from reference import Format
from strategies import FORMATS, histories
from turnfit import _core
from turnfit.messages.contents import contents
from turnfit.messages.formats import format_named, table_of
from turnfit.testing import native_histories

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))


def rows(message: Any, format: str) -> tuple[list[Any], list[Any]]:
    """The ids and names of calls and results, as the fitting reads them."""
    read = _core.read_message(table_of(format_named(format)), 0, message)[2]
    calls = [(id_, name) for kind, id_, name, *_ in read if kind == "call"]
    return calls, [(id_, name) for kind, id_, name, *_ in read if kind == "result"]


def agrees(message: Any, format: str) -> bool:
    said, (calls, results) = contents(message, format_named(format)), rows(message, format)
    named = [(call.id, call.name) for call in said.calls]
    # Calls of a type that tells the tool have no other name.
    wanted = [(id_, name or call[1]) for (id_, name), call in zip(calls, named, strict=True)]
    return named == wanted and [(one.id, one.name) for one in said.results] == results


@pytest.mark.parametrize("format", FORMATS)
def test_calls_and_results_are_those_that_fitting_pairs(format: Format) -> None:
    @settings(max_examples=EXAMPLES, deadline=None)
    @given(histories(format))
    def check(messages: list[Any]) -> None:
        assert all(agrees(message, format) for message in messages)

    check()


@settings(max_examples=EXAMPLES, deadline=None)
@given(native_histories())
def test_so_it_is_with_native_messages(messages: list[tf.Message]) -> None:
    for message in messages:
        said = contents(message, format_named("turnfit"))
        parts = [part for part in message.parts if isinstance(part, tf.Call)]
        assert [(call.id, call.arguments) for call in said.calls] == [
            (part.id, part.arguments) for part in parts
        ]
        assert said.texts == [part.text for part in message.parts if isinstance(part, tf.Text)]


def test_a_format_of_ones_own_is_read_too() -> None:
    said = tf.Shape("plain", {"who": "free", "says": "body"})
    answer = tf.Shape("result", {"who": "free", "to": "id", "says": "body"})
    own = tf.Format(
        name="own",
        told_by=("who",),
        roles={"me": ("user", said), "shell": ("tool", answer)},
        note=lambda wording: {"who": "me", "says": wording},
    )
    assert contents({"who": "me", "says": "Hello!"}, own).text == "Hello!"
    [result] = contents({"who": "shell", "to": "c1", "says": "42"}, own).results
    assert (result.id, result.text) == ("c1", "42")
    rows = tf.Format(
        name="rows",
        reader=lambda message: ("tool", [("result", "c1", None, ("a", None, "b"), True)]),
        note=lambda wording: wording,
    )
    assert contents(object(), rows).results[0].text == "a\nb"


@pytest.mark.parametrize("message", [7, "text", {"role": "nobody"}, {}])
def test_what_is_no_message_is_told_with_its_index(message: Any) -> None:
    with pytest.raises(tf.FormatError, match="message 3") as told:
        contents(message, format_named("anthropic"), 3)
    assert told.value.index == 3


@pytest.mark.parametrize(
    ("format", "message", "text"),
    [
        ("anthropic", [{"type": "thinking", "thinking": "x", "signature": "y"}], ""),
        ("anthropic", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ("openai-chat", "plain", "plain"),
    ],
)
def test_words_are_what_is_said_and_not_what_is_thought(
    format: str, message: Any, text: str
) -> None:
    said = contents({"role": "assistant", "content": message}, format_named(format))
    assert said.text == text


def test_marks_of_errors_are_found() -> None:
    for format, message in (
        ("anthropic", {"role": "user", "content": [_block(is_error=True)]}),
        ("bedrock-converse", {"role": "user", "content": [{"toolResult": _bedrock("error")}]}),
    ):
        [result] = contents(message, format_named(format)).results
        assert result.is_error
    good = {"role": "user", "content": [{"toolResult": _bedrock("success")}]}
    assert not contents(good, format_named("bedrock-converse")).results[0].is_error


def _block(**more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "a", "content": "no", **more}


def _bedrock(status: str) -> dict[str, Any]:
    return {"toolUseId": "a", "content": [{"text": "no"}], "status": status}
