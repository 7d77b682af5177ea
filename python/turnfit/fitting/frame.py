"""What a policy leaves for the messages of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from turnfit import _core
from turnfit.errors import BudgetError
from turnfit.fitting.notes import ARGUMENTS_CLEARED, NOTES
from turnfit.fitting.policy import Policy
from turnfit.messages.estimate import system_tokens, tools_tokens
from turnfit.messages.formats import table_of
from turnfit.messages.formats.marks import unmarked
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message
from turnfit.tokens.profiles import frames_in

__all__ = ["Frame", "new_ledger", "parted", "pinned_elsewhere", "stale_elsewhere"]


@dataclass(frozen=True)
class Frame:
    """A policy, and what is sent besides the messages.

    Attributes:
        policy: the policy.
        fixed: tokens of all that is sent besides the messages.
        held_back: tokens that are not sent, in reserve for the estimate's error.
        system: the system prompt that is sent beside the messages.
        tools: the tool definitions.
    """

    policy: Policy
    fixed: int
    held_back: int
    system: Any = None
    tools: Any = None

    @classmethod
    def of(cls, policy: Policy, system: Any, tools: Any) -> Frame:
        """Prices the parts; a `BudgetError` where nothing is left for messages."""
        pricing = policy.pricing
        parts = {
            "reserve": policy.reserve,
            "system": ceil(policy.scale * system_tokens(system, pricing)),
            "tools": ceil(policy.scale * tools_tokens(tools, pricing)),
            "frame": frames_in(pricing).request,
        }
        fixed, held_back = sum(parts.values()), policy.held_back
        if fixed + held_back > policy.budget:
            parts = {"margin": held_back, **parts} if held_back else parts
            named = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items() if tokens)
            raise BudgetError(
                f"the budget of {policy.budget:,} tokens has no room for messages: "
                f"{named} tokens are {fixed + held_back - policy.budget:,} too many",
                parts,
            )
        return cls(policy, fixed, held_back, system, tools)

    def opens_like(self, other: Frame) -> bool:
        """Whether the same stands before the messages; cache marks are no difference."""
        ours, theirs = (unmarked([frame.system, frame.tools]) for frame in (self, other))
        return bool(ours == theirs)

    def plan(self, ledger: _core.Ledger) -> _core.Plan:
        """The plan for a request from this history."""
        return ledger.plan(*self._rules)

    def ledger(
        self, format_: Format, *, stale_before: int = 0, remembers: bool = False
    ) -> _core.Ledger:
        """An empty ledger that follows the reasoning in answers to requests of this frame.

        Args:
            format_: the format of what it will read.
            stale_before: reasoning before this message answers requests of another frame.
            remembers: keep what is read, so that another ledger can adopt it.
        """
        ledger = new_ledger(self.policy, format_, remembers=remembers)
        ledger.follow(self._rules, self.policy.treatment, stale_before)
        return ledger

    def follow(self, ledger: _core.Ledger) -> None:
        """Has a ledger follow reasoning from here on: what it has is stale."""
        ledger.follow(self._rules, self.policy.treatment)

    @property
    def _rules(self) -> tuple[int, str, int, int, int]:
        policy = self.policy
        room = policy.budget - self.held_back - self.fixed
        tokens = policy.keep_tokens
        if tokens is None:
            return room, "results", int(policy.keep[1]), policy.keep_at_least, policy.stride
        return room, "tokens", tokens, policy.keep_at_least, policy.stride


def new_ledger(policy: Policy, format_: Format, *, remembers: bool = False) -> _core.Ledger:
    """An empty ledger under a policy; one that remembers what it read, others can adopt."""
    known = [*NOTES, policy.notes]
    terms = _core.Terms(
        table_of(format_),
        worth=policy.worth,
        clear_batch=policy.clear_batch,
        stride=policy.stride,
        notes=(policy.notes.cleared, policy.notes.cleared_done, policy.notes.trimmed),
        arguments=ARGUMENTS_CLEARED,
        known_cleared=[
            note
            for notes in known
            for note in (notes.cleared, notes.cleared_done, notes.unanswered)
        ],
        known_trimmed=[notes.trimmed for notes in known],
        clear_inputs=policy.clear_tool_inputs,
        pinned=policy.pinned if callable(policy.pinned) else set(policy.pinned),
        treatment=lambda tool: (tool in policy.exclude_tools, policy.must_not_rerun(tool)),
        pricing=policy.pricing,
        scale=policy.scale,
    )
    return _core.Ledger(table_of(format_), terms, remembers)


def parted(policy: Policy, format_: Format, messages: list[Message]) -> list[Message]:
    """The messages, with turnfit's own notes apart from those that they were merged with."""
    if format_.split is None:
        return messages
    return format_.split(messages, {notes.trimmed for notes in (*NOTES, policy.notes)})


def pinned_elsewhere(policy: Policy, origins: Sequence[int | None]) -> Policy:
    """The policy for messages that stood elsewhere; None for one that is new."""
    if callable(policy.pinned):
        return policy
    pinned = set(policy.pinned)
    return replace(policy, pinned=[at for at, origin in enumerate(origins) if origin in pinned])


def stale_elsewhere(stale_before: int, origins: Sequence[int | None]) -> int:
    """The message before which reasoning is stale, among messages that stood elsewhere."""
    if stale_before == 0:
        return 0
    later = (at for at, one in enumerate(origins) if one is not None and one >= stale_before)
    return next(later, len(origins))
