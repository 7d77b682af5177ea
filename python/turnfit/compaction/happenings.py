"""What happened in a history: what was read, written, run, asked, in order.

One pass, a message at a time. Both the record of a compaction and the measure of what
it lost are made from this.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from turnfit.compaction.effects import NEVER, Effect, Effects
from turnfit.compaction.shell import ShellEffect, parse_shell
from turnfit.messages.contents import Contents, SeenCall, SeenResult, as_json

__all__ = ["Happening", "Watch", "digest_of", "directories", "normal_path"]

What: TypeAlias = Literal["call", "read", "write", "create", "delete", "run", "spend", "ask"]


class Happening(NamedTuple):
    """Something that a message tells has happened.

    Attributes:
        what: ``call`` comes first for every call that was answered.
        subject: a normal path, a command, a question, what is spent, a tool's name.
        at: the index of the message that called.
        seen: the index of the message that told of the outcome.
        part: of a read: which part of the file.
        digest: of a write: of the whole new content, where the call tells it.
        size: of a write: the content's bytes in UTF-8.
        exit: of a run: its status, where it is told.
        amount: of a spending.
        back: of a read or call: the text that came back.
        arguments: of a call.
    """

    what: What
    subject: str
    at: int
    seen: int
    part: str = ""
    digest: str | None = None
    size: int | None = None
    exit: int | None = None
    amount: float = 0
    back: str = ""
    arguments: Mapping[str, Any] = {}


def digest_of(text: str) -> str:
    """A short digest of a text: 64 bits of its BLAKE2b.

    >>> digest_of("Hello!")
    'blake2b:a3622f16431be30a'
    """
    data = text.encode("utf-8", "surrogatepass")
    return f"blake2b:{hashlib.blake2b(data, digest_size=8).hexdigest()}"


def normal_path(path: str, cwd: str = "") -> str:
    """A path so that the same file has the same.

    >>> normal_path("./src/../a.py", "/repo"), normal_path("C:\\\\x\\\\y.py")
    ('/repo/a.py', 'c:/x/y.py')
    """
    if path[1:2] == ":" and re.match(r"[A-Za-z]:[\\/]", path):
        return posixpath.normpath(path.replace("\\", "/")).lower()
    return posixpath.normpath(posixpath.join(cwd, path)) if path else ""


_STATUS = re.compile(
    r"\bexit(?:ed)?(?: with)?[ _](?:code|status)[\": ]+(-?\d+)", flags=re.IGNORECASE
)
_EDGE = 240
"""Tools tell the status at the start or at the end of what they print."""


_PLACE = 1_000
"""A prompt stands at the end of what was printed."""


def directories(path: str) -> Iterator[str]:
    """The directories above a normal path, from the nearest up.

    >>> list(directories("/a/b/c"))
    ['/a/b', '/a']
    """
    while (end := path.rfind("/")) > 0:
        path = path[:end]
        yield path


def _status_in(text: str) -> int | None:
    found = _STATUS.search(text[:_EDGE]) or _STATUS.search(text[-_EDGE:])
    return int(found[1]) if found else None


class Watch:
    """Looks at messages in order and tells what happened.

    Args:
        effects: what the tools do.
        cwd: where relative paths begin, if it is known.
        reads: whether reads are told; whoever has no use for them needn't wait for them.
    """

    def __init__(self, effects: Effects, cwd: str = "", *, reads: bool = True) -> None:
        self.effects = effects
        self.cwd = cwd
        self.open = ""
        self._reads = reads
        self._tools = {
            name: own
            for name, own in effects.tools.items()
            if reads or any(effect.kind != "reads" for effect in own)
        }
        self._waiting: dict[str | None, list[tuple[int, SeenCall]]] = {}
        self._in_words: list[tuple[int, SeenCall]] = []
        self._happened: list[Happening] = []

    def observe(self, said: Contents, index: int) -> list[Happening]:
        """What the message of this index tells."""
        happened: list[Happening] = []
        self._happened = happened
        if self._in_words and said.role == "user":
            self._answer_words(said.text, index)
        for call in said.calls:
            self._waiting.setdefault(call.id, []).append((index, call))
        for result in said.results:
            self._answered(result, index)
        if said.role == "assistant" and self.effects.words is not None and not said.calls:
            self._words(said, index)
        return happened

    def _answered(self, result: SeenResult, index: int) -> None:
        """The newest call that bears the result's id; without ids, the first of its name."""
        if result.id is not None:
            calls = self._waiting.pop(result.id, None)
            if calls:
                self._outcome(*calls[-1], result, index)
            return
        calls = self._waiting.get(None)
        if not calls:
            return
        named = (i for i, (_, call) in enumerate(calls) if result.name in (None, call.name))
        self._outcome(*calls.pop(next(named, 0)), result, index)

    def _words(self, said: Contents, index: int) -> None:
        assert self.effects.words is not None
        calls = [(index, call) for call in self.effects.words(said.text)]
        if self.effects.answered:
            self._in_words = calls
            return
        for at, call in calls:
            self._outcome(at, call, SeenResult(None, None, "", False), index)

    def _answer_words(self, text: str, index: int) -> None:
        calls, self._in_words = self._in_words, []
        for at, call in calls:
            self._outcome(at, call, SeenResult(None, None, text, False), index)

    def _outcome(self, at: int, call: SeenCall, result: SeenResult, seen: int) -> None:
        text, effects = result.text, self.effects
        # By position: naming the fields would take half as long again.
        told = ("call", call.name, at, seen, "", None, None, None, 0, text, call.arguments)
        self._happened.append(Happening._make(told))
        place = None
        if effects.place is not NEVER:
            place = effects.place.search(text, max(0, len(text) - _PLACE))
        if place and not self.cwd:
            # Nothing told it before the call; few calls change it.
            self._go_to(place)
        own = self._tools.get(call.name)
        if own:
            failed = result.is_error or (
                effects.failed is not NEVER and bool(effects.failed.search(text))
            )
            for effect in _holding(own, call.arguments):
                self._effect(effect, call, result, failed, at, seen)
        if place:
            self._go_to(place)

    def _go_to(self, place: re.Match[str]) -> None:
        self.cwd = place["cwd"]
        self.open = "" if place["open"] == "n/a" else normal_path(place["open"], self.cwd)

    def _effect(
        self, effect: Effect, call: SeenCall, result: SeenResult, failed: bool, at: int, seen: int
    ) -> None:
        kind, tell = effect.kind, self._happened.append
        if kind in _ON_FILES:
            if not failed:
                self._file(effect, call, result, at, seen)
            return
        value = call.arguments.get(effect.argument)
        if kind == "runs":
            status = self._status(effect, result)
            self._run(str(value or ""), status, result.text, at, seen)
        elif kind == "acts":
            act = f"{call.name} {as_json(call.arguments)}"
            tell(Happening("run", act, at, seen, exit=1 if failed else 0))
        elif kind == "asks":
            tell(Happening("ask", _as_text(value), at, seen))
        else:
            amount = value if isinstance(value, int | float) else 0
            tell(Happening("spend", effect.unit, at, seen, amount=amount))

    def _file(self, effect: Effect, call: SeenCall, result: SeenResult, at: int, seen: int) -> None:
        if effect.kind == "reads" and not self._reads:
            return
        named = call.arguments.get(effect.argument) if effect.argument else self.open
        if not isinstance(named, str) or not named:
            return
        path = normal_path(named, self.cwd)
        if effect.kind in ("creates", "opens"):
            self.open = path
        if effect.kind in ("reads", "opens"):
            self._read(path, effect, call, result, at, seen)
            return
        content = call.arguments.get(effect.content) if effect.content else None
        created = effect.kind == "creates" or bool(self.effects.created.search(result.text))
        what = _DONE[effect.kind]
        what = "create" if created and what == "write" else what
        self._happened.append(_written(what, path, at, seen, content))

    def _read(
        self, path: str, effect: Effect, call: SeenCall, result: SeenResult, at: int, seen: int
    ) -> None:
        if not self._reads:
            return
        told = {name: call.arguments[name] for name in effect.part if call.arguments.get(name)}
        part = as_json(told) if told else ""
        self._happened.append(Happening("read", path, at, seen, part, back=result.text))

    def _run(self, command: str, exit_: int | None, back: str, at: int, seen: int) -> None:
        if not command.strip():
            return
        self._happened.append(Happening("run", command, at, seen, exit=exit_))
        parsed = parse_shell(command)
        # The parts of a compound command that ran before the one that failed did run.
        if exit_ in (0, None) or parsed.commands > 1:
            effects = (one for one in parsed.effects if self._reads or one.kind != "reads")
            self._happened += [self._by_shell(effect, back, at, seen) for effect in effects]
        if parsed.cwd and exit_ in (0, None):
            self.cwd = normal_path(parsed.cwd, self.cwd)

    def _by_shell(self, effect: ShellEffect, back: str, at: int, seen: int) -> Happening:
        cwd = normal_path(effect.cwd, self.cwd) if effect.cwd else self.cwd
        path = normal_path(effect.path, cwd)
        if effect.kind == "reads":
            return Happening("read", path, at, seen, effect.part, back=back)
        return _written(_DONE[effect.kind], path, at, seen, effect.content)

    def _status(self, effect: Effect, result: SeenResult) -> int | None:
        if effect.marked and not result.is_error:
            return 0
        told = _status_in(result.text)
        if told is not None:
            return told
        if result.is_error:
            return 1
        return 0 if self.effects.succeeded.search(result.text) else None


_ON_FILES = frozenset({"reads", "opens", "writes", "creates", "deletes"})

_DONE: Mapping[str, Literal["write", "create", "delete"]] = {
    "writes": "write",
    "creates": "create",
    "deletes": "delete",
}


def _holding(effects: Sequence[Effect], arguments: Mapping[str, Any]) -> Sequence[Effect]:
    """The effects that hold; of two about the same argument, the one with a condition."""
    if len(effects) == 1 and not effects[0].when:
        return effects
    found = [effect for effect in effects if effect.holds(arguments)]
    if len(found) < 2:
        return found
    special = {effect.argument for effect in found if effect.when}
    return [effect for effect in found if effect.when or effect.argument not in special]


def _written(what: What, path: str, at: int, seen: int, content: Any) -> Happening:
    if not isinstance(content, str):
        return Happening(what, path, at, seen)
    size = len(content.encode("utf-8", "surrogatepass"))
    return Happening(what, path, at, seen, digest=digest_of(content), size=size)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)
