"""Outputs that are no text: content blocks, whole results, and data."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turnfit.outputs import wording
from turnfit.outputs.limited import Limited, Omission
from turnfit.outputs.limiting import (
    encodable,
    limit_text,
    limited_of,
    prepared,
    stored,
    tokens_by,
    truncated,
)
from turnfit.outputs.spec import OutputLimit

if TYPE_CHECKING:
    from turnfit.outputs.store import Store

__all__ = ["limit_content"]

_TEXTS = ("text", "input_text", "output_text")
_BLOCKS = (
    *_TEXTS,
    "audio",
    "custom",
    "document",
    "file",
    "image",
    "image_url",
    "input_audio",
    "input_file",
    "input_image",
    "refusal",
    "resource",
    "resource_link",
    "search_result",
    "tool_reference",
    "video",
)
_BARE_BLOCKS = ("text", "json", "image", "document", "video")
"""The one key of a block that has no type, as Amazon Bedrock writes them."""
_SIGNS_OF_A_RESULT = ("is_error", "isError", "status", "tool_call_id", "toolUseId", "tool_use_id")


def limit_content(
    content: Any, spec: OutputLimit, *, store: Store | None, tool: str, task: str | None
) -> Limited:
    """Bring a list of blocks, a whole result, or data within a limit."""
    if content is None:
        return Limited(content=None, truncated=False, total_chars=0)
    if isinstance(content, bytes | bytearray | memoryview):
        raise TypeError("content must be a text, blocks or data, not bytes: decode them first")
    if _is_blocks(content):
        return _limit_blocks(content, spec, store, tool)
    inner = _content_of(content)
    if inner is not None:
        limit = limit_text if isinstance(inner, str) else limit_content
        limited = limit(inner, spec, store=store, tool=tool, task=task)
        unchanged = limited.content is inner
        made = content if unchanged else _with(content, "content", limited.content)
        return replace(limited, content=made)
    return _limit_data(content, spec, store, tool)


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)


def _is_block(value: Any) -> bool:
    kind = _get(value, "type")
    if isinstance(value, Mapping) and kind is None:
        return len(value) == 1 and next(iter(value)) in _BARE_BLOCKS
    return isinstance(kind, str) and kind in _BLOCKS


def _is_blocks(content: Any) -> bool:
    return isinstance(content, list | tuple) and bool(content) and all(map(_is_block, content))


def _text_of(block: Any) -> str | None:
    """The text of a block, if it is one of text."""
    if _get(block, "type") not in (None, *_TEXTS):
        return None
    text = _get(block, "text")
    return text if isinstance(text, str) else None


def _content_of(result: Any) -> Any:
    """The content of a whole result: of a tool message, or of what a tool protocol gives."""
    is_result = (
        any(sign in result for sign in _SIGNS_OF_A_RESULT) or result.get("type") == "tool_result"
        if isinstance(result, Mapping)
        else hasattr(result, "model_copy")
        and any(hasattr(result, sign) for sign in _SIGNS_OF_A_RESULT)
    )
    content = _get(result, "content") if is_result else None
    return content if isinstance(content, str) or _is_blocks(content) else None


def _with(value: Any, key: str, changed: Any) -> Any:
    """A copy with one field changed."""
    if isinstance(value, Mapping):
        return {**value, key: changed}
    if hasattr(value, "model_copy"):
        return value.model_copy(update={key: changed})
    made = copy.copy(value)
    setattr(made, key, changed)
    return made


def _limit_blocks(
    blocks: Sequence[Any], spec: OutputLimit, store: Store | None, tool: str
) -> Limited:
    parts = _Parts(blocks, spec)
    if sum(parts.sizes.values()) <= spec.size:
        return parts.put_together({index: parts.whole(index) for index in parts.texts}, None)
    handle = stored("\n".join(parts.texts.values()), store, tool)
    return parts.put_together(parts.cut(handle), handle)


class _Parts:
    """The texts among blocks, which have one limit together."""

    def __init__(self, blocks: Sequence[Any], spec: OutputLimit) -> None:
        self.blocks = blocks
        self.spec = spec
        found = ((index, _text_of(block)) for index, block in enumerate(blocks))
        self.texts = {index: prepared(text, spec) for index, text in found if text is not None}
        self.sizes = {index: spec.price(text) for index, text in self.texts.items()}

    def whole(self, index: int) -> Limited:
        """A text as it is."""
        content, repaired = encodable(self.texts[index])
        return limited_of(self.texts[index], content, self.spec, truncated=False, repaired=repaired)

    def cut(self, handle: str | None) -> dict[int, Limited]:
        """The small texts whole and of the large ones equal parts; where the parts would be
        too small for that, the first texts, with room for a marker for the others."""
        least = max(map(self.spec.price, wording.widest(self.spec.hint)))
        part = _equal_part(sorted(self.sizes.values()), self.spec.size)
        if part < least:
            first = _first_that_fit(self.sizes, self.spec.size - least)
            return {index: self.whole(index) for index in first}
        return {
            index: self.whole(index)
            if self.sizes[index] <= part
            else truncated(text, self.spec.part(part), handle)
            for index, text in self.texts.items()
        }

    def put_together(self, done: dict[int, Limited], handle: str | None) -> Limited:
        """The blocks with these texts, and a marker where the others were."""
        left_out = [index for index in self.texts if index not in done]
        hint = wording.fill(self.spec.hint, 0, 0, handle)
        told = f"[turnfit: {len(left_out)} of {len(self.texts)} texts left out here. {hint}]"
        contents = {index: limited.content for index, limited in done.items()}
        contents.update(dict.fromkeys(left_out[:1], told))
        cut = bool(left_out) or any(limited.truncated for limited in done.values())
        total = sum(map(len, self.texts.values()))
        kept = sum(limited.kept_chars for limited in done.values())
        return Limited(
            content=self._with_texts(contents),
            truncated=cut,
            total_chars=total,
            omitted_chars=total - kept,
            reason=self.spec.reason if cut else None,
            hint=hint if cut else None,
            handle=handle,
            omissions=self._omissions(done),
            repaired=sum(limited.repaired for limited in done.values()),
            original=tuple(self.texts.values()),
            rendered=tuple(contents.values()),
            price=tokens_by(self.spec),
        )

    def _with_texts(self, contents: dict[int, str]) -> Sequence[Any]:
        """The very blocks, if nothing is changed in them."""
        made = [
            block
            if index not in self.texts or contents[index] == _text_of(block)
            else _with(block, "text", contents[index])
            for index, block in enumerate(self.blocks)
            if index not in self.texts or index in contents
        ]
        same = len(made) == len(self.blocks) and all(map(_is, made, self.blocks))
        return self.blocks if same else made

    def _omissions(self, done: dict[int, Limited]) -> tuple[Omission, ...]:
        inner = [
            omission._replace(path=f"/{index}/text{omission.path}")
            for index, limited in done.items()
            for omission in limited.omissions
        ]
        if len(done) == len(self.texts):
            return tuple(inner)
        return (Omission("", "texts", len(done), len(self.texts)), *inner)


def _is(one: Any, other: Any) -> bool:
    return one is other


def _equal_part(sizes: list[int], room: int) -> int:
    """The greatest size that each may have, if the smaller leave the rest to the larger."""
    for index, size in enumerate(sizes):
        part = room // (len(sizes) - index)
        if size > part:
            return part
        room -= size
    return max(sizes)


def _first_that_fit(sizes: dict[int, int], room: int) -> list[int]:
    fit = []
    for index, size in sizes.items():
        room -= size
        if room < 0:
            break
        fit.append(index)
    return fit


def _limit_data(data: Any, spec: OutputLimit, store: Store | None, tool: str) -> Limited:
    text = _as_json(data)
    if spec.allows(text):
        return Limited(
            content=data,
            truncated=False,
            total_chars=len(text),
            original=(text,),
            rendered=(text,),
            price=tokens_by(spec),
        )
    limited = truncated(text, replace(spec, structure="json"), stored(text, store, tool))
    try:
        return replace(limited, content=json.loads(limited.content))
    except ValueError:
        return limited


def _as_json(data: Any) -> str:
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        kind = type(data).__name__
        raise TypeError(f"content of type {kind} can't be measured: {error}") from error


def _plain(value: Any) -> Any:
    """What JSON doesn't know: models as their fields, anything else by its text."""
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)
