"""Recordings out of files, whatever wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from turnfit.errors import FormatError, HistoryError, TurnfitError
from turnfit.histories import decode, history_of, is_json, kind_of, loads
from turnfit.replay.recordings import Recording
from turnfit.replay.trajectories import KINDS, aider, claude_code, conversation, pairs

__all__ = ["read_recordings"]

_MALFORMED = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)
"""What readers stumble with over what isn't as it must be."""


def read_recordings(data: bytes, name: str) -> list[Recording]:
    r"""The recordings in a file's bytes.

    What is known: a JSON list of messages, a request's body, JSON lines with a message or a
    history a line, saved conversations; Claude Code's sessions, SWE-agent's ``.traj``,
    OpenHands' events, tau-bench's results, Inspect's logs, AgentBench's dialogues, aider's
    chat history, and lines of recorded requests. Which of them it is, the content tells.
    Where the provider has compacted, a recording ends and another begins (see
    `Recording.split`).

    Args:
        data: the file's content, in UTF-8.
        name: what errors and recordings call the file.

    Raises:
        HistoryError: for what holds no history, with what was found and where.

    >>> [found] = read_recordings(b'[{"role": "user", "content": "Hello!"}]', "h.json")
    >>> found.name, found.messages
    ('h.json', [{'role': 'user', 'content': 'Hello!'}])
    >>> [one.name for one in read_recordings(b'{"messages": []}\n{"messages": []}', "h.jsonl")]
    ['h.jsonl[0]', 'h.jsonl[1]']
    """
    text = decode(data, name)
    with _told(name):
        found = [part for one in _read(text, name) for part in one.split()]
    if not found:
        raise HistoryError(f"{name}: holds no history")
    if len(found) == 1:
        return found
    return [
        replace(one, name=one.name.replace(name, f"{name}[{number}]", 1))
        for number, one in enumerate(found)
    ]


@contextmanager
def _told(place: str, kind: str = "a history") -> Iterator[None]:
    """What a reader stumbles over is the file's fault, and is told as such."""
    try:
        yield
    except FormatError as error:
        raise HistoryError(f"{place}: {error}") from error
    except TurnfitError:
        raise
    except _MALFORMED as error:
        raise HistoryError(f"{place}: can't be read as {kind}: {_what(error)}") from error


def _what(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)


def _read(text: str, name: str) -> Iterator[Recording]:
    if aider.is_it(text):
        yield aider.read(text, name)
        return
    rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if rows and is_json(rows[0][1]) and conversation.is_head(head := loads(rows[0][1], name, 1)):
        with _told(name, conversation.TITLE):
            saved = conversation.read(text, head, name)
        yield saved
        return
    if not (len(rows) > 1 and is_json(rows[0][1])):
        yield from _of_value(loads(text, name, 1), name) if rows else ()
        return
    lines = [(f"{name}: line {number}", loads(line, name, number)) for number, line in rows]
    values = [value for _, value in lines]
    if any(map(claude_code.is_row, values)):
        yield from _made(claude_code.read, claude_code.TITLE, values, name)
    elif any(map(pairs.is_row, values)):
        yield from _made(pairs.read, pairs.TITLE, values, name)
    elif all(map(_is_message, values)):
        yield _of_history(values, name)
    else:
        for place, value in lines:
            yield from _of_value(value, place, name)


def _of_value(value: Any, place: str, name: str | None = None) -> Iterator[Recording]:
    """What a document holds: one of the known kinds, or several in a list."""
    name = name or place
    if claude_code.is_row(value):
        yield from _made(claude_code.read, claude_code.TITLE, [value], name, place)
        return
    if pairs.is_row(value):
        yield from _made(pairs.read, pairs.TITLE, [value], name, place)
        return
    for kind in KINDS:
        if kind.is_it(value):
            yield from _made(kind.read, kind.TITLE, value, name, place)
            return
    if isinstance(value, list) and value and all(map(_is_whole, value)):
        for number, one in enumerate(value):
            yield from _of_value(one, f"{place}: entry {number}", name)
        return
    _refuse_tasks(value, place)
    yield _of_history(value, name, place)


def _made(
    read: Callable[[Any, str], Iterable[Recording]],
    title: str,
    value: Any,
    name: str,
    place: str | None = None,
) -> list[Recording]:
    with _told(place or name, title):
        return list(read(value, name))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and bool({"role", "type", "parts"} & set(value))


def _is_whole(value: Any) -> bool:
    """Whether a value holds a history and is no message itself."""
    keys = ("messages", "traj", "history", "request")
    return isinstance(value, dict) and any(isinstance(value.get(key), list) for key in keys)


def _refuse_tasks(value: Any, place: str) -> None:
    """What a benchmark asks is not what an agent did."""
    if isinstance(value, dict) and "role" not in value and {"question", "instruction"} & set(value):
        raise HistoryError(
            f"{place}: a task ({kind_of(value)}), not the history of an agent's work"
        )


def _of_history(value: Any, name: str, place: str | None = None) -> Recording:
    read = history_of(value, place or name)
    model = read.around.get("model") or read.around.get("modelId")
    return Recording(
        name=name,
        messages=read.messages,
        system=read.system,
        tools=read.tools,
        format=read.format,
        model=model if isinstance(model, str) else None,
    )
