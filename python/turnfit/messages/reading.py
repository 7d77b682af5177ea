"""A history as it was read: what the rules of providers look at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Message", "Problem", "Reading", "Role", "Row", "as_list"]

Message: TypeAlias = Any
"""A message in any wire format: a dict, or a `turnfit.Message`."""

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Row:
    """A call or a result, as it was read from a message.

    `by_provider` tells that the provider runs the tool: it pairs these itself.
    """

    message: int
    kind: Literal["call", "result", "reference"]
    id: str | None
    name: str | None
    by_provider: bool


@dataclass(frozen=True)
class Reading:
    """A history as its format reads it: roles, and the rows of each message."""

    messages: Sequence[Message]
    roles: Sequence[Role]
    rows: Sequence[Sequence[Row]]
    merges: bool


@dataclass(frozen=True)
class Problem:
    """Something in a history that a provider would refuse.

    Attributes:
        index: the message's place, from 0.
        rule: a short constant name of the rule.
        detail: what is wrong, for a person.
    """

    index: int
    rule: str
    detail: str

    def __str__(self) -> str:
        return f"message {self.index}: {self.detail} [{self.rule}]"


def as_list(messages: Iterable[Message]) -> list[Message]:
    """A list of the messages; a ``TypeError`` for one message, a text, or what holds none."""
    if isinstance(messages, str | bytes | dict) or not _is_iterable(messages):
        raise TypeError(f"messages must be a sequence of messages, not {type(messages).__name__}")
    return list(messages)


def _is_iterable(value: object) -> bool:
    # Sequences of the old kind have no `__iter__`.
    return hasattr(type(value), "__iter__") or hasattr(type(value), "__getitem__")
