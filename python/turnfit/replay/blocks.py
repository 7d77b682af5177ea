"""Messages as the blocks that a prefix cache compares.

A provider reads a request as a row of blocks: tools, system, then what each message holds.
A block's digest tells it from all others; equal digests are equal blocks. What a request
has unchanged of its history is split and digested once, however many requests hold it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from turnfit import _core
from turnfit.messages.estimate import system_tokens, tools_tokens
from turnfit.messages.formats import table_of
from turnfit.messages.formats.marks import unmarked
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message
from turnfit.tokens.profiles import Tariff, frames_in

__all__ = [
    "CALL",
    "OTHER",
    "RESULT",
    "THINKING",
    "Block",
    "Blocks",
    "Parts",
    "place_without_marks",
]

OTHER, CALL, RESULT, THINKING = range(4)
"""What a block is, as far as caches tell blocks apart."""

_ONLY_BLOCKS = ({"role", "content"}, {"role", "parts"})
"""The keys of messages that say nothing beside their blocks."""

_THINKING = frozenset(("thinking", "redacted_thinking", "reasoning"))


class Block(NamedTuple):
    """A part of a message.

    Attributes:
        digest: of its role and content, and of whether it opens a message: 64 bits.
        tokens: what it costs.
        kind: what it is.
        bears: whether a cache mark may stand on it.
    """

    digest: int
    tokens: int
    kind: int
    bears: bool


class Parts(NamedTuple):
    """A message's blocks.

    Attributes:
        blocks: the blocks in their order.
        head: how many of them stand before the content's own.
        tokens: what all cost.
        own: what those cost that the history has just so.
    """

    blocks: tuple[Block, ...]
    head: int
    tokens: int
    own: int

    def same_as(self, other: Parts) -> bool:
        """Whether both are the same to a cache."""
        return self is other or self.blocks == other.blocks


class Blocks:
    """Splits messages, each of a history's once.

    Args:
        format_: the history's format.
        tariff: by what it is priced.
    """

    def __init__(self, format_: Format, tariff: Tariff) -> None:
        self._format = format_
        self._tariff = tariff
        self._table = table_of(format_)
        self._whole: dict[int, Parts] = {}
        """By the id of a history's message."""
        self._pieces: dict[int, int] = {}
        """From the id of a block of the history's to its digest."""
        self._digests: set[int] = set()
        self._lasting: set[int] = set()
        """The ids of the blocks in the history's own lists."""
        self._merged: dict[tuple[Any, ...], Parts] = {}
        """By role and ids of such blocks."""

    def remember(self, messages: Sequence[Message]) -> list[Parts]:
        """The parts of the history's messages; they must live on, and stay as they are."""
        made = []
        for message in messages:
            parts = self._whole.get(id(message))
            if parts is None:
                parts = self._split(message, is_own=True)
                self._whole[id(message)] = parts
            made.append(parts)
        return made

    def of(self, message: Message) -> Parts:
        """The parts of a request's message: one of the history's, a copy, or a note."""
        known = self._whole.get(id(message))
        if known is not None:
            return known
        if isinstance(message, dict) and message.keys() in _ONLY_BLOCKS:
            content = message["parts" if "parts" in message else "content"]
            if isinstance(content, list):
                return self._of_blocks(message, tuple(map(id, content)))
        return self._split(message, is_own=False)

    def _of_blocks(self, message: Message, ids: tuple[int, ...]) -> Parts:
        """A message that is nothing but blocks: where neighbours are merged, every request
        holds all of them anew. Only the history's blocks are sure to keep their ids.
        """
        if not self._lasting.issuperset(ids):
            return self._split(message, is_own=False)
        key = (str(message["role"]), "parts" in message, *ids)
        if key not in self._merged:
            self._merged[key] = self._split(message, is_own=False)
        return self._merged[key]

    def opening(self, system: Any, tools: Sequence[Any] | None) -> Parts:
        """What stands before the messages."""
        rows = [("tools", tool) for tool in tools or ()]
        rows += [("system", value) for value in _contents(system)]
        frame = frames_in(self._tariff).request
        cost = frame + system_tokens(system, self._tariff) + tools_tokens(tools, self._tariff)
        alone = [
            tools_tokens([value], self._tariff)
            if role == "tools"
            else system_tokens([value], self._tariff)
            for role, value in rows
        ]
        shares = _shares(cost, alone)
        blocks = tuple(
            Block(_digest(role, unmarked(value), True), tokens, OTHER, _has_text(value))
            for (role, value), tokens in zip(rows, shares, strict=True)
        )
        return Parts(blocks, 0, cost, cost)

    def _split(self, message: Message, *, is_own: bool) -> Parts:
        given, message = message, _core.plain(message)
        if not isinstance(message, Mapping):
            message = {"role": str(getattr(message, "role", "")), "content": repr(message)}
        key = "parts" if "parts" in message else "content"
        rest = {name: value for name, value in message.items() if name not in (key, "role")}
        contents = [value for value in _contents(message.get(key)) if not _is_point(value)]
        # What says nothing is a block all the same: it has its frame, and its place.
        values = [*([rest] if rest else []), *contents] or [None]
        # Only what stands in the history's own list is there as long as its id is used: what
        # objects were converted to goes at once, and its id comes back.
        lasts = message is given and isinstance(message.get(key), list)
        tokens = self._price(given)
        if is_own and lasts:
            self._lasting.update(map(id, message[key]))
        shares = self._shares(message, key, values, 1 if rest else 0, tokens)
        role = str(message.get("role") or message.get("type"))
        blocks, own = [], 0
        for place, (value, share) in enumerate(zip(values, shares, strict=True)):
            digest, is_known = self._digest(role, value, place == 0, is_own)
            if is_own and lasts and place:
                self._pieces[id(value)] = digest
            own += share if is_known else 0
            bears = self._bears(value, is_head=bool(rest) and place == 0)
            blocks.append(Block(digest, share, _kind(value), bears))
        return Parts(tuple(blocks), 1 if rest else 0, tokens, own)

    def _digest(self, role: str, value: Any, opens: bool, is_own: bool) -> tuple[int, bool]:
        """A block's digest, and whether the history holds the block."""
        known = None if opens else self._pieces.get(id(value))
        if known is not None:
            return known, True
        digest = _digest(role, unmarked(value), opens)
        if is_own:
            self._digests.add(digest)
        return digest, digest in self._digests

    def _price(self, message: Any) -> int:
        return _core.read_message(self._table, 0, message, self._tariff)[1]

    def _shares(
        self, message: Mapping[str, Any], key: str, values: Sequence[Any], head: int, tokens: int
    ) -> list[int]:
        if len(values) < 2:
            return [tokens] * len(values)
        empty = self._price({**message, key: []})
        alone = [0] * head + [
            self._price({**message, key: [value]}) - empty for value in values[head:]
        ]
        return _shares(tokens, alone)

    def _bears(self, value: Any, *, is_head: bool) -> bool:
        marks = self._format.marks
        if marks is None:
            return _kind(value) != THINKING and _has_text(value)
        return not is_head and marks.can_bear(value)


