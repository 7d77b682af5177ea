"""Proves a wire format of one's own: hypothesis strategies for histories, and `check_format`.

It needs hypothesis, which the extra ``test`` brings.

>>> import turnfit as tf
>>> from turnfit.testing import check_format
>>> check_format("turnfit", lambda message: [message], examples=10)
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from turnfit import _core
from turnfit.fitting.conversation import Conversation
from turnfit.fitting.fit import fit
from turnfit.fitting.fitted import Fitted
from turnfit.fitting.policy import Policy
from turnfit.messages.estimate import estimate_message, estimate_request
from turnfit.messages.formats import format_named, table_of
from turnfit.messages.formats.table import Format
from turnfit.messages.native import Call, Message, Result

try:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "for turnfit.testing: pip install 'turnfit[test]'", name=error.name
    ) from error

__all__ = ["Write", "check_format", "native_histories"]

Write = Callable[[Message], Sequence[Any]]
"""From one of turnfit's own messages to the messages of a format that say the same."""

_TOOLS = ("read", "bash", "mail")


def native_histories() -> st.SearchStrategy[list[Message]]:
    """Histories in turnfit's own messages, as real ones go wrong.

    Calls come alone and side by side, in flight, unanswered and answered late or twice;
    ids are unique, or restart with every turn.

    >>> from hypothesis import find
    >>> found = find(native_histories(), lambda h: any(message.role == "tool" for message in h))
    >>> len(found) > 2
    True
    """
    return _histories()


@st.composite
def _histories(draw: Any) -> list[Message]:
    restarts = draw(st.booleans())
    messages = [Message("system", "Be brief.")] * draw(st.integers(0, 1))
    count = 0
    for _ in range(draw(st.integers(1, 4))):
        messages.append(Message("user", draw(_texts(40))))
        count = 0 if restarts else count
        for _ in range(draw(st.integers(0, 4))):
            ids = [f"c{count + number}" for number in range(draw(st.integers(1, 3)))]
            count += len(ids)
            messages += draw(_rounds(ids))
        messages.append(Message("assistant", draw(_texts(40))))
    return messages[: draw(st.integers(1, len(messages)))]


@st.composite
def _rounds(draw: Any, ids: list[str]) -> list[Message]:
    calls = [Call(id_, draw(st.sampled_from(_TOOLS)), {"text": draw(_texts(200))}) for id_ in ids]
    results = [Result(id_, draw(_texts(2_000))) for id_ in draw(_answered(ids))]
    asked = Message("assistant", draw(_texts(40)), *calls)
    return [asked, *(Message("tool", result) for result in results)]


def _answered(ids: list[str]) -> st.SearchStrategy[list[str]]:
    """Mostly each once; now and then some of them, or one twice."""
    some = st.lists(st.sampled_from(ids), max_size=len(ids) + 1)
    return st.one_of(st.just(ids), st.just(ids), st.just(ids[::-1]), some)


def _texts(longest: int) -> st.SearchStrategy[str]:
    units = st.sampled_from(["word ", "слово ", "字", "{}"])
    repeats = st.integers(1, max(1, longest // 5))
    return st.builds(lambda unit, count: unit * count, units, repeats)


def check_format(format: str | Format, write: Write, *, examples: int = 100) -> None:
    """Whether histories of a format can be read, fitted and rewritten as they must be.

    On generated histories at many budgets:

    - a note costs what its wording costs;
    - every message can be read, its calls and results with their ids (or all without);
    - the history is equal before and after;
    - where all fits, the request holds the very objects;
    - the request costs what was reckoned;
    - no result loses its call, no call its result;
    - the request can be fitted again, and stays as it is;
    - a `Conversation` gives the same.

    Args:
        format: the format, or its name.
        write: from one of turnfit's own messages to the messages that say the same.
        examples: how many histories are tried.

    Raises:
        AssertionError: with the smallest history found that breaks one of these.
    """
    found = format_named(format)
    _check_note(found)

    @settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(native_histories(), st.integers(1, 20), st.booleans())
    def prove(native: list[Message], share: int, inputs: bool) -> None:
        history = [made for message in native for made in write(message)]
        _check_rows(_rows_of("turnfit", native), _rows_of(found, history))
        _check_history(found, history, share, inputs)

    prove()


def _check_note(format_: Format) -> None:
    wording = Policy(budget=1).notes.trimmed
    plain = estimate_message({"role": "user", "content": wording}, format="openai-chat")
    note = estimate_message(format_.note(wording), format=format_)
    assert note == plain, f"a note must cost what its wording costs: {plain} tokens, not {note}"


def _rows_of(format: str | Format, messages: Sequence[Any]) -> list[tuple[str, str | None]]:
    """The calls and results of a history: kinds and ids."""
    table = table_of(format_named(format))
    read = (_core.read_message(table, at, message)[2] for at, message in enumerate(messages))
    return [row[:2] for rows in read for row in rows]


def _check_rows(native: Sequence[tuple[str, Any]], read: Sequence[tuple[str, Any]]) -> None:
    kinds, wanted = [kind for kind, _ in read], [kind for kind, _ in native]
    assert kinds == wanted, f"calls and results were read as {kinds}, written were {wanted}"
    ids = [id_ for _, id_ in read]
    if any(id_ is not None for id_ in ids):
        known = [id_ for _, id_ in native]
        assert ids == known, f"their ids were read as {ids}, written were {known}"


def _check_history(format_: Format, history: list[Any], share: int, inputs: bool) -> None:
    before = copy.deepcopy(history)
    whole = estimate_request(history, format=format_)
    policy = Policy(budget=max(3, whole * share // 20), clear_tool_inputs=inputs, clear_batch=1)
    fitted = fit(history, policy, format=format_)
    assert fitted.messages is not history
    _same(history, before, "the history was changed")
    _check_whole(format_, history, whole)
    _check_cost(format_, fitted)
    _check_pairs(format_, history, fitted)
    again = fit(fitted.messages, policy, format=format_)
    _same(again.messages, fitted.messages, "fitting the request again changed it")
    conversation = Conversation(policy, format=format_)
    conversation.extend(history)
    _same(conversation.fit().messages, fitted.messages, "a Conversation gives another request")


def _check_whole(format_: Format, history: list[Any], whole: int) -> None:
    request = fit(history, budget=whole, format=format_).messages
    if format_.join is None:
        shared = all(a is b for a, b in zip(request, history, strict=True))
        assert shared, "where all fits, the request must hold the history's own objects"


def _check_cost(format_: Format, fitted: Fitted) -> None:
    sent = estimate_request(fitted.messages, format=format_)
    if format_.join is None:
        assert sent == fitted.tokens, (
            f"the request was reckoned to cost {fitted.tokens} tokens and costs {sent}: "
            "does a note cost what its wording costs?"
        )


def _check_pairs(format_: Format, history: list[Any], fitted: Fitted) -> None:
    came, sent = _unpaired(format_, history), _unpaired(format_, fitted.messages)
    lost = sent - came
    assert not lost, f"calls and results were parted: {dict(lost)}"


def _unpaired(format_: Format, messages: list[Any]) -> Counter[tuple[str, str | None]]:
    """Calls without a result and results without a call, by kind and id."""
    ledger = fit(messages, budget=2**40, format=format_)._ledger
    unpaired: Counter[tuple[str, str | None]] = Counter()
    for message, place in [*ledger.dead_calls(), *ledger.orphans()]:
        rows = _core.read_message(table_of(format_), message, messages[message])[2]
        unpaired[rows[place][0], rows[place][1]] += 1
    return unpaired


def _same(one: list[Any], other: list[Any], what: str) -> None:
    assert one == other, what
