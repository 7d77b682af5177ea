"""What tools do: declared per tool, so that what happened can be collected without a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from turnfit.messages.contents import SeenCall

__all__ = ["Effect", "Effects", "Kind"]

Kind: TypeAlias = Literal[
    "reads", "writes", "creates", "deletes", "opens", "runs", "acts", "spends", "asks"
]


@dataclass(frozen=True)
class Effect:
    """What a tool does, and by which argument.

    Made by `reads`, `writes`, `creates`, `deletes`, `opens`, `runs`, `acts`, `spends` and
    `asks`.

    >>> Effect.reads("path", part=("start", "end")).kind
    'reads'

    Attributes:
        kind: what it does.
        argument: the argument that tells the path, the command, the amount, the question.
        part: the arguments that tell which part of a file is read.
        content: the argument that holds a file's whole new content.
        unit: what is spent.
        marked: of a command: whether one that failed always comes back marked as an error.
        when: pairs of an argument and the values with which the effect holds.
    """

    kind: Kind
    argument: str = ""
    part: tuple[str, ...] = ()
    content: str | None = None
    unit: str = ""
    marked: bool = False
    when: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    @classmethod
    def reads(cls, path: str, *, part: Sequence[str] = ()) -> Effect:
        """It reads the file at `path`; all of it, or the part that other arguments tell."""
        return cls("reads", path, part=tuple(part))

    @classmethod
    def writes(cls, path: str = "", *, content: str | None = None) -> Effect:
        """It writes the file at `path`; without one, the file opened last."""
        return cls("writes", path, content=content)

    @classmethod
    def creates(cls, path: str, *, content: str | None = None) -> Effect:
        """It makes a file that wasn't there."""
        return cls("creates", path, content=content)

    @classmethod
    def deletes(cls, path: str) -> Effect:
        """It deletes the file at `path`."""
        return cls("deletes", path)

    @classmethod
    def opens(cls, path: str, *, part: Sequence[str] = ()) -> Effect:
        """It reads the file at `path`, which later calls are about."""
        return cls("opens", path, part=tuple(part))

    @classmethod
    def runs(cls, command: str, *, marked: bool = False) -> Effect:
        """It runs the shell command in this argument."""
        return cls("runs", command, marked=marked)

    @classmethod
    def acts(cls) -> Effect:
        """It changes something that only the call itself tells of."""
        return cls("acts")

    @classmethod
    def spends(cls, amount: str, unit: str) -> Effect:
        """It spends so much of something that is limited."""
        return cls("spends", amount, unit=unit)

    @classmethod
    def asks(cls, question: str) -> Effect:
        """It asks the user."""
        return cls("asks", question)

    def only(self, **values: Any) -> Effect:
        """The effect, only where arguments have these values: one, or a tuple of them.

        >>> Effect.reads("path").only(command="view").when
        (('command', ('view',)),)
        """
        pairs = ((k, v if isinstance(v, tuple) else (v,)) for k, v in values.items())
        return replace(self, when=(*self.when, *pairs))

    def holds(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments has the effect."""
        return all(arguments.get(name) in values for name, values in self.when)


NEVER = re.compile(r"\A(?!)")
"""Fails at once; without its anchor it would try every place of a text."""


@dataclass(frozen=True)
class Effects:
    """What the tools of an agent do.

    Two are joined by ``|``; of a tool that both know, the right one tells.

    >>> mine = Effects({"read_file": (Effect.reads("path"),)})
    >>> sorted((mine | Effects({"sh": (Effect.runs("script"),)})).tools)
    ['read_file', 'sh']

    Attributes:
        tools: the effects by the tool's name.
        failed: in a result's text: the call failed and did nothing.
        created: in a result's text: the file that was written wasn't there before.
        succeeded: in a result's text: the command ended with status 0.
        place: in a result's text: groups ``open`` and ``cwd``, the file that is open and the
            working directory from there on.
        words: calls that stand in an assistant's words, for agents without tool calls.
        answered: whether such calls are answered by the next message of the user.
    """

    tools: Mapping[str, Sequence[Effect]] = field(default_factory=dict)
    failed: re.Pattern[str] = NEVER
    created: re.Pattern[str] = NEVER
    succeeded: re.Pattern[str] = NEVER
    place: re.Pattern[str] = NEVER
    words: Callable[[str], Iterable[SeenCall]] | None = None
    answered: bool = True

    def __or__(self, other: Effects) -> Effects:
        both = {
            name: _either(getattr(self, name), getattr(other, name))
            for name in ("failed", "created", "succeeded", "place")
        }
        words = other if other.words is not None else self
        return Effects(
            {**self.tools, **other.tools},
            **both,
            words=words.words,
            answered=words.answered,
        )

    @classmethod
    def of_mcp(cls, tools: Iterable[Mapping[str, Any]]) -> Effects:
        """What MCP servers declare of their tools: those not ``readOnlyHint`` act.

        Annotations are hints of the server, see
        https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations:
        a tool without one counts as one that changes something.

        Args:
            tools: the tools as ``tools/list`` gives them: name, perhaps annotations.

        >>> tools = [{"name": "send"}, {"name": "look", "annotations": {"readOnlyHint": True}}]
        >>> {name: len(effects) for name, effects in Effects.of_mcp(tools).tools.items()}
        {'send': 1, 'look': 0}
        """
        return cls({tool["name"]: () if _only_reads(tool) else (Effect.acts(),) for tool in tools})


def _either(one: re.Pattern[str], other: re.Pattern[str]) -> re.Pattern[str]:
    return one if other is NEVER else other


def _only_reads(tool: Mapping[str, Any]) -> bool:
    return bool((tool.get("annotations") or {}).get("readOnlyHint"))
