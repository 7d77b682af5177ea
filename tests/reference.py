"""The fitting rules in plain Python: what the fast implementation is compared with.

Nothing here is clever or fast. Each rule of `fitting.md` is a small function named after it and
quotes it; `docs/decisions/0001-what-the-spec-leaves-open.md` settles what the rules leave open.

    price, read        a wire message to costs, calls and results
    pair, is_safe      which call a result answers, where a cut is safe
    plan               steps 0 to 3: what is cleared, what is dropped
    request            the messages that are sent
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

Format = Literal["openai-chat", "anthropic"]
Message = dict[str, Any]
Spot = tuple[int, int]
"""A call or a result: the index of its message, and which of the message's calls (results)."""

FRAME = 3
"""A message costs 3 besides its texts."""
REQUEST_FRAME = 3
"""A request costs 3 besides its messages."""
MEDIUM = 1_600
"""A picture, a sound, a file or a document."""
CLEARED_ARGUMENTS = {"_cleared": "arguments left out to save context"}

# --- 1. Pricing ---------------------------------------------------------------------------------

CJK = (
    (0x1100, 0x11FF),
    (0x2E80, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
    (0x1AFF0, 0x1B16F),
    (0x1F200, 0x1F2FF),
    (0x20000, 0x3FFFF),
)


def quarters(character: str) -> int:
    """'ascii at 4 characters a token, cjk at 1, other at 2', in quarters of a token."""
    code = ord(character)
    if code <= 0x7F:
        return 1
    if any(first <= code <= last for first, last in CJK):
        return 4
    return 2


def rounded_up(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


@cache
def price(text: str) -> int:
    """'tokens = ceil((ascii + 4*cjk + 2*other) / 4). The empty text is 0.'"""
    return rounded_up(sum(quarters(character) for character in text), 4)


DATA_URL = re.compile(r"data:[\w.+-]+/[\w.+-]+(;[^\s,]*)?,\S*")


def is_data_url(text: str) -> bool:
    return DATA_URL.fullmatch(text) is not None


def string_price(text: str) -> int:
    """'A string that is nothing but a `data:` URL counts as such a medium.'"""
    return MEDIUM if is_data_url(text) else price(text)


def compact(value: Any) -> str:
    """'compact JSON ({"a":1}, no spaces, no \\u escapes beyond what JSON demands)'"""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def without_media(value: Any) -> tuple[str, int]:
    """The compact JSON without the strings that are data URLs, and how many those are."""
    if isinstance(value, str) and is_data_url(value):
        return "", 1
    if isinstance(value, dict):
        inner = [(compact(key) + ":", *without_media(item)) for key, item in value.items()]
        return "{" + ",".join(key + text for key, text, _ in inner) + "}", sum(n for *_, n in inner)
    if isinstance(value, list | tuple):
        items = [without_media(item) for item in value]
        return "[" + ",".join(text for text, _ in items) + "]", sum(n for _, n in items)
    return compact(value), 0


def json_price(value: Any) -> int:
    text, media = without_media(value)
    return price(text) + MEDIUM * media


def value_price(value: Any) -> int:
    """A key's value: nothing for null, a text as itself, anything else as its JSON.

    'Arguments given as an object are priced as compact JSON. Given as a string they are priced as
    that string.'
    """
    if value is None:
        return 0
    return string_price(value) if isinstance(value, str) else json_price(value)


def unknown_keys_price(mapping: Mapping[str, Any], known: AbstractSet[str]) -> int:
    """'A key that the format doesn't know is priced as the JSON of its value; null is free.'

    `cache_control` is free everywhere.
    """
    return sum(
        json_price(value)
        for key, value in mapping.items()
        if key not in known and key != "cache_control" and value is not None
    )


def unknown_block_price(block: Any) -> int:
    """'A block of unknown type is priced as the JSON of the whole block.'"""
    if isinstance(block, dict):
        block = {key: value for key, value in block.items() if key != "cache_control"}
    return json_price(block)


def text_block_price(block: Mapping[str, Any]) -> int:
    """The one place where a data URL is text."""
    text = block.get("text")
    body = price(text) if isinstance(text, str) else value_price(text)
    return body + unknown_keys_price(block, {"type", "text"})


# --- 2. Reading ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Notes:
    """The wording of the notes; `older` are versions that were shipped, only recognised."""

    cleared: str
    cleared_done: str
    trimmed: str
    older: tuple[Notes, ...] = ()

    def versions(self) -> tuple[Notes, ...]:
        return (self, *self.older)

    def is_cleared(self, content: Any) -> bool:
        """Whether a result's content is one of turnfit's notes."""
        text = only_text(content)
        return any(text in (notes.cleared, notes.cleared_done) for notes in self.versions())

    def is_trimmed(self, content: Any) -> bool:
        """Whether a message's content is the note that earlier conversation was trimmed."""
        text = only_text(content)
        return any(text == notes.trimmed for notes in self.versions())


def only_text(content: Any) -> str | None:
    """The text of a content that is one text, as a string or as a single text block."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            text: str = block["text"]
            return text
    return None


@dataclass(frozen=True)
class Call:
    """A tool call; `place` is where it stands in its message."""

    place: int
    id: str | None
    name: str | None
    arguments: int


@dataclass(frozen=True)
class Result:
    """A tool result; `content` is the price of its content without id and name."""

    place: int
    id: str | None
    name: str | None
    content: int
    clearable: bool
    noted: bool


@dataclass
class Read:
    """What the rules know of a message."""

    role: str
    cost: int = FRAME
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    is_note: bool = False

    @property
    def is_preamble_kind(self) -> bool:
        return self.role in ("system", "developer")

    @property
    def opens_turn(self) -> bool:
        """A user message; 'a message that carries a tool result opens no turn', nor does a note."""
        return self.role == "user" and not self.results and not self.is_note

    @property
    def opens_round(self) -> bool:
        return self.role == "assistant"


def read(message: Message, format: Format, notes: Notes) -> Read:
    """A wire message as the rules see it."""
    row = read_openai(message, notes) if format == "openai-chat" else read_anthropic(message, notes)
    row.is_note = row.role == "user" and notes.is_trimmed(message.get("content"))
    return row


OPENAI_ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
OPENAI_MEDIA = {"image_url", "input_audio", "file"}


def read_openai(message: Message, notes: Notes) -> Read:
    row = Read(message["role"])
    if row.role not in OPENAI_ROLES:
        raise ValueError(f"unknown role {row.role!r}")
    content = openai_content_price(message.get("content"))
    row.cost += content
    known = {"role", "content"}
    if row.role == "assistant":
        known |= {"tool_calls", "function_call"}
        read_openai_calls(row, message)
    if row.role in ("tool", "function"):
        known |= {"name"} if row.role == "function" else {"name", "tool_call_id"}
        id = message.get("tool_call_id") if row.role == "tool" else None
        name = message.get("name")
        row.cost += value_price(id) + value_price(name)
        noted = notes.is_cleared(message.get("content"))
        row.results.append(Result(0, id, name, content, True, noted))
    row.cost += unknown_keys_price(message, known)
    return row


def openai_content_price(content: Any) -> int:
    if isinstance(content, list):
        return sum(openai_part_price(part) for part in content)
    return value_price(content)


def openai_part_price(part: Any) -> int:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        return text_block_price(part)
    if kind == "refusal":
        return value_price(part.get("refusal")) + unknown_keys_price(part, {"type", "refusal"})
    if kind in OPENAI_MEDIA:
        return MEDIUM + unknown_keys_price(part, {"type", kind})
    return unknown_block_price(part)


def read_openai_calls(row: Read, message: Message) -> None:
    """`tool_calls`, and the legacy `function_call` behind them."""
    for call in message.get("tool_calls") or []:
        add_openai_call(row, call)
    if message.get("function_call") is not None:
        add_openai_call(row, {"function": message["function_call"]})


def openai_call_body(call: Mapping[str, Any]) -> tuple[str, str]:
    """The key of a call's body, and the key of the arguments in it."""
    return ("custom", "input") if call.get("type") == "custom" else ("function", "arguments")


def add_openai_call(row: Read, call: Mapping[str, Any]) -> None:
    """'In a call: type, index' are free."""
    body_key, arguments_key = openai_call_body(call)
    body = call.get(body_key) or {}
    arguments = value_price(body.get(arguments_key))
    row.cost += value_price(call.get("id")) + value_price(body.get("name")) + arguments
    row.cost += unknown_keys_price(call, {"id", "type", "index", body_key})
    row.cost += unknown_keys_price(body, {"name", arguments_key})
    row.calls.append(Call(len(row.calls), call.get("id"), body.get("name"), arguments))


ANTHROPIC_ROLES = {"system", "user", "assistant"}
ANTHROPIC_FREE = {
    "role",
    "content",
    "id",
    "type",
    "model",
    "stop_reason",
    "stop_sequence",
    "usage",
    "container",
}


def read_anthropic(message: Message, notes: Notes) -> Read:
    row = Read(message["role"])
    if row.role not in ANTHROPIC_ROLES:
        raise ValueError(f"unknown role {row.role!r}")
    content = message.get("content")
    if isinstance(content, list):
        for place, block in enumerate(content):
            read_anthropic_block(row, place, block, notes)
    else:
        row.cost += value_price(content)
    row.cost += unknown_keys_price(message, ANTHROPIC_FREE)
    return row


def read_anthropic_block(row: Read, place: int, block: Any, notes: Notes) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if isinstance(kind, str) and (kind == "tool_use" or kind.endswith("_tool_use")):
        read_anthropic_call(row, place, block)
    elif isinstance(kind, str) and (kind == "tool_result" or kind.endswith("_tool_result")):
        read_anthropic_result(row, place, block, notes)
    elif kind == "thinking":
        row.cost += value_price(block.get("thinking")) + value_price(block.get("signature"))
        row.cost += unknown_keys_price(block, {"type", "thinking", "signature"})
    elif kind == "redacted_thinking":
        row.cost += value_price(block.get("data")) + unknown_keys_price(block, {"type", "data"})
    else:
        row.cost += anthropic_content_block_price(block)


def read_anthropic_call(row: Read, place: int, block: Mapping[str, Any]) -> None:
    arguments = value_price(block.get("input"))
    row.cost += value_price(block.get("id")) + value_price(block.get("name")) + arguments
    row.cost += unknown_keys_price(block, {"type", "id", "name", "input"})
    row.calls.append(Call(place, block.get("id"), block.get("name"), arguments))


def read_anthropic_result(row: Read, place: int, block: Mapping[str, Any], notes: Notes) -> None:
    """A server-side result's content is priced as JSON and never cleared."""
    clearable = block["type"] == "tool_result"
    content = block.get("content")
    if clearable:
        cost = anthropic_content_price(content)
    else:
        cost = 0 if content is None else json_price(content)
    row.cost += value_price(block.get("tool_use_id")) + cost
    row.cost += unknown_keys_price(block, {"type", "tool_use_id", "content", "is_error"})
    noted = notes.is_cleared(content)
    row.results.append(Result(place, block.get("tool_use_id"), None, cost, clearable, noted))


def anthropic_content_price(content: Any) -> int:
    if isinstance(content, list):
        return sum(anthropic_content_block_price(block) for block in content)
    return value_price(content)


def anthropic_content_block_price(block: Any) -> int:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text":
        return text_block_price(block)
    if kind in ("image", "document"):
        return MEDIUM + unknown_keys_price(block, {"type", "source"})
    return unknown_block_price(block)


def system_price(system: Any) -> int:
    """A system prompt sent besides the messages: a text or text blocks."""
    return anthropic_content_price(system)


def tools_price(tools: Sequence[Any] | None) -> int:
    """Tool schemas: each the JSON of the whole tool."""
    return sum(unknown_block_price(tool) for tool in tools or [])


# --- 3. Pairs and safe cuts ---------------------------------------------------------------------


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
            (earlier, number)
            for number, call in enumerate(reads[earlier].calls)
            if bears(call, result) and (earlier < index or call.place < result.place)
        ]
        if bearing:
            open_ones = [spot for spot in bearing if spot not in answered]
            return open_ones[0] if open_ones else bearing[-1]
    return None


def bears(call: Call, result: Result) -> bool:
    """'that bears its id'; 'without ids, position and name decide'."""
    if result.id is not None:
        return call.id == result.id
    return result.name is None or call.name == result.name


def unanswered(reads: Sequence[Read], answers: Mapping[Spot, Spot]) -> list[Spot]:
    answered = set(answers.values())
    calls = [(index, number) for index, row in enumerate(reads) for number in range(len(row.calls))]
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


# --- 4. The policy and the plan -----------------------------------------------------------------

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
    reads = [read(message, format, notes) for message in messages]
    return Walk(reads, policy, notes, system_price(system) + tools_price(tools))


Draft = tuple[list[int], bool, list[Spot]]
"""The indices kept, whether a trim note is added, and the results cleared."""


class Walk:
    """One history under one policy."""

    def __init__(self, reads: list[Read], policy: Policy, notes: Notes, besides: int) -> None:
        self.reads = reads
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
        draft: Draft = (self.everything, False, [])
        return self.planned("whole", draft) if self.fits(draft) else None

    def step_results(self) -> Plan | None:
        """'The older ones that are worth clearing are cleared in order, up to the last boundary.
        If that is not enough, all of the older ones are cleared before anything is dropped.'
        """
        for cleared in (self.cleared_to_boundary, self.clearable_older):
            draft: Draft = (self.everything, False, cleared)
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
        saving = self.reads[call[0]].calls[call[1]].arguments - price(compact(CLEARED_ARGUMENTS))
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
        after = (m for m, row in enumerate(self.reads) if not row.is_preamble_kind)
        return next(after, len(self.reads))

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
        kept = set(range(self.preamble_end))
        if self.first_user is not None:
            kept.add(self.first_user)
        for pin in self.policy.pinned:
            kept |= self.pinned_span(pin)
        return kept

    def pinned_span(self, pin: int) -> set[int]:
        """'A pinned message with a call or a result pins the whole span between the two safe
        starts around it; any other pinned message pins itself alone.'
        """
        if pin >= len(self.reads):
            return set()
        if not self.reads[pin].calls and not self.reads[pin].results:
            return {pin}
        before = [start for start in self.safe_starts if start <= pin]
        after = [start for start in self.safe_starts if start > pin]
        first = before[-1] if before else self.preamble_end
        return set(range(first, after[0] if after else len(self.reads)))

    # requests

    def from_start(self, start: int, base: AbstractSet[int], cleared: list[Spot]) -> Draft:
        """What is always kept and everything from the start on, without notes that came in."""
        kept = [m for m in self.everything if m in base or m >= start]
        kept = [m for m in kept if m not in self.incoming_notes]
        dropped = len(kept) + len(self.incoming_notes) < len(self.reads)
        note = dropped or bool(self.incoming_notes)
        return kept, note, [spot for spot in cleared if spot[0] in kept]

    def cost(self, draft: Draft) -> int:
        kept, note, cleared = draft
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
        kept, note, cleared = draft
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
        for first in starts:
            if self.fits_with_room(self.from_start(first, base, self.cleared_to_boundary)):
                line = rounded_up(self.f(first), self.q) * self.q
                later = [start for start in starts if start >= first and self.f(start) >= line]
                return later[0] if later else first
        return None

    # the answer

    def planned(self, step: Literal["whole", "results", "turns", "rounds"], draft: Draft) -> Plan:
        """'`fits` means that this is at most the budget less the margin.'"""
        kept, note, cleared = draft
        tokens = self.cost(draft) + self.besides
        over = max(0, tokens - self.policy.budget)
        window = self.policy.window
        sendable = window is None or tokens + self.policy.output <= window
        with_arguments = [s for s in cleared if self.freed_by_arguments(s) > 0]
        arguments = sorted(self.answers[spot] for spot in with_arguments)
        return Plan(step, tokens, over == 0, over, sendable, kept, note, cleared, arguments)


# --- 5. The request -----------------------------------------------------------------------------


def request(
    messages: Sequence[Message], plan: Plan, policy: Policy, format: Format, notes: Notes
) -> list[Message]:
    """The request in the wire format: what is unchanged is the same object, the rest a copy."""
    walk = walk_of(messages, policy, format, notes)
    return [
        trim_note(notes) if m is None else changed(messages[m], m, walk, plan, format)
        for m in order(walk, plan)
    ]


def order(walk: Walk, plan: Plan) -> list[int | None]:
    """The indices of the history in the order of the request; None is the trim note.

    It stands 'right after the first' user message; without one, right after the preamble.
    """
    last = walk.preamble_end - 1 if walk.first_user is None else walk.first_user
    note: list[int | None] = [None] if plan.note else []
    return [*(m for m in plan.kept if m <= last), *note, *(m for m in plan.kept if m > last)]


def trim_note(notes: Notes) -> Message:
    return {"role": "user", "content": notes.trimmed}


def changed(message: Message, m: int, walk: Walk, plan: Plan, format: Format) -> Message:
    """The message with its cleared results and arguments, the very object if it has none."""
    for spot in plan.cleared:
        if spot[0] == m:
            place = walk.result(spot).place
            message = with_result(message, place, walk.note_text(spot), format)
    for spot in plan.cleared_arguments:
        if spot[0] == m:
            message = with_arguments(message, walk.reads[m].calls[spot[1]].place, format)
    return message


def with_result(message: Message, place: int, note: str, format: Format) -> Message:
    """'Status, id, name and position stay'; a cleared block keeps its mark."""
    if format == "openai-chat":
        return {**message, "content": note}
    return with_block(message, place, {"content": note})


def with_block(message: Message, place: int, change: Mapping[str, Any]) -> Message:
    blocks = list(message["content"])
    blocks[place] = {**blocks[place], **change}
    return {**message, "content": blocks}


def with_arguments(message: Message, place: int, format: Format) -> Message:
    """'Cleared arguments become an object with the one key `_cleared`, as the format wants.'"""
    if format == "anthropic":
        return with_block(message, place, {"input": dict(CLEARED_ARGUMENTS)})
    encoded = compact(CLEARED_ARGUMENTS)
    calls = list(message.get("tool_calls") or [])
    if place == len(calls):
        return {**message, "function_call": {**message["function_call"], "arguments": encoded}}
    body_key, arguments_key = openai_call_body(calls[place])
    calls[place] = {**calls[place], body_key: {**calls[place][body_key], arguments_key: encoded}}
    return {**message, "tool_calls": calls}


def fit(
    messages: Sequence[Message],
    policy: Policy,
    format: Format,
    notes: Notes,
    system: Any = None,
    tools: Sequence[Any] | None = None,
) -> tuple[Plan, list[Message]]:
    """The plan and the request in one."""
    made = plan(messages, policy, format, notes, system, tools)
    return made, request(messages, made, policy, format, notes)
