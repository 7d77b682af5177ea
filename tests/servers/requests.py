"""A request's body as a row of blocks, whatever its wire format."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Body: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal["tool_use", "tool_result", "thinking", "other"]

FIVE_MINUTES, ONE_HOUR = 300.0, 3600.0
_THINKING = {"thinking", "redacted_thinking", "reasoning"}


class RefusedError(Exception):
    """The provider answers 400.

    Attributes:
        status: the HTTP status.
        body: the JSON that comes with it.
    """

    status = 400

    def __init__(self, message: str, body: dict[str, Any]) -> None:
        super().__init__(message)
        self.body = body


def refused(message: str) -> RefusedError:
    """A refusal as Anthropic words it."""
    error = {"type": "invalid_request_error", "message": message}
    return RefusedError(message, {"type": "error", "error": error})


@dataclass(frozen=True)
class Block:
    """A part of a request that a provider reads as one.

    Attributes:
        path: where it stands, as the providers' errors name it.
        text: its canonical JSON without cache marks, with the role of its message.
        value: the block itself, without cache marks.
        kind: what it is.
        lifetime: of the cache mark that it bears, in seconds; None without one.
    """

    path: str
    text: str
    value: Any
    kind: Kind
    lifetime: float | None


def blocks(body: Body) -> list[Block]:
    """All blocks in the order in which the providers read them: tools, system, messages."""
    made: list[Block] = []
    for path, role, value in _parts(body):
        if _is_point(value):
            _mark_last(made, _lifetime(value["cachePoint"]))
            continue
        bare = unmarked(value)
        mark = value.get("cache_control") if isinstance(value, Mapping) else None
        text = canonical([role, bare])
        made.append(Block(path, text, bare, _kind(bare), _lifetime(mark)))
    if body.get("cache_control") is not None:
        _mark_last(made, _lifetime(body["cache_control"]))
    return made


def canonical(value: Any) -> str:
    """JSON by which equal values are equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=repr)


def unmarked(value: Any) -> Any:
    """A block without its cache marks; what a call is given stays as it is."""
    if isinstance(value, Mapping):
        return {
            key: item if key == "input" else unmarked(item)
            for key, item in value.items()
            if key != "cache_control"
        }
    if isinstance(value, list | tuple):
        return [unmarked(item) for item in value if not _is_point(item)]
    return value


def count_marks(body: Body) -> int:
    """The cache marks of a request."""
    return sum(block.lifetime is not None for block in blocks(body))


def _parts(body: Body) -> Iterator[tuple[str, str, Any]]:
    config = body.get("toolConfig") or {}
    for index, tool in enumerate(body.get("tools") or config.get("tools") or ()):
        yield f"tools.{index}", "tools", tool
    for key in ("system", "instructions", "systemInstruction"):
        yield from _contents(key, "system", body.get(key))
    for key in ("messages", "input", "contents"):
        listed = body.get(key) or ()
        if isinstance(listed, str):
            listed = [{"role": "user", "content": listed}]
        for index, message in enumerate(listed):
            yield from _message(f"{key}.{index}", message)


def _message(path: str, message: Body) -> Iterator[tuple[str, str, Any]]:
    """The blocks of a message; its role opens the first, its other keys are a block."""
    key = "parts" if "parts" in message else "content"
    role = str(message.get("role") or message.get("type"))
    rest = {name: value for name, value in message.items() if name not in (key, "role")}
    if rest:
        yield path, f"{role}:{path}", rest
    for place, _, value in _contents(f"{path}.{key}", role, message.get(key)):
        yield place, f"{role}:{path}", value


def _contents(path: str, role: str, content: Any) -> Iterator[tuple[str, str, Any]]:
    """A text alone is the same as a list of it."""
    if isinstance(content, Mapping):
        content = content.get("parts") or [content]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    for index, value in enumerate(content or ()):
        yield f"{path}.{index}", role, value


def _kind(value: Any) -> Kind:
    if not isinstance(value, Mapping):
        return "other"
    name = str(value.get("type") or "")
    if name in _THINKING or "reasoningContent" in value:
        return "thinking"
    if name == "tool_use" or "toolUse" in value:
        return "tool_use"
    return "tool_result" if name == "tool_result" or "toolResult" in value else "other"


def _is_point(value: Any) -> bool:
    """Bedrock's mark is a block of its own."""
    return isinstance(value, Mapping) and list(value) == ["cachePoint"]


def _lifetime(mark: Any) -> float | None:
    if not isinstance(mark, Mapping):
        return None
    return ONE_HOUR if mark.get("ttl") == "1h" else FIVE_MINUTES


def _mark_last(made: list[Block], lifetime: float | None) -> None:
    """Marks the last block that can bear a mark."""
    at = len(made) - 1
    while at >= 0 and made[at].kind == "thinking":
        at -= 1
    if at >= 0:
        block = made[at]
        made[at] = Block(block.path, block.text, block.value, block.kind, lifetime)
