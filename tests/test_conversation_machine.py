"""Whatever is done to a conversation, it fits as `turnfit.fit` fits its history."""

from __future__ import annotations

import io
import os
from contextlib import nullcontext, suppress
from typing import Any

import turnfit as tf
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule
from servers.thinking import is_thinking
from strategies import FORMATS, histories
from support.broken import BROKEN
from support.thinking import WIRES

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))


def is_short(message: Any) -> bool:
    return len(str(message)) % 7 == 0


POLICIES = [
    tf.Policy(budget=900),
    tf.Policy(budget=60, clear_batch=1),
    tf.Policy(budget=500, profile="o200k_base", scale=1.3, margin=0),
    tf.Policy(budget=700, profile="o200k_base", keep=("results", 2), clear_tool_inputs=True),
    tf.Policy(budget=700, pinned=(1, 4), no_rerun=("read",), notes=tf.Notes(cleared="[gone]")),
    tf.Policy(budget=400, pinned=is_short),
    tf.Policy(budget=500, model="claude-opus-5-5", profile="script", reasoning="strip"),
]


TEXTS: dict[str, Any] = {
    "anthropic": {"type": "text", "text": "I see."},
    "bedrock-converse": {"text": "I see."},
    "openai-responses": {"type": "output_text", "text": "I see."},
}

STRIPPED = ("anthropic", "bedrock-converse")
"""Formats in which no reasoning is needed by what stands beside it."""

MORE = {"cache_kept", "stale_reasoning", "stale_reasoning_tokens"}
"""A conversation also knows the request before, and when its policy was another."""


def figures(fitted: tf.Fitted) -> dict[str, Any]:
    return {name: told for name, told in fitted.as_dict().items() if name not in MORE}


class Conversations(RuleBasedStateMachine):
    """Some conversations of one format, forked from one another.

    Where a plain start tells no format, or another, messages can be refused.
    """

    here = Bundle("here")

    @initialize(target=here, data=st.data(), format=st.sampled_from(FORMATS), verify=st.booleans())
    def begin(self, data: st.DataObject, format: Any, verify: bool) -> tf.Conversation:
        self.format = format
        self.system = data.draw(st.sampled_from([None, "be brief"]))
        self.early: list[tuple[tf.Fitted, list[Any], dict[str, Any]]] = []
        given = data.draw(st.sampled_from([format, None]))
        self.given = given
        policy = data.draw(st.sampled_from((POLICIES[0], POLICIES[-1])))
        made = tf.Conversation(policy, system=self.system, format=given, verify=verify)
        return self.compared(made)

    def compared(self, conversation: tf.Conversation) -> tf.Conversation:
        got, want = conversation.fit(), self.stateless(conversation)
        assert figures(got) == figures(want)
        assert got.messages == want.messages
        assert got.format == want.format
        assert got.cleared == want.cleared
        assert got.dropped == want.dropped
        assert got.problems == want.problems
        repaired = conversation.fit(repair=True)
        assert repaired.messages == self.stateless(conversation, repair=True).messages
        for fitted in (got, repaired):
            self.sends_nothing_stale(conversation, fitted)
        self.early.append((got, list(want.messages), figures(want)))
        return conversation

    def sends_nothing_stale(self, conversation: tf.Conversation, fitted: tf.Fitted) -> None:
        stale, history = conversation._stale_before, conversation.history
        if conversation.policy.reasoning != "strip" or self.format not in STRIPPED:
            return
        if "compaction" in str(history):
            return  # What stands before it isn't read.
        early = {id(one) for one in history[:stale]} - {id(one) for one in history[stale:]}
        for message in fitted.messages:
            if id(message) in early and isinstance(message["content"], list):
                assert not any(map(is_thinking, message["content"]))

    def stateless(self, conversation: tf.Conversation, **more: Any) -> tf.Fitted:
        history, policy = conversation.history, conversation.policy
        stale = conversation._stale_before
        if policy.reasoning != "strip" or not stale:
            return tf.fit(history, policy, system=self.system, format=self.given, **more)
        # What answered requests of another policy is known to a conversation only.
        format = conversation.fit().format
        anew = tf.Conversation(policy, system=self.system, format=format)
        anew.extend(history[:stale])
        anew.policy = policy
        anew.extend(history[stale:])
        return anew.fit(**more)

    @rule(conversation=here, data=st.data(), at_once=st.booleans())
    def extend(self, conversation: tf.Conversation, data: st.DataObject, at_once: bool) -> None:
        added = data.draw(histories(self.format))[: data.draw(st.integers(1, 9))]
        with suppress(tf.FormatError) if self.given is None else nullcontext():
            for part in [added] if at_once else [[message] for message in added]:
                conversation.extend(part)
        self.compared(conversation)

    @rule(conversation=here, data=st.data())
    def break_off(self, conversation: tf.Conversation, data: st.DataObject) -> None:
        message = data.draw(st.sampled_from(BROKEN[self.format])).message
        with suppress(tf.FormatError) if self.given is None else nullcontext():
            conversation.append(message)
        self.compared(conversation)

    @rule(conversation=here, text=st.sampled_from(["hm", "I look at it again. " * 9]))
    def think(self, conversation: tf.Conversation, text: str) -> None:
        if self.format not in WIRES or WIRES[self.format].thought is None:
            return
        wire = WIRES[self.format]
        said = {"role": wire.assistant, wire.content or "content": [TEXTS[self.format]]}
        with suppress(tf.FormatError) if self.given is None else nullcontext():
            conversation.extend(wire.thinking([said], text))
        self.compared(conversation)

    @rule(conversation=here)
    def begin_otherwise(self, conversation: tf.Conversation) -> None:
        conversation.policy = conversation.policy
        self.compared(conversation)

    @rule(target=here, conversation=here, share=st.integers(0, 10))
    def fork(self, conversation: tf.Conversation, share: int) -> tf.Conversation:
        at = len(conversation) * share // 10
        forked = conversation.fork(at)
        assert forked.history == conversation.history[:at]
        return self.compared(forked)

    @rule(conversation=here, share=st.integers(0, 10))
    def truncate(self, conversation: tf.Conversation, share: int) -> None:
        to, before = len(conversation) * share // 10, conversation.history
        conversation.truncate(to)
        assert conversation.history == before[:to]
        self.compared(conversation)

    @rule(conversation=here, policy=st.sampled_from(POLICIES))
    def replace_policy(self, conversation: tf.Conversation, policy: tf.Policy) -> None:
        conversation.policy = policy
        self.compared(conversation)

    @rule(target=here, conversation=here, costs=st.booleans(), policy=st.sampled_from(POLICIES))
    def save_and_load(
        self, conversation: tf.Conversation, costs: bool, policy: tf.Policy
    ) -> tf.Conversation:
        file = io.BytesIO()
        conversation.save(file, costs=costs)
        file.seek(0)
        is_written = not callable(conversation.policy.pinned)
        loaded = tf.Conversation.load(file, None if is_written else policy)
        assert loaded.history == conversation.history
        if is_written:
            assert loaded.tokens == conversation.tokens
            assert loaded.fit().messages == conversation.fit().messages
        return self.compared(loaded)

    def teardown(self) -> None:
        for fitted, messages, told in getattr(self, "early", ()):
            assert fitted.messages == messages
            assert figures(fitted) == told


TestConversations = Conversations.TestCase
TestConversations.settings = settings(
    max_examples=max(1, EXAMPLES // 4),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
