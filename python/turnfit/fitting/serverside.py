"""The providers' own settings that come nearest to a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turnfit.fitting.policy import Policy

__all__ = ["ServerSide", "server_side"]


@dataclass(frozen=True)
class ServerSide:
    """A setting for the provider, and what of the policy it can't express.

    Attributes:
        setting: the value of the request's ``context_management``.
        missing: the names of the policy's fields that it leaves out or changes.
    """

    setting: Any
    missing: tuple[str, ...]


def server_side(policy: Policy, format: str) -> ServerSide:
    """See `Policy.to_context_management`."""
    if format == "anthropic":
        return _anthropic(policy)
    if format == "openai-responses":
        entry = {"type": "compaction", "compact_threshold": policy.budget}
        return ServerSide([entry], _changed(policy, "keep", "grid", *_OF_CLEARING))
    raise ValueError(
        f"format must be anthropic or openai-responses, not {format!r}: "
        "no other provider edits contexts itself"
    )


_OF_CLEARING = ("keep_at_least", "clear_batch", "worth", "exclude_tools", "clear_tool_inputs")
_ALWAYS = ("reserve", "no_rerun", "pinned", "reasoning", "notes")


def _anthropic(policy: Policy) -> ServerSide:
    kind, size = policy.keep
    keep = max(policy.keep_at_least, int(size) if kind == "results" else 0)
    edit = {
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": policy.budget},
        "keep": {"type": "tool_uses", "value": keep},
        "clear_at_least": {"type": "input_tokens", "value": policy.stride},
        "clear_tool_inputs": policy.clear_tool_inputs,
        "exclude_tools": list(policy.exclude_tools),
    }
    missing = ("clear_batch", "worth") if kind == "results" else ("keep", "clear_batch", "worth")
    return ServerSide({"edits": [edit]}, _changed(policy, *missing))


def _changed(policy: Policy, *names: str) -> tuple[str, ...]:
    """Those named, and those that no provider knows where they aren't left as they are."""
    plain = type(policy)(budget=policy.budget)
    used = (name for name in _ALWAYS if getattr(policy, name) != getattr(plain, name))
    return (*names, *used)
