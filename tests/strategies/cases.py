"""Budgets, policies, and whole cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from reference import (
    REQUEST_FRAME,
    Draft,
    Format,
    Keep,
    Message,
    Policy,
    system_price,
    tools_price,
    walk_of,
)

from strategies.draws import NOTES, TOOLS, Draw, chance, count, pick
from strategies.sessions import FORMATS, histories

JITTERS = (0, 0, 0.02, 0.1, 0.3)


def sizes(messages: list[Message], format: Format) -> list[list[int]]:
    """Budgets at which something changes: the whole, cleared, from each turn, from each round."""
    walk = walk_of(messages, Policy(budget=0), format, NOTES)
    whole: Draft = (0, walk.everything, False, [])
    cleared: Draft = (0, walk.everything, False, walk.worth_clearing)
    turns = [walk.from_start(i, walk.always, walk.worth_clearing) for i in walk.turn_starts]
    opening = set() if walk.newest_turn is None else {walk.newest_turn}
    rounds = [
        walk.from_start(i, walk.always | opening, walk.worth_clearing) for i in walk.round_starts
    ]
    groups = [[whole], [cleared], turns or [cleared], rounds or turns[-1:] or [cleared]]
    return [[walk.cost(draft) for draft in group] for group in groups]


@st.composite
def budgets(draw: Draw, messages: list[Message], format: Format) -> int:
    """Room for the messages: near a size at which something changes, or any share of the whole."""
    groups = sizes(messages, format)
    whole, lean = groups[0][0], groups[1][0]
    if chance(draw, 8):
        return whole * count(draw, 22) // 20
    if chance(draw, 3):
        return max(lean + (whole - lean) * count(draw, 20) // 20, 0)
    size = pick(draw, pick(draw, groups))
    size += int(pick(draw, JITTERS) * size) - pick(draw, (0, 0, 0, 1))
    return max(size, 0)


@st.composite
def keeps(draw: Draw, room: int) -> Keep:
    kind = pick(draw, ("fraction", "tokens", "results"))
    if kind == "tokens":
        return "tokens", room * count(draw, 10) // 20
    if kind == "fraction":
        return "fraction", pick(draw, (0.25, 0, 0.1, 0.5, 1))
    return "results", count(draw, 5)


@st.composite
def policies(
    draw: Draw, messages: list[Message], format: Format, system: Any = None, tools: Any = None
) -> Policy:
    """Policies for this history: its own size decides the budget."""
    room = draw(budgets(messages, format))
    reserve = pick(draw, (0, 0, 0, 1, 100))
    besides = system_price(system) + tools_price(tools) + reserve + REQUEST_FRAME
    return Policy(
        budget=besides + room,
        window=pick(draw, (None, besides + room)),
        output=pick(draw, (0, 10)),
        reserve=reserve,
        keep=draw(keeps(room)),
        keep_at_least=pick(draw, (1, 0, 2, 4)),
        clear_batch=1 + count(draw, 5),
        worth=pick(draw, (2, 1, 1.5, 3, 5)),
        grid=pick(draw, (0.125, 0, 0.05, 0.5)),
        exclude_tools=some_tools(draw, one_in=4),
        no_rerun=some_tools(draw, one_in=3),
        clear_tool_inputs=chance(draw, 2),
        pinned=pins(draw, len(messages)),
    )


def some_tools(draw: Draw, one_in: int) -> tuple[str, ...]:
    if not chance(draw, one_in):
        return ()
    return tuple(tool for tool in TOOLS if chance(draw, 3))


def pins(draw: Draw, messages: int) -> frozenset[int]:
    if not messages or not chance(draw, 4):
        return frozenset()
    return frozenset(count(draw, messages - 1) for _ in range(1 + count(draw, 2)))


# --- cases --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A history and the policy it is fitted by."""

    format: Format
    messages: list[Message]
    policy: Policy
    system: Any
    tools: Any


SYSTEMS = (None, None, "be brief", [{"type": "text", "text": "be brief"}])
SCHEMAS = (None, None, [{"name": "read", "description": "reads", "input_schema": {}}])


@st.composite
def cases(draw: Draw, format: Format | None = None) -> Case:
    """What `fit` is called with, in the format given or in any."""
    form: Format = pick(draw, FORMATS) if format is None else format
    messages = draw(histories(form))
    system, tools = pick(draw, SYSTEMS), pick(draw, SCHEMAS)
    policy = draw(policies(messages, form, system, tools))
    return Case(form, messages, policy, system, tools)
