"""No request brings reasoning that its provider would refuse, and no more is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given
from hypothesis import strategies as st
from servers.requests import RefusedError
from servers.thinking import (
    Checker,
    PrefixChecker,
    ReasoningChecker,
    SignatureChecker,
    TurnChecker,
    is_thinking,
)
from strategies import Case, cases
from support.conversions import converted
from support.messages import blocks, use, used, user
from support.thinking import WIRES, Played, Wire, always, now_and_then, play
from support.trajectories import needs_corpus, recorded
from test_fit import MANY, policy_of
from turnfit.fitting.reasoning import REASONING_RULES, reasoning_rule, treatment_of
from turnfit.messages import formats
from turnfit.messages.formats.table import Format

CHECKED, OLDER = "claude-opus-5-5", "claude-haiku-4-5"
GRIDS: tuple[dict[str, Any], ...] = ({}, {"grid": 0}, {"clear_batch": 1})
LONG = "word " * 150


def rounds(count: int) -> list[Any]:
    pairs = [(use(f"t{n}"), used(f"t{n}", LONG)) for n in range(count)]
    return [m for one, two in pairs for m in (blocks("assistant", one), blocks("user", two))]


def policy(model: str | None = CHECKED, budget: int = 4_000, **more: Any) -> tf.Policy:
    return tf.Policy(budget=budget, model=model, profile="script", **more)


def thinking_in(messages: list[Any]) -> list[int]:
    """The messages that bring thinking."""
    return [
        index
        for index, message in enumerate(messages)
        if isinstance(message["content"], list) and any(map(is_thinking, message["content"]))
    ]


# --- a checking provider ------------------------------------------------------------------------


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_a_provider_that_checks_refuses_no_request(grid: dict[str, Any]) -> None:
    played = play([user(), *rounds(80)], WIRES["anthropic"], policy(**grid), PrefixChecker())
    assert {fitted.step for fitted in played.fitted} == {"whole", "results", "rounds"}
    assert played.lost
    assert played.carried


def test_it_would_refuse_reasoning_that_is_kept() -> None:
    kept = policy(reasoning="keep")
    with pytest.raises(RefusedError, match="different conversation"):
        play([user(), *rounds(80)], WIRES["anthropic"], kept, PrefixChecker())


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_clearing_arguments_refuses_none_either(grid: dict[str, Any]) -> None:
    history = [user()]
    for n in range(60):
        call = {**use(f"t{n}"), "input": {"text": LONG}}
        history += [blocks("assistant", call), blocks("user", used(f"t{n}", LONG))]
    cleared = policy(clear_tool_inputs=True, **grid)
    play(history, WIRES["anthropic"], cleared, PrefixChecker())


def test_thinking_before_a_change_and_after_it_stays() -> None:
    history = [user(), *rounds(40)]
    played = play(history, WIRES["anthropic"], policy(), PrefixChecker())
    moved = next(fitted for fitted in played.fitted if fitted.stale_reasoning)
    first = moved.first_changed
    assert first is not None
    assert moved.step == "results"
    stale = [one.index for one in moved.stale_reasoning]
    assert stale == [index for index in range(1, moved._plan.messages, 2) if index >= first]
    assert thinking_in(moved.messages) == list(range(1, first, 2))
    later = played.fitted[played.fitted.index(moved) + 1]
    assert thinking_in(later.messages) == [*range(1, first, 2), moved._plan.messages]


def test_a_plan_counts_all_reasoning_whatever_becomes_of_it() -> None:
    played = play([user(), *rounds(60)], WIRES["anthropic"], policy(), PrefixChecker())
    history = played.fitted[-1]._history
    for reasoning in ("strip", "keep"):
        fitted = tf.fit(history, policy(reasoning=reasoning))
        assert fitted._plan.kept == played.fitted[-1]._plan.kept
        assert fitted._plan.tokens == played.fitted[-1]._plan.tokens
    stale = sum(one.tokens for one in played.fitted[-1].stale_reasoning)
    assert stale > 0
    assert played.fitted[-1].tokens == fitted.tokens - stale


def test_a_message_that_only_thought_is_left_out_rather_than_empty() -> None:
    """As after an answer that ended at its limit."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    only = [user(), *rounds(14), blocks("assistant", thought), user("Go on."), *rounds(9)]
    fitted = tf.fit(only, policy())
    assert fitted.step == "results"
    assert [one.index for one in fitted.stale_reasoning] == [29]
    assert len(fitted.messages) == len(only) - 1
    assert all(message["content"] for message in fitted.messages)


