"""The whole loop: an agent over the real clients, against a server that behaves as providers do."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import turnfit as tf
from servers.model import Model, Script, Served, model_server

from support.reader import reader

sys.path.append(str(Path(__file__).parents[2] / "examples"))

import agent
from agent import (
    READER,
    Agent,
    Anthropic,
    Message,
    OpenAI,
    Provider,
    RefusedError,
    Reply,
    Tool,
    folder_tools,
    schema,
    team,
)

__all__ = [
    "BUDGET",
    "MODELS",
    "WINDOW",
    "Agent",
    "DropsTheOldest",
    "Run",
    "SendsAll",
    "Tool",
    "agent",
    "folder_tools",
    "policy",
    "run",
    "schema",
]

MODELS = {"openai": "gpt-5.1", "anthropic": "claude-opus-4-7"}
WINDOW, BUDGET, PAGE = 1_000_000, 400_000, 80_000
PROFILE = "o200k_base"
"""The server counts so, whatever the model."""


def provider(name: str, server: Model, **options: Any) -> Provider:
    """A real client that talks to the server; a skip where it isn't installed."""
    sdk = pytest.importorskip(name)
    model = options.pop("model", MODELS[name])
    if name == "openai":
        client = sdk.OpenAI(api_key="k", base_url=f"{server.url}/v1")
        return OpenAI(model, client, **options)
    return Anthropic(model, sdk.Anthropic(api_key="k", base_url=server.url), **options)


@dataclass
class Run:
    """What an agent answered, how often the operator was called, and what the server saw."""

    answer: str
    pages: list[tf.Rejection]
    server: Model

    @property
    def subagents(self) -> list[str]:
        """The tasks of the subagents."""
        return sorted(
            {one.task for one in self.server.served if one.instructions.startswith(READER)}
        )

    @property
    def stopped(self) -> list[str]:
        """The subagents whose last request was refused."""
        last = {one.task: one.status for one in self.server.served}
        return [task for task in self.subagents if last[task] >= 400]

    @property
    def largest(self) -> int:
        """The true tokens of the largest request."""
        return max(one.tokens for one in self.server.served)

    @property
    def read_share(self) -> float:
        """The share of the tokens answered to that were read from the prefix cache."""
        uses = [one.use for one in self.server.accepted if one.use]
        return sum(use.read for use in uses) / sum(use.total for use in uses)

    @property
    def cost(self) -> float:
        """Per token: 1.25 where it was written to the cache, 0.1 where it was read, else 1."""
        uses = [one.use for one in self.server.accepted if one.use]
        paid = sum(1.25 * use.written + 0.1 * use.read + use.uncached for use in uses)
        return paid / sum(use.total for use in uses)

    @property
    def sent_again(self) -> list[Served]:
        """Refused requests that came more than once."""
        digests = [one.digest for one in self.server.served]
        return [one for one in self.server.refused if digests.count(one.digest) > 1]


class SendsAll(Agent):
    """An agent without fitting: it sends its whole history, and gives up where that is refused."""

    def ask(self) -> Reply:
        whole = tf.fit(self.trimmed(self.conversation.history), EVERYTHING, format=self.format)
        try:
            return self._send(whole)
        except self.provider.refusals as error:
            raise RefusedError(tf.classify_rejection(error)) from error

    @property
    def format(self) -> str:
        return self.conversation.fit().format

    def trimmed(self, history: list[Message]) -> list[Message]:
        return history


class DropsTheOldest(SendsAll):
    """An agent that leaves out as many of the oldest rounds as it must."""

    def trimmed(self, history: list[Message]) -> list[Message]:
        price = partial(tf.estimate_message, profile=PROFILE, format=self.format)
        sizes = list(map(price, history))
        start = opening = next(at for at, one in enumerate(history) if one["role"] == "user") + 1
        while sum(sizes[:opening] + sizes[start:]) > self.conversation.policy.budget:
            start += 2
        return history[:opening] + history[start:]


EVERYTHING = tf.Policy(budget=2**40, profile=PROFILE)


def policy(**changes: Any) -> tf.Policy:
    """The policy of these runs; the estimate is of the tokenizer by which the server counts."""
    given = {"budget": BUDGET, "window": WINDOW, "profile": PROFILE, "no_rerun": ["run"]}
    return tf.Policy(**{**given, "exclude_tools": ["delegate"], **changes})


def run(
    name: str,
    *,
    folder: Path,
    task: str,
    kind: type[Agent] = Agent,
    by: tf.Policy | None = None,
    script: Script = reader,
    **options: Any,
) -> Run:
    """One task, from its beginning to its end."""
    pages: list[tf.Rejection] = []
    with model_server(script, WINDOW) as server, patch.object(agent, "Agent", kind):
        tools = folder_tools(folder, PAGE)
        chief = team(provider(name, server, **options), by or policy(), tools, pages.append)
        return Run(chief.work(task), pages, server)
