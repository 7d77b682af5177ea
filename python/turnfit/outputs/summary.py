"""Summaries of outputs, measured by what they lost."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from turnfit import _core
from turnfit.outputs import limiting, wording
from turnfit.outputs.extract import extract
from turnfit.outputs.facts import KINDS, Fact, facts_of, lost_among
from turnfit.outputs.limited import Limited
from turnfit.outputs.spec import OutputLimit

if TYPE_CHECKING:
    from turnfit.outputs.store import Store

__all__ = [
    "Summariser",
    "Summary",
    "SummaryRequest",
    "limit_awaiting",
    "limit_by_summary",
    "summarise",
]

_SHARE = 4
"""Without a limit a summary may take this part of its original."""
_LEAST = 300
"""Tokens that a summary with its note may take in any case."""
_MANY = 9_999
"""More facts than a note need have room for; more make the summary a little shorter."""
_TOLD = 8
"""So many lost facts are named in the note."""


@dataclass(frozen=True, kw_only=True)
class SummaryRequest:
    """What a summariser is asked for.

    Attributes:
        text: the original.
        task: what the summary is needed for.
        max_tokens: what it may take.
    """

    text: str
    task: str | None = None
    max_tokens: int = 1_000

    @property
    def prompt(self) -> str:
        """The request in words, for a model.

        >>> print(SummaryRequest(text="...", task="find the cause", max_tokens=200).prompt)
        Summarise the tool output below in at most 200 tokens, for this task: find the cause
        Keep figures, dates, identifiers, paths, URLs and quotations exactly as they are.
        <BLANKLINE>
        ...
        """
        task = f", for this task: {self.task}" if self.task else "."
        return (
            f"Summarise the tool output below in at most {self.max_tokens} tokens{task}\n"
            "Keep figures, dates, identifiers, paths, URLs and quotations exactly as they are.\n\n"
            f"{self.text}"
        )


Summariser: TypeAlias = Callable[[SummaryRequest], str] | Callable[[SummaryRequest], Awaitable[str]]


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A summary, or what stands in its place.

    Attributes:
        content: what goes to the model: the summary and a note on it, or the original
            cut, where there was no usable summary.
        used: whether it is the summary.
        reason: why it isn't; None if it is.
        facts: how many figures, dates, identifiers, paths, URLs and quotations the
            original has.
        lost: those that the content lacks.
        handle: under which the original is stored; None without a store.
    """

    content: str
    used: bool
    reason: str | None
    facts: int
    lost: tuple[Fact, ...]
    handle: str | None

    @property
    def lost_share(self) -> float:
        """The share of the facts that was lost, from 0 to 1."""
        return len(self.lost) / self.facts if self.facts else 0.0

    @property
    def lost_counts(self) -> dict[str, int]:
        """How many of each kind were lost."""
        counts = Counter(fact.kind for fact in self.lost)
        return {kind: counts[kind] for kind in KINDS}


