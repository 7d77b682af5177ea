"""What a refusal gives to go by, whatever it came in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Evidence"]


@dataclass
class Evidence:
    """The evidence of one error.

    Attributes:
        status: of the HTTP layer.
        told_status: a status that the body tells.
        codes: codes and types, in lower case.
        names: names of exceptions and of what they derive from, in lower case. Clients give
            them by the status alone, gateways by guess, so they count last.
        finishes: why an answer ended, in lower case.
        texts: messages, without what they quote and without what stands in `inner`.
        figures: token figures that the body has under a name of their own.
        delay: seconds to wait.
        inner: errors told inside this one's messages.
        fallbacks: looked at where the rest decides nothing.
        seen: what was looked at already, by its identity, so that what holds itself ends.
    """

    status: int | None = None
    told_status: int | None = None
    codes: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    finishes: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)
    delay: float | None = None
    inner: list[Evidence] = field(default_factory=list)
    fallbacks: list[Evidence] = field(default_factory=list)
    seen: dict[int, object] = field(default_factory=dict, repr=False)

    def another(self) -> Evidence:
        """Evidence of an error that this one tells of."""
        return Evidence(seen=self.seen)

    def is_new(self, value: object) -> bool:
        """Whether a container was not looked at before; other values always count as new."""
        if isinstance(value, str | bytes | int | float):
            return True
        known = id(value) in self.seen
        self.seen[id(value)] = value
        return not known

    def walk(self) -> Iterator[Evidence]:
        """This one, and all that stand in it."""
        yield self
        for other in (*self.inner, *self.fallbacks):
            yield from other.walk()
