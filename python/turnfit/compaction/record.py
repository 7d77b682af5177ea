"""What survives a compaction: typed fields, chosen by people, merged without loss.

Merging is associative: of three records it doesn't matter which two are merged first. So
a record may be carried through any number of compactions and is never summarised.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

__all__ = [
    "CarryOver",
    "Command",
    "Established",
    "FileState",
    "Handle",
    "Open",
    "Remaining",
    "Workspace",
]

State: TypeAlias = Literal["created", "written", "deleted", "temporary"]

T = TypeVar("T")


@dataclass(frozen=True)
class FileState:
    """A file that was changed, and how it stands now against the beginning.

    Attributes:
        path: its path, normal.
        state: ``created``: it wasn't there; ``written``: it was, and has changed;
            ``deleted``; ``temporary``: made and gone again.
        digest: of its content, where that is known.
        size: its content's bytes, likewise.
    """

    path: str
    state: State
    digest: str | None = None
    size: int | None = None

    def then(self, later: FileState) -> FileState:
        """What both changes come to.

        >>> FileState("a", "created").then(FileState("a", "deleted")).state
        'temporary'
        """
        was = self.state in ("written", "deleted")
        is_ = later.state in ("written", "created")
        return replace(later, state=_STATES[was, is_])


_STATES: dict[tuple[bool, bool], State] = {
    (False, True): "created",
    (True, True): "written",
    (True, False): "deleted",
    (False, False): "temporary",
}


@dataclass(frozen=True)
class Command:
    """A command that was run.

    Attributes:
        command: its text.
        exit: its status; None where nothing tells it.
        at: the message that ran it, counted from the beginning of the work.
    """

    command: str
    exit: int | None = None
    at: int | None = None


@dataclass(frozen=True)
class Workspace:
    """Side effects that depend on the path taken: files changed, commands run."""

    files: tuple[FileState, ...] = ()
    commands: tuple[Command, ...] = ()


@dataclass(frozen=True)
class Remaining:
    """A limited resource, such as tokens, calls, seconds or dollars.

    Attributes:
        name: what it is, with its unit.
        left: what is left, where that is known.
        spent: what has been spent since the work began.
    """

    name: str
    left: float | None = None
    spent: float = 0

    def then(self, later: Remaining) -> Remaining:
        """The later figures; a total that was larger stays."""
        left = self.left if later.left is None else later.left
        return Remaining(self.name, left, max(self.spent, later.spent))


@dataclass(frozen=True)
class Established:
    """Something that later steps rely on.

    Attributes:
        text: the fact; a constraint in the user's own words.
        kind: ``fact`` or ``constraint``.
        sources: the messages that it comes from, counted from the beginning of the work.
    """

    text: str
    kind: Literal["fact", "constraint"] = "fact"
    sources: tuple[int, ...] = ()

    def then(self, later: Established) -> Established:
        """The same with both's sources."""
        return replace(self, sources=tuple(dict.fromkeys((*self.sources, *later.sources))))


@dataclass(frozen=True)
class Open:
    """Something that may come back: what blocked and was worked around, what is unfinished.

    Attributes:
        text: what it is.
        kind: ``blocked`` or ``request``.
        resolved: whether it has been settled since.
    """

    text: str
    kind: Literal["blocked", "request"] = "blocked"
    resolved: bool = False


@dataclass(frozen=True)
class Handle:
    """The handle of a stored original that can still be fetched.

    Attributes:
        id: the handle.
        what: what it holds, for the model.
    """

    id: str
    what: str = ""


