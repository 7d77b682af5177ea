"""What every integration does: a policy in, a `Fitted` out, and it is told to whoever watches."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from turnfit.errors import BudgetError
from turnfit.fitting.fit import fit
from turnfit.fitting.fitted import Fitted
from turnfit.fitting.policy import Policy
from turnfit.integrations import telemetry
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["Choice", "Fitter"]

Choice: TypeAlias = Policy | Callable[[str], Policy]
"""One policy for all models, or a function from a model's name to its policy."""


class Fitter:
    """Fits requests for a framework, and tells what was done.

    It is told in three ways, none of which can make a model call fail:

    - a logger, ``turnfit.integrations.`` and the framework's name: a request sent whole at
      DEBUG, a changed one at INFO, one over its budget at WARNING. The record's ``turnfit``
      has the figures of `Fitted.as_dict`, without any text of a message;
    - `on_fitted`, with the `Fitted`;
    - where the extra ``otel`` is installed, the current OpenTelemetry span and metrics.

    A fitter keeps nothing between calls: agents, threads and tasks may share one.

    Args:
        framework: the framework's name, for the logger and for telemetry.
        policy: how to fit; or a function from the model's name to the policy, where
            several models, with windows of their own, are called through one framework.
            The name is empty where the framework doesn't tell it.
        on_fitted: called with each `Fitted`, before the model is; a plain function.
        repair: as in `turnfit.fit`.

    >>> import turnfit as tf
    >>> seen = []
    >>> fitter = Fitter("mine", tf.Policy(budget=1000), on_fitted=seen.append)
    >>> fitted = fitter.fit([{"role": "user", "content": "Count to three."}])
    >>> fitted is seen[0], fitted.tokens
    (True, 10)
    """

    def __init__(
        self,
        framework: str,
        policy: Choice,
        *,
        on_fitted: Callable[[Fitted], object] | None = None,
        repair: bool = False,
    ) -> None:
        if not isinstance(policy, Policy) and not callable(policy):
            raise TypeError(
                f"policy must be a Policy or a function from a model's name to one, "
                f"not {type(policy).__name__}"
            )
        if inspect.iscoroutinefunction(on_fitted):
            raise TypeError("on_fitted must be a plain function, not an async one")
        self.framework = framework
        self._policy = policy
        self._on_fitted = on_fitted
        self._repair = repair
        self._log = logging.getLogger(f"turnfit.integrations.{framework}")

    def policy(self, model: str | None = None) -> Policy:
        """The policy for a model.

        Raises:
            TypeError: if the function that was given as policy gave none.
        """
        if isinstance(self._policy, Policy):
            return self._policy
        chosen = self._policy(model or "")
        if not isinstance(chosen, Policy):
            raise TypeError(
                f"the policy for the model {model!r} must be a Policy, not {type(chosen).__name__}"
            )
        return chosen

    def fit(
        self,
        messages: Iterable[Message],
        *,
        model: str | None = None,
        system: Any = None,
        tools: Any = None,
        format: str | Format | None = None,
        pinned: Collection[int] = (),
    ) -> Fitted:
        """Fit a request, and tell what was done.

        A request over its budget is sent all the same, with a warning in the log, because a
        budget is below the window; but one that is over the window too would be refused.

        Args:
            messages: the history, as in `turnfit.fit`, like `system`, `tools` and `format`.
            model: the model's name, where the framework knows it.
            pinned: messages that must stay besides those of the policy.

        Raises:
            FormatError: if a message can't be read.
            BudgetError: if the budget has no room for any message, or if the request can't
                be brought into the policy's window.
        """
        history = as_list(messages)
        policy = _pinning(self.policy(model), pinned, history)
        fitted = fit(
            history, policy, system=system, tools=tools, format=format, repair=self._repair
        )
        self._tell(fitted, model)
        if not fitted.fits and not fitted.sendable:
            raise _too_large(fitted, policy)
        return fitted

    def _tell(self, fitted: Fitted, model: str | None) -> None:
        figures = {"framework": self.framework, **fitted.as_dict()}
        self._safely(self._write, fitted, figures)
        self._safely(telemetry.record, figures, model)
        if self._on_fitted is not None:
            self._safely(self._on_fitted, fitted)

    def _safely(self, tell: Callable[..., object], *what: Any) -> None:
        """Who watches must not stop the work."""
        try:
            tell(*what)
        except Exception:
            with suppress(Exception):
                self._log.exception("telling of a fitted request failed")

    def _write(self, fitted: Fitted, figures: dict[str, Any]) -> None:
        changed = fitted.step != "whole" or fitted.first_changed is not None
        level = logging.INFO if changed else logging.DEBUG
        level = level if fitted.fits and fitted.sendable else logging.WARNING
        self._log.log(level, "%s", fitted, extra={"turnfit": figures})


def _pinning(policy: Policy, more: Collection[int], history: list[Message]) -> Policy:
    """The policy, with more messages pinned."""
    if not more:
        return policy
    before = policy.pinned
    if callable(before):
        before = [at for at, message in enumerate(history) if before(message)]
    return replace(policy, pinned={*before, *more})


def _too_large(fitted: Fitted, policy: Policy) -> BudgetError:
    largest = fitted.largest
    named = f"; message {largest.index} alone takes {largest.tokens:,}" if largest else ""
    return BudgetError(
        f"the request can't be brought below {fitted.tokens:,} tokens, and with "
        f"{policy.output:,} for the answer that is over the window of {policy.window:,}{named}",
        {"request": fitted.tokens, "output": policy.output},
    )
