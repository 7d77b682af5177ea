"""The replayed caches are those of the simulator, which reads every request's body whole."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import turnfit as tf
from hypothesis import assume, given
from hypothesis import strategies as st
from servers import prefix_cache as simulator
from servers.requests import blocks, unmarked
from strategies import Case, cases
from test_fit import MANY, policy_of
from turnfit.messages.formats import FORMATS
from turnfit.replay.blocks import OTHER, Block, Parts
from turnfit.replay.caching import CacheUse, cache_of, marks_of
from turnfit.replay.clearing import Clearing
from turnfit.replay.contenders import Contender, DropOldest, Fitting, KeepLast, Nothing
from turnfit.replay.prefix import Change, Row
from turnfit.replay.recordings import Recording
from turnfit.replay.rules import CacheRules, cache_rules
from turnfit.replay.track import Track

MODELS = (
    "claude-opus-4-5",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-opus-5",
    "claude-opus-5-5",
    "claude-sonnet-4-5",
    "claude-sonnet-5-5",
    "claude-haiku-4-5-20251001",
    "claude-fable-5",
    "claude-mythos-5",
    "gemini-2.5-pro",
    "gemini-3-pro",
    "gpt-4o",
    "gpt-5",
    "gpt-5.1",
    "gpt-5.6",
    "gpt-5.6-sol",
    "gpt-6.2",
    "o3-mini",
)


@pytest.mark.parametrize("model", MODELS)
def test_the_rules_of_both_were_read_alike(model: str) -> None:
    rules = cache_rules(model)
    theirs: Any = simulator.cache_for(model, len)
    assert rules.minimum == theirs._minimum
    assert rules.marked == isinstance(theirs, simulator.AnthropicCache)
    if not rules.marked:
        step = (rules.step, rules.lifetime, rules.counts_writes)
        assert step == (theirs._step, theirs._lifetime, theirs._counts_writes)


def test_a_gateways_name_tells_the_provider_and_no_model_the_formats() -> None:
    assert cache_rules("us.anthropic.claude-opus-5").minimum == 512
    assert cache_rules("anthropic/claude-3.5-haiku").name == "Anthropic"
    assert cache_rules("openrouter/google/gemini-2.5-flash").minimum == 2048
    named = {format_: cache_rules(None, format_).name for format_ in FORMATS}
    assert named["anthropic"] == named["bedrock-converse"] == "Anthropic"
    assert named["gemini"] == "Gemini"
    assert named["openai-chat"] == named["openai-responses"] == "OpenAI"


# --- requests of letters: each a block, some of them marked -------------------------------------

SMALL = {
    "marked": CacheRules(name="", marked=True, minimum=20, lifetime=30, look_back=20, source=""),
    "automatic": CacheRules(name="", marked=False, minimum=30, step=8, lifetime=30, source=""),
    "uncounted": CacheRules(
        name="", marked=False, minimum=0, step=1, lifetime=30, counts_writes=False, source=""
    ),
}


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def simulated(rules: CacheRules, count: simulator.Count, clock: Clock) -> simulator.PrefixCache:
    if rules.marked:
        # The simulator's entries live for minutes: its seconds are ten of the rules'.
        return simulator.AnthropicCache(count, rules.minimum, lambda: clock() * 10)
    return simulator.AutomaticCache(
        count, rules.minimum, rules.step, rules.lifetime, rules.counts_writes, clock
    )


def letter_tokens(value: Any) -> int:
    return 3 + ord(value["text"]) % 7


def letters(text: str) -> Parts:
    made = tuple(
        Block(hash((place == 0, one)) & (2**64 - 1), letter_tokens({"text": one}), OTHER, True)
        for place, one in enumerate(text)
    )
    tokens = sum(block.tokens for block in made)
    return Parts(made, 0, tokens, tokens)


def body_of(words: Sequence[str], marks: Sequence[int]) -> dict[str, Any]:
    number, messages = 0, []
    for word in words:
        content = []
        for one in word:
            mark = {"cache_control": {"type": "ephemeral"}} if number in marks else {}
            content.append({"type": "text", "text": one, **mark})
            number += 1
        messages.append({"role": "user", "content": content})
    return {"messages": messages}


WORDS = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=30)
"""Of few letters, so that requests come back to what earlier ones were."""


@st.composite
def visits(draw: st.DrawFn) -> list[tuple[list[str], list[int], float]]:
    """Requests, their marks, and the seconds since the one before."""
    made: list[tuple[list[str], list[int], float]] = []
    words = draw(WORDS)
    for _ in range(draw(st.integers(1, 12))):
        if draw(st.integers(0, 3)):
            cut = draw(st.integers(0, len(words)))
            words = [*words[:cut], *draw(WORDS)]
        elif made:
            words = list(draw(st.sampled_from(made))[0])
        size = sum(map(len, words))
        marks = draw(st.sets(st.integers(0, size - 1), max_size=4))
        made.append((words, sorted(marks), draw(st.sampled_from((0.0, 1.0, 29.0, 30.0, 31.0)))))
    return made


@pytest.mark.parametrize("rules", SMALL.values(), ids=SMALL)
@MANY
@given(visits(), st.data())
def test_any_requests_are_read_as_the_simulator_reads_them(
    rules: CacheRules, visited: list[tuple[list[str], list[int], float]], data: st.DataObject
) -> None:
    clock = Clock()
    theirs, ours = simulated(rules, letter_tokens, clock), cache_of(rules)
    row = Row(Parts((), 0, 0, 0))
    before: list[str] = []
    for words, marks, seconds in visited:
        clock.now += seconds
        common = sum(1 for _ in same_start(before, words))
        same = data.draw(st.integers(0, common))
        _, change = row.go_on(same, [letters(word) for word in words[same:]])
        used = ours.read(row, change, marks, clock.now)
        assert used == as_ours(theirs.read(body_of(words, marks)))
        before = words


def same_start(before: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    for one, other in zip(before, now, strict=False):
        if one != other:
            return
        yield one


def as_ours(use: simulator.CacheUse) -> CacheUse:
    return CacheUse(use.read, use.written, use.uncached)


@MANY
@given(visits())
def test_changes_add_up_over_requests_that_no_cache_saw(
    visited: list[tuple[list[str], list[int], float]],
) -> None:
    row = Row(Parts((), 0, 0, 0))
    row.go_on(0, [letters(word) for word in visited[0][0]])
    first, change = row.keys.copy(), row.unchanged
    for words, _, _ in visited[1:]:
        _, now = row.go_on(0, [letters(word) for word in words])
        change = now.after(change)
    assert list(first[: change.same]) == list(row.keys[: change.same])
    assert list(first[change.same :]) == list(change.left)


# --- whole requests, in every format ------------------------------------------------------------


@dataclass
class Told:
    """What a policy sent: the body, and what the replay made of it."""

    body: dict[str, Any]
    row: Row
    change: Change
    marks: list[int]


def told(track: Track, contender: Contender) -> Iterator[Told]:
    """Each request: as blocks step by step, and as a body that is made anew each time."""
    recording = track.recording
    player, row = (
        contender.play(track),
        Row(track.blocks.opening(recording.system, recording.tools)),
    )
    opening = next((at for at in reversed(range(row.count)) if row.blocks[at].bears), None)
    for at in track.requests:
        sent = player.request(at)
        _, change = row.go_on(sent.same, sent.tail)
        still = None
        if sent.still is not None:
            index, block = sent.still
            still = row.starts[index]
            still += 0 if block is None else row.parts[index].head + block
        messages = request_of(track, contender, at)
        body = {"system": recording.system, "tools": recording.tools, "messages": messages}
        yield Told(body, row, change, marks_of(row, opening, still))


def request_of(track: Track, contender: Contender, at: int) -> list[Any]:
    messages, recording = track.messages[:at], track.recording
    if isinstance(contender, Fitting):
        beside: dict[str, Any] = {"system": recording.system, "tools": recording.tools}
        return tf.fit(messages, contender.policy, format=track.format, **beside).messages
    if isinstance(contender, DropOldest):
        return without_oldest(track, at, contender.budget)
    if isinstance(contender, KeepLast):
        return without_results(track, at, contender.results)
    return messages


def without_results(track: Track, at: int, keep: int) -> list[Any]:
    """All messages, with a note for each result that isn't among the last few."""
    clearing = Clearing(track, tf.Policy(budget=1, clear_batch=1, worth=1))
    places = [(index, place) for index in range(at) for place in track.results[index]]
    gone = clearing.places & set(places[: max(0, len(places) - keep)])
    return [
        clearing.form(index, [place for place in track.results[index] if (index, place) in gone])
        for index in range(at)
    ]


