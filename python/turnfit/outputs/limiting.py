"""One output brought within its limit."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from turnfit import _core
from turnfit.outputs.cutting import Piece, cut
from turnfit.outputs.limited import Limited
from turnfit.outputs.spec import OutputLimit

if TYPE_CHECKING:
    from turnfit.outputs.meter import Meter
    from turnfit.outputs.store import Store

__all__ = [
    "encodable",
    "limit",
    "limit_text",
    "limited_of",
    "prepared",
    "stored",
    "tokens_by",
    "truncated",
    "without_progress",
]


def limit(
    content: Any,
    spec: OutputLimit,
    *,
    store: Store | None = None,
    meter: Meter | None = None,
    tool: str = "",
    task: str | None = None,
) -> Limited:
    """Bring an output within its limit, and say what was left out.

    An output within its limit comes back as it is. The result, markers included, is never
    over the limit, so that limiting it again changes nothing. A cut never parts a
    character, a grapheme cluster, a surrogate pair or a sequence for a terminal; JSON
    stays JSON, and tables keep their header and whole rows.

    Args:
        content: a text; a list of content blocks, as tool results have them, of which the
            texts are bounded together and everything else stays; a whole result with such
            a ``content``; or data (dicts, lists, pydantic models), measured as JSON and
            given back as data. It is never changed.
        spec: the limit.
        store: where the original is put if something is left out.
        meter: counts what was cut, under the tool's name.
        tool: the tool's name, for store and meter.
        task: what the output is needed for; a summary is made with it in view.

    Returns:
        The content within the limit, and what is known of the rest.

    Raises:
        TypeError: for a content that can't be measured.

    >>> log = "".join(f"line {number}\\n" for number in range(1_000))
    >>> limited = limit(log, OutputLimit(max_chars=400, hint="Use read_log(offset={offset})."))
    >>> limited.truncated, limited.total_chars, len(limited.content) <= 400
    (True, 8890, True)
    >>> limited.content.splitlines()[0]
    '[turnfit: incomplete, 252 of 8890 characters shown.]'
    >>> limit("short", OutputLimit(max_chars=400)).content
    'short'
    """
    if not isinstance(spec, OutputLimit):
        raise TypeError(f"spec must be an OutputLimit, not {type(spec).__name__}")
    if isinstance(content, str):
        limited = limit_text(content, spec, store=store, tool=tool, task=task)
    else:
        from turnfit.outputs.contents import limit_content

        limited = limit_content(content, spec, store=store, tool=tool, task=task)
    if meter is not None:
        meter.record(tool, limited)
    return limited


def limit_text(
    text: str, spec: OutputLimit, *, store: Store | None, tool: str, task: str | None
) -> Limited:
    """Bring a text within a limit."""
    text = prepared(text, spec)
    if spec.allows(text):
        content, repaired = encodable(text)
        return limited_of(text, content, spec, truncated=False, repaired=repaired)
    handle = stored(text, store, tool)
    if spec.on_excess == "page":
        return _first_page(text, spec, handle)
    if spec.on_excess == "summarise":
        from turnfit.outputs.summary import limit_by_summary

        return limit_by_summary(text, spec, handle, task)
    return truncated(text, spec, handle)


def truncated(text: str, spec: OutputLimit, handle: str | None) -> Limited:
    """A text that is over its limit, cut."""
    piece = cut(text, spec, handle)
    content, repaired = encodable(piece.content)
    told = _told(text, piece, handle)
    repaired += piece.repaired
    return limited_of(text, content, spec, truncated=True, repaired=repaired, **told)


def _told(text: str, piece: Piece, handle: str | None) -> dict[str, Any]:
    return {
        "omitted_chars": len(text) - piece.kept,
        "hint": piece.hint or None,
        "handle": handle,
        "next_offset": piece.next_offset,
        "omissions": piece.omissions,
    }


def limited_of(
    text: str, content: str, spec: OutputLimit, *, truncated: bool, **told: Any
) -> Limited:
    """What is known of a text and of what was made of it."""
    return Limited(
        content=content,
        truncated=truncated,
        total_chars=len(text),
        reason=spec.reason if truncated else None,
        original=(text,),
        rendered=(content,),
        price=tokens_by(spec),
        **told,
    )


def tokens_by(spec: OutputLimit) -> Callable[[str], int]:
    """How this limit's tokens are counted."""
    return partial(_core.estimate, profile=spec.profile)


def stored(text: str, store: Store | None, tool: str) -> str | None:
    """The handle of an original, once it is in the store; None of one larger than that."""
    if store is None or not store.holds(text):
        return None
    return store.put(text, {"tool": tool} if tool else None)


def _first_page(text: str, spec: OutputLimit, handle: str | None) -> Limited:
    from turnfit.outputs.pages import paginate

    page = paginate(text, None, spec)
    content, repaired = encodable(str(page))
    shown = sum(map(len, page.items))
    return limited_of(
        text,
        content,
        spec,
        truncated=True,
        omitted_chars=len(text) - shown,
        hint=page.note,
        handle=handle,
        next_offset=shown,
        next_cursor=page.next_cursor,
        repaired=repaired,
    )


def prepared(text: str, spec: OutputLimit) -> str:
    """The text as it is measured."""
    if spec.strip_ansi:
        text = _core.strip_escapes(text)
    return without_progress(text) if spec.collapse_progress else text


def without_progress(text: str) -> str:
    r"""Of lines that were drawn over and over, the last state.

    >>> without_progress("fetching\r 10 %\r 100 %\r\ndone\n")
    ' 100 %\r\ndone\n'
    """
    if "\r" not in text:
        return text
    return "\n".join(map(_last_state, text.split("\n")))


def _last_state(line: str) -> str:
    drawn = line.rstrip("\r")
    return drawn[drawn.rfind("\r") + 1 :] + line[len(drawn) :]


_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> tuple[str, int]:
    r"""A text that UTF-8 can say: pairs of surrogates joined, lone ones replaced.

    >>> encodable("a\ud83d\ude42b\ud83d")
    ('a🙂b�', 1)
    """
    if text.isascii() or not _SURROGATE.search(text):
        return text, 0
    before = text.count("\ufffd")
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined, joined.count("\ufffd") - before
