"""Other ways to trim a history, each with the settings that suit it best."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import pytest
import turnfit

from benches.histories import Message
from benches.tokenizers import use_shipped_ranks

__all__ = ["clear_tool_uses", "litellm_trim", "trim_messages", "turnfit_fit"]

Trim: TypeAlias = Callable[[], Sequence[Any]]


def turnfit_fit(history: list[Message], budget: int) -> list[Message]:
    messages: list[Message] = turnfit.fit(history, budget=budget).messages
    return messages


def _langchain(history: list[Message]) -> tuple[Any, list[Any], int]:
    """LangChain's fastest counter, the history as its messages, and half the count."""
    core = pytest.importorskip("langchain_core.messages")
    count = core.utils.count_tokens_approximately
    messages = core.convert_to_messages(history)
    return count, messages, count(messages) // 2


def trim_messages(history: list[Message], *, one_turn: bool, made: bool) -> Trim:
    _, messages, budget = _langchain(history)
    return partial(
        pytest.importorskip("langchain_core.messages").trim_messages,
        messages if made else history,
        max_tokens=budget,
        token_counter="approximate",
        strategy="last",
        include_system=True,
        # With "human" alone nothing but the system message is left of a single turn.
        start_on=("human", "ai") if one_turn else "human",
    )


def clear_tool_uses(history: list[Message]) -> tuple[Trim, Callable[[Sequence[Any] | None], int]]:
    """What clears as many results as turnfit does, and what counts the tokens left."""
    editing = pytest.importorskip("langchain.agents.middleware.context_editing")
    count, messages, budget = _langchain(history)
    fitted = turnfit.fit(history, budget=turnfit.estimate_request(history) // 2)
    results = sum(message["role"] == "tool" for message in history)
    edit = editing.ClearToolUsesEdit(trigger=budget, keep=results - len(fitted.cleared))

    def clear() -> Sequence[Any]:
        # It works in place. The middleware makes a deep copy first; a flat one will do.
        edited = list(messages)
        edit.apply(edited, count_tokens=count)
        return edited

    return clear, lambda edited: int(count(messages if edited is None else edited))


def litellm_trim(history: list[Message]) -> Trim:
    # Without this, importing litellm tries for seconds to download its price list.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    use_shipped_ranks()
    utils = pytest.importorskip("litellm.utils")
    # No model means cl100k_base, which is twice as fast as what newer models have.
    budget = utils.token_counter(model="", messages=history) // 2
    return partial(utils.trim_messages, history, max_tokens=budget)
