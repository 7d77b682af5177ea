"""What is sent of a conversation in which a stream was broken off, as it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from turnfit import _core
from turnfit.fitting.fitted import Source
from turnfit.fitting.frame import Frame, pinned_elsewhere, stale_elsewhere
from turnfit.fitting.interrupted import Broken, pieces
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message

__all__ = ["Kept"]


@dataclass(frozen=True)
class Kept:
    """A conversation's history without what never came to its end.

    It is made when a stream is first found broken, and grows with the history from then on;
    lists and ledger only ever grow, so that requests made before may look into them.

    Attributes:
        frame: what the conversation sends besides its messages.
        format: the conversation's format.
        stale_before: reasoning before this message of the history is stale.
        broken: what is left of broken messages.
        count: how many messages of the history it covers.
        messages: what is left of the history.
        origins: where each of these stands in the history.
    """

    frame: Frame
    format: Format
    stale_before: int = 0
    broken: Broken = field(default_factory=dict)
    count: int = 0
    messages: list[Message] = field(default_factory=list)
    origins: list[int | None] = field(default_factory=list)
    made: _core.Ledger | None = None

    @property
    def ledger(self) -> _core.Ledger:
        """Has read what is left."""
        assert self.made is not None, "nothing is left out yet"
        return self.made

    def following(self, history: list[Message], ledger: _core.Ledger, broken: Broken) -> Kept:
        """What is left of a history that went on; `ledger` has read it."""
        if self.made is None or broken != self.broken or self._is_pinned(history):
            return self._anew(history, ledger, broken)
        self.made.adopt(history[self.count :], ledger, self.count)
        self.messages.extend(history[self.count :])
        self.origins.extend(range(self.count, len(history)))
        return replace(self, count=len(history))

    def _is_pinned(self, history: list[Message]) -> bool:
        """Whether one of the new messages is pinned by an index, which is another here."""
        pinned = self.frame.policy.pinned
        return not callable(pinned) and any(self.count <= at < len(history) for at in pinned)

    def _anew(self, history: list[Message], ledger: _core.Ledger, broken: Broken) -> Kept:
        found = pieces(history, broken)
        messages = [message for piece in found for message in piece.messages]
        origins: list[int | None] = [origin for piece in found for origin in piece.origins]
        pinned = replace(self.frame, policy=pinned_elsewhere(self.frame.policy, origins))
        stale = stale_elsewhere(self.stale_before, origins)
        made = pinned.ledger(self.format, stale_before=stale)
        for piece in found:
            if piece.is_changed:
                made.fill(piece.messages)
            else:
                made.adopt(piece.messages, ledger, piece.origin)
        return replace(
            self, broken=broken, count=len(history), messages=messages, origins=origins, made=made
        )

    def source(self, history: list[Message]) -> Source:
        """Where a request made now comes from."""
        return Source(history, self.origins, self.count, self.broken)
