"""Golden requests: what is sent is a contract, and these prove that it is kept.

``python tests/write_goldens.py`` writes those of new shapes, formats and versions. What is
written already stays: a version that sends something else is another version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import turnfit as tf
from turnfit.messages.formats import FORMATS
from turnfit.messages.jsonable import to_jsonable

from support.shapes import SHAPES, written

__all__ = ["BROKEN", "FOLDER", "as_line", "differs", "promises", "read", "requests"]

FOLDER = Path(__file__).parents[1] / "data" / "golden"

BROKEN = """
A CONTRACT IS BROKEN: {what}.
{how}

Under the versions {versions} turnfit has always sent something else. With this change the start
of every running conversation would change, which costs its users the provider's cache and the
model's reasoning. Leave what the versions do as it was and make a new version beside it (of the
rules, the notes, the guidance or the profile: see CONTRIBUTING, "What is sent is a contract").
`python tests/write_goldens.py` then adds its golden requests; it never replaces any.
"""


PINNED = {
    "rules": 1,
    "guidance": 1,
    "notes": {"version": 1},
    "profile": "script@1",
    "reasoning": "auto",
    "keep": ["fraction", 0.25],
    "keep_at_least": 1,
    "clear_batch": 4,
    "worth": 2,
    "grid": 0.125,
}
"""All that a default decides: the defaults may move."""


def requests(format: str) -> Iterator[dict[str, Any]]:
    """A format's golden requests: of each shape, policy and some lengths of the history."""
    for name, shape in SHAPES.items():
        history = written(shape, format)
        for number, values in enumerate(shape.policies):
            policy = tf.Policy.from_dict({**PINNED, **values})
            for share in (2, 3):
                yield {
                    "shape": name,
                    "policy": number,
                    "share": share,
                    **_request(history[: len(history) * share // 3], policy, format),
                }


def _request(history: list[Any], policy: tf.Policy, format: str) -> dict[str, Any]:
    """Messages that are the history's own are told by their index, or a range of them."""
    fitted = tf.fit(history, policy, system="Be brief.", format=format)
    places = {id(message): at for at, message in enumerate(history)}
    sent: list[Any] = []
    for message in fitted.messages:
        at = places.get(id(message))
        if at is not None and sent and isinstance(sent[-1], list) and sent[-1][1] == at:
            sent[-1][1] = at + 1
        else:
            sent.append([at, at + 1] if at is not None else plain(message, format))
    return {
        "versions": policy.versions,
        "history": digest([plain(message, format) for message in history]),
        "step": fitted.step,
        "tokens": fitted.tokens,
        "digest": digest([plain(message, format) for message in fitted.messages]),
        "sent": sent,
    }


def plain(message: Any, format: str) -> Any:
    """What is sent of a message, as JSON has it."""
    if format == "langchain":
        return {key: getattr(message, key) for key in LANGCHAIN if getattr(message, key, None)}
    to_json = FORMATS[format].to_json
    return to_jsonable(to_json(message) if to_json else message, "message")


LANGCHAIN = ("type", "content", "tool_calls", "tool_call_id", "name")
"""What of an object is sent; the rest comes and goes with LangChain's versions."""


def digest(value: Any) -> str:
    """Of the very bytes, the order of keys included."""
    return blake2b(as_line(value).encode(), digest_size=12).hexdigest()


def as_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def promises() -> Iterator[dict[str, Any]]:
    """What other versions promise: wordings, and what texts cost under each profile."""
    yield {
        "what": "notes@1",
        "is": tf.Policy(budget=1, notes=tf.Notes(version=1)).to_dict()["notes"],
    }
    for more in ({}, {"clear_tool_inputs": True}, {"no_rerun": ["mail"]}):
        policy = tf.Policy.from_dict({"budget": 1_000, "guidance": 1, **more})
        yield {"what": f"guidance@1 {as_line(more)}", "is": tf.guidance(policy)}
    for name in tf.profiles():
        profile = tf.profile(name + "@1")
        weights = digest([list(profile.weights), dict(profile.bound.factors), profile.bound.root])
        costs = [profile.estimate(text) for text in texts()]
        yield {"what": str(profile), "is": [weights, profile.margin, costs]}


def texts() -> Iterator[str]:
    yield from ("", "a", "Hello, world!", "def f(x):\n    return x * 1_000\n", '{"a": [1, null]}')
    yield from (
        "Привет, мир!",
        "日本語のテキスト。",
        "नमस्ते दुनिया",
        "안녕하세요",
        "مرحبا",
        "🚀👩‍👩‍👧",
        "\ud800",
    )


def read(name: str) -> list[dict[str, Any]]:
    """The golden lines of a file; none where there is no file yet."""
    path = FOLDER / f"{name}.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def differs(golden: dict[str, Any], now: dict[str, Any]) -> str | None:
    """What is broken between a golden line and what comes now; None where nothing is."""
    if golden == now:
        return None
    if golden.get("history") != now.get("history"):
        return "the history is another one; leave tests/support/shapes.py as it was, add to it"
    keys = [key for key in golden if golden[key] != now.get(key)]
    return "\n".join(
        f"{key}: was {_cut(golden[key])}\n{key}: is  {_cut(now.get(key))}" for key in keys
    )


def _cut(value: Any) -> str:
    text = as_line(value)
    return text if len(text) < 1_500 else f"{text[:1_500]} ..."
