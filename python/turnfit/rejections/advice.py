"""What the program's maintainer can do, and who must know."""

from __future__ import annotations

from turnfit.rejections.rejection import Kind

__all__ = ["ADVICE", "PAGES"]

ADVICE: dict[Kind, str] = {
    "context_overflow": (
        "Fit the history again under Policy.smaller(rejection) and send that once. Where the input"
        " alone fits, asking for a shorter answer may be enough. If it is refused again, give the"
        " person the message."
    ),
    "output_limit": "Ask for at most `limit` tokens of answer; the history isn't the cause.",
    "payload_too_large": (
        "Send fewer bytes: leave out or shrink attachments and the longest texts, or upload files"
        " and refer to them."
    ),
    "reasoning_prefix": (
        "Something before a thinking block was changed after the model had produced it. Leave out"
        " all thinking from the changed place on, or ask the provider to do so"
        ' (thinking.block_binding.prefix_mismatch_behavior = "drop_block"); then only append.'
    ),
    "rate_limit": (
        "Wait for `delay`, or longer each time. Where retry is 'smaller', waiting can't help: the"
        " request alone is over the limit."
    ),
    "auth": "Check the key, its permissions and the name of the model; nothing else will help.",
    "billing": "Check credit, plan and spending limits of the account that the key belongs to.",
    "content_policy": "The provider's policy refused the content, and will refuse it again.",
    "invalid_request": "The request breaks the provider's rules: mend what the message names.",
    "server": "The provider or the way to it failed. Retry later, longer each time.",
    "unknown": (
        "The refusal doesn't say what is wrong. Log it whole; don't shorten the history on a guess."
    ),
}

PAGES: frozenset[Kind] = frozenset(
    {"auth", "billing", "invalid_request", "output_limit", "reasoning_prefix", "server", "unknown"}
)
"""Kinds at which somebody who runs the service must look; the rest resolve themselves, or are
the person's to resolve."""
