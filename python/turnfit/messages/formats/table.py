"""A wire format as a table.

A format says which roles a message may have, what stands under each key of a
message, and what the parts of a content list are. One walker reads every history by
such a table; the fitting knows no format.

The value of a key says what stands there:

========== ==================================================================
``free``   part of the frame; costs nothing
``text``   a text; anything but a string is priced as compact JSON
``id``     the id that pairs a call with its results
``name``   a tool's name
``body``   the content of a message or result; the arguments of a call
``medium`` a picture, a sound, a file
``source`` a medium, or a text, as its ``type`` says
a dict     more keys of the same thing
a `Shape`  a thing of its own, or a list of such things
========== ==================================================================

A key that the table doesn't name passes unchanged and is priced as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from turnfit.messages.reading import Message, Problem, Reading, Role

__all__ = ["Field", "Format", "Rule", "Shape", "Signs"]

Kind: TypeAlias = Literal["plain", "call", "result"]
Field: TypeAlias = "str | Mapping[str, Field] | Shape"


@dataclass(frozen=True)
class Shape:
    """A message, a part of one, or a call: its keys and what stands there."""

    kind: Kind
    fields: Mapping[str, Field]
    clearable: bool = True
    """Whether a result may be cleared, and a call's arguments with it."""


@dataclass(frozen=True)
class Signs:
    """What only messages of this format have: it is recognised by these.

    Those named in `refused` decide which call a result answers; in a history of another
    format they are an error, while the others pass as unknown.
    """

    roles: Sequence[str] = ()
    keys: Sequence[str] = ()
    parts: Sequence[str] = ()
    refused: Sequence[str] = ()


Rule: TypeAlias = Callable[[Reading], list[Problem]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Format:
    """A wire format.

    Attributes:
        name: as in ``format=``.
        url: the provider's documentation.
        roles: from a role's name to the role that it plays and a message's shape.
        parts: from the ``type`` of a part to its shape; ``*_x`` stands for all that end so.
        signs: what tells the format.
        merges: whether the provider merges neighbours of one role.
        note: makes the message that bears a note.
        rules: what a provider refuses, for `turnfit.check`.
        reader: for messages that are objects: from a message to ``(role, rows)``.
        rewriter: likewise: from a message and ``{row: new body}`` to a changed copy.
    """

    name: str
    url: str = ""
    roles: Mapping[str, tuple[Role, Shape]]
    parts: Mapping[str, Shape] = field(default_factory=dict)
    signs: Signs
    merges: bool = False
    note: Callable[[str], Message]
    rules: Sequence[Rule] = ()
    reader: Callable[[Message], Any] | None = None
    rewriter: Callable[[Message, Mapping[int, Any]], Message] | None = None
