"""What a provider's refusal means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Kind", "Rejection", "Retry"]

Kind: TypeAlias = Literal[
    "context_overflow",
    "output_limit",
    "payload_too_large",
    "reasoning_prefix",
    "rate_limit",
    "auth",
    "billing",
    "content_policy",
    "invalid_request",
    "server",
    "unknown",
]
Retry: TypeAlias = Literal["never", "smaller", "later"]


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """What a provider's refusal means, and what to do.

    Attributes:
        kind: ``context_overflow`` (more tokens than the model reads at once), ``output_limit``
            (a longer answer asked for than the model gives), ``payload_too_large`` (bytes,
            characters or entries), ``reasoning_prefix`` (a thinking block whose prefix
            changed), ``rate_limit``, ``auth``, ``billing``, ``content_policy``,
            ``invalid_request``, ``server`` (also a connection that failed) or ``unknown``.
        retry: ``never`` (the same request gets the same answer), ``smaller`` (a smaller one
            may pass: `Policy.smaller`) or ``later``.
        person_message: what to tell the person who waits for the answer.
        advice: what the program's maintainer can do, in English.
        page_operator: whether somebody who runs the service must act. Never for an overflow:
            that is the person's to resolve, not an outage.
        limit: the limit that the refusal names, in tokens: the window for an overflow, the
            cap on the answer for ``output_limit``, tokens per minute or day for a rate limit.
        used: what the request takes or asks for against that limit, in tokens.
        used_is_lower_bound: the provider stopped counting at `used`.
        over_by: by how many tokens the request is over, where the refusal names only that.
        input_tokens: the request without its answer, where the two are named apart.
        output_tokens: the room asked for the answer, where the two are named apart.
        input_alone_fits: whether asking for a shorter answer may be enough; None where input
            and output aren't named apart.
        delay: seconds to wait, where the refusal says so.
        status: the HTTP status, where there is one.
        rule: what decided: a rule's name, ``code:...`` or ``status:...``; for logs.

    >>> import turnfit as tf
    >>> rejection = tf.classify_rejection("prompt is too long: 213,462 tokens > 200,000 maximum")
    >>> rejection.limit, rejection.used, rejection.page_operator
    (200000, 213462, False)
    """

    kind: Kind
    retry: Retry
    person_message: str
    advice: str
    page_operator: bool
    limit: int | None = None
    used: int | None = None
    used_is_lower_bound: bool = False
    over_by: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_alone_fits: bool | None = None
    delay: float | None = None
    status: int | None = None
    rule: str = ""