# --- older models -------------------------------------------------------------------------------


@pytest.mark.parametrize("reasoning", ["auto", "strip", "keep"])
@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_older_models_keep_the_thinking_of_the_turn_that_waits(
    reasoning: Any, grid: dict[str, Any]
) -> None:
    turns = [
        m for _ in range(4) for m in (user(), *rounds(12), blocks("assistant", {"text": "ok"}))
    ]
    for message in turns:
        if message["content"] == [{"text": "ok"}]:
            message["content"] = [{"type": "text", "text": "ok"}]
    older = policy(OLDER, reasoning=reasoning, **grid)
    played = play(turns, WIRES["anthropic"], older, TurnChecker())
    left_out = sum(not one.sent for fitted in played.fitted for one in fitted.stale_reasoning)
    assert bool(left_out) == (reasoning == "strip")


# --- OpenAI and Gemini --------------------------------------------------------------------------


def responses(count: int) -> list[Any]:
    chat: list[Any] = [{"role": "user", "content": "go"}]
    for n in range(count):
        call = {"type": "function_call", "call_id": f"t{n}", "name": "f", "arguments": "{}"}
        result = {"type": "function_call_output", "call_id": f"t{n}", "output": LONG}
        chat += [{"role": "assistant", "content": "I look."}, call, result]
    return chat


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_openai_drops_what_is_listed_as_stale_and_nothing_else(grid: dict[str, Any]) -> None:
    wire, kept = WIRES["openai-responses"], policy("gpt-6.2-sol", 6_000, **grid)
    played = play(responses(80), wire, kept, ReasoningChecker())
    assert any(played.dropped)
    for dropped, fitted in zip(played.dropped, played.fitted, strict=True):
        listed = [fitted._history[one.index]["id"] for one in fitted.stale_reasoning]
        assert [entry["id"] for entry in dropped] == listed
        assert all(one.sent for one in fitted.stale_reasoning)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_a_stripped_reasoning_item_breaks_no_pair(grid: dict[str, Any]) -> None:
    wire = WIRES["openai-responses"]
    stripped = policy("gpt-6.2-sol", 6_000, reasoning="strip", **grid)
    played = play(responses(80), wire, stripped, ReasoningChecker())
    assert played.lost
    assert not any(played.dropped)
    items = played.fitted[-1].messages
    bare = [item for item in items if item.get("type") == "function_call" and "id" not in item]
    assert len(bare) == sum(not one.sent for one in played.fitted[-1].stale_reasoning)


def test_reasoning_that_an_item_needs_is_kept() -> None:
    """A hosted call bears its id, and an id wants its reasoning."""
    searched = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    thought = {"type": "reasoning", "id": "rs_1", "summary": []}
    said = {"type": "message", "id": "m_1", "role": "assistant", "content": "Found."}
    history = [{"role": "user", "content": "go"}, *responses(1)[1:], thought, searched, said]
    kept = policy(None, 5_000, reasoning="strip", keep=("results", 1), clear_batch=1)
    asked = [*history, {"role": "user", "content": "more"}, *responses(9)[1:]]
    asked[3] = {**asked[3], "output": LONG * 20}
    fitted = tf.fit(asked, kept)
    assert [(one.index, one.sent) for one in fitted.stale_reasoning] == [(4, True)]
    assert [item for item in fitted.messages if item in (thought, searched)] == [thought, searched]


@pytest.mark.parametrize("reasoning", ["auto", "strip"])
def test_gemini_gets_the_signatures_of_the_current_turn(reasoning: Any) -> None:
    chat: list[Any] = []
    for n in range(60):
        if n % 4 == 0:
            chat += [{"role": role, "parts": [{"text": "ok"}]} for role in ("model", "user")]
        call = {"functionCall": {"name": "f", "args": {"n": n}}}
        answer = {"functionResponse": {"name": "f", "response": {"result": LONG}}}
        chat += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [answer]}]
    gemini = policy("gemini-3.8-flash", reasoning=reasoning)
    played = play(chat, WIRES["gemini"], gemini, SignatureChecker())
    left_out = sum(not one.sent for fitted in played.fitted for one in fitted.stale_reasoning)
    assert bool(left_out) == (reasoning == "strip")


