"""Fitting a history into a budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from turnfit import _core
from turnfit.fitting.fitted import Fitted, Source
from turnfit.fitting.frame import Frame, parted, pinned_elsewhere, stale_elsewhere
from turnfit.fitting.interrupted import Broken, broken_off, pieces
from turnfit.fitting.policy import Policy
from turnfit.messages.formats import format_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list
from turnfit.messages.repair import repaired

__all__ = ["fit", "fit_changed", "policy_of"]


def policy_of(policy: Policy | None, budget: int | None = None, model: str | None = None) -> Policy:
    """The policy given, or the one of defaults with this budget, for this model."""
    if policy is None and budget is not None:
        return Policy(budget=budget, model=model)
    if policy is None or budget is not None:
        raise TypeError("give either a policy or a budget")
    if not isinstance(policy, Policy):
        hint = f"; did you mean budget={policy!r}?" if isinstance(policy, int) else ""
        raise TypeError(f"policy must be a Policy, not {type(policy).__name__}{hint}")
    if model is not None:
        raise TypeError("give the model in the policy: replace(policy, model=...)")
    return policy


def fit(
    messages: Iterable[Message],
    policy: Policy | None = None,
    *,
    budget: int | None = None,
    model: str | None = None,
    system: Any = None,
    tools: Any = None,
    format: str | Format | None = None,
    repair: bool = False,
) -> Fitted:
    """Fit a message history into a request budget, without ever breaking it.

    Old tool results are cleared first, in batches; then whole turns are dropped, then
    whole tool rounds. The history and every object in it stay as they are. The answer
    depends on the history and the policy alone. Calls and thinking that a broken stream left
    unfinished are not sent; `Fitted.problems` names them.

    Args:
        messages: the history, in one wire format.
        policy: how to fit it.
        budget: in place of a policy: the tokens that the request may take, all in.
        model: with a budget: the model's name, by whose tokenizer text is priced.
        system: a system prompt that is sent beside the messages.
        tools: the tool definitions, as they are sent.
        format: the format, or its name; recognised from the messages where it is not given.
        repair: answer calls that nothing will answer any more by a note, and leave out
            results of no call, in the request only; `Fitted.problems` still names them.

    Returns:
        The request and what was done for it.

    Raises:
        FormatError: if a message can't be read, with its index.
        BudgetError: if the budget has no room for any message, with the parts named.

    >>> history = [{"role": "user", "content": "Count to three."}]
    >>> fitted = fit(history, budget=1000)
    >>> fitted.step, fitted.tokens, fitted.messages == history
    ('whole', 10, True)
    """
    policy = policy_of(policy, budget, model)
    history = as_list(messages)
    frame = Frame.of(policy, system, tools)
    found = format_of(history, format)
    history = parted(policy, found, history)
    ledger = frame.ledger(found)
    ledger.fill(history)
    broken = broken_off(found, history, ledger, set())
    if broken or repair:
        return fit_changed(history, found, ledger, frame, broken, repair)
    return Fitted(history, found, ledger, frame.plan(ledger), frame)


def fit_changed(
    history: list[Message],
    format_: Format,
    ledger: _core.Ledger,
    frame: Frame,
    broken: Broken,
    repair: bool,
    stale_before: int = 0,
) -> Fitted:
    """Fits a history without what was broken off and, if wanted, with the rest repaired.

    Reasoning before the message `stale_before` answered requests that began otherwise.
    """
    messages, origins = history, list[int | None](range(len(history)))
    if broken:
        kept = pieces(history, broken)
        messages = [message for piece in kept for message in piece.messages]
        origins = [origin for piece in kept for origin in piece.origins]
        ledger = _read(frame, format_, messages, origins, stale_before)
    if repair:
        whole = repaired(messages, format_, ledger, frame.policy.notes.unanswered)
        messages = whole.messages
        origins = [None if origin is None else origins[origin] for origin in whole.origins]
        ledger = _read(frame, format_, messages, origins, stale_before)
    source = Source(history, origins, len(history), broken)
    return Fitted(messages, format_, ledger, frame.plan(ledger), frame, source=source)


def _read(
    frame: Frame,
    format_: Format,
    messages: list[Message],
    origins: list[int | None],
    stale_before: int,
) -> _core.Ledger:
    pinned = replace(frame, policy=pinned_elsewhere(frame.policy, origins))
    ledger = pinned.ledger(format_, stale_before=stale_elsewhere(stale_before, origins))
    ledger.fill(messages)
    return ledger