def _shares(tokens: int, alone: Sequence[int]) -> list[int]:
    """A whole's tokens among its blocks, by what each costs alone; the rest to the first."""
    shares = list(alone)
    left = tokens
    for place in range(len(shares) - 1, 0, -1):
        shares[place] = min(max(0, shares[place]), left)
        left -= shares[place]
    return [left, *shares[1:]] if shares else []


def _digest(role: str, value: Any, opens: bool) -> int:
    text = json.dumps([role, opens, value], sort_keys=True, ensure_ascii=False, default=repr)
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _contents(content: Any) -> Iterator[Any]:
    """A text alone is the same as a list of it."""
    if isinstance(content, Mapping):
        content = content.get("parts") or [content]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    # What isn't a list is priced as a whole, whatever it is.
    yield from content if isinstance(content, list | tuple) else [content] if content else ()


def _kind(value: Any) -> int:
    if not isinstance(value, Mapping):
        return OTHER
    name = value.get("type")
    is_thinking = isinstance(name, str) and name in _THINKING
    if is_thinking or "reasoningContent" in value or value.get("thought") is True:
        return THINKING
    if name == "tool_use" or "toolUse" in value:
        return CALL
    return RESULT if name == "tool_result" or "toolResult" in value else OTHER


def _has_text(value: Any) -> bool:
    if isinstance(value, Mapping) and "text" in value:
        return bool(str(value["text"]).strip())
    return bool(value)


def place_without_marks(content: Sequence[Any], place: int) -> int:
    """A block's place among those that aren't marks themselves."""
    return place - sum(map(_is_point, content[:place]))


def _is_point(value: Any) -> bool:
    """Bedrock's mark is a block of its own."""
    return isinstance(value, Mapping) and list(value) == ["cachePoint"]
