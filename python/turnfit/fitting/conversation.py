"""A growing history, fitted at every step for the price of what was appended."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any, NoReturn

from turnfit import _core
from turnfit.errors import BusyError
from turnfit.fitting.fit import fit_repaired, policy_of
from turnfit.fitting.fitted import Fitted
from turnfit.fitting.frame import Frame, parted
from turnfit.fitting.policy import Policy
from turnfit.messages.formats import PLAIN, format_named, recognise, table_of
from turnfit.messages.formats.table import Format
from turnfit.messages.reading import Message, as_list

__all__ = ["Conversation"]


class Alone:
    """Lets one in at a time; whoever comes meanwhile gets an error instead of waiting."""

    def __init__(self) -> None:
        self._lock = Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise BusyError("this Conversation is in use already; it is for one thread at a time")

    def __exit__(self, *_: object) -> None:
        self._lock.release()


class Conversation:
    """A history that grows, and is fitted again and again.

    `fit` gives the same answers as `turnfit.fit` on the same history, but costs a few
    binary searches and what is appended, not the whole history. A message's estimate
    is taken when it is appended; a message must not be changed after that. A
    conversation is for one thread at a time.

    Args:
        policy: how to fit; replace it by setting `policy`, which prices all anew.
        budget: in place of a policy: the tokens that a request may take, all in.
        system: a system prompt that is sent beside the messages.
        tools: the tool definitions, as they are sent.
        format: the format, or its name; recognised from the messages where it is not given.

    >>> conversation = Conversation(budget=1000)
    >>> conversation.append({"role": "user", "content": "Count to three."})
    >>> conversation.fit().messages
    [{'role': 'user', 'content': 'Count to three.'}]
    """

    def __init__(
        self,
        policy: Policy | None = None,
        *,
        budget: int | None = None,
        system: Any = None,
        tools: Any = None,
        format: str | Format | None = None,
    ) -> None:
        self._policy = policy_of(policy, budget)
        self._system = system
        self._tools = tools
        self._frame = Frame.of(self._policy, system, tools)
        self._told = format is not None
        self._format: Format = format_named(format) if format is not None else PLAIN
        self._history: list[Message] = []
        self._ledger = self._frame.ledger(self._format)
        self._plan: _core.Plan | None = None
        self._request: list[Message] = []
        self._fitted: tuple[_core.Ledger, _core.Plan] | None = None
        self._alone = Alone()

    def __len__(self) -> int:
        """The number of messages appended."""
        return len(self._history)

    @property
    def history(self) -> list[Message]:
        """All messages appended, in a list of the caller's."""
        return list(self._history)

    @property
    def tokens(self) -> int:
        """What all messages cost, in tokens."""
        return self._ledger.tokens

    @property
    def policy(self) -> Policy:
        """The policy; setting another prices the history anew."""
        return self._policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        policy = policy_of(policy, None)
        frame = Frame.of(policy, self._system, self._tools)
        with self._alone:
            ledger = frame.ledger(self._format)
            ledger.fill(self._history)
            frame.follow(ledger)
            self._policy, self._frame = policy, frame
            self._use(self._format, ledger)

    @property
    def system(self) -> Any:
        """The system prompt that is sent beside the messages.

        Setting another makes all reasoning so far stale, and the prefix cache useless:
        better append what is new as a message.
        """
        return self._system

    @system.setter
    def system(self, system: Any) -> None:
        self._open_with(system, self._tools)

    @property
    def tools(self) -> Any:
        """The tool definitions, as they are sent; setting others costs what `system` costs."""
        return self._tools

    @tools.setter
    def tools(self, tools: Any) -> None:
        self._open_with(self._system, tools)

    def _open_with(self, system: Any, tools: Any) -> None:
        frame = Frame.of(self._policy, system, tools)
        with self._alone:
            if frame.opens_like(self._frame):
                return
            self._system, self._tools, self._frame = system, tools, frame
            self._frame.follow(self._ledger)
            self._plan = self._fitted = None

    def append(self, message: Message) -> None:
        """Append a message.

        Raises:
            FormatError: if it can't be read; then nothing has been appended.
        """
        self.extend((message,))

    def extend(self, messages: Iterable[Message]) -> None:
        """Append messages, all of them or, on an error, none.

        Raises:
            FormatError: if one can't be read, with its index in the history.
            BusyError: if another thread uses the conversation.
        """
        added = as_list(messages)
        with self._alone:
            self._extend(added)

    def _extend(self, added: list[Message]) -> None:
        told = None if self._told else recognise(added)
        added = parted(self._policy, told or self._format, added)
        format_ = told or self._format
        if format_ is not self._format or self._is_replaced_by(added):
            ledger = self._frame.ledger(format_)
            ledger.fill([*self._history, *added])
            self._use(format_, ledger)
        else:
            self._ledger.extend(added)
        self._told = self._told or told is not None
        self._history += added

    def _is_replaced_by(self, added: list[Message]) -> bool:
        """Whether the provider has replaced the history by one of these messages.

        Then a ledger begins anew, and requests made before still look into the old one.
        """
        return _core.last_marker(table_of(self._format), added) is not None

    def _use(self, format_: Format, ledger: _core.Ledger) -> None:
        self._format, self._ledger, self._plan = format_, ledger, None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Conversation can't be copied or pickled; extend a new one by `history`")

    def fit(self, *, repair: bool = False) -> Fitted:
        """The request that `turnfit.fit` makes of this history.

        It stays as it is when the conversation goes on.

        Args:
            repair: as in `turnfit.fit`; where there is something to repair, this costs
                as much as that.
        """
        with self._alone:
            if repair and (self._ledger.dead_calls() or self._ledger.orphans()):
                return fit_repaired(self._history.copy(), self._format, self._ledger, self._frame)
            plan = self._frame.plan(self._ledger)
            before, self._fitted = self._fitted, (self._ledger, plan)
        ledger, history = self._ledger, self._history

        def build() -> list[Message]:
            with self._alone:
                if ledger is self._ledger:
                    return self._patched(plan)
                return ledger.request(history, plan)

        return Fitted(history, self._format, ledger, plan, self._frame, build, before=before)

    def _view(self) -> tuple[list[Message], Format, _core.Ledger, Frame]:
        """What fitting sees of the conversation: for rooms of turnfit that stand on it."""
        with self._alone:
            return list(self._history), self._format, self._ledger, self._frame

    def _patched(self, plan: _core.Plan) -> list[Message]:
        """The request, made from the one before where its start holds still."""
        last = self._plan
        if last is not None and last.goes_on_in(plan):
            self._request += self._history[last.messages : plan.messages]
        elif last is not None and plan.messages < last.messages:
            return self._ledger.request(self._history, plan)
        else:
            self._request = self._ledger.request(self._history, plan)
        self._plan = plan
        return self._request.copy()
