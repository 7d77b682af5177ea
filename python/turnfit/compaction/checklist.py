"""Which of the four ways of losing something a record leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from turnfit.compaction.effects import Effects
from turnfit.compaction.facts import FactLog
from turnfit.compaction.presets import CODING
from turnfit.compaction.record import CarryOver, Command, Remaining
from turnfit.messages.contents import Contents, SeenCall, as_json, contents
from turnfit.messages.formats import format_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["Gap", "checklist"]


class Gap(NamedTuple):
    """Something that a record leaves uncovered.

    Attributes:
        case: the record's field that would have to hold it.
        detail: what is missing, for a person.
    """

    case: Literal["workspace", "remaining", "established", "open"]
    detail: str

    def __str__(self) -> str:
        return f"{self.case}: {self.detail}"


def checklist(
    carry_over: CarryOver,
    history: Iterable[Message],
    *,
    effects: Effects = CODING,
    format: str | Format | None = None,
) -> list[Gap]:
    """What of a history a record leaves uncovered, by the four ways of losing something.

    It finds what can be found without a model: files, commands and spending are compared
    with what the history shows; what the user said after the first request must be the
    source of something established; what failed and never succeeded must be open.

    Args:
        carry_over: the record.
        history: the messages that it is to stand for.
        effects: what the agent's tools do.
        format: the history's format; recognised where it is not given.

    >>> history = [{"role": "user", "content": "Fix it."}, {"role": "user", "content": "No tabs!"}]
    >>> [str(gap) for gap in checklist(CarryOver(), history)]
    ["established: nothing comes from the user's message 1"]
    """
    messages = as_list(history)
    found = format_of(messages, format)
    said = [contents(message, found, index) for index, message in enumerate(messages)]
    seen = FactLog(effects, format=found).extend(messages).record()
    return [
        *_workspace(carry_over, seen),
        *_remaining(carry_over, seen),
        *_established(carry_over, said),
        *_open(carry_over, seen, said),
    ]


def _workspace(record: CarryOver, seen: CarryOver) -> Iterator[Gap]:
    known = {file.path: file.state for file in record.workspace.files}
    for file in seen.workspace.files:
        if file.path not in known:
            yield Gap("workspace", f"{file.path} was {file.state}")
        elif known[file.path] != file.state:
            yield Gap("workspace", f"{file.path} is {file.state}, not {known[file.path]}")
    ran = {(command.command, command.exit) for command in record.workspace.commands}
    missing = [c for c in seen.workspace.commands if (c.command, c.exit) not in ran]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        yield Gap("workspace", f"{_short(missing[0].command)} was run{more}")


def _remaining(record: CarryOver, seen: CarryOver) -> Iterator[Gap]:
    known = {item.name: item for item in record.remaining}
    for item in seen.remaining:
        noted = known.get(item.name, Remaining(item.name))
        if noted.spent < item.spent:
            yield Gap("remaining", f"{item.spent:g} {item.name} spent, {noted.spent:g} noted")


def _established(record: CarryOver, said: Sequence[Contents]) -> Iterator[Gap]:
    """The first request stays verbatim; what the user said later has to be established."""
    sources = {source for entry in record.established for source in entry.sources}
    spoken = [i for i, one in enumerate(said) if one.role == "user" and _is_spoken(one)]
    for index in spoken[1:]:
        quoted = any(entry.text in said[index].text for entry in record.established)
        if index not in sources and not quoted:
            yield Gap("established", f"nothing comes from the user's message {index}")
    if len(said) > 1 and not record.established and any(one.results for one in said):
        yield Gap("established", "nothing is established")
    for entry in record.established:
        if entry.kind == "constraint" and not entry.sources:
            yield Gap("established", f"nobody said: {_short(entry.text)}")


def _is_spoken(said: Contents) -> bool:
    text = said.text.strip()
    return bool(text) and not said.results and not text.startswith("[turnfit:")


def _open(record: CarryOver, seen: CarryOver, said: Sequence[Contents]) -> Iterator[Gap]:
    noted = "\n".join(entry.text for entry in record.open).casefold()
    last: dict[str, Command] = {command.command: command for command in seen.workspace.commands}
    for command in last.values():
        if command.exit and not _is_mentioned(command.command, noted):
            yield Gap("open", f"{_short(command.command)} ended with status {command.exit}")
    for call, text in _failed(said):
        if call.arguments.get("command") not in last and not _is_mentioned(call.name, noted):
            yield Gap("open", f"{call.name} failed: {_short(text)}")


def _failed(said: Sequence[Contents]) -> Iterator[tuple[SeenCall, str]]:
    """Calls that failed, and did not succeed when they were made again."""
    waiting: dict[str | None, SeenCall] = {}
    failed: dict[str, tuple[SeenCall, str]] = {}
    for one in said:
        waiting.update((call.id, call) for call in one.calls)
        for result in one.results:
            call = waiting.get(result.id)
            if call is not None:
                key = f"{call.name} {as_json(call.arguments)}"
                failed.pop(key, None)
                if result.is_error:
                    failed[key] = (call, result.text)
    yield from failed.values()


def _is_mentioned(command: str, noted: str) -> bool:
    words = (word.strip("\"'").casefold() for word in command.split())
    return any(len(word) > 3 and word in noted for word in words)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]}..."
