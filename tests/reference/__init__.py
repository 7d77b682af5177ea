"""The fitting rules in plain Python: what the fast implementation is compared with.

Nothing here is clever or fast. Each rule of `fitting.md` is a small function named after it and
quotes it; `docs/decisions/0001-what-the-spec-leaves-open.md` settles what the rules leave open.

    price, read        a wire message to costs, calls and results
    pair, is_safe      which call a result answers, where a cut is safe
    plan               steps 0 to 3: what is cleared, what is dropped
    request            the messages that are sent
"""

from __future__ import annotations

from reference.pairing import dead, in_flight, is_safe, orphans, pair
from reference.pricing import (
    CJK,
    CLEARED_ARGUMENTS,
    REQUEST_FRAME,
    Format,
    Message,
    compact,
    json_price,
    price,
)
from reference.reading import read, read_all, system_price, tools_price
from reference.request import fit, joined, order, request, trim_note
from reference.rows import Call, Notes, Read
from reference.walk import Draft, Keep, Plan, Policy, plan, walk_of

__all__ = [
    "CJK",
    "CLEARED_ARGUMENTS",
    "REQUEST_FRAME",
    "Call",
    "Draft",
    "Format",
    "Keep",
    "Message",
    "Notes",
    "Plan",
    "Policy",
    "Read",
    "compact",
    "dead",
    "fit",
    "in_flight",
    "is_safe",
    "joined",
    "json_price",
    "order",
    "orphans",
    "pair",
    "plan",
    "price",
    "read",
    "read_all",
    "request",
    "system_price",
    "tools_price",
    "trim_note",
    "walk_of",
]
