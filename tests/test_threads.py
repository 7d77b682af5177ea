"""Histories and conversations among threads."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import turnfit as tf
from support.messages import calls, result, rounds, user
from support.ticking import others_run_amid


def long_history(messages: int) -> list[dict[str, Any]]:
    call, answer = calls("c"), result("c", "é" * 400)
    return [user(), *[m for _ in range(messages // 2) for m in (call, answer)]]


def test_many_threads_fit_the_same_history() -> None:
    history = [user(), *rounds(200)]
    wanted = tf.fit(history, budget=5_000)
    with ThreadPoolExecutor(8) as pool:
        fitted = list(pool.map(lambda _: tf.fit(history, budget=5_000), range(64)))
    assert all(one.messages == wanted.messages for one in fitted)
    assert all(one.as_dict() == wanted.as_dict() for one in fitted)


def test_each_thread_has_a_conversation() -> None:
    def talk(number: int) -> list[Any]:
        conversation = tf.Conversation(budget=3_000)
        for message in [user(f"{number}"), *rounds(40)]:
            conversation.append(message)
            conversation.fit()
        return conversation.fit().messages

    with ThreadPoolExecutor(8) as pool:
        for number, messages in enumerate(pool.map(talk, range(16))):
            assert messages == tf.fit([user(f"{number}"), *rounds(40)], budget=3_000).messages


def test_other_threads_run_while_a_long_history_is_read() -> None:
    history = long_history(300_000)
    assert others_run_amid(lambda: tf.Conversation(budget=10_000).extend(history))


def test_other_threads_run_while_a_profile_weighs_long_rows_of_a_list() -> None:
    column = ["Long rows of ASCII are read to be weighed. " * 100_000] * 40
    assert others_run_amid(lambda: tf.estimate_many(column, profile="o200k_base"))


def test_a_conversation_in_use_by_another_thread_is_an_error_that_says_so() -> None:
    conversation = tf.Conversation(budget=10_000)
    reading, seen = threading.Event(), threading.Event()

    def pinned(_: Any) -> bool:
        reading.set()
        seen.wait(10)
        return False

    conversation.policy = tf.Policy(budget=10_000, pinned=pinned)
    worker = threading.Thread(target=conversation.append, args=(user(),))
    worker.start()
    reading.wait(10)
    for use in (conversation.fit, lambda: conversation.append(user())):
        with pytest.raises(tf.BusyError, match="one thread at a time"):
            use()
    seen.set()
    worker.join()
    assert conversation.fit().messages == [user()]


def test_a_predicate_that_uses_its_own_conversation_is_told_so() -> None:
    conversation = tf.Conversation(budget=10_000)

    def pinned(_: Any) -> bool:
        return bool(conversation.fit())

    conversation.policy = tf.Policy(budget=10_000, pinned=pinned)
    with pytest.raises(tf.BusyError, match="in use already"):
        conversation.append(user())
    assert len(conversation) == 0


def test_a_message_that_changed_since_it_was_read_is_an_error_with_its_index() -> None:
    history = [user(), *rounds(40)]
    fitted = tf.fit(history, budget=10_000)
    del history[2]["content"]
    with pytest.raises(tf.FormatError, match="message 2: it has changed since it was read"):
        assert fitted.messages

    blocks = [{"type": "tool_result", "tool_use_id": "t", "content": "word " * 4_000}]
    uses = [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]
    pair = [{"role": "assistant", "content": uses}, {"role": "user", "content": blocks}]
    fitted = tf.fit([user(), *pair, *pair], tf.Policy(budget=9_000, keep=("tokens", 0)))
    blocks.clear()
    with pytest.raises(tf.FormatError, match="message 2: it has changed since it was read"):
        assert fitted.messages


def test_a_history_that_grows_meanwhile_does_no_harm() -> None:
    history = long_history(100_000)
    done = threading.Event()

    def grow() -> None:
        while not done.is_set():
            history.append(user())

    sys.setswitchinterval(0.0005)
    grower = threading.Thread(target=grow)
    grower.start()
    try:
        fitted = tf.fit(history, budget=10_000)
        assert fitted.messages[0] is history[0]
    finally:
        done.set()
        grower.join()
        sys.setswitchinterval(0.005)
