"""Recorded refusals, and what each should be told to be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import turnfit as tf

ROOT = Path(__file__).parents[2]
RECORDED = ROOT.parent / "shared" / "provider-errors.jsonl"
MORE = ROOT / "tests" / "data" / "more-refusals.jsonl"
"""Other wordings of the same and of other providers: ``seen`` in the source that is named;
``recollected``, some of them with other numbers, of which the exact words may differ; or
``constructed``, inventions of a kind that must be told all the same."""

_SMALLER = ("context_overflow", "payload_too_large")
_LATER = ("rate_limit", "server")


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file; none where it is absent."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def refused(row: dict[str, Any]) -> object:
    """What came back: the status and the body, or a line that tells of it."""
    if "error" in row:
        return row["error"]
    return {"status": row["http_status"], "body": row["body"]}


@dataclass(frozen=True)
class Expected:
    kinds: frozenset[str]
    retry: str
    limit: int | None
    used: int | None

    def faults(self, told: tf.Rejection) -> list[str]:
        """In what the told differs from this."""
        pairs = {
            "kind": told.kind in self.kinds,
            "retry": told.retry == self.retry,
            "limit": told.limit == self.limit,
            "used": told.used == self.used,
        }
        return [name for name, right in pairs.items() if not right]


def expected(row: dict[str, Any]) -> Expected:
    """What a row's labels mean: figures in tokens alone, ambiguous rows in doubt."""
    if row.get("ambiguous"):
        return Expected(frozenset({"unknown"}), "never", None, None)
    label = row["label"]
    kinds = {label, *row.get("also", ())} | ({"billing"} if label == "auth" else set())
    in_tokens = row.get("unit") in (None, "tokens", "tokens_per_minute")
    return Expected(
        frozenset(kinds),
        _retry(row, label),
        row["limit"] if in_tokens else None,
        row["used"] if in_tokens else None,
    )


def _retry(row: dict[str, Any], label: str) -> str:
    helps = row.get("smaller_request_helps") or row.get("retry_useless")
    if helps or label in _SMALLER:
        return "smaller"
    return str(row.get("retry", "later" if label in _LATER else "never"))


def table(rows: list[dict[str, Any]]) -> str:
    """By label: how many rows, and of how many each part was told right; then the faults."""
    parts = ("kind", "retry", "limit", "used")
    lines = [f"{'label':<18}{'rows':>6}" + "".join(f"{part:>7}" for part in parts)]
    faults = {row["id"]: expected(row).faults(tf.classify_rejection(refused(row))) for row in rows}
    for label in [*sorted({row["label"] for row in rows}), "all"]:
        ids = [row["id"] for row in rows if label in (row["label"], "all")]
        right = [sum(part not in faults[name] for name in ids) for part in parts]
        lines.append(f"{label:<18}{len(ids):>6}" + "".join(f"{count:>7}" for count in right))
    wrong = [f"{name}: {', '.join(parts)}" for name, parts in faults.items() if parts]
    return "\n".join([*lines, *wrong])
