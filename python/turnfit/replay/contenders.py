"""The policies side by side: each makes a request of recorded messages, step by step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from turnfit import _core
from turnfit.fitting.caching import block_of
from turnfit.fitting.conversation import Conversation
from turnfit.fitting.fitted import Fitted
from turnfit.fitting.policy import Policy
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message
from turnfit.replay.blocks import Parts, place_without_marks
from turnfit.replay.clearing import Clearing
from turnfit.replay.forms import Forms, is_plain, kept_before, place_in_request
from turnfit.replay.track import Track

__all__ = [
    "Contender",
    "DropOldest",
    "Fitting",
    "KeepLast",
    "Nothing",
    "Player",
    "Sent",
    "contenders",
]

Span: TypeAlias = tuple[int, int]
Place: TypeAlias = tuple[int, int]


class Sent(NamedTuple):
    """A request, told by what is new in it.

    Attributes:
        same: with how many messages of the request before it begins; it may be more.
        tail: the messages behind these, as blocks.
        spans: what of the history is in it, as ranges of indices.
        lost: results that are cleared in it, by message and place, at least the new ones.
        cleared: tells which results are cleared in it; None where all are that were.
        still: the message of the request, and the block of it, that changes next.
        stale: messages whose reasoning it makes stale, at least the new ones.
    """

    same: int
    tail: Sequence[Parts]
    spans: Sequence[Span]
    lost: Collection[Place] = ()
    cleared: Container[Place] | None = None
    still: tuple[int, int | None] | None = None
    stale: Collection[int] = ()


class Player(Protocol):
    """Makes the requests of one recording."""

    def request(self, at: int) -> Sent:
        """The request made of the first messages; `at` only grows."""


class Contender(Protocol):
    """A way to keep requests small."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def budget(self) -> int:
        """The tokens that a request may take."""

    @property
    def output(self) -> int:
        """What the answer may take of the window."""

    def play(self, track: Track) -> Player:
        """Begins a recording."""


def contenders(
    budget: int,
    *,
    window: int | None = None,
    model: str | None = None,
    own: Sequence[Contender] = (),
) -> list[Contender]:
    """What policies are compared with, the default, and one's own.

    Args:
        budget: the tokens that a request may take.
        window: what the model accepts at all.
        model: the model's name.
        own: more of them.

    >>> [one.name for one in contenders(1000)]
    ['nothing', 'drop oldest', 'keep last 6', 'clear one', 'default']
    """
    shared: dict[str, Any] = {"budget": budget, "window": window, "model": model}
    return [
        Nothing(budget),
        DropOldest(budget),
        KeepLast(budget, 6),
        Fitting("clear one", Policy(clear_batch=1, grid=0, **shared)),
        Fitting("default", Policy(**shared)),
        *own,
    ]


@dataclass(frozen=True)
class Nothing:
    """All messages are sent, always."""

    budget: int
    output: int = 0
    name: str = "nothing"

    def play(self, track: Track) -> Player:
        """See `Contender.play`."""
        return _Whole(track)


class _Whole:
    def __init__(self, track: Track) -> None:
        self._track = track
        self._at = 0

    def request(self, at: int) -> Sent:
        same, self._at = self._at, at
        return Sent(same, self._track.parts[same:at], [(0, at)])


@dataclass(frozen=True)
class DropOldest:
    """The oldest turns go, at user messages, until the rest is within the budget.

    So do common trimmers. The system messages stay, and so does the last turn, whatever it
    costs: inside of it there is no user message to cut at.
    """

    budget: int
    output: int = 0
    name: str = "drop oldest"

    def play(self, track: Track) -> Player:
        """See `Contender.play`."""
        return _Dropping(track, self.budget)


