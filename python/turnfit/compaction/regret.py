"""What a compaction or a clearing lost, measured: what was fetched or asked once more.

On recorded work nothing had been taken out when the agent acted. So a recording shows only
what would have been *exposed*: a later call asked for what would have been gone. *Regret*
proper needs an agent that really lacked it. The two are named apart everywhere, and stand
beside the same agent's rate for what was still in view.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from turnfit import _core
from turnfit.compaction.compacting import Compacted
from turnfit.compaction.effects import Effects
from turnfit.compaction.event import Event
from turnfit.compaction.happenings import Happening, Watch, directories
from turnfit.compaction.presets import CODING
from turnfit.compaction.questions import Alike, plain_question, questions_in
from turnfit.messages.contents import Contents, as_json, contents
from turnfit.messages.formats import PLAIN, format_named, recognise
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["Finding", "Measure", "Regret", "What"]

What: TypeAlias = Literal["read", "call", "question"]
Measure: TypeAlias = Literal["exposed", "regret"]


@dataclass(frozen=True)
class Finding:
    """Something that was fetched or asked again after it had gone.

    Attributes:
        measure: ``regret`` where the agent lacked it, ``exposed`` where it would have.
        what: a file ``read``, a ``call`` with equal arguments, a ``question`` to the user.
        subject: the path, the call, the question.
        at: the index of the message that fetches it again.
        first: the index of the message in which it stood.
        event: the number of the event that lost it, from 0.
        tokens: what came back again costs.
    """

    measure: Measure
    what: What
    subject: str
    at: int
    first: int
    event: int
    tokens: int


@dataclass(slots=True, eq=False)
class _Item:
    """Something that stands in the history, and could be fetched again."""

    what: What
    at: int
    digest: int
    writes: int = 0
    event: int | None = None
    lost: int = 0
    is_over: bool = False


class Regret:
    """Watches a history and what is taken out of it, in one pass.

    A file that was written since, or comes back otherwise, doesn't count; nor does a
    command that is run again after something was written. Ranges of a file are told apart.

    Args:
        effects: what the agent's tools do.
        live: whether the agent really worked without what the events took out.
        cwd: where relative paths begin, if it is known.
        format: the wire format, or its name; recognised where it is not given.

    Attributes:
        measure: ``regret`` for a live agent, ``exposed`` for a recording.
        findings: what was fetched again after it had gone.
        in_view: how often something was fetched again while it was in view, by what.
        lost_chances: for every call or message, how many items were gone, by what.
        view_chances: likewise, how many were in view.

    >>> call = {"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "x"}}
    >>> read = [{"role": "assistant", "content": [call]}]
    >>> read += [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]
    >>> lost = Event(kind="compaction", at=2, dropped=(range(0, 2),))
    >>> [found] = Regret.of(read * 2, [lost]).findings
    >>> found.measure, found.what, found.first, found.at
    ('exposed', 'read', 1, 2)
    """

    def __init__(
        self,
        effects: Effects = CODING,
        *,
        live: bool = False,
        cwd: str = "",
        format: str | Format | None = None,
    ) -> None:
        self.measure: Measure = "regret" if live else "exposed"
        self.findings: list[Finding] = []
        self.in_view: Counter[What] = Counter()
        self.lost_chances: Counter[What] = Counter()
        self.view_chances: Counter[What] = Counter()
        self._watch = Watch(effects, cwd)
        self._acting = {
            name for name, one in effects.tools.items() if any(e.kind == "acts" for e in one)
        }
        self._format = format_named(format) if format is not None else None
        self._items: dict[tuple[str, ...], _Item] = {}
        self._files: dict[str, set[tuple[str, ...]]] = {}
        self._questions: Alike[_Item] = Alike()
        self._asked: list[tuple[str, int]] = []
        self._standing: dict[int, list[_Item]] = {}
        self._order: list[int] = []
        self._counts: dict[bool, Counter[What]] = {True: Counter(), False: Counter()}
        self._writes = 0
        self._events = 0
        self._seen = 0
        self._view: list[int | None] = []

    @classmethod
    def of(
        cls,
        history: Iterable[Message],
        events: Iterable[Event],
        *,
        effects: Effects = CODING,
        live: bool = False,
        cwd: str = "",
        format: str | Format | None = None,
    ) -> Regret:
        """What events lost of a history; their indices are those of this history.

        Raises:
            ValueError: for events that are not in the order in which they came.
        """
        regret = cls(effects, live=live, cwd=cwd, format=format)
        waiting = deque(events)
        if any(one.at > later.at for one, later in pairwise(waiting)):
            raise ValueError("events must be in the order in which they came")
        messages = as_list(history)
        for index, message in enumerate(messages):
            while waiting and waiting[0].at <= index:
                regret.event(waiting.popleft())
            regret.observe(message)
        return regret

    def observe(self, message: Message) -> None:
        """Take a message of the work, in their order; no records and notes.

        Raises:
            FormatError: if it can't be read.
        """
        if self._format is None:
            self._format = recognise([message])
        self._observe(contents(message, self._format or PLAIN, self._seen))
        self._view.append(self._seen)
        self._seen += 1

    def extend(self, messages: Iterable[Message]) -> None:
        """Take several messages."""
        for message in as_list(messages):
            self.observe(message)

    def event(self, event: Event) -> None:
        """Take what was taken out; indices count the messages observed."""
        for span in (*event.dropped, *(range(index, index + 1) for index in event.cleared)):
            self._lose(span.start, span.stop)
        self._events += 1

    def compacted(self, done: Compacted) -> None:
        """Take a compaction of the history as it then was, records of earlier ones in it."""
        if done.event is None:
            return
        gone = [self._view[index] for span in done.event.dropped for index in span]
        for index in gone:
            if index is not None:
                self._lose(index, index + 1)
        kept = (None if at is None else self._view[at] for at in done.origins)
        self._view = list(kept)
        self._events += 1

    def _lose(self, start: int, stop: int) -> None:
        low, high = bisect_left(self._order, start), bisect_left(self._order, stop)
        for index in self._order[low:high]:
            for item in self._standing.pop(index):
                if item.at == index and not item.is_over and item.event is None:
                    item.event, item.lost = self._events, self._seen
                    self._count(item.what, is_lost=False, by=-1)
                    self._count(item.what, is_lost=True, by=1)
        del self._order[low:high]

    def _count(self, what: What, *, is_lost: bool, by: int) -> None:
        self._counts[is_lost][what] += by

    def _observe(self, said: Contents) -> None:
        if said.role == "assistant":
            # A chance to fetch each thing that stands or stood somewhere.
            self.lost_chances.update(self._counts[True])
            self.view_chances.update(self._counts[False])
        self._answer(said)
        happened = self._watch.observe(said, self._seen)
        for call, parts in _by_call(happened):
            self._take(call, parts)
        if said.role == "assistant" and not said.calls:
            self._asked += [(question, self._seen) for question in questions_in(said.text)]

    def _take(self, call: Happening | None, parts: Sequence[Happening]) -> None:
        reads = [one for one in parts if one.what == "read"]
        cost = None if call is None else call.back
        for one in reads:
            key = ("read", one.subject, one.part)
            self._files.setdefault(one.subject, set()).add(key)
            if self._fetch(key, "read", one, one.subject, cost):
                cost = ""
        for one in parts:
            if one.what in ("write", "create", "delete"):
                self._change(one.subject)
            elif one.what == "ask":
                self._asked.append((one.subject, one.at))
        if call is not None and len(parts) == sum(one.what == "run" for one in parts):
            given = as_json(call.arguments)
            key = ("call", call.subject, given)
            self._fetch(key, "call", call, f"{call.subject} {given}", call.back)

    def _fetch(
        self, key: tuple[str, ...], what: What, now: Happening, subject: str, back: str | None
    ) -> bool:
        """Something comes back; tells whether it is charged as come back again."""
        # Texts of one run are told apart, and a str remembers its hash.
        digest = 0 if now.subject in self._acting else hash(now.back)
        before = self._items.get(key)
        same = before is not None and not before.is_over and before.digest == digest
        if before is not None and same and (what == "read" or before.writes == self._writes):
            charged = self._again(before, subject, now.at, back or "")
        else:
            charged = False
        if before is not None:
            self._end(before)
        self._items[key] = self._place(_Item(what, now.seen, digest, self._writes))
        return charged

    def _again(self, item: _Item, subject: str, at: int, back: str) -> bool:
        if item.event is None or item.lost > at:
            # What goes while the call is under way was in view when it was made.
            self.in_view[item.what] += 1
            return False
        tokens = _core.estimate(back)
        self.findings.append(
            Finding(self.measure, item.what, subject, at, item.at, item.event, tokens)
        )
        return True

    def _place(self, item: _Item) -> _Item:
        if item.at not in self._standing:
            self._standing[item.at] = []
            self._order.append(item.at)
        self._standing[item.at].append(item)
        self._count(item.what, is_lost=False, by=1)
        return item

    def _end(self, item: _Item) -> None:
        if not item.is_over:
            item.is_over = True
            self._count(item.what, is_lost=item.event is not None, by=-1)

    def _change(self, path: str) -> None:
        """What was read of a file, or of a directory above it, isn't so any more."""
        self._writes += 1
        for above in (path, *directories(path)):
            for key in self._files.pop(above, ()):
                self._end(self._items[key])

    def _answer(self, said: Contents) -> None:
        """What was asked stands where the user answered it."""
        if said.role != "user" or not said.texts or not self._asked:
            return
        for question, at in self._asked:
            plain = plain_question(question)
            before = self._questions.get(plain)
            if before is not None and not before.is_over:
                self._again(before, question, at, f"{question}\n{said.text}")
                self._end(before)
            self._questions.put(plain, self._place(_Item("question", self._seen, 0)))
        self._asked = []


def _by_call(happened: Iterable[Happening]) -> list[tuple[Happening | None, list[Happening]]]:
    """What happened, by the call that it came of."""
    groups: list[tuple[Happening | None, list[Happening]]] = []
    for one in happened:
        if one.what == "call":
            groups.append((one, []))
        elif groups:
            groups[-1][1].append(one)
    return groups
