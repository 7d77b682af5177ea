"""Histories played step by step against a provider that checks reasoning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

import turnfit as tf
from servers.thinking import Checker, Dropped, is_thinking

Message: TypeAlias = dict[str, Any]
Thinker: TypeAlias = Callable[[int], str | None]


@dataclass(frozen=True)
class Step:
    """What was said before an answer, and the answer."""

    before: list[Message]
    answer: list[Message]


@dataclass(frozen=True)
class Wire:
    """How a format carries requests, answers and reasoning.

    Attributes:
        name: the format.
        messages: the request's key for messages.
        content: a message's key for its blocks; None where messages are items.
        thought: from a text to the block or item that bears it; None where there is none.
    """

    name: str
    messages: str
    content: str | None
    thought: Callable[[str], Message] | None
    assistant: str = "assistant"

    def body(self, messages: list[Any], model: str, system: Any, tools: Any) -> Message:
        """A request as it is sent."""
        key = "instructions" if self.content is None else "system"
        more = {key: system, "tools": tools}
        more = {name: value for name, value in more.items() if value is not None}
        return {"model": model, **more, self.messages: messages}

    def is_answer(self, message: Message) -> bool:
        """Whether the model said it."""
        if self.content is not None:
            return bool(message.get("role") == self.assistant)
        role = message.get("role")
        kind = str(message.get("type", "message"))
        return role == "assistant" or (role is None and not _is_input(kind))

    def steps(self, history: Sequence[Message]) -> Iterator[Step]:
        """A history, cut before each answer."""
        before: list[Message] = []
        for answered, run in groupby(history, key=self.is_answer):
            said = list(run)
            if not answered:
                before = said
                continue
            for answer in [said] if self.content is None else [[one] for one in said]:
                yield Step(before, answer)
                before = []
        yield Step(before, [])

    def thinking(self, answer: list[Message], text: str | None) -> list[Message]:
        """An answer without the reasoning that it had, and with this."""
        thought = [self.thought(text)] if text is not None and self.thought else []
        if self.content is None:
            return thought + [item for item in answer if item.get("type") != "reasoning"]
        made = [self._thinking(message, thought) for message in answer]
        return [message for message in made if message[self.content]]

    def _thinking(self, message: Message, thought: list[Message]) -> Message:
        content = message.get(self.content or "") or []
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content else []
        spoken = [block for block in content if not is_thinking(block)]
        # A compaction comes before what is thought of it.
        compactions = [at for at, block in enumerate(spoken) if block.get("type") == "compaction"]
        start = compactions[-1] + 1 if compactions else 0
        thought = thought if spoken else []
        return {**message, self.content or "": [*spoken[:start], *thought, *spoken[start:]]}

    def signed(self, checker: Checker, body: Message, answer: list[Message]) -> list[Message]:
        """An answer as the provider would have given it."""
        if self.content is None:
            return checker.sign(body, answer)
        return [{**one, self.content: checker.sign(body, one[self.content])} for one in answer]


def _is_input(kind: str) -> bool:
    """Whether an item without a role is none of the model's."""
    return kind == "message" or kind.endswith(("_output", "_response"))


def _anthropic(text: str) -> Message:
    return {"type": "thinking", "thinking": text, "signature": ""}


def _bedrock(text: str) -> Message:
    return {"reasoningContent": {"reasoningText": {"text": text, "signature": ""}}}


def _openai(text: str) -> Message:
    return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}


WIRES = {
    wire.name: wire
    for wire in (
        Wire("anthropic", "messages", "content", _anthropic),
        Wire("bedrock-converse", "messages", "content", _bedrock),
        Wire("openai-responses", "input", None, _openai),
        Wire("gemini", "contents", "parts", None, assistant="model"),
    )
}


@dataclass
class Played:
    """What became of a history's reasoning, step by step.

    Attributes:
        requests: how many were sent.
        given: the thoughts that the model gave.
        lost: of these, those that became stale while their message was still sent.
        carried: tokens of valid reasoning, over all requests.
        stale: tokens of stale reasoning in the kept messages, over all requests.
        dropped: what the provider dropped, by request.
        fitted: the requests.
    """

    requests: int = 0
    given: int = 0
    lost: set[int] = field(default_factory=set)
    carried: int = 0
    stale: int = 0
    dropped: list[list[Dropped]] = field(default_factory=list)
    fitted: list[tf.Fitted] = field(default_factory=list)


def always(number: int) -> str:
    """Thoughts of different lengths."""
    return f"Step {number}: " + "I look at what came back. " * (2 + number * 7 % 23)


def now_and_then(number: int) -> str | None:
    """Not every answer brings a thought."""
    return None if number % 5 in (2, 3) else always(number)


def play(
    history: Sequence[Message],
    wire: Wire,
    policy: tf.Policy,
    checker: Checker,
    thinker: Thinker = always,
    system: Any = None,
    tools: Any = None,
    seen: Callable[[Message, tf.Fitted, tf.Conversation], None] = lambda *_: None,
) -> Played:
    """Sends each request that a policy makes of a history, and appends the signed answer."""
    conversation = tf.Conversation(policy, system=system, tools=tools, format=wire.name)
    played, costs = Played(), dict[int, int]()
    for number, step in enumerate(wire.steps(history)):
        conversation.extend(step.before)
        if not len(conversation):
            continue
        fitted = conversation.fit()
        body = wire.body(fitted.messages, policy.model or "", system, tools)
        played.dropped.append(checker.receive(body))
        seen(body, fitted, conversation)
        _count(played, fitted, costs)
        answer = wire.thinking(step.answer, thinker(number))
        if answer:
            start = len(conversation)
            conversation.extend(wire.signed(checker, body, answer))
            _remember(played, conversation, costs, start)
    return played


def _remember(
    played: Played, conversation: tf.Conversation, costs: dict[int, int], start: int
) -> None:
    """What the thoughts of an answer cost: all reasoning is stale to another system prompt."""
    history, format_, _, frame = conversation._view()
    ledger = frame.ledger(format_)
    ledger.fill(history[start:])
    frame.follow(ledger)
    for index, tokens, _ in ledger.stale(frame.plan(ledger)):
        costs[start + index] = tokens
        played.given += 1


def _count(played: Played, fitted: tf.Fitted, costs: dict[int, int]) -> None:
    stale = {one.index: one.tokens for one in fitted.stale_reasoning}
    gone = {index for gap in fitted.dropped for index in gap}
    kept = sum(tokens for index, tokens in costs.items() if index not in gone)
    played.requests += 1
    played.lost |= stale.keys()
    played.stale += sum(stale.values())
    played.carried += kept - sum(stale.values())
    played.fitted.append(fitted)
