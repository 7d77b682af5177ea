"""A growing history gives what `fit` gives, and hands out lists of the caller's."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import weakref
from typing import Any

import pytest
import turnfit as tf
from support.subagents import opening, rounds

POLICY = tf.Policy(budget=20_000)


def grown(count: int, policy: tf.Policy = POLICY) -> tf.Conversation:
    conversation = tf.Conversation(policy)
    conversation.extend(opening(1))
    for _, messages in zip(range(count), rounds(1, (20, 60)), strict=False):
        conversation.extend(messages)
    return conversation


def test_every_step_gives_what_fit_gives() -> None:
    conversation = grown(0)
    steps = set()
    for _, messages in zip(range(250), rounds(1, (20, 60)), strict=False):
        conversation.extend(messages)
        fitted = conversation.fit()
        assert fitted.messages == tf.fit(conversation.history, POLICY).messages
        steps.add(fitted.step)
    assert steps == {"whole", "results", "rounds"}


def test_a_list_that_was_handed_out_is_the_callers() -> None:
    conversation = grown(30)
    first = conversation.fit().messages
    copy = list(first)
    first.clear()
    assert conversation.fit().messages == copy
    second = conversation.fit().messages
    conversation.append({"role": "user", "content": "And now?"})
    conversation.fit().messages.clear()
    assert second == copy


def test_a_fitted_request_stays_as_it_is_when_the_conversation_goes_on() -> None:
    conversation = grown(30)
    early = conversation.fit()
    wanted = tf.fit(conversation.history, POLICY)
    conversation.extend(conversation.history[2:40])
    conversation.fit().messages  # noqa: B018
    assert early.messages == wanted.messages
    assert early.cleared == wanted.cleared
    assert early.dropped == wanted.dropped
    assert early.problems == wanted.problems
    assert early.as_dict() == wanted.as_dict()
    assert str(early) == str(wanted)


def test_requests_may_be_read_in_any_order() -> None:
    conversation = grown(30)
    early = conversation.fit()
    conversation.append({"role": "user", "content": "And now?"})
    late = conversation.fit()
    assert late.messages == tf.fit(conversation.history, POLICY).messages
    assert early.messages == tf.fit(conversation.history[:-1], POLICY).messages
    assert conversation.fit().messages == late.messages


def test_what_cannot_be_read_leaves_the_conversation_as_it_was() -> None:
    conversation = grown(10)
    before = conversation.history, conversation.tokens, conversation.fit().messages
    with pytest.raises(tf.FormatError) as error:
        conversation.extend([{"role": "user", "content": "ok"}, {"role": "robot"}])
    assert error.value.index == len(conversation) + 1
    assert (conversation.history, conversation.tokens, conversation.fit().messages) == before
    conversation.append({"role": "user", "content": "ok"})
    assert conversation.fit().messages == tf.fit(conversation.history, POLICY).messages


def test_a_failed_append_leaves_the_ledger_as_it_was_whatever_fails() -> None:
    calls = []

    def pinned(message: Any) -> bool:
        calls.append(message)
        if len(calls) > 2:
            raise RuntimeError("enough")
        return False

    conversation = tf.Conversation(tf.Policy(budget=1000, pinned=pinned))
    conversation.append({"role": "user", "content": "one"})
    with pytest.raises(RuntimeError, match="enough"):
        conversation.extend([{"role": "user", "content": "two"}] * 2)
    assert len(conversation) == 1
    assert conversation.fit().messages == conversation.history
    with pytest.raises(RuntimeError, match="enough"):
        conversation.policy = tf.Policy(budget=10, pinned=pinned)
    assert conversation.policy.budget == conversation.fit().budget == 1000


def test_a_failed_append_tells_no_format() -> None:
    conversation = tf.Conversation(budget=1000)
    with pytest.raises(tf.FormatError):
        conversation.extend([{"role": "tool", "content": ""}, {"role": "bad"}])
    conversation.append({"role": "user", "content": [{"type": "tool_result"}]})
    assert conversation.fit().format == "anthropic"


def test_a_conversation_whose_predicate_holds_it_is_collected() -> None:
    class Agent:
        def __init__(self) -> None:
            policy = tf.Policy(budget=100, pinned=self.pin, no_rerun=self.careful)
            self.conversation = tf.Conversation(policy)
            self.conversation.append({"role": "user", "content": "hi"})

        def pin(self, _: Any) -> bool:
            return False

        def careful(self, _: str) -> bool:
            return False

    agent = weakref.ref(Agent())
    gc.collect()
    assert agent() is None


def test_a_conversation_is_not_copied_by_halves() -> None:
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="can't be copied"):
            duplicate(grown(1))


def test_the_format_is_told_by_the_first_message_that_tells() -> None:
    plain: list[Any] = [
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": "ok"},
    ]
    call = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "word " * 2000}
    told = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    conversation = tf.Conversation(budget=500)
    for message in [*plain, *told, *plain, *told]:
        conversation.append(message)
        wanted = tf.fit(conversation.history, budget=500)
        assert conversation.fit().messages == wanted.messages
        assert conversation.fit().tokens == wanted.tokens


def test_another_format_later_is_an_error_with_its_index() -> None:
    conversation = grown(1)
    with pytest.raises(tf.FormatError) as error:
        conversation.append({"role": "user", "content": [{"type": "tool_result"}]})
    assert error.value.index == len(conversation)


def test_another_policy_prices_the_history_anew() -> None:
    conversation = grown(40)
    tighter = tf.Policy(budget=5_000, worth=4, exclude_tools=("read_file",))
    conversation.policy = tighter
    assert conversation.fit().messages == tf.fit(conversation.history, tighter).messages
    assert conversation.policy is tighter


def test_system_and_tools_take_their_part_of_the_budget() -> None:
    tools = [{"name": "read_file", "input_schema": {"type": "object"}}] * 20
    conversation = tf.Conversation(POLICY, system="Be brief. " * 500, tools=tools)
    conversation.extend(grown(40).history)
    wanted = tf.fit(conversation.history, POLICY, system="Be brief. " * 500, tools=tools)
    assert conversation.fit().tokens == wanted.tokens <= POLICY.budget
    assert conversation.fit().messages == wanted.messages


def test_another_policy_of_the_same_profile_prices_nothing_again() -> None:
    priced: list[str] = []

    def count(text: str) -> int:
        priced.append(text)
        return len(text) // 4

    conversation = grown(20, tf.Policy(budget=4_000, profile=count))
    before = len(priced)
    conversation.policy = tf.Policy(budget=3_000, profile=count, scale=2)
    notes = {text for text in priced[before:] if text in (*vars(tf.Notes()).values(),)}
    assert notes
    assert all(text in notes or text.startswith('{"_cleared"') for text in priced[before:])
    wanted = tf.fit(conversation.history, conversation.policy)
    assert conversation.fit().messages == wanted.messages


def test_forking_and_truncating_price_nothing_again() -> None:
    priced: list[str] = []

    def count(text: str) -> int:
        priced.append(text)
        return len(text) // 4

    conversation = grown(20, tf.Policy(budget=4_000, profile=count))
    contents = {message["content"] for message in conversation.history if message["content"]}
    del priced[:]
    forked = conversation.fork(21)
    forked.truncate(11)
    assert not contents & set(priced)
    wanted = tf.fit(conversation.history[:11], conversation.policy)
    assert forked.fit().messages == wanted.messages


def test_a_fork_and_its_origin_go_on_by_themselves() -> None:
    conversation = grown(10)
    forked = conversation.fork()
    forked.append({"role": "user", "content": "there"})
    conversation.append({"role": "user", "content": "here"})
    assert forked.history[:-1] == conversation.history[:-1]
    assert (forked.history[-1]["content"], conversation.history[-1]["content"]) == ("there", "here")
    for one in (forked, conversation):
        assert one.fit().messages == tf.fit(one.history, POLICY).messages


@pytest.mark.parametrize("count", [-1, 23, 10**30])
def test_a_fork_of_more_than_there_is_is_an_error_that_says_so(count: int) -> None:
    conversation = grown(10)
    for name, cut in (("at", conversation.fork), ("to", conversation.truncate)):
        with pytest.raises(ValueError, match=f"{name} must be from 0 to 22"):
            cut(count)
        with pytest.raises(TypeError, match=f"{name} must be a number of messages"):
            cut("3")  # type: ignore[arg-type]
    assert len(conversation) == 22


def verified() -> tf.Conversation:
    conversation = tf.Conversation(POLICY, verify=True)
    conversation.extend(grown(3).history)
    return conversation


def test_a_message_that_was_changed_after_it_was_appended_is_found() -> None:
    for use in (
        lambda one: one.fit(),
        lambda one: one.fork(),
        lambda one: one.truncate(6),
        lambda one: one.save(io.BytesIO()),
        lambda one: setattr(one, "policy", tf.Policy(budget=9_000)),
    ):
        conversation = verified()
        use(conversation)
        conversation.history[4]["tool_calls"][0]["function"]["arguments"] = "{}"
        with pytest.raises(tf.FormatError, match="message 4: it was changed after") as error:
            use(conversation)
        assert error.value.index == 4


def test_the_same_messages_in_other_objects_are_no_change() -> None:
    conversation = verified()
    for message in conversation.history:
        message.update(copy.deepcopy(message))
    assert conversation.fit().messages == conversation.fork().fit().messages


def test_native_messages_are_verified_with_what_they_hold() -> None:
    arguments = {"path": "a"}
    conversation = tf.Conversation(budget=900, verify=True)
    conversation.append(tf.Message("assistant", tf.Call("c", "read", arguments)))
    conversation.fit()
    conversation.fit()
    arguments["path"] = "b"
    with pytest.raises(tf.FormatError, match="message 0"):
        conversation.fit()


class Answer:
    """As pydantic's models are: what the class doesn't declare stands apart."""

    __slots__ = ("__dict__", "__pydantic_extra__")

    def __init__(self) -> None:
        self.role, self.content = "assistant", "ok"
        self.__pydantic_extra__ = {"reasoning": "because"}

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return {**vars(self), **self.__pydantic_extra__}


@pytest.mark.parametrize("part", ["declared", "extra"])
def test_a_change_in_an_object_is_found_wherever_it_keeps_it(part: str) -> None:
    answer = Answer()
    conversation = tf.Conversation(POLICY, verify=True)
    conversation.extend([{"role": "user", "content": "hi"}, answer])
    conversation.fit()
    if part == "declared":
        answer.content = "no"
    else:
        answer.__pydantic_extra__["reasoning"] = "for no reason"
    with pytest.raises(tf.FormatError, match="message 1: it was changed after"):
        conversation.fit()


def test_a_failed_append_is_not_verified_later() -> None:
    conversation = verified()
    with pytest.raises(tf.FormatError):
        conversation.append({"role": "robot"})
    conversation.append({"role": "user", "content": "ok"})
    assert conversation.fit().messages == conversation.history
