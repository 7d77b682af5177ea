"""turnfit's own messages as a format: objects, read by a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnfit import _core
from turnfit.messages import rules
from turnfit.messages.formats.table import Format, Shape, Signs
from turnfit.messages.native import Message as NativeMessage
from turnfit.messages.native import Result
from turnfit.messages.reading import Message, Row

__all__ = ["TURNFIT"]

_OBJECT = Shape("plain", {})


def _read(message: Message) -> _core.Reading | None:
    return message.reading() if isinstance(message, NativeMessage) else None


def _rewrite(message: NativeMessage, bodies: Mapping[int, Any]) -> NativeMessage:
    return message.with_bodies(bodies)


def _answer(_: Message, call: Row, wording: str) -> NativeMessage:
    return NativeMessage("tool", Result(call.id or "", wording, name=call.name))


TURNFIT = Format(
    name="turnfit",
    roles={
        "system": ("system", _OBJECT),
        "user": ("user", _OBJECT),
        "assistant": ("assistant", _OBJECT),
        "tool": ("tool", _OBJECT),
    },
    signs=Signs(),
    note=lambda wording: NativeMessage("user", wording),
    answer=_answer,
    rules=(
        rules.results_have_calls,
        rules.calls_are_answered_at_once,
    ),
    reader=_read,
    rewriter=_rewrite,
)