# --- histories of every kind --------------------------------------------------------------------


def checks(wire: Wire, older: bool) -> Checker:
    if wire.content is None:
        return ReasoningChecker()
    return TurnChecker() if older else PrefixChecker()


def same_as_fit(case_policy: tf.Policy, system: Any, tools: Any) -> Any:
    """A conversation gives what `fit` gives, of messages and of reasoning."""

    def seen(_: Any, fitted: tf.Fitted, conversation: tf.Conversation) -> None:
        history, name = conversation.history, fitted.format
        alone = tf.fit(history, case_policy, system=system, tools=tools, format=name)
        assert fitted.messages == alone.messages
        assert fitted.stale_reasoning == alone.stale_reasoning
        assert (fitted.tokens, str(fitted)) == (alone.tokens, str(alone))

    return seen


FORMATS: tuple[Any, ...] = ("anthropic", "bedrock-converse", "openai-responses")


@MANY
@given(st.sampled_from(FORMATS).flatmap(cases))
def test_no_history_has_a_request_that_is_refused(case: Case) -> None:
    for older in (False, True):
        model = OLDER if older else CHECKED
        strips = replace(policy_of(case), model=model, profile="script", reasoning="strip")
        seen = same_as_fit(strips, case.system, case.tools)
        sent = {"system": case.system, "tools": case.tools, "seen": seen}
        wire = WIRES[case.format]
        play(sound(case, wire), wire, strips, checks(wire, older), now_and_then, **sent)


def sound(case: Case, wire: Wire) -> list[Any]:
    """Ids are unique to the provider: two answers that are the same bear the same thoughts."""
    made, shells = [], dict[Any, str]()
    for number, message in enumerate(case.messages):
        kind = message.get("type") if wire.content is None else None
        if kind in ("message", "function_call"):
            message = {key: value for key, value in message.items() if key != "id"}
        elif kind == "local_shell_call":
            # Of these the item's own id pairs call and output, and generated ones repeat.
            shells[message["id"]] = f"lsh_{number}"
            message = {**message, "id": shells[message["id"]]}
        elif kind == "local_shell_call_output":
            message = {**message, "id": shells.get(message["id"], message["id"])}
        if kind not in ("reasoning", "item_reference"):
            made.append(message)
    return made


def stale_by_definition(fitted: tf.Fitted, history: list[Any], rules: tf.Policy) -> set[int]:
    """Thinking is valid if the request that it answered begins the present one."""
    found = set()
    kept = set(range(len(history))) - {i for gap in fitted.dropped for i in gap}
    for index, message in enumerate(history):
        if index in kept and any(map(is_thinking, message["content"])):
            then = tf.fit(history[:index], rules).messages
            if fitted.messages[: len(then)] != then:
                found.add(index)
    return found


def test_what_is_stale_is_so_by_definition() -> None:
    kept = policy(reasoning="keep")
    history = (
        play([user(), *rounds(60)], WIRES["anthropic"], kept, PrefixChecker("ignore"), now_and_then)
        .fitted[-1]
        ._history
    )
    for end in range(1, len(history), 3):
        fitted = tf.fit(history[:end], kept)
        stale = {one.index for one in fitted.stale_reasoning}
        assert stale == stale_by_definition(fitted, history[:end], kept)


@needs_corpus
@pytest.mark.parametrize("name", ["anthropic", "bedrock-converse", "openai-responses", "gemini"])
def test_recorded_work_is_never_refused(name: Any) -> None:
    given = 0
    for one in recorded():
        history = converted(one.messages, name)
        if len(history) < 4:
            continue
        for older in (False, True):
            played = play_recorded(history, WIRES[name], older)
            given += played.given
    assert given


