"""The files of public agents and benchmarks, as recordings: a module for each kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from turnfit.replay.recordings import Recording
from turnfit.replay.trajectories import agentbench, inspect_ai, openhands, swe_agent, tau_bench

__all__ = ["KINDS", "Kind"]


class Kind(Protocol):
    """A kind of document.

    Attributes:
        TITLE: what errors call it.
    """

    TITLE: str

    def is_it(self, value: Any) -> bool:
        """Whether a JSON value is of this kind."""

    def read(self, value: Any, name: str) -> Iterator[Recording]:
        """The recordings in it."""


KINDS: tuple[Kind, ...] = (swe_agent, openhands, inspect_ai, tau_bench, agentbench)
"""Those that are one JSON document, in the order in which they are tried."""
