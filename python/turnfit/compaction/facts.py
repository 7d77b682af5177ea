"""The half of a record that costs nothing: collected from calls and results."""

from __future__ import annotations

from collections.abc import Iterable

from turnfit.compaction.effects import Effects
from turnfit.compaction.happenings import Happening, Watch, directories
from turnfit.compaction.presets import CODING
from turnfit.compaction.record import (
    CarryOver,
    Command,
    FileState,
    Remaining,
    State,
    Workspace,
)
from turnfit.messages.contents import contents
from turnfit.messages.formats import PLAIN, format_named, recognise
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["CALLS", "FactLog"]

CALLS = "tool calls"
"""The resource that is counted in any case."""

_STATE: dict[str, State] = {"write": "written", "create": "created", "delete": "deleted"}


class FactLog:
    """Collects what happened from messages, deterministically and without a model.

    Args:
        effects: what the agent's tools do; the presets of all coding agents by default.
        cwd: the working directory in which relative paths begin, if it is known.
        since: the record of earlier work, whose totals go on.
        format: the wire format, or its name; recognised from the messages where not given.

    >>> log = FactLog()
    >>> arguments = {"file_path": "/repo/a.py", "content": "x = 1"}
    >>> call = {"type": "tool_use", "id": "t1", "name": "Write", "input": arguments}
    >>> log.observe({"role": "assistant", "content": [call]})
    >>> done = {"type": "tool_result", "tool_use_id": "t1", "content": "File created successfully"}
    >>> log.observe({"role": "user", "content": [done]})
    >>> [(file.path, file.state) for file in log.record().workspace.files]
    [('/repo/a.py', 'created')]
    """

    def __init__(
        self,
        effects: Effects = CODING,
        *,
        cwd: str = "",
        since: CarryOver | None = None,
        format: str | Format | None = None,
    ) -> None:
        self._watch = Watch(effects, cwd, reads=False)
        self._since = since or CarryOver()
        self._format = format_named(format) if format is not None else None
        self._files: dict[str, FileState] = {}
        self._commands: list[Command] = []
        self._spent = {item.name: item.spent for item in self._since.remaining}
        self._left: dict[str, float] = {}
        self._seen = 0

    def __len__(self) -> int:
        """The number of messages observed."""
        return self._seen

    def observe(self, message: Message) -> None:
        """Take a message of the history, in their order.

        Raises:
            FormatError: if it can't be read; then nothing has been taken.
        """
        if self._format is None:
            self._format = recognise([message])
        said = contents(message, self._format or PLAIN, self._seen)
        for happening in self._watch.observe(said, self._seen):
            self._take(happening)
        self._seen += 1

    def extend(self, messages: Iterable[Message]) -> FactLog:
        """Take several messages; gives itself."""
        for message in as_list(messages):
            self.observe(message)
        return self

    def _take(self, happening: Happening) -> None:
        match happening.what:
            case "call":
                self.spend(CALLS, 1)
            case "run":
                ran = Command(happening.subject, happening.exit, happening.at)
                self._commands.append(ran)
            case "write" | "create" | "delete" as what:
                self._change(happening, _STATE[what])
            case "spend":
                self.spend(happening.subject, happening.amount)

    def _change(self, happening: Happening, state: State) -> None:
        path = happening.subject
        if state != "deleted":
            # What is written into a directory that was deleted brings it back.
            for above in directories(path):
                if above in self._files and self._files[above].state == "deleted":
                    self._put(FileState(above, "written"))
        self._put(FileState(path, state, happening.digest, happening.size))

    def _put(self, change: FileState) -> None:
        path = change.path
        before = self._files.pop(path, None)
        self._files[path] = change if before is None else before.then(change)

    def spend(self, name: str, amount: float = 0, *, left: float | None = None) -> None:
        """Note what only the host knows: tokens, seconds or money spent, and what is left.

        >>> log = FactLog()
        >>> log.spend("USD", 0.25, left=4.75)
        >>> log.record().remaining
        (Remaining(name='USD', left=4.75, spent=0.25),)
        """
        self._spent[name] = self._spent.get(name, 0) + amount
        if left is not None:
            self._left[name] = left

    def record(self) -> CarryOver:
        """All that has been collected, as the record of a compaction."""
        collected = CarryOver(
            workspace=Workspace(tuple(self._files.values()), tuple(self._commands)),
            remaining=tuple(
                Remaining(name, self._left.get(name), spent) for name, spent in self._spent.items()
            ),
        )
        return self._since.merge(collected)
