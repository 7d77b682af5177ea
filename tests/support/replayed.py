"""Replayed histories in their JSON form: generated work, fitted step by step by policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, takewhile
from typing import Any

import turnfit as tf

from support.subagents import Message, opening, rounds

__all__ = ["POLICIES", "made_up", "replayed", "subagent"]

WINDOW, BUDGET = 1_000_000, 400_000
PRICES = {"read": 0.5, "written": 6.25, "anew": 5.0}
"""Per million tokens."""

COLUMNS = (
    *("at", "tokens", "kept", "notes", "cleared", "dropped", "first_changed"),
    *("read", "written", "refused"),
)

POLICIES = {
    "nothing": tf.Policy(budget=1_000_000_000),
    "drop oldest": tf.Policy(budget=BUDGET, exclude_tools=["read_file"], grid=0),
    "one at a time": tf.Policy(budget=BUDGET, grid=0, clear_batch=1, worth=1),
    "last six": tf.Policy(budget=BUDGET // 4, keep=("results", 6), grid=0, clear_batch=1),
    "default": tf.Policy(budget=BUDGET),
}


def subagent(seed: int, tokens: int = WINDOW + 20_000, **sizes: Any) -> list[Message]:
    """One instruction and reads until the history passes so many tokens."""
    work = rounds(seed, **sizes)
    batches = [opening(seed), *(next(work) for _ in range(2000))]
    totals = accumulate(map(tf.estimate_request, batches))
    fit = sum(1 for _ in takewhile(lambda total: total < tokens, totals))
    return [message for batch in batches[: fit + 1] for message in batch]


def replayed(name: str, history: list[Message], names: Sequence[str] = ()) -> dict[str, Any]:
    """What some policies, or all, would have made of a history."""
    chosen = {name: POLICIES[name] for name in names or POLICIES}
    return {
        "version": 1,
        "name": name,
        "format": "openai-chat",
        "model": "claude-opus-5",
        "messages": len(history),
        "budget": BUDGET,
        "window": WINDOW,
        "policies": [told(name, list(walk(history, policy))) for name, policy in chosen.items()],
    }


def walk(history: list[Message], policy: tf.Policy) -> Iterator[dict[str, Any]]:
    """A row per request: one before each answer."""
    conversation, before = tf.Conversation(policy), list[Message]()
    whole = 0
    for at, message in enumerate(history):
        if message["role"] == "assistant":
            fitted = conversation.fit()
            yield row(fitted, at, before, whole)
            before = fitted.messages
        conversation.append(message)
        whole = conversation.tokens


def row(fitted: tf.Fitted, at: int, before: list[Message], whole: int) -> dict[str, Any]:
    cleared = sum(result.tokens for result in fitted.cleared)
    notes = 30 * len(fitted.cleared)
    pairs = zip(before, fitted.messages, strict=False)
    changed = [place for place, (old, new) in enumerate(pairs) if old != new]
    refused = fitted.tokens > WINDOW
    read = 0 if refused else min(fitted.cache_kept(), fitted.tokens)
    return {
        "at": at,
        "tokens": fitted.tokens,
        "kept": fitted.tokens - notes,
        "notes": notes,
        "cleared": cleared,
        "dropped": max(0, whole - fitted.tokens - cleared),
        "first_changed": changed[0] if changed else -1,
        "read": read,
        "written": 0 if refused else fitted.tokens - read,
        "refused": refused,
        "results": len(fitted.cleared),
        "rounds": sum(map(len, fitted.dropped)) // 2,
    }


def told(name: str, rows: list[dict[str, Any]], currency: str = "USD") -> dict[str, Any]:
    """A policy's rows as columns, and their totals."""
    steps = {column: [row[column] for row in rows] for column in COLUMNS}
    totals = {column: sum(steps[column]) for column in ("read", "written", "refused")}
    sent = zip(steps["tokens"], steps["refused"], strict=True)
    totals["tokens"] = sum(tokens for tokens, refused in sent if not refused)
    anew = totals["tokens"] - totals["read"] - totals["written"]
    paid = {"read": totals["read"], "written": totals["written"], "anew": anew}
    return {
        "name": name,
        "requests": len(rows),
        "tokens_sent": totals["tokens"],
        "over_budget": sum(tokens > BUDGET for tokens in steps["tokens"]),
        "refused": totals["refused"],
        "finished": not totals["refused"],
        "cleared": max((row.get("results", 0) for row in rows), default=0),
        "dropped_turns": 0,
        "dropped_rounds": max((row.get("rounds", 0) for row in rows), default=0),
        "start_changes": sum(place != -1 for place in steps["first_changed"]),
        "cache_read": totals["read"],
        "cache_written": totals["written"],
        "uncached": anew,
        "cost": sum(PRICES[kind] * tokens for kind, tokens in paid.items()) / 1e6,
        "currency": currency,
        "seconds": 0.0004 * len(rows),
        "stale_reasoning": 0,
        "exposed": 0,
        "steps": steps,
    }


def made_up(tokens: Sequence[int], name: str = "h", policy: str = "p", **more: Any) -> Any:
    """A history of one policy whose requests are of given sizes."""
    rows = [
        {"at": 2 * n, "tokens": size, "kept": size, "notes": 0, "cleared": 0, "dropped": 0}
        | {"first_changed": -1, "read": 0, "written": 0, "refused": False}
        for n, size in enumerate(tokens, 1)
    ]
    frame = {"version": 1, "name": name, "format": "anthropic", "model": None}
    size = {"messages": 2 * len(rows), "budget": BUDGET, "window": WINDOW}
    return {**frame, **size, "policies": [told(policy, rows)], **more}
