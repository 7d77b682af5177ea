"""What providers refuse in a history. Each format names the rules that hold for it.

Sources: OpenAI, "An assistant message with 'tool_calls' must be followed by tool
messages responding to each 'tool_call_id'"
(https://platform.openai.com/docs/guides/function-calling); Anthropic, "Tool result
blocks must immediately follow their corresponding tool use blocks" and "must come
first in the content array"
(https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from turnfit.messages.reading import Problem, Reading, Row

__all__ = [
    "calls_are_answered_at_once",
    "calls_are_answered_once",
    "contents_are_there",
    "ids_are_unique",
    "nothing_is_empty",
    "results_are_the_users",
    "results_have_calls",
    "results_stand_first",
    "starts_with_a_user_message",
]


def _label(row: Row) -> str | None:
    """What pairs a call with its result: the id, or the name where there is none."""
    return row.id if row.id is not None else row.name


def _groups(reading: Reading) -> Iterator[list[Row]]:
    """The rows of each message; neighbours of one role are one where the provider merges them."""
    key = reading.roles.__getitem__ if reading.merges else lambda index: index
    for _, indices in groupby(range(len(reading.roles)), key=key):
        yield [row for index in indices for row in reading.rows[index]]


def _exchanges(reading: Reading) -> Iterator[tuple[list[Row], list[Row]]]:
    """A message's calls, with the results in it and right behind it.

    Results that follow no call come with an empty list of calls.
    """
    calls: list[Row] = []
    results: list[Row] = []
    for rows in _groups(reading):
        first_call = next((i for i, row in enumerate(rows) if row.kind == "call"), len(rows))
        results += rows[:first_call]
        if first_call < len(rows) or not rows:
            yield calls, results
            calls = [row for row in rows if row.kind == "call"]
            results = [row for row in rows[first_call:] if row.kind == "result"]
    yield calls, results


def results_have_calls(reading: Reading) -> list[Problem]:
    """Every result answers a call of the message that it follows.

    What the provider runs it may answer later, as long as the call comes first.
    """
    problems = []
    before: set[str | None] = set()
    for calls, results in _exchanges(reading):
        labels = {_label(call) for call in calls}
        before |= labels
        problems += [
            Problem(
                row.message,
                "result-without-call",
                f"the result of {_label(row)!r} answers no call of the message that it follows",
            )
            for row in results
            if _label(row) not in (before if row.by_provider else labels)
        ]
    return problems


def calls_are_answered_at_once(reading: Reading) -> list[Problem]:
    """Every call is answered in the messages right behind it, unless it is still in flight."""
    problems = []
    end = _end(reading)
    for calls, results in _exchanges(reading):
        answers = Counter(_label(row) for row in results)
        for call in calls:
            if call.by_provider:
                continue
            if answers[_label(call)] > 0:
                answers[_label(call)] -= 1
            elif call.message < end:
                problems.append(
                    Problem(
                        call.message,
                        "call-without-result",
                        f"the call {_label(call)!r} has no result right behind it",
                    )
                )
    return problems


def _end(reading: Reading) -> int:
    """The first message behind which nothing follows but calls in flight."""
    end = len(reading.roles)
    while end and reading.roles[end - 1] == "assistant" and reading.rows[end - 1]:
        end -= 1
    return end


def calls_are_answered_once(reading: Reading) -> list[Problem]:
    """No call has two results."""
    problems = []
    for calls, results in _exchanges(reading):
        allowed = Counter(map(_label, calls))
        for row in results:
            allowed[_label(row)] -= 1
            if allowed[_label(row)] == -1 and _label(row) in set(map(_label, calls)):
                detail = f"the call {_label(row)!r} has more than one result"
                problems.append(Problem(row.message, "result-twice", detail))
    return problems


def ids_are_unique(reading: Reading) -> list[Problem]:
    """No two calls share an id."""
    seen: set[str] = set()
    problems = []
    for row in (row for rows in reading.rows for row in rows if row.kind == "call"):
        if row.id is not None and row.id in seen:
            detail = f"an earlier call has the id {row.id!r} already"
            problems.append(Problem(row.message, "repeated-id", detail))
        seen.add(row.id or "")
    return problems


def results_are_the_users(reading: Reading) -> list[Problem]:
    """A call stands in the assistant's message, its result in the user's."""
    wanted = {"call": "assistant", "result": "user"}
    return [
        Problem(row.message, "wrong-role", f"a {row.kind} stands in a message of the {role}")
        for role, rows in zip(reading.roles, reading.rows, strict=True)
        for row in rows
        if not row.by_provider and role != wanted[row.kind]
    ]


def contents_are_there(reading: Reading) -> list[Problem]:
    """Only with calls may a message do without content, and no list of calls is empty."""
    problems = []
    for index, message in enumerate(reading.messages):
        calls = message.get("tool_calls")
        if calls == []:
            problems.append(Problem(index, "empty-calls", "tool_calls is an empty list"))
        has_more = calls or message.get("function_call") or message.get("refusal")
        if message.get("content") is None and not (has_more or message.get("audio")):
            problems.append(Problem(index, "no-content", "the message has no content"))
    return problems


def results_stand_first(reading: Reading) -> list[Problem]:
    """In a user message, tool results stand before anything else."""
    return [
        Problem(index, "result-behind-text", "a tool_result stands behind other content")
        for index, message in enumerate(reading.messages)
        if reading.roles[index] == "user" and _stands_behind(message.get("content"))
    ]


def _stands_behind(content: Any) -> bool:
    if not isinstance(content, list):
        return False
    kinds = [block.get("type") for block in content if isinstance(block, dict)]
    after_other = kinds[next((i for i, kind in enumerate(kinds) if kind != "tool_result"), 0) :]
    return after_other[:1] != ["tool_result"] and "tool_result" in after_other


def nothing_is_empty(reading: Reading) -> list[Problem]:
    """No message is without content, but the last of the assistant; no text is blank."""
    problems = []
    last = len(reading.messages) - 1
    for index, message in enumerate(reading.messages):
        content = message.get("content")
        if not content and not (index == last and reading.roles[index] == "assistant"):
            problems.append(Problem(index, "empty-content", "the message has no content"))
        elif isinstance(content, list) and any(map(_is_empty_text, content)):
            problems.append(Problem(index, "empty-text", "a text block is blank"))
    return problems


def _is_empty_text(block: Any) -> bool:
    if not isinstance(block, dict) or block.get("type") != "text":
        return False
    return not str(block.get("text") or "").strip()


def starts_with_a_user_message(reading: Reading) -> list[Problem]:
    """The first message behind the system messages is the user's."""
    for index, role in enumerate(reading.roles):
        if role == "user":
            break
        if role != "system":
            return [
                Problem(index, "no-user-first", f"a message of the {role} comes before the user's")
            ]
    return []
