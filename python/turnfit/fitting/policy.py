"""How a history is fitted into a budget."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from math import ceil, floor
from typing import Any, Literal, Protocol, TypeAlias

from turnfit.fitting.notes import Notes, refuse_unknown
from turnfit.fitting.reasoning import Reasoning, Treatment, treatment_of
from turnfit.fitting.serverside import ServerSide, server_side
from turnfit.fitting.toml import to_toml
from turnfit.messages.reading import Message
from turnfit.tokens.profiles import Pricing, Profile, pricing_of, profile, profile_for

__all__ = ["Keep", "NoRerun", "Pinned", "Policy", "Refusal"]

Keep: TypeAlias = tuple[Literal["tokens", "fraction", "results"], float]
NoRerun: TypeAlias = Collection[str] | Mapping[str, Mapping[str, Any]] | Callable[[str], bool]
Pinned: TypeAlias = Collection[int] | Callable[[Message], bool]


class Refusal(Protocol):
    """What `Policy.smaller` goes by; `turnfit.Rejection` has it."""

    @property
    def retry(self) -> str:
        """``smaller`` where a smaller request may pass."""

    @property
    def kind(self) -> str:
        """``context_overflow`` where the limit is the model's window."""

    @property
    def limit(self) -> int | None:
        """The limit in tokens."""

    @property
    def used(self) -> int | None:
        """What the request takes of it."""

    @property
    def output_tokens(self) -> int | None:
        """What of that is asked for the answer."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How a history is fitted into a budget.

    Name the `model`, and text is priced as its tokenizer would count it. Without model and
    profile it is priced by the `script` profile, which can be too low for some kinds of
    text: then choose a budget well below the window.

    Attributes:
        budget: tokens that one request may take, all in.
        window: what the model accepts at all; then `Fitted.sendable` tells.
        output: what the model's answer may take of the window.
        model: the model's public name; its profile prices the text (see `turnfit.profile_for`).
        profile: a profile's name, a `turnfit.Profile`, or a callable from a str to its
            tokens; goes before the model's.
        scale: costs are multiplied by this, as learnt from reported usage.
        margin: the share of the budget held back for the estimate's error; where it isn't
            given, the profile's own, by which 99 % of whole requests truly fit. The
            `script` profile and callables have none.
        reserve: tokens sent besides messages, `system` and `tools`.
        keep: the newest tool results kept whole: ``("fraction", share of the budget)``,
            ``("tokens", n)`` or ``("results", n)``.
        keep_at_least: so many of the newest results are kept in any case.
        clear_batch: results are cleared in batches of so many.
        worth: a result is cleared only if it costs more than so many of the notes that
            would take its place; at least 1.
        grid: clearing and cutting move in steps of at least this share of the budget, so
            that the request's start, and with it the provider's prefix cache, holds still;
            0 for no grid.
        exclude_tools: tools whose results are never cleared.
        no_rerun: tools that must not run again to see a result that was cleared: names, a
            predicate, or MCP annotations by name (a tool with neither ``readOnlyHint`` nor
            ``idempotentHint`` counts).
        clear_tool_inputs: clear a call's arguments with its result.
        pinned: messages that always stay, and whole: indices, or a predicate. A pinned
            call or result keeps its round.
        reasoning: what becomes of stale reasoning, before which the request has changed
            since the model gave it: ``strip`` leaves it out, ``keep`` sends it, ``auto``
            strips for models whose provider refuses it (see
            https://platform.claude.com/docs/en/build-with-claude/preserved-thinking) and
            keeps for those that drop it or don't compare. Name the `model`: one that isn't
            known keeps. `Fitted.stale_reasoning` lists it in any case.
        notes: the wording of what is put in place of what was taken out.

    Raises:
        ValueError: for a value that can't be, with the field named.

    >>> Policy(budget=400_000).keep_tokens
    100000
    """

    budget: int
    window: int | None = None
    output: int = 0
    model: str | None = None
    profile: str | Profile | Callable[[str], int] | None = None
    scale: float = 1
    margin: float | None = None
    reserve: int = 0
    keep: Keep = ("fraction", 0.25)
    keep_at_least: int = 1
    clear_batch: int = 4
    worth: float = 2
    grid: float = 0.125
    exclude_tools: Collection[str] = ()
    no_rerun: NoRerun = ()
    clear_tool_inputs: bool = False
    pinned: Pinned = ()
    reasoning: Reasoning = "auto"
    notes: Notes = field(default_factory=Notes)

    def __post_init__(self) -> None:
        _integer("budget", self.budget, least=1)
        _integer("output", self.output)
        if self.model is not None:
            _of_type("model", self.model, str, "a model's name")
        pricing_of(self.profile)
        _number("scale", self.scale, least=0.01, most=100)
        if self.margin is not None:
            _number("margin", self.margin, most=0.99)
        _integer("reserve", self.reserve)
        _integer("keep_at_least", self.keep_at_least)
        _integer("clear_batch", self.clear_batch, least=1)
        _number("worth", self.worth, least=1)
        _number("grid", self.grid, most=1)
        if self.window is not None:
            _integer("window", self.window, least=self.budget)
        _keep(self.keep)
        _of_type("clear_tool_inputs", self.clear_tool_inputs, bool, "true or false")
        _of_type("notes", self.notes, Notes, "Notes")
        if self.reasoning not in ("auto", "strip", "keep"):
            raise ValueError(f'reasoning must be "auto", "strip" or "keep", not {self.reasoning!r}')
        _names("exclude_tools", self.exclude_tools)
        _no_rerun(self.no_rerun)
        _pinned(self.pinned)
        self._freeze()

    def _freeze(self) -> None:
        """A list changed later must not change the policy."""
        object.__setattr__(self, "exclude_tools", tuple(self.exclude_tools))
        if not callable(self.pinned):
            object.__setattr__(self, "pinned", tuple(self.pinned))
        if isinstance(self.no_rerun, Mapping):
            object.__setattr__(self, "no_rerun", dict(self.no_rerun))
        elif not callable(self.no_rerun):
            object.__setattr__(self, "no_rerun", tuple(self.no_rerun))

    @property
    def pricing(self) -> Pricing:
        """By what text is priced."""
        return pricing_of(self._chosen)

    @property
    def held_back(self) -> int:
        """The tokens of the budget that are held back for the estimate's error."""
        share = self.margin
        if share is None:
            named = profile(self._chosen) if isinstance(self._chosen, str) else self._chosen
            share = named.margin if isinstance(named, Profile) else 0
        return ceil(share * self.budget)

    @property
    def _chosen(self) -> str | Profile | Callable[[str], int] | None:
        """The profile, or else the model's."""
        if self.profile is None and self.model is not None:
            return profile_for(self.model)
        return self.profile

    @property
    def treatment(self) -> Treatment:
        """What becomes of stale reasoning, for this policy's model."""
        return treatment_of(self.reasoning, self.model)

    @property
    def keep_tokens(self) -> int | None:
        """`keep` in tokens; None where it is a number of results."""
        kind, size = self.keep
        if kind == "results":
            return None
        return floor(size * self.budget) if kind == "fraction" else int(size)

    @property
    def stride(self) -> int:
        """The grid in tokens; 0 is no grid."""
        return floor(self.grid * self.budget)

    def must_not_rerun(self, tool: str) -> bool:
        """Whether a tool must not be called again to see a result that was cleared."""
        if callable(self.no_rerun):
            return bool(self.no_rerun(tool))
        if not isinstance(self.no_rerun, Mapping):
            return tool in self.no_rerun
        hints = self.no_rerun.get(tool)
        return hints is not None and not (hints.get("readOnlyHint") or hints.get("idempotentHint"))

    def to_context_management(self, format: str) -> ServerSide:
        """The provider's own setting that comes nearest, and what it can't express.

        Sources: https://platform.claude.com/docs/en/build-with-claude/context-editing and
        https://developers.openai.com/api/docs/guides/compaction.

        Args:
            format: ``anthropic`` or ``openai-responses``.

        Raises:
            ValueError: for other formats, whose providers have no such setting.

        >>> Policy(budget=1000).to_context_management("openai-responses").setting
        [{'type': 'compaction', 'compact_threshold': 1000}]
        """
        return server_side(self, format)

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, as JSON or TOML hold them; `from_dict` reads them.

        Raises:
            ValueError: if a field is a predicate, with its name.

        >>> Policy.from_dict(Policy(budget=1000).to_dict()) == Policy(budget=1000)
        True
        """
        return {entry.name: _plain(entry.name, getattr(self, entry.name)) for entry in fields(self)}

    def to_toml(self) -> str:
        """The fields as a TOML document; those that are None are left out.

        Raises:
            ValueError: if a field is a predicate, with its name.

        >>> print(Policy(budget=1000).to_toml().splitlines()[0])
        budget = 1000
        """
        return to_toml({key: value for key, value in self.to_dict().items() if value is not None})

    @classmethod
    def from_toml(cls, text: str) -> Policy:
        """The policy that a TOML document holds.

        Raises:
            ValueError: for broken TOML, and for a field that there is not, with the
                nearest name.

        >>> Policy.from_toml('budget = 1000\\nkeep = ["results", 3]').keep
        ('results', 3)
        """
        return cls.from_dict(tomllib.loads(text))

    def smaller(self, rejection: Refusal, *, tokens: int | None = None) -> Policy | None:
        """The policy to refit with after a refusal; None where a smaller request can't help.

        The budget becomes what the refusal's limit leaves beside the answer. Where the provider
        counted more than turnfit had estimated, it shrinks by the same ratio, and a twentieth
        more, since the error is not the same in every message. Where no limit is given, or it
        is no smaller than the budget, three quarters remain. The policy's own window becomes the
        limit of an overflow, if that is lower. Send the refitted request once; retrying belongs
        to your client.

        Args:
            rejection: what `classify_rejection` or `silent_overflow` gave.
            tokens: what the refused request was estimated at (`Fitted.tokens`); the budget
                where it isn't given.

        Raises:
            ValueError: for `tokens` below 1.

        >>> import turnfit as tf
        >>> rejection = tf.classify_rejection("prompt is too long: 250000 tokens > 200000 maximum")
        >>> Policy(budget=240_000).smaller(rejection).budget
        182400
        >>> Policy(budget=240_000).smaller(tf.classify_rejection("invalid x-api-key")) is None
        True
        """
        if rejection.retry != "smaller":
            return None
        if tokens is not None:
            _integer("tokens", tokens, least=1)
        budget = self._smaller_budget(rejection, tokens or self.budget)
        if budget < 1:
            return None
        return replace(self, budget=budget, window=self._smaller_window(rejection, budget))

    def _smaller_budget(self, rejection: Refusal, tokens: int) -> int:
        three_quarters = self.budget * 3 // 4
        if rejection.limit is None:
            return three_quarters
        answer = self.output if rejection.output_tokens is None else rejection.output_tokens
        room = rejection.limit - answer
        counted = (rejection.used or 0) - (rejection.output_tokens or 0)
        if counted > tokens:
            room = min(room, tokens * room * 19 // (counted * 20))
        return room if room < self.budget else three_quarters

    def _smaller_window(self, rejection: Refusal, budget: int) -> int | None:
        if self.window is None or rejection.limit is None or rejection.kind != "context_overflow":
            return self.window
        return max(budget, min(self.window, rejection.limit))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Policy:
        """The policy with these fields, as a TOML or JSON file has them.

        Raises:
            ValueError: for a field that there is not, with the nearest name.

        >>> Policy.from_dict({"budget": 1000, "keep": ["results", 3]}).keep
        ('results', 3)
        """
        refuse_unknown("a policy has no field", values, [entry.name for entry in fields(cls)])
        if "budget" not in values:
            raise ValueError("a policy needs a budget")
        read = dict(values)
        if isinstance(read.get("keep"), list):
            read["keep"] = tuple(read["keep"])
        if isinstance(read.get("notes"), Mapping):
            read["notes"] = Notes.from_dict(read["notes"])
        return cls(**read)


def _plain(name: str, value: Any) -> Any:
    """A field's value as JSON holds it."""
    if isinstance(value, Profile):
        return str(value)
    if callable(value):
        raise ValueError(f"{name} is a predicate, which can't be written down")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {key: _plain(name, item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple | set | frozenset) else value


_MOST = 2**62
"""Far beyond any budget, and within what the ledger can add up."""


def _integer(name: str, value: Any, *, least: int = 0) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if not least <= value <= _MOST:
        limit = f"at least {least:,}" if value < least else f"at most {_MOST:,}"
        raise ValueError(f"{name} must be {limit}")


def _number(name: str, value: Any, *, least: float = 0, most: float = _MOST) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}")


