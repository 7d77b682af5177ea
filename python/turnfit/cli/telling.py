"""What fitting did, in a few lines on stderr."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import click

from turnfit.cli.group import complain
from turnfit.cli.printing import printable
from turnfit.fitting.fit import fit
from turnfit.fitting.fitted import Cleared, Fitted
from turnfit.fitting.policy import Policy
from turnfit.histories import History

__all__ = ["problems_line", "span", "tell"]

_TOOLS_NAMED = 4
_GAPS_NAMED = 5


_ALL = 1 << 53
"""A budget that nothing is over."""


def tell(history: History, fitted: Fitted, policy: Policy, format: str | None) -> None:
    """Say on stderr what was cleared and dropped, and the tokens before and after."""
    unfitted = fit(
        history.messages,
        replace(policy, budget=_ALL, window=None),
        system=history.system,
        tools=history.tools,
        format=format,
    )
    complain(_outcome(unfitted.tokens, fitted))
    if policy.model is not None:
        click.echo(f"  priced for {printable(policy.model)}", err=True)
    for line in _details(fitted):
        click.echo(f"  {line}", err=True)


def _outcome(before: int, fitted: Fitted) -> str:
    count = f"{before:,} tokens"
    if fitted.step != "whole":
        count += f" became {fitted.tokens:,}"
    if fitted.fits:
        whole = ": sent whole" if fitted.step == "whole" else ""
        return f"{count}, within the budget of {fitted.budget:,}{whole}"
    return f"{count}, over the budget of {fitted.budget:,} by {fitted.over:,}"


def _details(fitted: Fitted) -> Iterator[str]:
    largest = None if fitted.fits else fitted.largest
    if largest is not None:
        where = f"message {largest.index} of the request"
        yield f"largest: {where} ({largest.role}, {largest.tokens:,} tokens)"
    if fitted.cleared:
        yield f"cleared: {_cleared(fitted.cleared)}"
    if fitted.dropped:
        yield f"dropped: {_dropped(fitted)}"
    yield from problems_line(fitted)


def problems_line(fitted: Fitted) -> Iterator[str]:
    """That the history has problems, if it has any."""
    if fitted.problems:
        many = _plural(len(fitted.problems), "problem")
        yield f"problems: a provider may refuse this history ({many}; see turnfit check)"


def _cleared(cleared: tuple[Cleared, ...]) -> str:
    tools = Counter(row.tool or "?" for row in cleared)
    names = [f"{printable(tool)} {count:,}" for tool, count in tools.most_common(_TOOLS_NAMED)]
    more = ", ..." if len(tools) > _TOOLS_NAMED else ""
    freed = sum(row.tokens for row in cleared)
    return f"{_plural(len(cleared), 'tool result')}, {freed:,} tokens ({', '.join(names)}{more})"


def _dropped(fitted: Fitted) -> str:
    gaps = ", ".join(map(span, fitted.dropped[:_GAPS_NAMED]))
    more = ", ..." if len(fitted.dropped) > _GAPS_NAMED else ""
    return f"{_plural(sum(map(len, fitted.dropped)), 'message')} ({gaps}{more})"


def _plural(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def span(indices: range) -> str:
    """A range of messages, as a person writes it."""
    return str(indices.start) if len(indices) == 1 else f"{indices.start}-{indices.stop - 1}"