def play_recorded(history: list[Any], wire: Wire, older: bool, **more: Any) -> Played:
    """On a budget of a third of the history."""
    budget = max(300, tf.estimate_request(history, format=wire.name) // 3)
    model = OLDER if older else CHECKED
    checker = checks(wire, older)
    if wire.name == "gemini":
        model, checker = "gemini-3.8-flash", SignatureChecker()
    rules = policy(model, budget, reasoning="strip", **more)
    return play(history, wire, rules, checker, always)


# --- what is told -------------------------------------------------------------------------------


def test_stale_reasoning_is_told() -> None:
    played = play([user(), *rounds(60)], WIRES["anthropic"], policy(), PrefixChecker())
    fitted = next(fitted for fitted in reversed(played.fitted) if fitted.stale_reasoning)
    left_out = [one for one in fitted.stale_reasoning if not one.sent]
    told = fitted.as_dict()
    assert told["stale_reasoning"] == told["stripped_reasoning"] == len(left_out)
    assert told["stale_reasoning_tokens"] == sum(one.tokens for one in left_out)
    assert f"stale reasoning of {len(left_out):,} messages left out" in str(fitted)
    assert fitted.explain().count("reasoning left out") == len(left_out)
    kept = tf.fit(fitted._history[: fitted._plan.messages], policy(reasoning="keep"))
    assert f"reasoning of {len(left_out):,} messages is stale" in str(kept)
    assert kept.explain().count("stale reasoning") == len(left_out)


def test_a_conversation_knows_what_of_the_last_request_is_kept() -> None:
    conversation = tf.Conversation(policy())
    conversation.extend([user(), *rounds(3)])
    first = conversation.fit()
    first.messages  # noqa: B018 - as it is sent
    assert first.as_dict()["cache_kept"] is None
    assert first.cache_kept() == 0
    for message in rounds(40):
        conversation.append(message)
        now = conversation.fit()
        pairs = zip(first.messages, now.messages, strict=False)
        same = [a for a, b in pairs if a == b]
        assert now.cache_kept() == now.as_dict()["cache_kept"] == now.cache_kept(first)
        alone = tf.fit(conversation.history, policy())
        assert alone.cache_kept(first) == now.cache_kept()
        assert alone.as_dict(first)["cache_kept"] == now.cache_kept()
        assert now.cache_kept() <= tf.estimate_request(same)
        assert f"{now.cache_kept():,}" in now.explain().splitlines()[-1]
        first = now


@pytest.mark.parametrize("key", ["system", "tools"])
def test_another_system_prompt_or_other_tools_make_all_reasoning_stale(key: str) -> None:
    new: Any = "Be brief." if key == "system" else [{"name": "f", "input_schema": {}}]
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    conversation = tf.Conversation(policy())
    conversation.extend([user(), blocks("assistant", thought, use("t")), blocks("user", used("t"))])
    before = conversation.fit()
    assert not before.stale_reasoning
    setattr(conversation, key, new)
    now = conversation.fit()
    assert [one.index for one in now.stale_reasoning] == [1]
    assert thinking_in(now.messages) == []
    assert (now.cache_kept(), now.cache_kept(before)) == (0, 0)
    assert not before.stale_reasoning
    assert tf.fit(conversation.history, policy(), **{key: new}).cache_kept(before) == 0
    conversation.append(blocks("assistant", thought, use("t2")))
    conversation.append(blocks("user", used("t2")))
    assert [one.index for one in conversation.fit().stale_reasoning] == [1]
    setattr(conversation, key, new)
    assert conversation.fit().cache_kept() > 0


def test_reasoning_under_another_policy_is_stale() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    conversation = tf.Conversation(policy())
    conversation.extend([user(), blocks("assistant", thought, use("t")), blocks("user", used("t"))])
    conversation.policy = policy(budget=3_000)
    assert [one.index for one in conversation.fit().stale_reasoning] == [1]


LEFT_OPEN: dict[str, list[Any]] = {
    "nothing": [],
    "a dead call": [blocks("assistant", use("d")), user("Go on.")],
    "a broken call": [blocks("assistant", {**use("d"), "input": '{"pa'}), user("Go on.")],
}


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("left", LEFT_OPEN)
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("key", ["system", "tools", "policy"])
def test_what_is_stale_stays_so_however_the_request_is_made(
    key: str, early: bool, left: str, repair: bool
) -> None:
    new: dict[str, Any] = {
        "system": "Be brief.",
        "tools": [{"name": "f", "input_schema": {}}],
        "policy": policy(budget=50_000),
    }
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    thinks = [user(), blocks("assistant", thought, use("t")), blocks("user", used("t"))]
    conversation = tf.Conversation(policy(budget=60_000))
    conversation.extend([*thinks, *LEFT_OPEN[left]] if early else thinks)
    setattr(conversation, key, new[key])
    conversation.extend(thinks if early else [*LEFT_OPEN[left], *thinks])
    for made in (conversation, conversation.fork()):
        fitted = made.fit(repair=repair)
        assert [one.index for one in fitted.stale_reasoning] == [1]
        assert len(thinking_in(fitted.messages)) == 1
        made.append(user("And?"))
        assert [one.index for one in made.fit(repair=repair).stale_reasoning] == [1]


def test_a_response_under_another_policy_is_another_response() -> None:
    """Even where nothing was said between the two."""

    def response(n: int) -> list[Any]:
        thought = {"type": "reasoning", "id": f"rs_{n}", "summary": []}
        said = {"type": "message", "id": f"m_{n}", "role": "assistant", "content": "Found."}
        return [thought, said]

    stripped = policy("gpt-6.2-sol", reasoning="strip")
    conversation = tf.Conversation(stripped, format="openai-responses")
    conversation.extend([{"role": "user", "content": "go"}, *response(1)])
    for seen in (False, True):
        forked = conversation.fork()
        forked.policy = policy("gpt-6.2-sol", 3_000, reasoning="strip")
        if seen:
            assert len(forked.fit().messages) == 2
        forked.extend(response(2))
        fitted = forked.fit()
        assert [one.index for one in fitted.stale_reasoning] == [1]
        assert fitted.messages[2:] == response(2)
        assert "id" not in fitted.messages[1]


# --- models -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "stale", "holds"),
    [
        ("claude-opus-5-5", "refused", False),
        ("claude-fable-5-1", "refused", False),
        ("us.anthropic.claude-sonnet-5-5-v1:0", "refused", False),
        ("claude-opus-6", "refused", False),
        ("claude-mythos-5-1", "taken", False),
        ("claude-opus-5", "taken", True),
        ("claude-opus-5-20260724", "taken", True),
        ("claude-3-7-sonnet-20250219", "taken", True),
        ("claude-haiku-4-5@20251001", "taken", True),
        ("gpt-6.2-sol", "dropped", False),
        ("gpt-6.1-sol", "taken", False),
        ("gpt-6-astra", "taken", False),
        ("gpt-5.1", "taken", False),
        ("gemini-3.8-flash", "taken", True),
    ],
)
def test_models_do_with_reasoning_what_their_providers_say(
    model: str, stale: str, holds: bool
) -> None:
    rule = reasoning_rule(model)
    assert rule is not None
    assert (rule.stale, rule.holds) == (stale, holds)


def test_a_model_that_is_not_known_keeps_its_reasoning() -> None:
    assert reasoning_rule("somebodys-model") is None
    assert treatment_of("auto", None) == treatment_of("auto", "somebodys-model") == "keep"


def test_each_rule_says_where_it_is_said_and_when_it_was_read() -> None:
    for rule in REASONING_RULES:
        assert rule.source.startswith("https://")
        assert ", 2026-" in rule.source


def test_a_wrong_treatment_is_an_error() -> None:
    with pytest.raises(ValueError, match='reasoning must be "auto", "strip" or "keep"'):
        tf.Policy(budget=1, reasoning="drop")  # type: ignore[arg-type]


STRIPPING = [one for one in formats.FORMATS.values() if one.strip is not None]


@pytest.mark.parametrize("content", [None, "", "text", True, 5, ...])
@pytest.mark.parametrize("format_", STRIPPING, ids=lambda one: one.name)
def test_a_message_without_a_list_of_blocks_has_nothing_to_strip(
    format_: Format, content: Any
) -> None:
    assert format_.strip is not None
    said = {} if content is ... else {"content": content, "parts": content}
    message = {"role": "model" if format_.name == "gemini" else "assistant", **said}
    assert format_.strip([message]) == [message]
