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
    texts = {
        index: prepared(text, spec)
        for index, block in enumerate(blocks)
        if (text := _text_of(block)) is not None
    }
    sizes = {index: spec.price(text) for index, text in texts.items()}
    if sum(sizes.values()) <= spec.size:
        done = {index: _whole(text, spec) for index, text in texts.items()}
        return _put_together(blocks, texts, done, spec, None, 0)
    handle = stored("\n".join(texts.values()), store, tool)
    return _cut_blocks(blocks, texts, sizes, spec, handle)


def _whole(text: str, spec: OutputLimit) -> Limited:
    content, repaired = encodable(text)
    return limited_of(text, content, spec, truncated=False, repaired=repaired)


def _cut_blocks(
    blocks: Sequence[Any],
    texts: dict[int, str],
    sizes: dict[int, int],
    spec: OutputLimit,
    handle: str | None,
) -> Limited:
    """The small texts stay whole and the large ones get equal parts; where the parts would
    be too small for that, the first texts stay and a marker stands for the others."""
    least = max(map(spec.price, wording.widest(spec.hint)))
    part = _equal_part(sorted(sizes.values()), spec.size)
    if part >= least:
        shown = list(texts)
    else:
        shown = _first_that_fit(sizes, spec.size - least)
        part = spec.size
    done = {
        index: _whole(texts[index], spec)
        if sizes[index] <= part
        else truncated(texts[index], spec.part(part), handle)
        for index in shown
    }
    return _put_together(blocks, texts, done, spec, handle, len(texts) - len(shown))


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


def _put_together(
    blocks: Sequence[Any],
    texts: dict[int, str],
    done: dict[int, Limited],
    spec: OutputLimit,
    handle: str | None,
    left_out: int,
) -> Limited:
    made: list[Any] = []
    hint = wording.fill(spec.hint, 0, 0, handle)
    told = ""
    for index, block in enumerate(blocks):
        if index not in texts:
            made.append(block)
        elif index in done:
            changed = done[index].content != _text_of(block)
            made.append(_with(block, "text", done[index].content) if changed else block)
        elif not told:
            told = f"[turnfit: {left_out} of {len(texts)} texts left out here. {hint}]"
            made.append(_with(block, "text", told))
    cut = any(limited.truncated for limited in done.values()) or left_out > 0
    total = sum(map(len, texts.values()))
    kept = sum(limited.kept_chars for limited in done.values())
    parts = Omission("", "texts", len(done), len(texts))
    return Limited(
        content=made
        if cut or any(a is not b for a, b in zip(made, blocks, strict=False))
        else blocks,
        truncated=cut,
        total_chars=total,
        omitted_chars=total - kept,
        reason=spec.reason if cut else None,
        hint=hint if cut else None,
        handle=handle,
        omissions=(*([parts] if left_out else []), *_inner(done)),
        repaired=sum(limited.repaired for limited in done.values()),
        original=tuple(texts.values()),
        rendered=(*(limited.content for limited in done.values()), *([told] if told else [])),
        price=tokens_by(spec),
    )


def _inner(done: dict[int, Limited]) -> list[Omission]:
    return [
        omission._replace(path=f"/{index}/text{omission.path}")
        for index, limited in done.items()
        for omission in limited.omissions
    ]


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