class _Dropping:
    def __init__(self, track: Track, budget: int) -> None:
        self._track = track
        self._budget = budget - track.fixed - track.tokens_of(0, track.preamble)
        self._at = 0
        self._start = track.preamble

    def request(self, at: int) -> Sent:
        track, preamble = self._track, self._track.preamble
        start, before = self._fitting_start(at), self._start
        moved = start != before
        same = preamble if moved else preamble + max(0, self._at - before)
        tail = track.parts[start if moved else max(self._at, start) : at]
        if self._at == 0:
            same, tail = 0, [*track.parts[:preamble], *track.parts[start:at]]
        self._start, self._at = start, at
        stale = range(start, at) if moved else ()
        return Sent(same, tail, [(0, preamble), (start, at)], stale=stale)

    def _fitting_start(self, at: int) -> int:
        """The first turn that leaves what is within the budget; else the last that there is."""
        start, turns = self._start, self._track.turns
        next_turn = bisect_right(turns, start)
        while self._track.tokens_of(start, at) > self._budget:
            if next_turn >= len(turns) or turns[next_turn] >= at:
                break
            start = turns[next_turn]
            next_turn += 1
        return start


@dataclass(frozen=True)
class KeepLast:
    """All results but the last few are cleared, at every step, where a note is shorter."""

    budget: int
    results: int
    output: int = 0

    @property
    def name(self) -> str:
        """What it is called."""
        return f"keep last {self.results}"

    def play(self, track: Track) -> Player:
        """See `Contender.play`."""
        return _Keeping(track, self.results)


class _Keeping:
    def __init__(self, track: Track, keep: int) -> None:
        self._track = track
        self._keep = keep
        self._clearing = Clearing(track, Policy(budget=1, clear_batch=1, worth=1))
        self._forms: dict[Place, Parts] = {}
        self._places = [(at, place) for at, places in enumerate(track.results) for place in places]
        self._at = 0
        self._gone = 0
        self._cleared: set[Place] = set()

    def request(self, at: int) -> Sent:
        results = bisect_right(self._places, (at, -1))
        gone = max(self._gone, results - self._keep)
        possible = self._clearing.places
        newly = [place for place in self._places[self._gone : gone] if place in possible]
        self._cleared.update(newly)
        same = min(self._at, newly[0][0]) if newly else self._at
        tail = self._track.parts[same:at]
        last = newly[-1][0] + 1 if newly else same
        tail[: max(0, last - same)] = [self._form(index) for index in range(same, last)]
        stale = range(same, at) if newly else ()
        self._at, self._gone = at, gone
        return Sent(same, tail, [(0, at)], newly, self._cleared, self._still(results), stale)

    def _form(self, index: int) -> Parts:
        places = [place for place in self._track.results[index] if (index, place) in self._cleared]
        if not places:
            return self._track.parts[index]
        # Oldest first: so many of them are always the same ones.
        key = index, len(places)
        if key not in self._forms:
            self._forms[key] = self._track.blocks.of(self._clearing.form(index, places))
        return self._forms[key]

    def _still(self, results: int) -> tuple[int, int | None] | None:
        possible = self._clearing.places
        waiting = (place for place in self._places[self._gone : results] if place in possible)
        index, place = next(waiting, (None, 0))
        if index is None:
            return None
        return index, _block(self._track.format, self._track.messages[index], place)


@dataclass(frozen=True)
class Fitting:
    """turnfit with a policy.

    >>> Fitting("small", Policy(budget=1000)).budget
    1000
    """

    name: str
    policy: Policy

    @property
    def budget(self) -> int:
        """The policy's budget."""
        return self.policy.budget

    @property
    def output(self) -> int:
        """What the policy leaves for the answer."""
        return self.policy.output

    def play(self, track: Track) -> Player:
        """See `Contender.play`."""
        return _Fitted(track, self.policy)