@overload
def summarise(
    text: str,
    summariser: None = None,
    *,
    task: str | None = None,
    store: Store | None = None,
    spec: OutputLimit | None = None,
    tool: str = "",
) -> Summary: ...
@overload
def summarise(
    text: str,
    summariser: Callable[[SummaryRequest], str],
    *,
    task: str | None = None,
    store: Store | None = None,
    spec: OutputLimit | None = None,
    tool: str = "",
) -> Summary: ...
@overload
def summarise(
    text: str,
    summariser: Callable[[SummaryRequest], Awaitable[str]],
    *,
    task: str | None = None,
    store: Store | None = None,
    spec: OutputLimit | None = None,
    tool: str = "",
) -> Awaitable[Summary]: ...
def summarise(
    text: str,
    summariser: Summariser | None = None,
    *,
    task: str | None = None,
    store: Store | None = None,
    spec: OutputLimit | None = None,
    tool: str = "",
) -> Summary | Awaitable[Summary]:
    """Summarise a text, and measure what the summary lost.

    The original goes to the store first. A blank summary, one no shorter than the
    original, or an exception of the summariser leave the original cut, and the content
    says so.

    Args:
        text: the original.
        summariser: any function from a `SummaryRequest` to a text, sync or async; such as
            ``lambda request: model(request.prompt)``. The built-in one picks sentences and
            needs no model.
        task: what the summary is needed for; part of the request.
        store: where the original is put.
        spec: what the content may take; a quarter of the original if it is not given.
        tool: the tool's name, for the store.

    Returns:
        The summary; of an async summariser something to await for it.

    >>> text = "Build 4127 failed on 2026-03-05. " + "The weather was fine. " * 200
    >>> summary = summarise(text, lambda request: "Build 4127 failed.")
    >>> summary.lost
    (Fact(kind='date', text='2026-03-05'),)
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    handle = limiting.stored(text, store, tool)
    spec = _spec_for(text) if spec is None else spec
    return _summarised(text, summariser or extract, task, spec, handle)


def _spec_for(text: str) -> OutputLimit:
    return OutputLimit(max_tokens=max(_LEAST, _core.estimate(text) // _SHARE))


def _summarised(
    text: str, summariser: Summariser, task: str | None, spec: OutputLimit, handle: str | None
) -> Summary | Awaitable[Summary]:
    request = SummaryRequest(text=text, task=task, max_tokens=_room_in_tokens(text, spec, handle))
    try:
        made: Any = summariser(request)
    except Exception as error:
        return _without(text, spec, handle, _told(error))
    if inspect.isawaitable(made):
        return _awaited(made, text, spec, handle)
    return _judged(made, text, spec, handle)


async def _awaited(
    made: Awaitable[str], text: str, spec: OutputLimit, handle: str | None
) -> Summary:
    try:
        summary = await made
    except Exception as error:
        return _without(text, spec, handle, _told(error))
    return _judged(summary, text, spec, handle)


def _told(error: Exception) -> str:
    return f"the summariser failed with {type(error).__name__}"


def _room_in_tokens(text: str, spec: OutputLimit, handle: str | None) -> int:
    """What is left beside the widest note, by the summariser's measure."""
    widest = _note(text, _MANY, dict.fromkeys(KINDS, _MANY), spec, handle)
    left = spec.size - max(spec.price(f"\n{widest}") + 1, spec.size // 8)
    return max(1, left if spec.max_tokens is not None else left // 4)


def _judged(summary: Any, text: str, spec: OutputLimit, handle: str | None) -> Summary:
    if not isinstance(summary, str):
        kind = type(summary).__name__
        return _without(text, spec, handle, f"the summariser gave {kind}, not a text")
    if not summary.strip():
        return _without(text, spec, handle, "the summary was blank")
    if len(summary) >= len(text):
        return _without(text, spec, handle, "the summary was no shorter than the original")
    return _with_note(summary.strip(), text, spec, handle)


def _with_note(summary: str, text: str, spec: OutputLimit, handle: str | None) -> Summary:
    facts = facts_of(text)
    lost = lost_among(facts, summary)
    note = _note(text, len(facts), _counted(lost), spec, handle)
    if spec.price(f"{summary}\n{note}") > spec.size:
        widest = _note(text, _MANY, dict.fromkeys(KINDS, _MANY), spec, handle)
        try:
            room = spec.part(spec.size - spec.price(f"\n{widest}") - 1, "text")
        except ValueError:
            return _without(text, spec, handle, "the summary has no room beside its note")
        summary = limiting.truncated(summary, room, None).content
        lost = lost_among(facts, summary)
        note = _note(text, len(facts), _counted(lost), spec, handle)
    content = f"{limiting.encodable(summary)[0]}\n{note}"
    if len(content) >= len(text) or not spec.allows(content):
        return _without(text, spec, handle, "the summary with its note saves nothing")
    named = f"{content[:-1]} Lost: {'; '.join(fact.text for fact in lost[:_TOLD])}.]"
    return Summary(
        content=named if lost and spec.allows(named) else content,
        used=True,
        reason=None,
        facts=len(facts),
        lost=tuple(lost),
        handle=handle,
    )


def _counted(lost: list[Fact]) -> dict[str, int]:
    counts = Counter(fact.kind for fact in lost)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def _note(
    text: str, facts: int, lost: Mapping[str, int], spec: OutputLimit, handle: str | None
) -> str:
    """That it is a summary, what it lacks, and how to get the rest."""
    start = f"[turnfit: a summary of {len(text)} characters"
    hint = wording.fill(spec.hint, 0, len(text), handle)
    if not lost:
        kept = f"; none of {facts} figures, dates, names and quotations is lost" if facts else ""
        return f"{start}{kept}. {hint}]"
    told = ", ".join(f"{count} {kind}s" for kind, count in lost.items())
    return f"{start}; it leaves out {sum(lost.values())} of {facts} facts ({told}). {hint}]"


def _without(text: str, spec: OutputLimit, handle: str | None, reason: str) -> Summary:
    """The original cut, where there is no summary."""
    note = f"[turnfit: no summary: {reason}; the original is cut instead.]"
    left = spec.size - spec.price(f"{note}\n") - 1
    try:
        room = spec.part(left, "text")
    except ValueError:
        # Too little room for both: the marker alone says that something is missing.
        room, note = spec.part(spec.size, "text"), ""
    whole = room.allows(text)
    content = (
        limiting.encodable(text)[0] if whole else limiting.truncated(text, room, handle).content
    )
    facts = facts_of(text)
    return Summary(
        content=f"{note}\n{content}" if note else content,
        used=False,
        reason=reason,
        facts=len(facts),
        lost=tuple(lost_among(facts, content)),
        handle=handle,
    )


def limit_by_summary(text: str, spec: OutputLimit, handle: str | None, task: str | None) -> Limited:
    """A text over its limit, summarised."""
    if _is_async(spec.summariser):
        raise TypeError("this summariser is async: limit an async tool, or await summarise(...)")
    summary = _summarised(text, spec.summariser or extract, task, spec, handle)
    if not isinstance(summary, Summary):
        raise TypeError("this summariser gave something to await: declare it async")
    return _limited(text, spec, summary)


def _is_async(function: Any) -> bool:
    call = getattr(function, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _limited(text: str, spec: OutputLimit, summary: Summary) -> Limited:
    return limiting.limited_of(
        text,
        summary.content,
        spec,
        truncated=True,
        omitted_chars=max(0, len(text) - len(summary.content)),
        hint=wording.fill(spec.hint, 0, len(text), summary.handle),
        handle=summary.handle,
        summary=summary,
    )


async def limit_awaiting(
    content: Any, spec: OutputLimit, *, store: Store | None, meter: Any, tool: str
) -> Limited:
    """As `limit`, for tools that can wait for an async summariser."""
    if isinstance(content, str) and spec.on_excess == "summarise":
        text = limiting.prepared(content, spec)
        if not spec.allows(text):
            handle = limiting.stored(text, store, tool)
            made = _summarised(text, spec.summariser or extract, None, spec, handle)
            limited = _limited(text, spec, made if isinstance(made, Summary) else await made)
            if meter is not None:
                meter.record(tool, limited)
            return limited
    return limiting.limit(content, spec, store=store, meter=meter, tool=tool)
