"""Agent histories in OpenAI's chat shape, generated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, count, islice
from random import Random
from typing import Any, TypeAlias

from benches.texts import text

__all__ = ["HISTORIES", "Message", "short_history", "short_rounds"]

Message: TypeAlias = dict[str, Any]

_CHARACTERS_PER_TOKEN = {"English": 4, "Russian": 2, "Chinese": 1, "Hindi": 2, "source code": 4}
_SOURCE_BYTES = 400_000


def _result_text(random: Random) -> str:
    """Some hundred tokens to some thousand; every one a string of its own."""
    kind = random.choice(list(_CHARACTERS_PER_TOKEN))
    tokens = int(300 * 10 ** random.random())
    source = text(kind, _SOURCE_BYTES)
    length = tokens * _CHARACTERS_PER_TOKEN[kind]
    start = random.randrange(len(source) - length)
    return source[start : start + length]


def _round(number: int, content: str) -> tuple[Message, Message]:
    call_id = f"call_{number}"
    arguments = json.dumps({"path": f"src/module_{number}.py", "limit": 400})
    function = {"name": "read_file", "arguments": arguments}
    call = {"id": call_id, "type": "function", "function": function}
    return (
        {"role": "assistant", "content": "I read the next file.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": content},
    )


def _opening() -> list[Message]:
    return [
        {"role": "system", "content": "You work through a repository with your tools."},
        {"role": "user", "content": "Read all modules and tell me which of them are dead."},
    ]


def _rounds(random: Random) -> Iterator[Message]:
    yield from _opening()
    for number in count():
        yield from _round(number, _result_text(random))


def _turns(random: Random) -> Iterator[Message]:
    yield _opening()[0]
    for number in count():
        yield {"role": "user", "content": f"Now module {number}, please. Is anything odd in it?"}
        yield from _round(number, _result_text(random))
        yield {"role": "assistant", "content": text("English", 600, seed=number % 50)}


@cache
def _history(turns: bool, messages: int) -> list[Message]:
    source = _turns if turns else _rounds
    return list(islice(source(Random(messages)), messages))


def one_user_message(messages: int) -> list[Message]:
    return _history(False, messages)


def many_user_turns(messages: int) -> list[Message]:
    return _history(True, messages)


HISTORIES: dict[str, Callable[[int], list[Message]]] = {
    "one user message": one_user_message,
    "many user turns": many_user_turns,
}


def short_rounds() -> Iterator[tuple[Message, Message]]:
    """Rounds without end, whose texts are short: what grows is their number."""
    contents = [text(kind, 800, seed) for kind in _CHARACTERS_PER_TOKEN for seed in range(20)]
    return (_round(number, contents[number % len(contents)]) for number in count())


def short_history(messages: int) -> list[Message]:
    return list(islice(chain(_opening(), chain.from_iterable(short_rounds())), messages))
