"""Which blocks of a request are worth a cache mark, and marking them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turnfit import _core
from turnfit.messages.formats import table_of
from turnfit.messages.formats.marks import Marks
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message

if TYPE_CHECKING:
    from turnfit.fitting.fitted import Fitted

__all__ = ["CachePoint", "block_of", "mark_cache", "points_of"]


@dataclass(frozen=True, order=True)
class CachePoint:
    """A block worth marking.

    Attributes:
        index: its message's place in the request.
        block: its place in the content; None where the content is a text.
    """

    index: int
    block: int | None


def points_of(fitted: Fitted, next_result: tuple[int, int] | None) -> tuple[CachePoint, ...]:
    """The blocks worth marking, in order: see `Fitted.cache_points`.

    `next_result` is the next result that clearing can touch: its message's index in the
    request, and its number among the message's calls and results.
    """
    format_ = fitted._format
    if format_.marks is None:
        return ()
    messages = fitted.messages
    last = next(_backwards(messages, len(messages), None, format_.marks), None)
    still = None
    if next_result is not None:
        index, place = next_result
        block = block_of(format_, messages[index], place)
        still = next(_backwards(messages, index, block, format_.marks), None)
    return tuple(sorted({point for point in (still, last) if point is not None}))


def _backwards(
    messages: Sequence[Message], index: int, block: int | None, marks: Marks
) -> Iterator[CachePoint]:
    """Markable blocks before a block of a message (before the message, where it is None)."""
    if block is not None:
        yield from _in_message(messages[index], index, block, marks)
    for before in range(index - 1, -1, -1):
        yield from _in_message(messages[before], before, None, marks)


def _in_message(
    message: Message, index: int, end: int | None, marks: Marks
) -> Iterator[CachePoint]:
    content = _core.plain(message).get("content")
    if isinstance(content, str) and content.strip() and end is None:
        yield CachePoint(index, None)
    elif isinstance(content, list | tuple):
        for block in range(len(content) if end is None else end, 0, -1):
            if marks.can_bear(content[block - 1]):
                yield CachePoint(index, block - 1)


def block_of(format_: Format, message: Message, place: int) -> int:
    """The block that bears a call or result of this number."""
    table = table_of(format_)
    count = 0
    message = _core.plain(message)
    for block, part in enumerate(message["content"]):
        count += len(_core.read_message(table, 0, {**message, "content": [part]})[2])
        if count > place:
            return block
    return len(message["content"])


def mark_cache(fitted: Fitted, *, system: Any = None, tools: Any = None) -> list[Message]:
    """The request with `Fitted.cache_points` marked, in copies.

    Marks that are there already stay. No more are added than the provider allows, those
    in `system` and `tools` counted; the last point comes first.

    Args:
        fitted: the fitted request.
        system: the system prompt as it is sent.
        tools: the tool definitions as they are sent.

    >>> import turnfit as tf
    >>> fitted = tf.fit([{"role": "user", "content": "hi"}], budget=99, format="anthropic")
    >>> tf.mark_cache(fitted)[0]["content"]
    [{'type': 'text', 'text': 'hi', 'cache_control': {'type': 'ephemeral'}}]
    """
    messages, marks = list(fitted.messages), fitted._format.marks
    if marks is None:
        return messages
    free = marks.limit - sum(marks.count(_core.plain(one)) for one in (system, tools, *messages))
    for point in sorted(fitted.cache_points, reverse=True)[: max(0, free)]:
        messages[point.index] = _marked(messages[point.index], point.block, marks)
    return messages


def _marked(message: Message, block: int | None, marks: Marks) -> Message:
    message = _core.plain(message)
    if block is None:
        text = {"type": "text", "text": message["content"]}
        return {**message, "content": marks.marked(text)}
    content = list(message["content"])
    behind = content[block + 1 : block + 2]
    if marks.count(content[block]) == 0 and marks.key not in (behind[0] if behind else ()):
        content[block : block + 1] = marks.marked(content[block])
    return {**message, "content": content}