def _of_type(name: str, value: Any, wanted: type, called: str) -> None:
    if not isinstance(value, wanted):
        raise TypeError(f"{name} must be {called}, not {type(value).__name__}")


def _keep(keep: Any) -> None:
    if not isinstance(keep, tuple) or len(keep) != 2:
        raise TypeError(f'keep must be a pair such as ("fraction", 0.25), not {keep!r}')
    kind, size = keep
    if kind == "fraction":
        _number("keep", size, most=1)
    elif kind in ("tokens", "results"):
        _integer("keep", size)
    else:
        raise ValueError(f'keep must be in "tokens", "fraction" or "results", not {kind!r}')


def _names(name: str, value: Any) -> None:
    if isinstance(value, str) or not isinstance(value, Collection):
        raise TypeError(f"{name} must be a collection of names, not {type(value).__name__}")
    for entry in value:
        _of_type(f"{name}: each name", entry, str, "a str")


def _no_rerun(value: Any) -> None:
    if callable(value):
        return
    _names("no_rerun", value)
    if isinstance(value, Mapping):
        for tool, hints in value.items():
            _of_type(f"no_rerun[{tool!r}]", hints, Mapping, "a mapping of annotations")


def _pinned(value: Any) -> None:
    if callable(value):
        return
    _of_type("pinned", value, Collection, "a collection of indices or a predicate")
    for index in value:
        _integer("pinned: each index", index)
