"""What a fitted request is made of, without building all of it.

A request that was cut or cleared holds copies of hundreds of messages, most of which the
one before held too. Each form of a message is made, and split into blocks, once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from turnfit.fitting.fitted import Fitted
from turnfit.fitting.policy import Policy
from turnfit.messages.reading import Message
from turnfit.replay.blocks import Parts
from turnfit.replay.clearing import Clearing
from turnfit.replay.track import Track

__all__ = ["Forms", "is_plain", "kept_before", "place_in_request"]


def is_plain(fitted: Fitted, track: Track) -> bool:
    """Whether a request's messages are the history's own or copies, each in its place: none
    broken off, and no neighbours merged.
    """
    if fitted._source is not None:
        return False
    is_complete = fitted.step in ("whole", "results")
    return fitted._format.join is None or (track.alternates and is_complete)


def kept_before(fitted: Fitted, index: int) -> int:
    """How many of the messages before one of the history are in the request."""
    return sum(max(0, min(end, index) - start) for start, end in fitted._plan.kept)


def place_in_request(fitted: Fitted, index: int) -> int:
    """Where a message of the history stands in the request, the note counted."""
    kept, note = fitted._plan.kept, fitted._plan.note_before
    is_behind = note is not None and note < len(kept) and kept[note][0] <= index
    return kept_before(fitted, index) + is_behind


class Forms:
    """The messages of one policy's requests, as blocks.

    Args:
        track: the recording.
        policy: by which it is fitted.
    """

    def __init__(self, track: Track, policy: Policy) -> None:
        self._track = track
        self._clearing = Clearing(track, policy)
        self._forms: dict[tuple[int, tuple[int, ...], bool], Parts | None] = {}
        self._note: Parts | None = None
        # Where arguments go too, the calling message is edited, which no count here tells.
        self._are_single = not policy.clear_tool_inputs

    def tail(
        self,
        fitted: Fitted,
        same: int,
        cleared: Sequence[tuple[int, int, str | None, int]],
        stale: Sequence[tuple[int, int, bool]],
    ) -> tuple[int, list[Parts]]:
        """The messages of a request behind the first ones, and how many these are.

        Args:
            fitted: the request.
            same: how many messages can be left out.
            cleared: what the ledger says of what is cleared.
            stale: what it says of reasoning.
        """
        if self._are_single and is_plain(fitted, self._track):
            places = _by_message(cleared)
            stripped = {index for index, _, is_left_out in stale if is_left_out}
            found = self._found(fitted, same, places, stripped)
            if found is not None:
                return same, found
        return 0, [self._track.blocks.of(message) for message in fitted.messages]

    def _found(
        self, fitted: Fitted, same: int, places: dict[int, tuple[int, ...]], stripped: set[int]
    ) -> list[Parts] | None:
        """The tail, piece by piece; None where it can't be told without building it."""
        found: list[Parts] = []
        plan = fitted._plan
        changed = sorted(places.keys() | stripped)
        for number, (start, end) in enumerate([*plan.kept, (plan.messages, plan.messages)]):
            if plan.note_before == number:
                note = self._note_of(fitted, kept_before(fitted, start))
                if note is None:
                    return None
                found += [note] if same == 0 else []
                same = max(0, same - 1)
            start, same = min(end, start + same), max(0, same - (end - start))
            piece = self._track.parts[start:end]
            for index in changed[bisect_left(changed, start) : bisect_left(changed, end)]:
                form = self._form(index, places.get(index, ()), index in stripped)
                if form is None:
                    return None
                piece[index - start] = form
            found += piece
        return found

    def _note_of(self, fitted: Fitted, place: int) -> Parts | None:
        """The note on what was left out; it is always the same."""
        if self._note is None:
            whole = kept_before(fitted, fitted._plan.messages) + 1
            if len(fitted.messages) == whole:
                self._note = self._track.blocks.of(fitted.messages[place])
        return self._note

    def _form(self, index: int, places: tuple[int, ...], is_stripped: bool) -> Parts | None:
        key = index, places, is_stripped
        if key not in self._forms:
            self._forms[key] = self._made(index, places, is_stripped)
        return self._forms[key]

    def _made(self, index: int, places: tuple[int, ...], is_stripped: bool) -> Parts | None:
        whole = message = self._track.messages[index]
        if places:
            message = self._clearing.form(index, places)
            if message is whole:
                return None
        if is_stripped:
            message = self._stripped(index, message)
        return None if message is None else self._track.blocks.of(message)

    def _stripped(self, index: int, message: Message) -> Message | None:
        """A message without reasoning, if it is a whole response by itself."""
        strip, roles = self._track.format.strip, self._track.roles
        neighbours = (*roles[max(0, index - 1) : index], *roles[index + 1 : index + 2])
        if strip is None or "assistant" in neighbours:
            return None
        [left] = strip([message])
        return left


def _by_message(
    cleared: Sequence[tuple[int, int, str | None, int]],
) -> dict[int, tuple[int, ...]]:
    """The places of cleared results, by their messages."""
    places: dict[int, tuple[int, ...]] = {}
    for index, place, _, _ in cleared:
        places[index] = (*places.get(index, ()), place)
    return places