def without_oldest(track: Track, at: int, budget: int) -> list[Any]:
    """The system messages and the first turn from which on all is within the budget."""
    recording = track.recording
    preamble = track.messages[: track.preamble]
    turns = [turn for turn in track.turns if turn < at]
    tried = [track.preamble, *(turn for turn in turns if turn > track.preamble)]
    for start in tried:
        request = [*preamble, *track.messages[start:at]]
        cost = tf.estimate_request(
            request, system=recording.system, tools=recording.tools, format=track.format
        )
        if cost <= budget:
            break
    return request


def with_marks(body: dict[str, Any], marks: Sequence[int]) -> dict[str, Any]:
    """The body with Anthropic's marks on blocks that are told by their numbers, and no others."""
    marked: dict[str, Any] = unmarked(copy.deepcopy(body))
    if isinstance(marked["system"], str):
        marked["system"] = [{"type": "text", "text": marked["system"]}]
    for message in marked["messages"]:
        if isinstance(message.get("content"), str) and message["content"]:
            message["content"] = [{"type": "text", "text": message["content"]}]
    for block in (blocks(marked)[at] for at in marks):
        place: Any = marked
        for step in block.path.split("."):
            place = place[int(step) if step.isdigit() else step]
        place["cache_control"] = {"type": "ephemeral"}
    return marked


