"""The rules by which refusals are told apart, as tables; the first that fits decides."""

from turnfit.rejections.rules import limits, overflow, requests
from turnfit.rejections.rules.rule import Rule

__all__ = ["RULES"]

RULES: tuple[Rule, ...] = (
    *requests.GUESSES,
    *limits.BILLING,
    *limits.RATES,
    *limits.PLANS,
    *requests.POLICY,
    *requests.ECHOING,
    *requests.QUOTING,
    *overflow.SUMS,
    *requests.ANSWERS,
    *overflow.PLAIN,
    *requests.BYTES,
    *overflow.LOOSE,
    *requests.FORM,
    *requests.OUTAGES,
)
"""In this order: what a later rule's words would be taken for stands before it."""
