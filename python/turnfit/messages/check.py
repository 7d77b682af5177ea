"""What a provider would refuse in a history."""

from __future__ import annotations

from collections.abc import Iterable

from turnfit.messages.formats import format_of, read_history
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, Problem, as_list

__all__ = ["check"]


def check(messages: Iterable[Message], *, format: str | Format | None = None) -> list[Problem]:
    """What a provider would refuse in these messages; nothing where all is well.

    Args:
        messages: a history or a request, in one of the wire formats.
        format: the format, or its name; recognised from the messages where it is not given.

    Returns:
        The problems in the order of the messages: index, rule, and what is wrong.

    Raises:
        FormatError: if a message can't be read.

    >>> import turnfit as tf
    >>> [problem] = tf.check([{"role": "tool", "tool_call_id": "c1", "content": "42"}])
    >>> problem.index, problem.rule
    (0, 'result-without-call')
    """
    messages = as_list(messages)
    found = format_of(messages, format)
    reading = read_history(found, messages)
    problems = [problem for rule in found.rules for problem in rule(reading)]
    return sorted(problems, key=lambda problem: problem.index)
