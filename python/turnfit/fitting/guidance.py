"""What to tell the agent about its safety net."""

from __future__ import annotations

from turnfit.fitting.policy import Policy

__all__ = ["guidance"]

_CLEARED = (
    "Your context is managed for you. When the conversation grows long, the oldest tool "
    "results are replaced by a short note; the newest stay whole, and so do the instructions. "
)
_INPUTS = "The arguments of such old calls are left out with them. "
_GO_ON = (
    "So do not stop early, skip steps or shorten your work to save room: a long task may be "
    "carried to its end. Write down what you will need later. If you need an output that was "
    "cleared, run the tool again"
)
_NO_RERUN = ", unless its note says that the call must not be repeated"


def guidance(policy: Policy) -> str:
    """The paragraph about the safety net for an agent's instructions.

    An agent that doesn't know of it ends long tasks early to save room. The text is
    constant for a policy, so that it doesn't disturb a prefix cache: what a version
    (`Policy.guidance`) says never changes.

    Args:
        policy: the policy by which the agent's requests are fitted.

    >>> import turnfit as tf
    >>> "do not stop early" in tf.guidance(tf.Policy(budget=400_000))
    True
    """
    inputs = _INPUTS if policy.clear_tool_inputs else ""
    no_rerun = _NO_RERUN if policy.no_rerun else ""
    return f"{_CLEARED}{inputs}{_GO_ON}{no_rerun}."