@dataclass(frozen=True, kw_only=True)
class CarryOver:
    """What survives a compaction.

    >>> made = CarryOver(established=(Established("Do NOT push.", "constraint"),))
    >>> later = CarryOver(remaining=(Remaining("calls", left=3, spent=7),))
    >>> made.merge(later).established == made.established
    True

    Attributes:
        workspace: files changed, and commands run.
        remaining: resources that are limited.
        established: facts that later steps rely on, and the user's constraints.
        open: what may come back.
        handles: stored originals that can still be fetched.
        extra: an application's own fields: lists of JSON values by name.
        dropped: how many items of each field earlier renderings left out.
    """

    workspace: Workspace = Workspace()
    remaining: tuple[Remaining, ...] = ()
    established: tuple[Established, ...] = ()
    open: tuple[Open, ...] = ()
    handles: tuple[Handle, ...] = ()
    extra: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)

    def merge(self, later: CarryOver) -> CarryOver:
        """This record and a later one as one; nothing that either establishes is lost."""
        if not isinstance(later, CarryOver):
            raise TypeError(f"merge takes a CarryOver, not a {type(later).__name__}")
        mine, theirs = self.workspace, later.workspace
        return CarryOver(
            workspace=Workspace(
                _latest(mine.files, theirs.files, lambda file: file.path, FileState.then),
                tuple(dict.fromkeys((*mine.commands, *theirs.commands))),
            ),
            remaining=_latest(self.remaining, later.remaining, lambda r: r.name, Remaining.then),
            established=_first(self.established, later.established),
            open=_latest(self.open, later.open, lambda o: (o.kind, o.text), _second),
            handles=_latest(self.handles, later.handles, lambda handle: handle.id, _second),
            extra=_joined(self.extra, later.extra),
            dropped=_summed(self.dropped, later.dropped),
        )

    @property
    def empty(self) -> tuple[str, ...]:
        """The four fields in which nothing stands; those are the first casualties."""
        fields = {
            "workspace": self.workspace.files or self.workspace.commands,
            "remaining": self.remaining,
            "established": self.established,
            "open": self.open,
        }
        return tuple(name for name, value in fields.items() if not value)

    @property
    def is_blank(self) -> bool:
        """Whether nothing at all stands in it."""
        return len(self.empty) == 4 and not self.handles and not any(self.extra.values())

    def ran(self, text: str, *, exit: int | None = 0) -> bool:
        """Whether the last command that contains a text ended with this status.

        >>> done = Workspace(commands=(Command("pytest -q", 1), Command("pytest -q", 0)))
        >>> CarryOver(workspace=done).ran("pytest")
        True
        """
        ran = [one for one in self.workspace.commands if text in one.command]
        return bool(ran) and ran[-1].exit == exit

    def live(self, is_live: Callable[[str], bool]) -> CarryOver:
        """The record without handles whose originals can't be fetched any more."""
        return replace(self, handles=tuple(h for h in self.handles if is_live(h.id)))


def _second(_: T, later: T) -> T:
    return later


def _latest(
    mine: Iterable[T], theirs: Iterable[T], key: Callable[[T], Hashable], then: Callable[[T, T], T]
) -> tuple[T, ...]:
    """One item for a key, where it was last named."""
    found: dict[Hashable, T] = {}
    for item in (*mine, *theirs):
        name = key(item)
        before = found.pop(name, None)
        found[name] = item if before is None else then(before, item)
    return tuple(found.values())


def _first(mine: Iterable[Established], theirs: Iterable[Established]) -> tuple[Established, ...]:
    """One item for a text, where it was first named."""
    found: dict[tuple[str, str], Established] = {}
    for item in (*mine, *theirs):
        before = found.get((item.kind, item.text))
        found[item.kind, item.text] = item if before is None else before.then(item)
    return tuple(found.values())


def _joined(
    mine: Mapping[str, tuple[Any, ...]], theirs: Mapping[str, tuple[Any, ...]]
) -> dict[str, tuple[Any, ...]]:
    names = dict.fromkeys((*mine, *theirs))
    return {name: _unique((*mine.get(name, ()), *theirs.get(name, ()))) for name in names}


def _unique(items: Iterable[Any]) -> tuple[Any, ...]:
    found: dict[str, Any] = {}
    for item in items:
        found.setdefault(json.dumps(item, sort_keys=True), item)
    return tuple(found.values())


def _summed(mine: Mapping[str, int], theirs: Mapping[str, int]) -> dict[str, int]:
    names = dict.fromkeys((*mine, *theirs))
    return {name: mine.get(name, 0) + theirs.get(name, 0) for name in names}
