"""Which call a result answers, and where a cut is safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from reference.pricing import Spot
from reference.rows import Call, Read, Result


def pair(reads: Sequence[Read]) -> dict[Spot, Spot]:
    """Each result that answers a call, and that call."""
    answers: dict[Spot, Spot] = {}
    for index, row in enumerate(reads):
        for number, result in enumerate(row.results):
            call = answered_call(reads, index, result, set(answers.values()))
            if call is not None:
                answers[index, number] = call
    return answers


def answered_call(
    reads: Sequence[Read], index: int, result: Result, answered: AbstractSet[Spot]
) -> Spot | None:
    """'A result answers the newest call before it that bears its id, in an earlier message or
    before it in the same one; equal ids within one message pair in order', and when all of those
    are answered already, the last of them.
    """
    for earlier in range(index, -1, -1):
        bearing = [
            (message, number)
            for message in response_up_to(reads, earlier)
            for number, call in enumerate(reads[message].calls)
            if bears(call, result) and (message < index or call.place < result.place)
        ]
        if bearing:
            open_ones = [spot for spot in bearing if spot not in answered]
            return open_ones[0] if open_ones else bearing[-1]
    return newest_reference(reads, index)


def response_up_to(reads: Sequence[Read], end: int) -> range:
    """A message, with those before it that are of the same response."""
    start = end
    while reads[start].goes_on:
        start -= 1
    return range(start, end + 1)


def newest_reference(reads: Sequence[Read], index: int) -> Spot | None:
    """What a result without a call may answer: the provider holds it."""
    references = [
        (earlier, number)
        for earlier in range(index)
        for number, call in enumerate(reads[earlier].calls)
        if call.is_reference
    ]
    return references[-1] if references else None


def bears(call: Call, result: Result) -> bool:
    """'that bears its id'; 'without ids, position and name decide'."""
    if call.is_reference:
        return False
    if result.id is not None:
        return call.id == result.id
    return result.name is None or call.name == result.name


def unanswered(reads: Sequence[Read], answers: Mapping[Spot, Spot]) -> list[Spot]:
    answered = set(answers.values())
    calls = [
        (index, number)
        for index, row in enumerate(reads)
        for number, call in enumerate(row.calls)
        if not call.is_reference
    ]
    return [spot for spot in calls if spot not in answered]


def is_closed(reads: Sequence[Read], index: int) -> bool:
    """Whether a result or a user message follows in a later message."""
    return any(row.results or row.role == "user" for row in reads[index + 1 :])


def in_flight(reads: Sequence[Read], answers: Mapping[Spot, Spot]) -> list[Spot]:
    """'A call is in flight if it is unanswered and neither a result nor a user message follows it
    in a later message.'
    """
    return [spot for spot in unanswered(reads, answers) if not is_closed(reads, spot[0])]


def dead(reads: Sequence[Read], answers: Mapping[Spot, Spot]) -> list[Spot]:
    """'Any other unanswered call is dead and blocks nothing.'"""
    return [spot for spot in unanswered(reads, answers) if is_closed(reads, spot[0])]


def orphans(reads: Sequence[Read], answers: Mapping[Spot, Spot]) -> list[Spot]:
    """Results that answer no call."""
    spots = [
        (index, number) for index, row in enumerate(reads) for number in range(len(row.results))
    ]
    return [spot for spot in spots if spot not in answers]


def is_safe(reads: Sequence[Read], answers: Mapping[Spot, Spot], i: int) -> bool:
    """'A cut before message i is safe if no tool result at or after i answers a call before i, and
    no call before i is in flight.'
    """
    split = any(call < i <= result for (result, _), (call, _) in answers.items())
    return not split and all(call >= i for call, _ in in_flight(reads, answers))
