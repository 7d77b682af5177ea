"""A wire format as a table.

A format says which roles a message may have, what stands under each key of a
message, and what the parts of a content list are. One walker reads every history by
such a table; the fitting knows no format.

The value of a key says what stands there:

========== ==================================================================
``free``   part of the frame; costs nothing
``text``   a text; anything but a string is priced as compact JSON
``thought`` a text that stands for reasoning, in a thing that isn't reasoning itself
``id``     the id that pairs a call with its results
``name``   a tool's name
``body``   the content of a message or result; the arguments of a call
``sealed`` an encrypted payload: a signature, reasoning
``medium`` a picture, a sound, a file
``source`` a medium, or a text, as its ``type`` says
a `Body`   likewise, where it is built in a way of its own
a dict     more keys of the same thing
a `Shape`  a thing of its own, or a list of such things
========== ==================================================================

A key that the table doesn't name passes unchanged and is priced as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from turnfit import _core
from turnfit.messages.formats.marks import Marks
from turnfit.messages.reading import Message, Problem, Reading, Role, Row
from turnfit.messages.unfinished import Finished

__all__ = ["Body", "Field", "Format", "Rule", "Shape", "Signs"]

Kind: TypeAlias = Literal["plain", "call", "result", "reference", "marker", "opaque"]
Field: TypeAlias = "str | Mapping[str, Field] | Shape | Body"


@dataclass(frozen=True)
class Shape:
    """A message, a part of one, or a call: its keys and what stands there.

    Attributes:
        kind: ``call`` and ``result`` are paired; a ``reference`` stands for what the
            provider holds, perhaps a call; what stands before a ``marker`` has been
            replaced by the provider; an ``opaque`` thing is priced as its whole JSON.
        fields: what stands under each key.
        clearable: whether a result may be cleared, and a call's arguments with it.
        unless: the message's key under which the same stands already, if anything does.
        needs: it is a call or a result only where something stands under this key.
        signed: the key under which a thing that came to its end bears a signature.
        status: the key under which ``in_progress`` or ``incomplete`` tells that it didn't.
        thought: whether it is the model's reasoning; a key: where something true stands
            under it.
        bound: whether the provider refuses it without the reasoning before it in the same
            response.
    """

    kind: Kind
    fields: Mapping[str, Field]
    clearable: bool = True
    unless: str | None = None
    needs: str | None = None
    signed: str | None = None
    status: str | None = None
    thought: bool | str = False
    bound: bool = False


@dataclass(frozen=True)
class Body:
    """A content that isn't just a text or a list of parts told by their ``type``.

    A note costs what its wording costs, however it is built in.

    Attributes:
        of: what a list holds, where parts are told by their keys.
        wrap: the key under which a text stands in a content that must be an object.
        note: from a note's wording to the content that bears it, where `wrap` doesn't tell.
    """

    of: Shape | None = None
    wrap: str | None = None
    note: Callable[[str], Any] | None = None


@dataclass(frozen=True)
class Signs:
    """What only messages of this format have: it is recognised by these.

    `roles` and `types` are values of a message's ``role`` and ``type``, `keys` its keys,
    `parts` the types of its parts and `part_keys` the keys of parts without a type. Those
    named in `refused` decide which call a result answers; in a history of another format
    they are an error, while the others pass as unknown.
    """

    roles: Sequence[str] = ()
    types: Sequence[str] = ()
    keys: Sequence[str] = ()
    parts: Sequence[str] = ()
    part_keys: Sequence[str] = ()
    refused: Sequence[str] = ()


Rule: TypeAlias = Callable[[Reading], list[Problem]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Format:
    """A wire format: a table, or functions that read and rewrite messages.

    It is passed as ``format=``. `turnfit.testing.check_format` proves it.

    >>> import turnfit as tf
    >>> said = tf.Shape("plain", {"who": "free", "says": "body"})
    >>> answer = tf.Shape("result", {"who": "free", "to": "id", "says": "body"})
    >>> plain = tf.Format(
    ...     name="plain",
    ...     told_by=("who",),
    ...     roles={
    ...         "me": ("user", said),
    ...         "bot": ("assistant", said),
    ...         "shell": ("tool", answer),
    ...     },
    ...     note=lambda wording: {"who": "me", "says": wording},
    ... )
    >>> tf.estimate_message({"who": "me", "says": "Read every file."}, format=plain)
    7

    Attributes:
        name: as in ``format=``.
        url: the provider's documentation.
        roles: from a message's role or type to the role that it plays and a message's
            shape; ``*_x`` stands for all types that end so.
        told_by: the keys of a message under which its role or type stands.
        default: the role or type of a message that tells none.
        parts: from the ``type`` of a part to its shape; ``*_x`` stands for all that end so.
        signs: what tells the format.
        refuses: keys that only messages of other formats have, and which these are.
        merges: whether the provider merges neighbours of one role.
        flat: whether the items of one response stand one after another, as messages.
        note: makes the message that bears a note.
        rules: what a provider refuses, for `turnfit.check`.
        answer: makes the message that answers a call, from ``(message, call, wording)``;
            None where no text can answer it.
        answers_in: the key of the list in which a message bears several results; None
            where every result is a message.
        finished: what becomes of messages whose stream was broken off; see
            `turnfit.messages.unfinished`.
        marks: how blocks are marked for the provider's cache.
        join: a request in which neighbours of one role are merged, in copies.
        split: a history in which turnfit's notes stand by themselves again, in copies.
        strip: the messages of one response without their reasoning, in copies; None in
            place of a message of which nothing is left.
        reader: for messages that are objects: from a message to ``(role, rows)``, or None
            for what is no message. Rows are ``("text", text)``, ``("medium", medium)``,
            ``("call", id, name, arguments)`` and ``("result", id, name, content,
            clearable)``, where a content is a text, or a tuple of texts and of media, each
            in a tuple of its own; ids, names and media may be None.
        rewriter: likewise: from a message and ``{row: new body}`` to a changed copy.
        is_class: for messages that are objects with their fields in a dict: whether a
            class is one of theirs.
        rebuild: likewise: from a message and its changed fields to a copy.
        to_json: for messages that are objects: what JSON holds of one, for a saved conversation.
        from_json: likewise: the message that `to_json` made this of.
    """

    name: str
    url: str = ""
    roles: Mapping[str, tuple[Role, Shape]] = field(default_factory=dict)
    parts: Mapping[str, Shape] = field(default_factory=dict)
    signs: Signs = field(default_factory=Signs)
    refuses: Mapping[str, str] = field(default_factory=dict)
    told_by: Sequence[str] = ("role",)
    default: str | None = None
    merges: bool = False
    flat: bool = False
    note: Callable[[str], Message]
    rules: Sequence[Rule] = ()
    answer: Callable[[Message, Row, str], Message | None] | None = None
    answers_in: str | None = None
    finished: Finished | None = None
    marks: Marks | None = None
    join: Callable[[Sequence[Message]], list[Message]] | None = None
    split: Callable[[Sequence[Message], Collection[str]], list[Message]] | None = None
    strip: Callable[[Sequence[Message]], list[Message | None]] | None = None
    reader: Callable[[Message], Any] | None = None
    rewriter: Callable[[Message, Mapping[int, Any]], Message] | None = None
    is_class: Callable[[type], bool] | None = None
    rebuild: Callable[[Message, dict[str, Any]], Message] | None = None
    to_json: Callable[[Message], Any] | None = None
    from_json: Callable[[Any], Message] | None = None

    @property
    def of_objects(self) -> bool:
        """Whether its messages are objects, which no JSON file holds."""
        return self.reader is not None or self.is_class is not None

    def plain(self, message: Message) -> Message:
        """A message in which the SDKs' objects are the dicts that they are sent as.

        The message itself where it has none, and where this format's messages are objects.
        """
        return message if self.of_objects else _core.plain(message)
