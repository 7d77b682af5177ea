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
from itertools import accumulate, groupby, pairwise
from typing import Any

from turnfit.messages.reading import Problem, Reading, Row

__all__ = [
    "blocks_are_not_blank",
    "calls_are_answered_at_once",
    "calls_are_answered_later",
    "calls_are_answered_once",
    "contents_are_there",
    "ids_are_unique",
    "item_ids_are_unique",
    "nothing_is_empty",
    "parts_are_there",
    "reasoning_has_its_item",
    "results_are_the_users",
    "results_come_later",
    "results_have_calls",
    "results_stand_first",
    "roles_alternate",
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
    """The first message behind the system messages is the user's, or a summary of what was before.

    The answer to a request for compaction stands in place of what it replaces
    (https://platform.claude.com/docs/en/build-with-claude/compaction-background).
    """
    for index, role in enumerate(reading.roles):
        if role == "user" or _is_compaction(reading.messages[index]):
            break
        if role != "system":
            return [
                Problem(index, "no-user-first", f"a message of the {role} comes before the user's")
            ]
    return []


def results_come_later(reading: Reading) -> list[Problem]:
    """Every output has its call somewhere before it: "No tool call found for ..."."""
    problems = []
    called: set[str | None] = set()
    held = False
    for row in _rows(reading):
        held = held or row.kind == "reference"
        if row.kind == "call":
            called.add(_label(row))
        elif row.kind == "result" and _label(row) not in called and not held:
            detail = f"the output for {_label(row)!r} has no call before it"
            problems.append(Problem(row.message, "result-without-call", detail))
    return problems


def calls_are_answered_later(reading: Reading) -> list[Problem]:
    """Every call has its output: "No tool output found for ...", unless it is in flight.

    Where ids repeat, an output answers the calls of the newest response that bear it.
    """
    opened: dict[str | None, list[Row]] = {}
    dead: list[Row] = []
    responses = _responses(reading)
    for row in _rows(reading):
        waiting = opened.setdefault(_label(row), [])
        if row.kind == "call":
            if waiting and responses[waiting[-1].message] != responses[row.message]:
                dead += waiting
                waiting.clear()
            waiting.append(row)
        elif row.kind == "result" and waiting:
            waiting.pop(0)
    dead += [row for waiting in opened.values() for row in waiting]
    end = _end_of_response(reading)
    return [
        Problem(row.message, "call-without-result", f"the call {_label(row)!r} has no output")
        for row in dead
        if row.message < end
    ]


def _responses(reading: Reading) -> list[int]:
    """For each item the number of the response that it is of."""
    pairs = zip(["", *reading.roles], reading.roles, strict=False)
    return list(accumulate(not before == role == "assistant" for before, role in pairs))


def _rows(reading: Reading) -> Iterator[Row]:
    return (row for rows in reading.rows for row in rows)


def _end_of_response(reading: Reading) -> int:
    """Where the last response begins, if nothing follows it."""
    end = len(reading.roles)
    while end and reading.roles[end - 1] == "assistant":
        end -= 1
    return end


def reasoning_has_its_item(reading: Reading) -> list[Problem]:
    """'reasoning' was provided without its required following item."""
    problems = []
    for index, item in enumerate(reading.messages):
        if item.get("type") != "reasoning":
            continue
        follower = reading.roles[index + 1] if index + 1 < len(reading.roles) else None
        if follower != "assistant":
            detail = "no item of the same response follows the reasoning"
            problems.append(Problem(index, "reasoning-alone", detail))
    return problems


def item_ids_are_unique(reading: Reading) -> list[Problem]:
    """ "Duplicate item found with id"."""
    problems = []
    seen: set[str] = set()
    for index, item in enumerate(reading.messages):
        id_ = item.get("id")
        if not isinstance(id_, str) or str(item.get("type", "")).endswith("_output"):
            continue
        if id_ in seen:
            detail = f"an earlier item has the id {id_!r} already"
            problems.append(Problem(index, "repeated-id", detail))
        seen.add(id_)
    return problems


def parts_are_there(reading: Reading) -> list[Problem]:
    """No content is without parts."""
    return [
        Problem(index, "empty-content", "the content has no parts")
        for index, content in enumerate(reading.messages)
        if not content.get("parts")
    ]


def roles_alternate(reading: Reading) -> list[Problem]:
    """ "Conversation roles must alternate between user and assistant"."""
    return [
        Problem(index, "same-role", f"a message of the {role} stands behind another one")
        for index, (before, role) in enumerate(pairwise(reading.roles), start=1)
        if role == before
    ]


def blocks_are_not_blank(reading: Reading) -> list[Problem]:
    """No message is without blocks, no text is blank."""
    problems = []
    for index, message in enumerate(reading.messages):
        content = message.get("content")
        if not content:
            problems.append(Problem(index, "empty-content", "the message has no content"))
        elif any(_is_blank(block) for block in content):
            problems.append(Problem(index, "empty-text", "a text block is blank"))
    return problems


def _is_blank(block: Any) -> bool:
    return isinstance(block, dict) and "text" in block and not str(block["text"]).strip()


def _is_compaction(message: Any) -> bool:
    content = message.get("content")
    if not isinstance(content, list):
        return False
    return any(isinstance(block, dict) and block.get("type") == "compaction" for block in content)
