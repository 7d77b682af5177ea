"""What a compaction or a clearing took out of the request, for logs and for measuring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from turnfit.fitting.fitted import Fitted

__all__ = ["Event"]


@dataclass(frozen=True, kw_only=True)
class Event:
    """What was taken out, and when.

    Attributes:
        kind: ``compaction``, or ``clearing`` for what fitting cleared or dropped.
        at: how many messages the history had.
        dropped: the messages that went, as ranges of indices of that history.
        cleared: the messages of which a result was cleared.
        before: tokens of the whole request before.
        after: tokens after, counted anew.
        record: tokens of the record's message.
        reasons: why.
        unverified: whether the reason is words that nothing has checked.
        relieved: whether the boundary would not call for another at once.
        empty: the fields of the record in which nothing stands.
        left_out: how many items of the record had no room, by field.
    """

    kind: Literal["compaction", "clearing"]
    at: int
    dropped: tuple[range, ...] = ()
    cleared: tuple[int, ...] = ()
    before: int = 0
    after: int = 0
    record: int = 0
    reasons: tuple[str, ...] = ()
    unverified: bool = False
    relieved: bool = True
    empty: tuple[str, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of_fitted(cls, fitted: Fitted, at: int) -> Event:
        """What a fitted request has less than its history of so many messages.

        >>> import turnfit as tf
        >>> history = [{"role": "user", "content": "Hello!"}]
        >>> Event.of_fitted(tf.fit(history, budget=1000), len(history)).dropped
        ()
        """
        cleared = tuple(dict.fromkeys(one.index for one in fitted.cleared))
        return cls(
            kind="clearing", at=at, dropped=fitted.dropped, cleared=cleared, after=fitted.tokens
        )

    @property
    def gained(self) -> int:
        """The tokens freed."""
        return self.before - self.after

    def __str__(self) -> str:
        count = sum(map(len, self.dropped))
        words = [
            f"{self.kind} at message {self.at:,}: {count:,} messages dropped",
            f"{self.before:,} to {self.after:,} tokens" if self.before else "",
            f"nothing in {', '.join(self.empty)}" if self.empty else "",
            "" if self.relieved else "the boundary is still reached",
        ]
        return "; ".join(word for word in words if word)

    def as_dict(self) -> dict[str, Any]:
        """Flat figures without any text of a message, for logs and traces."""
        return {
            "kind": self.kind,
            "at": self.at,
            "dropped": sum(map(len, self.dropped)),
            "cleared": len(self.cleared),
            "before": self.before,
            "after": self.after,
            "gained": self.gained,
            "record": self.record,
            "unverified": self.unverified,
            "relieved": self.relieved,
            "empty": list(self.empty),
            "left_out": dict(self.left_out),
        }


def gone(indices: Sequence[int]) -> tuple[range, ...]:
    """Indices in rising order, as ranges."""
    ranges: list[range] = []
    for index in indices:
        if ranges and ranges[-1].stop == index:
            ranges[-1] = range(ranges[-1].start, index + 1)
        else:
            ranges.append(range(index, index + 1))
    return tuple(ranges)