class _Fitted:
    def __init__(self, track: Track, policy: Policy) -> None:
        self._track = track
        recording = track.recording
        self._conversation = Conversation(
            policy, system=recording.system, tools=recording.tools, format=track.format
        )
        self._forms = Forms(track, policy)
        self._at = 0
        self._sent = 0
        self._last: Fitted | None = None
        self._next: Place | None = None
        self._still: tuple[int, int | None] | None = None

    def request(self, at: int) -> Sent:
        self._conversation.extend(self._track.messages[self._at : at])
        fitted, before = self._conversation.fit(), self._last
        sent = self._gone_on(fitted, before, at) or self._changed(fitted, before)
        self._at, self._last = at, fitted
        return sent

    def _gone_on(self, fitted: Fitted, before: Fitted | None, at: int) -> Sent | None:
        """The request where it only grew, which is told without being built."""
        if before is None or not _are_of_one(before, fitted, self._track):
            return None
        if not before._plan.goes_on_in(fitted._plan):
            return None
        same = self._sent
        tail = self._track.parts[self._at : at]
        self._sent += len(tail)
        self._find_still(fitted, has_moved=False)
        return Sent(same, tail, fitted._plan.kept, still=self._still)

    def _changed(self, fitted: Fitted, before: Fitted | None) -> Sent:
        same = _same(fitted, before, self._track) if before is not None else 0
        cleared = fitted._ledger.cleared(fitted._plan)
        stale = fitted._ledger.stale(fitted._plan)
        same, tail = self._forms.tail(fitted, same, cleared, stale)
        self._sent = same + len(tail)
        self._find_still(fitted, has_moved=True)
        origins: Any = fitted._source.origins if fitted._source else range(fitted._plan.messages)
        places = {(origins[index], place) for index, place, _, _ in cleared}
        stale_messages = [origins[index] for index, _, _ in stale]
        return Sent(same, tail, _spans(fitted), places, places, self._still, stale_messages)

    def _find_still(self, fitted: Fitted, *, has_moved: bool) -> None:
        """Where the request changes next; it is looked for again where it may have moved."""
        now = fitted._ledger.next_clearable(fitted._plan)
        if not has_moved and now == self._next:
            return
        self._next, self._still = now, None
        if now is None:
            return
        index, place = now
        block = _block(fitted._format, fitted._history[index], place)
        if is_plain(fitted, self._track):
            self._still = place_in_request(fitted, index), block
        elif block is not None:
            self._still = _place_of_result(fitted, index, place)


def _place_of_result(fitted: Fitted, index: int, place: int) -> tuple[int, int] | None:
    """Where a result of the history stands in a request whose messages were merged."""
    given = fitted._history[index]
    message = _core.plain(given)
    wanted = message["content"][block_of(fitted._format, message, place)]
    # What an object is sent as is made anew each time, and never the same.
    is_made = message is not given
    for at, sent in enumerate(map(_core.plain, fitted.messages)):
        content = sent.get("content")
        for block, value in enumerate(content if isinstance(content, list) else ()):
            if value is wanted or (is_made and value == wanted):
                return at, place_without_marks(content, block)
    return None


def _block(format_: Format, message: Message, place: int) -> int | None:
    """The block that bears a result, where a format's blocks can be marked."""
    if format_.marks is None:
        return None
    message = _core.plain(message)
    return place_without_marks(message["content"], block_of(format_, message, place))


def _are_of_one(before: Fitted, now: Fitted, track: Track) -> bool:
    """Whether both are plans of one ledger, of which nothing was changed before or after."""
    plain = is_plain(before, track) and is_plain(now, track)
    return plain and before._ledger is now._ledger


def _same(fitted: Fitted, before: Fitted, track: Track) -> int:
    """With how many messages at least a request begins as the one before."""
    if not _are_of_one(before, fitted, track):
        return 0
    change = fitted._ledger.kept(before._plan, fitted._plan)[0]
    return kept_before(fitted, before._plan.messages if change is None else change)


def _spans(fitted: Fitted) -> list[Span]:
    """What of the history is in a request."""
    if fitted._source is None:
        return fitted._plan.kept
    edges = [0, *(edge for gap in fitted.dropped for edge in (gap.start, gap.stop)), fitted._count]
    return [span for span in zip(edges[::2], edges[1::2], strict=True) if span[0] < span[1]]