def contenders_of(case: Case) -> list[Contender]:
    policy = policy_of(case)
    small = policy.budget
    return [Nothing(small), DropOldest(small), KeepLast(small, 2), Fitting("own", policy)]


def recording_of(case: Case) -> Recording:
    beside: dict[str, Any] = {"system": case.system, "tools": case.tools, "format": case.format}
    return Recording(name="drawn", messages=case.messages, **beside)


def next_of(queue: list[int]) -> simulator.Count:
    """Counts blocks by what the replay says of them, one after the other."""
    return lambda _: queue.pop(0)


def is_whole(message: Any) -> bool:
    """Whether a message says something; what is empty has no block that would tell its place."""
    return bool(blocks({"messages": [message]}))


@MANY
@given(cases(), st.sampled_from(("marked", "automatic")), st.integers(0, 400))
def test_replayed_requests_are_read_as_their_bodies_would_be(
    case: Case, kind: str, seconds: int
) -> None:
    assume(case.format not in ("langchain", "turnfit"))  # Their messages are no bodies.
    assume(case.messages and all(map(is_whole, case.messages)))
    assume(len(recording_of(case).split()) == 1)
    rules, track = SMALL[kind], Track.of(recording_of(case))
    if rules.marked and case.format != "anthropic":
        rules = SMALL["automatic"]
    for contender in contenders_of(case):
        clock, queue = Clock(), list[int]()
        theirs = simulated(rules, next_of(queue), clock)
        ours = cache_of(rules)
        for one in told(track, contender):
            clock.now += seconds / 10
            body = with_marks(one.body, one.marks) if rules.marked else one.body
            assert len(blocks(body)) == one.row.count
            queue[:] = [block.tokens for block in one.row.blocks]
            marks = one.marks if rules.marked else []
            used = ours.read(one.row, one.change, marks, clock.now)
            alone = 0 if one.row.opening else one.row.tokens - one.row.sum_to(one.row.count)
            wanted = theirs.read(body)
            assert used == CacheUse(wanted.read, wanted.written, wanted.uncached + alone)


@MANY
@given(cases())
def test_marks_stand_where_mark_cache_puts_them(case: Case) -> None:
    assume(case.format in ("anthropic", "bedrock-converse") and case.messages)
    # `cache_points` reads the request as a history of its own. There an index pins another
    # message, and where ids repeat, a result may be another tool's.
    assume(all(map(is_whole, case.messages)))
    assume(not case.policy.pinned and not case.policy.exclude_tools)
    recording = recording_of(case)
    assume(len(recording.split()) == 1)
    track, policy = Track.of(recording), policy_of(case)
    opening = len(track.blocks.opening(case.system, case.tools).blocks)
    for at, one in zip(track.requests, told(track, Fitting("own", policy)), strict=True):
        fitted = tf.fit(
            track.messages[:at], policy, system=case.system, tools=case.tools, format=case.format
        )
        points = {block_number(one.row, fitted.messages, point) for point in fitted.cache_points}
        assert {mark for mark in one.marks if mark >= opening} == points


def block_number(row: Row, messages: list[Any], point: tf.CachePoint) -> int:
    """A point's block among all of the request, which Bedrock's own marks are not."""
    start = row.starts[point.index] + row.parts[point.index].head
    if point.block is None:
        return start
    before = messages[point.index]["content"][: point.block]
    return start + sum(list(block) != ["cachePoint"] for block in before)
