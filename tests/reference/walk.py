"""The policy, and the plan of steps 0 to 3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from reference.pairing import is_safe, pair
from reference.pricing import (
    CLEARED_ARGUMENTS,
    FRAME,
    REQUEST_FRAME,
    Format,
    Message,
    Spot,
    compact,
    price,
    rounded_up,
)
from reference.reading import read_all, system_price, tools_price
from reference.rows import Notes, Read, Result

Keep = tuple[Literal["tokens", "fraction", "results"], float]


@dataclass(frozen=True)
class Policy:
    """The fields of a policy that the plan depends on."""

    budget: int
    window: int | None = None
    output: int = 0
    reserve: int = 0
    keep: Keep = ("fraction", 0.25)
    keep_at_least: int = 1
    clear_batch: int = 4
    worth: float = 2
    grid: float = 0.125
    exclude_tools: tuple[str, ...] = ()
    no_rerun: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    pinned: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Plan:
    """What one request holds; `kept` are indices of the history, the new trim note is `note`."""

    step: Literal["whole", "results", "turns", "rounds"]
    tokens: int
    fits: bool
    over: int
    sendable: bool
    start: int
    kept: list[int]
    note: bool
    cleared: list[Spot]
    cleared_arguments: list[Spot]


def plan(
    messages: Sequence[Message],
    policy: Policy,
    format: Format,
    notes: Notes,
    system: Any = None,
    tools: Sequence[Any] | None = None,
) -> Plan:
    """Steps 0 to 3: 'a later step runs only where the earlier were not enough'."""
    walk = walk_of(messages, policy, format, notes, system, tools)
    if walk.b < 0:
        raise ValueError(
            f"budget={policy.budget} is less than system={system_price(system)}, "
            f"tools={tools_price(tools)}, reserve={policy.reserve} and frame={REQUEST_FRAME}"
        )
    return walk.plan()


def walk_of(
    messages: Sequence[Message],
    policy: Policy,
    format: Format,
    notes: Notes,
    system: Any = None,
    tools: Sequence[Any] | None = None,
) -> Walk:
    reads = read_all(messages, format, notes)
    horizon = max((m for m, row in enumerate(reads) if row.marker), default=0)
    reads[:horizon] = [Read("replaced", cost=0) for _ in range(horizon)]
    besides = system_price(system) + tools_price(tools)
    return Walk(reads, policy, notes, besides, horizon)


Draft = tuple[int, list[int], bool, list[Spot]]
"""The start, the indices kept, whether a trim note is added, and the results cleared."""


class Walk:
    """One history under one policy."""

    def __init__(
        self, reads: list[Read], policy: Policy, notes: Notes, besides: int, horizon: int
    ) -> None:
        self.reads = reads
        self.horizon = horizon
        """'What precedes a compaction has been replaced already: it costs nothing.'"""
        self.policy = policy
        self.notes = notes
        self.besides = besides + policy.reserve + REQUEST_FRAME
        self.b = policy.budget - self.besides
        self.answers = pair(reads)

    # the four steps

    def plan(self) -> Plan:
        for step in (self.step_whole, self.step_results, self.step_turns):
            found = step()
            if found is not None:
                return found
        return self.step_rounds()

    def step_whole(self) -> Plan | None:
        """'The sum of all costs is at most B: the request is the history, object for object.'"""
        draft: Draft = (0, self.everything, False, [])
        return self.planned("whole", draft) if self.fits(draft) else None

    def step_results(self) -> Plan | None:
        """'The older ones that are worth clearing are cleared in order, up to the last boundary.
        If that is not enough, all of the older ones are cleared before anything is dropped.'
        """
        for cleared in (self.cleared_to_boundary, self.clearable_older):
            draft: Draft = (0, self.everything, False, cleared)
            if self.fits(draft):
                return self.planned("results", draft)
        return None

    def step_turns(self) -> Plan | None:
        """'The preamble, the first user message, a note that earlier conversation was trimmed, and
        the newest whole turns that fit.'
        """
        draft = self.cut_at_first_start(self.turn_starts, self.always)
        return self.planned("turns", draft) if draft else None

    def step_rounds(self) -> Plan:
        """'The preamble, the first user message, the note, that turn's opening message if it is
        another one, and the newest whole rounds that fit.'
        """
        base = self.always | ({self.newest_turn} if self.newest_turn is not None else set())
        draft = self.cut_at_first_start(self.round_starts, base)
        return self.planned("rounds", draft or self.last_resort(base))

    def last_resort(self, base: AbstractSet[int]) -> Draft:
        """'The last resort is the newest safe round with everything older that is worth clearing
        cleared, and a turn without a safe round start stays whole.'
        """
        if self.round_starts:
            start = self.round_starts[-1]
        else:
            start = self.preamble_end if self.newest_turn is None else self.newest_turn
        return self.from_start(start, base, self.clearable_older)

    # results

    @cached_property
    def everything(self) -> list[int]:
        return list(range(len(self.reads)))

    @cached_property
    def results(self) -> list[Spot]:
        return [(m, r) for m, row in enumerate(self.reads) for r in range(len(row.results))]

    def result(self, spot: Spot) -> Result:
        return self.reads[spot[0]].results[spot[1]]

    def tool(self, spot: Spot) -> str | None:
        """The name of a result's tool: its call's, else its own."""
        call = self.answers.get(spot)
        name = self.reads[call[0]].calls[call[1]].name if call else None
        return self.result(spot).name if name is None else name

    def note_text(self, spot: Spot) -> str:
        """'For tools in `no_rerun` it says instead that the call was carried out.'"""
        done = self.tool(spot) in self.policy.no_rerun
        return self.notes.cleared_done if done else self.notes.cleared

    def is_worth_clearing(self, spot: Spot) -> bool:
        """'if its content costs more than `worth` times the note, its tool is not in
        `exclude_tools`, and it isn't a server-side result'; nor noted already, nor pinned.
        """
        result = self.result(spot)
        return (
            result.content > self.policy.worth * price(self.note_text(spot))
            and self.tool(spot) not in self.policy.exclude_tools
            and result.clearable
            and not result.noted
            and spot[0] not in self.policy.pinned
        )

    @cached_property
    def worth_clearing(self) -> list[Spot]:
        return [spot for spot in self.results if self.is_worth_clearing(spot)]

    def freed(self, spot: Spot) -> int:
        """'the tokens that clearing frees (content less note)', and its call's arguments."""
        note = price(self.note_text(spot))
        return self.result(spot).content - note + self.freed_by_arguments(spot)

    def freed_by_arguments(self, spot: Spot) -> int:
        """'A call's arguments go with the first of its results that is cleared, if that frees
        anything. The saving counts as freed by that result.' Pinned calls keep their arguments.
        """
        call = self.answers.get(spot)
        if call is None or not self.policy.clear_tool_inputs or call[0] in self.policy.pinned:
            return 0
        first = next(other for other in self.worth_clearing if self.answers.get(other) == call)
        made = self.reads[call[0]].calls[call[1]]
        saving = 0 if made.fixed else made.arguments - price(compact(CLEARED_ARGUMENTS))
        return max(saving, 0) if spot == first else 0

    # kept whole

    def keep_limit(self) -> float:
        """'as tokens floor(share * budget) (a share of the budget, not of B)'"""
        kind, size = self.policy.keep
        return math.floor(size * self.policy.budget) if kind == "fraction" else size

    @cached_property
    def kept_whole(self) -> list[Spot]:
        """'walking back from the newest result, results (worth clearing or not) while their
        contents' sum stays within `keep`; at least `keep_at_least`'.
        """
        kept: list[Spot] = []
        total = 0
        for spot in reversed(self.results):
            total += self.result(spot).content
            within = len(kept) < self.keep_limit()
            if self.policy.keep[0] != "results":
                within = total <= self.keep_limit()
            if not within and len(kept) >= self.policy.keep_at_least:
                break
            kept.append(spot)
        return kept[::-1]

    @cached_property
    def keep_tokens(self) -> float:
        """`keep` in tokens: 'it takes what the contents of those n hold'."""
        if self.policy.keep[0] == "results":
            return sum(self.result(spot).content for spot in self.kept_whole)
        return self.keep_limit()

    @cached_property
    def clearable_older(self) -> list[Spot]:
        return [spot for spot in self.worth_clearing if spot not in self.kept_whole]

    # the grid

    @property
    def q(self) -> int:
        """'q = floor(grid * budget); q = 0 is no grid.'"""
        return math.floor(self.policy.grid * self.policy.budget)

    @cached_property
    def cleared_to_boundary(self) -> list[Spot]:
        """'At every multiple of `clear_batch`, if the sum has reached the line, that is a boundary,
        and the next line is (floor(sum / q) + 1) * q; the first line is q.'
        """
        boundary, total, line = 0, 0, self.q
        for count, spot in enumerate(self.clearable_older, start=1):
            total += self.freed(spot)
            if count % self.policy.clear_batch == 0 and (self.q == 0 or total >= line):
                boundary = count
                line = (total // self.q + 1) * self.q if self.q else 0
        return self.clearable_older[:boundary]

    # parts of the history

    @cached_property
    def preamble_end(self) -> int:
        """The preamble: 'the leading system/developer messages'."""
        later = range(self.horizon, len(self.reads))
        return next((m for m in later if not self.reads[m].is_preamble_kind), len(self.reads))

    @cached_property
    def first_user(self) -> int | None:
        """'the first user message (the first that carries no tool result)'"""
        return next((m for m, row in enumerate(self.reads) if row.opens_turn), None)

    @cached_property
    def incoming_notes(self) -> list[int]:
        return [m for m, row in enumerate(self.reads) if row.is_note]

    def is_safe(self, i: int) -> bool:
        return is_safe(self.reads, self.answers, i)

    @cached_property
    def safe_starts(self) -> list[int]:
        """Messages that open a turn or a round, where a cut is safe."""
        return [
            m
            for m, row in enumerate(self.reads)
            if (row.opens_turn or row.opens_round) and self.is_safe(m)
        ]

    @cached_property
    def turn_starts(self) -> list[int]:
        return [m for m in self.safe_starts if self.reads[m].opens_turn]

    @cached_property
    def newest_turn(self) -> int | None:
        """'the newest turn that starts at a safe cut'"""
        return self.turn_starts[-1] if self.turn_starts else None

    @cached_property
    def round_starts(self) -> list[int]:
        """'Inside the newest turn. Where no turn starts at a safe cut, everything after the
        preamble is that turn.'
        """
        inside = self.preamble_end if self.newest_turn is None else self.newest_turn
        return [m for m in self.safe_starts if m >= inside and self.reads[m].opens_round]

    @cached_property
    def always(self) -> set[int]:
        """What every request of steps 2 and 3 keeps: preamble, first user message, pins."""
        kept = set(range(self.horizon, self.preamble_end))
        if self.first_user is not None:
            kept.add(self.first_user)
        for pin in self.policy.pinned:
            kept |= self.pinned_span(pin)
        return kept | self.marker_span

    @cached_property
    def marker_span(self) -> set[int]:
        """'The block or item is never left out', nor what its message calls."""
        marked = self.horizon < len(self.reads) and self.reads[self.horizon].marker
        return self.pinned_span(self.horizon) if marked else set()

    def pinned_span(self, pin: int) -> set[int]:
        """'A pinned message with a call or a result, and one that opens a turn where a cut is not
        safe, pins the whole span between the two safe starts around it; any other pins itself.'
        'All output items of one response form one unit.'
        """
        if not self.horizon <= pin < len(self.reads) or self.reads[pin].is_note:
            return set()
        row = self.reads[pin]
        inside_a_pair = row.opens_turn and pin != self.first_user and not self.is_uncut(pin)
        inside_a_response = row.is_output and pin in self.policy.pinned
        if not (row.calls or row.results or inside_a_pair or inside_a_response):
            return {pin}
        before = [start for start in self.uncut_starts if start <= pin]
        after = [start for start in self.uncut_starts if start > pin]
        first = before[-1] if before else self.preamble_end
        return set(range(first, after[0] if after else len(self.reads)))

    def is_uncut(self, i: int) -> bool:
        """Whether a cut before i parts no result from its call, calls in flight aside."""
        return not any(call < i <= result for (result, _), (call, _) in self.answers.items())

    @cached_property
    def uncut_starts(self) -> list[int]:
        opens = (m for m, row in enumerate(self.reads) if row.opens_turn or row.opens_round)
        return [m for m in opens if self.is_uncut(m)]

    # requests

    def from_start(self, start: int, base: AbstractSet[int], cleared: list[Spot]) -> Draft:
        """What is always kept and everything from the start on, without notes that came in."""
        kept = [m for m in self.everything if m in base or m >= start]
        kept = [m for m in kept if m not in self.incoming_notes]
        dropped = self.horizon + len(kept) + len(self.incoming_notes) < len(self.reads)
        note = dropped or bool(self.incoming_notes)
        return start, kept, note, [spot for spot in cleared if spot[0] in kept]

    def cost(self, draft: Draft) -> int:
        _, kept, note, cleared = draft
        messages = sum(self.reads[m].cost for m in kept)
        return messages - sum(map(self.freed, cleared)) + (self.note_cost if note else 0)

    @property
    def note_cost(self) -> int:
        return FRAME + price(self.notes.trimmed)

    def fits(self, draft: Draft) -> bool:
        return self.cost(draft) <= self.b

    # starts of steps 2 and 3

    def lean(self, m: int) -> int:
        """'a message's cost with every result in it that is worth clearing counted as cleared'"""
        freed = sum(self.freed(spot) for spot in self.worth_clearing if spot[0] == m)
        return self.reads[m].cost - freed

    def f(self, i: int) -> int:
        """'F(i) the sum of lean over the messages before i outside preamble and first message (a
        turn's opening message that step 3 keeps counts)', without notes that came in.
        """
        outside = set(range(self.preamble_end)) | {self.first_user} | set(self.incoming_notes)
        return sum(self.lean(m) for m in range(i) if m not in outside)

    def w(self) -> int:
        """'W what clearing every result worth clearing in the whole history would free'"""
        return sum(map(self.freed, self.worth_clearing))

    def fits_with_room(self, draft: Draft) -> bool:
        """'if the lean cost of its request (the trim note included where something is dropped),
        plus the larger of min(`keep` + q, W) and what its uncleared results worth clearing take
        beyond their notes, is within B'
        """
        _, kept, note, cleared = draft
        lean = sum(map(self.lean, kept)) + (self.note_cost if note else 0)
        uncleared = [s for s in self.worth_clearing if s[0] in kept and s not in cleared]
        beyond = sum(map(self.freed, uncleared))
        return lean + max(min(self.keep_tokens + self.q, self.w()), beyond) <= self.b

    def cut_at_first_start(self, starts: list[int], base: AbstractSet[int]) -> Draft | None:
        """'First try with clearing up to the last boundary. Where no start fits with room, and
        without a grid, all older results worth clearing are cleared and the cut is the first safe
        start whose request fits.'
        """
        if self.q > 0:
            start = self.start_on_grid(starts, base)
            if start is not None:
                return self.from_start(start, base, self.cleared_to_boundary)
        for start in starts:
            draft = self.from_start(start, base, self.clearable_older)
            if self.fits(draft):
                return draft
        return None

    def start_on_grid(self, starts: list[int], base: AbstractSet[int]) -> int | None:
        """'With i* the first such start, the cut is the first safe start at or after i* with
        F >= ceil(F(i*) / q) * q, and where there is none, i*.'
        """

        def has_room(start: int) -> bool:
            return self.fits_with_room(self.from_start(start, base, self.cleared_to_boundary))

        for first in starts:
            if has_room(first):
                line = rounded_up(self.f(first), self.q) * self.q
                later = [start for start in starts if start >= first and self.f(start) >= line]
                return later[0] if later and has_room(later[0]) else first
        return None

    # the answer

    def planned(self, step: Literal["whole", "results", "turns", "rounds"], draft: Draft) -> Plan:
        """'`fits` means that this is at most the budget less the margin.'"""
        start, kept, note, cleared = draft
        tokens = self.cost(draft) + self.besides
        over = max(0, tokens - self.policy.budget)
        window = self.policy.window
        sendable = window is None or tokens + self.policy.output <= window
        with_arguments = [s for s in cleared if self.freed_by_arguments(s) > 0]
        arguments = sorted(self.answers[spot] for spot in with_arguments)
        return Plan(step, tokens, over == 0, over, sendable, start, kept, note, cleared, arguments)
