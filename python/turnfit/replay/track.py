"""A recording, read once for all policies that are tried on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from turnfit import _core
from turnfit.errors import FormatError, HistoryError
from turnfit.messages.estimate import system_tokens, tools_tokens
from turnfit.messages.formats import format_of, table_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message
from turnfit.replay.blocks import Blocks, Parts
from turnfit.replay.recordings import Recording
from turnfit.tokens.profiles import Tariff, frames_in, tariff_of

__all__ = ["Track"]


@dataclass(frozen=True)
class Track:
    """A recording's messages, what they cost, and where requests were made.

    Attributes:
        recording: what was recorded.
        format: its wire format.
        tariff: by what everything is priced.
        roles: who speaks in each message.
        sums: what the first messages cost, from none to all.
        results: each message's tool results, by their places among its calls and results.
        calls: whether a message calls a tool.
    """

    recording: Recording
    format: Format
    tariff: Tariff
    roles: Sequence[str]
    sums: Sequence[int]
    results: Sequence[Sequence[int]]
    calls: Sequence[bool]

    @classmethod
    def of(cls, recording: Recording, model: str | None = None) -> Track:
        """Reads a recording; a `HistoryError` names the message that can't be read."""
        format_ = format_of(recording.messages, recording.format)
        tariff = tariff_of(None, model)
        _refuse_odd(recording, format_)
        try:
            read = [
                _core.read_message(table_of(format_), index, message, tariff)
                for index, message in enumerate(recording.messages)
            ]
        except FormatError as error:
            raise HistoryError(f"{recording.name}: {error}") from error
        results = [
            [place for place, row in enumerate(rows) if row[0] == "result"] for _, _, rows in read
        ]
        return cls(
            recording,
            format_,
            tariff,
            [role for role, _, _ in read],
            [0, *accumulate(tokens for _, tokens, _ in read)],
            results,
            [any(row[0] == "call" for row in rows) for _, _, rows in read],
        )

    @cached_property
    def blocks(self) -> Blocks:
        """Splits messages into blocks; it has those of the recording."""
        blocks = Blocks(self.format, self.tariff)
        blocks.remember(self.messages)
        return blocks

    @cached_property
    def parts(self) -> list[Parts]:
        """The messages as blocks."""
        return self.blocks.remember(self.messages)

    @property
    def messages(self) -> list[Message]:
        """The messages."""
        return self.recording.messages

    @cached_property
    def fixed(self) -> int:
        """What is sent besides the messages, in tokens."""
        beside = system_tokens(self.recording.system, self.tariff)
        beside += tools_tokens(self.recording.tools, self.tariff)
        return beside + frames_in(self.tariff).request

    def tokens_of(self, start: int, end: int) -> int:
        """What a range of messages costs."""
        return self.sums[end] - self.sums[start]

    @cached_property
    def requests(self) -> list[int]:
        """How many messages stood before each request: one before each answer of the model,
        and one at the end, where it has not answered yet.
        """
        answered = [
            at
            for at in range(1, len(self.roles))
            if self.roles[at] == "assistant" and self.roles[at - 1] != "assistant"
        ]
        waits = [len(self.roles)] if self.roles[-1] != "assistant" else []
        return answered + waits

    @cached_property
    def outputs(self) -> list[int]:
        """What the model answered to each request, in tokens."""
        return [self.tokens_of(at, self._end_of_answer(at)) for at in self.requests]

    def _end_of_answer(self, at: int) -> int:
        while at < len(self.roles) and self.roles[at] == "assistant":
            at += 1
        return at

    @cached_property
    def alternates(self) -> bool:
        """Whether no two neighbours have the same role."""
        return all(before != now for before, now in pairwise(self.roles))

    @cached_property
    def preamble(self) -> int:
        """How many system messages stand first."""
        return next((at for at, role in enumerate(self.roles) if role != "system"), 0)

    @cached_property
    def turns(self) -> list[int]:
        """Where turns open: at the user's messages that bear no result."""
        return [
            at
            for at, role in enumerate(self.roles)
            if role == "user" and not self.results[at] and at >= self.preamble
        ]

    @cached_property
    def rounds(self) -> list[int]:
        """Where rounds open: at the answers that call tools."""
        return [at for at, calls in enumerate(self.calls) if calls and self._opens(at)]

    def _opens(self, at: int) -> bool:
        return at == 0 or not (self.calls[at - 1] and self.roles[at - 1] == self.roles[at])

    @cached_property
    def thinking(self) -> frozenset[int]:
        """The messages that hold reasoning: those that are others without it."""
        strip = self.format.strip
        if strip is None:
            return frozenset()
        answers = (at for at, role in enumerate(self.roles) if role == "assistant")
        plain = ((at, _core.plain(self.messages[at])) for at in answers)
        return frozenset(at for at, message in plain if strip([message]) != [message])

    def times(self, seconds_per_step: float | None) -> Iterator[float]:
        """When each request was made, in seconds."""
        if seconds_per_step is not None:
            yield from (number * seconds_per_step for number in range(len(self.requests)))
            return
        known = self.recording.times or [None] * len(self.messages)
        now, read = 0.0, 0
        for at in self.requests:
            told = [time for time in known[read:at] if time is not None]
            now, read = max([now, *told]), at
            yield now


def _refuse_odd(recording: Recording, format_: Format) -> None:
    """What can't be replayed as one history."""
    if not recording.messages:
        raise HistoryError(f"{recording.name}: there is no message")
    marker = _core.last_marker(table_of(format_), recording.messages)
    if marker:
        raise HistoryError(
            f"{recording.name}: message {marker} stands for those before it; Recording.split "
            "makes two recordings of them"
        )
