"""Which evidence decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from turnfit.rejections.evidence import Evidence
from turnfit.rejections.rejection import Kind
from turnfit.rejections.rules import RULES, requests
from turnfit.rejections.rules.codes import (
    FINISHES,
    PREFIXES,
    STATUSES,
    STRONG,
    SURE_STATUSES,
    TELLING_STATUSES,
    WEAK,
)
from turnfit.rejections.rules.rule import Rule

__all__ = ["Verdict", "decide"]

_PAYERS = ("billing", "auth")
_WORD = re.compile(r"[A-Za-z][A-Za-z._-]{5,60}")


class Verdict(NamedTuple):
    """What an error means, by what, whether that is sure, and the evidence that told it."""

    kind: Kind
    rule: str
    sure: bool
    source: Evidence


def decide(evidence: Evidence) -> Verdict:
    """What the evidence means; ``unknown`` where it doesn't say."""
    first = None
    for verdict in _verdicts(evidence, None):
        if verdict.sure:
            return verdict
        first = first or verdict
    return first or Verdict("unknown", "", False, evidence)


def _verdicts(evidence: Evidence, outer: int | None) -> Iterator[Verdict]:
    """The verdicts of one error, the most telling first."""
    status = _status(evidence, outer)
    codes = [*evidence.codes, *_codes_in(evidence.texts)]
    yield from _by_payment(evidence, codes, status)
    yield from _by_texts(requests.ECHOING, evidence, status)
    inner = [next((v for v in _verdicts(one, status) if v.sure), None) for one in evidence.inner]
    yield from _agreed([verdict for verdict in inner if verdict], evidence)
    yield from _by_codes(evidence, codes)
    yield from _by_texts(RULES, evidence, status)
    for one in evidence.fallbacks:
        yield from (verdict for verdict in _verdicts(one, status) if verdict.sure)
    yield from _unsure(evidence, codes, status)
    for one in (*evidence.inner, *evidence.fallbacks):
        yield from _verdicts(one, status)


def _status(evidence: Evidence, outer: int | None) -> int | None:
    """The HTTP layer's status, unless that was fine and the body tells of an error."""
    status = evidence.status or outer
    return evidence.told_status or status if status is None or status < 400 else status


def _codes_in(texts: Iterable[str]) -> Iterator[str]:
    """Codes that stand in a message as words."""
    for text in texts:
        for word in _WORD.findall(text):
            if "_" in word or word.endswith("Exception"):
                yield word.lower()


def _by_payment(evidence: Evidence, codes: list[str], status: int | None) -> Iterator[Verdict]:
    for code in codes:
        kind = STRONG.get(code)
        if kind in _PAYERS:
            yield Verdict(kind, f"code:{code}", True, evidence)
    if status in SURE_STATUSES:
        yield Verdict(SURE_STATUSES[status], f"status:{status}", True, evidence)


def _by_codes(evidence: Evidence, codes: list[str]) -> Iterator[Verdict]:
    for code in codes:
        kind = STRONG.get(code) or next((k for p, k in PREFIXES if code.startswith(p)), None)
        if kind:
            yield Verdict(kind, f"code:{code}", True, evidence)


def _by_texts(rules: Iterable[Rule], evidence: Evidence, status: int | None) -> Iterator[Verdict]:
    for rule in rules:
        if status in rule.not_at:
            continue
        if any(rule.fits(text) for text in evidence.texts):
            yield Verdict(rule.kind, rule.name, True, evidence)


def _agreed(verdicts: list[Verdict], evidence: Evidence) -> Iterator[Verdict]:
    """Errors told side by side decide only where they mean the same."""
    kinds = {verdict.kind for verdict in verdicts}
    if len(kinds) > 1:
        yield Verdict("unknown", "errors-disagree", True, evidence)
    elif verdicts:
        yield verdicts[0]


def _unsure(evidence: Evidence, codes: list[str], status: int | None) -> Iterator[Verdict]:
    """What many different errors share."""
    for ending in evidence.finishes:
        if ending in FINISHES:
            yield Verdict(FINISHES[ending], f"finish:{ending}", False, evidence)
    if status in TELLING_STATUSES:
        yield Verdict(TELLING_STATUSES[status], f"status:{status}", False, evidence)
    says = any(one.texts or one.codes for one in evidence.walk())
    for code in codes:
        if code in WEAK:
            yield Verdict(WEAK[code], f"code:{code}", False, evidence)
    for name in evidence.names:
        kind = WEAK.get(name) or STRONG.get(name)
        if kind and (says or kind != "invalid_request"):
            yield Verdict(kind, f"name:{name}", False, evidence)
    for statuses, kind in STATUSES:
        if status in statuses and (kind == "server" or says):
            yield Verdict(kind, f"status:{status}", False, evidence)
