"""When to compact: by share of the window, by turns, by a milestone, and combinations."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from turnfit.compaction.record import CarryOver

__all__ = ["Boundary", "Reached", "Situation"]


class Situation(NamedTuple):
    """What a boundary looks at.

    Attributes:
        tokens: what the whole request would take.
        window: what the model accepts; the budget, where no window is given.
        turns: the turns since the last compaction, or since the first message.
        record: what is known by now.
    """

    tokens: int
    window: int
    turns: int
    record: CarryOver


class Reached(NamedTuple):
    """Whether a boundary is reached.

    Attributes:
        reached: whether it is.
        reasons: what was, or what wasn't.
        unverified: whether it rests on words that nothing has checked.
    """

    reached: bool
    reasons: tuple[str, ...]
    unverified: bool = False


class Boundary:
    """When to compact; ``|`` is either, ``&`` is both.

    >>> boundary = Boundary.at_share(0.8) & Boundary.every_turns(3)
    >>> str(boundary)
    '(at 80 % of the window and every 3 turns)'
    """

    def __init__(self, decide: Callable[[Situation], Reached], name: str) -> None:
        self._decide = decide
        self._name = name

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<Boundary {self._name}>"

    @classmethod
    def at_share(cls, share: float) -> Boundary:
        """Where the whole request takes this share of the window, 0 to 1.

        Raises:
            ValueError: for a share that isn't above 0 and at most 1.
        """
        if isinstance(share, bool) or not isinstance(share, int | float):
            raise TypeError(f"share must be a number, not {type(share).__name__}")
        if not 0 < share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {share}")

        def decide(now: Situation) -> Reached:
            has = f"{now.tokens:,} of {now.window:,} tokens"
            return Reached(now.tokens >= share * now.window, (has,))

        return cls(decide, f"at {share:.0%} of the window".replace("%", " %"))

    @classmethod
    def every_turns(cls, turns: int) -> Boundary:
        """Where so many turns have begun since the last compaction.

        Raises:
            ValueError: for less than 1.
        """
        if isinstance(turns, bool) or not isinstance(turns, int):
            raise TypeError(f"turns must be an int, not {type(turns).__name__}")
        if turns < 1:
            raise ValueError("turns must be at least 1")

        def decide(now: Situation) -> Reached:
            return Reached(now.turns >= turns, (f"{now.turns:,} turns",))

        return cls(decide, f"every {turns} turns")

    @classmethod
    def at_milestone(cls, reached: Callable[[CarryOver], bool] | str) -> Boundary:
        """Where something has come about in the environment.

        Args:
            reached: tells it from what was recorded. A sentence instead is taken as
                reached and marked as unverified, and then more of the history is kept: a
                plan's sentence says what somebody meant, not what is so.

        >>> done = Boundary.at_milestone(lambda record: record.ran("pytest"))
        """
        if isinstance(reached, str):
            if not reached.strip():
                raise ValueError("a milestone must not be blank")
            told = (f"milestone, unverified: {reached}",)
            return cls(lambda _: Reached(True, told, True), f"at {reached!r} (unverified)")
        if not callable(reached):
            raise TypeError(f"reached must be a predicate or a str, not {type(reached).__name__}")
        name = getattr(reached, "__name__", "milestone")
        return cls(lambda now: Reached(bool(reached(now.record)), (name,)), f"at {name}")

    def __or__(self, other: Boundary) -> Boundary:
        def decide(now: Situation) -> Reached:
            met = [one for one in (self.decide(now), other.decide(now)) if one.reached]
            if not met:
                return Reached(False, ())
            # What is checked needs no words.
            sure = [one for one in met if not one.unverified] or met
            return Reached(True, sum((one.reasons for one in sure), ()), sure[0].unverified)

        return Boundary(decide, f"({self} or {other})")

    def __and__(self, other: Boundary) -> Boundary:
        def decide(now: Situation) -> Reached:
            both = self.decide(now), other.decide(now)
            reasons = sum((one.reasons for one in both), ())
            return Reached(
                all(one.reached for one in both), reasons, any(one.unverified for one in both)
            )

        return Boundary(decide, f"({self} and {other})")

    def decide(self, now: Situation) -> Reached:
        """Whether the boundary is reached in this situation."""
        return self._decide(now)
