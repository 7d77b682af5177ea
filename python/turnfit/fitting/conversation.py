"""A growing history, fitted at every step for the price of what was appended."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import Any, NoReturn

from turnfit import _core
from turnfit.errors import BusyError, FormatError
from turnfit.fitting.fit import fit_changed, policy_of
from turnfit.fitting.fitted import Fitted
from turnfit.fitting.frame import Frame, parted
from turnfit.fitting.interrupted import Broken, broken_off
from turnfit.fitting.kept import Kept
from turnfit.fitting.policy import Policy
from turnfit.fitting.saved import File, Saved, read_saved, write_saved
from turnfit.fitting.verifying import Marks
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
        policy: how to fit; replace it by setting `policy`, which prices all anew if its
            profile is another.
        budget: in place of a policy: the tokens that a request may take, all in.
        model: with a budget: the model's name, by whose tokenizer text is priced.
        system: a system prompt that is sent beside the messages.
        tools: the tool definitions, as they are sent.
        format: the format, or its name; recognised from the messages where it is not given.
        verify: find messages that were changed after they were appended. Each `fit`, `fork`
            and `save` then reads the whole history: for tests, not for long work.

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
        model: str | None = None,
        system: Any = None,
        tools: Any = None,
        format: str | Format | None = None,
        verify: bool = False,
    ) -> None:
        self._frame = Frame.of(policy_of(policy, budget, model), system, tools)
        self._given = format_named(format) if format is not None else None
        self._marks = Marks() if verify else None
        self._fitted: tuple[_core.Ledger, _core.Plan] | None = None
        self._stale_before = 0
        """Reasoning before this message answered requests that began otherwise."""
        self._alone = Alone()
        self._history: list[Message] = []
        self._told: Format | None = None
        self._use(self._given, self._new_ledger(self._given))

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
        """The policy; under another profile the history is priced anew, once."""
        return self._frame.policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        policy = policy_of(policy)
        frame = Frame.of(policy, self.system, self.tools)
        with self._alone:
            self._verify()
            history = parted(policy, self._format, self._history)
            stale = len(history)
            ledger = frame.ledger(self._format, stale_before=stale, remembers=True)
            prices = policy.pricing is self.policy.pricing
            if prices and len(history) == len(self._history):
                ledger.adopt(history, self._ledger, 0)
            else:
                ledger.fill(history)
                self._mark_anew(history)
            self._frame, self._history = frame, history
            self._stale_before = stale
            self._use(self._told, ledger)

    @property
    def system(self) -> Any:
        """The system prompt that is sent beside the messages.

        Setting another makes all reasoning so far stale, and the prefix cache useless:
        better append what is new as a message.
        """
        return self._frame.system

    @system.setter
    def system(self, system: Any) -> None:
        self._open_with(system, self.tools)

    @property
    def tools(self) -> Any:
        """The tool definitions, as they are sent; setting others costs what `system` costs."""
        return self._frame.tools

    @tools.setter
    def tools(self, tools: Any) -> None:
        self._open_with(self.system, tools)

    def _open_with(self, system: Any, tools: Any) -> None:
        frame = Frame.of(self.policy, system, tools)
        with self._alone:
            if frame.opens_like(self._frame):
                return
            self._frame = frame
            self._stale_before = len(self._history)
            frame.follow(self._ledger)
            self._use(self._told, self._ledger)
            self._fitted = None

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
        told = self._told or recognise(added)
        format_ = told or PLAIN
        added = parted(self.policy, format_, added)
        marks = self._marks and self._marks.of(added)
        if format_ is not self._format or not self._history:
            ledger = self._new_ledger(format_)
            ledger.fill([*self._history, *added])
            self._use(told, ledger)
        elif self._is_replaced_by(added):
            ledger = self._new_ledger(format_)
            ledger.adopt(self._history, self._ledger, 0)
            ledger.fill(added)
            self._use(told, ledger)
        else:
            self._ledger.extend(added)
        self._told = told
        self._history += added
        if self._marks and marks:
            self._marks.extend(marks)

    def _is_replaced_by(self, added: list[Message]) -> bool:
        """Whether the provider has replaced the history by one of these messages.

        Then a ledger begins anew, and requests made before still look into the old one.
        """
        return _core.last_marker(table_of(self._format), added) is not None

    def _new_ledger(self, format_: Format | None) -> _core.Ledger:
        return self._frame.ledger(format_ or PLAIN, stale_before=self._stale_before, remembers=True)

    def _use(self, told: Format | None, ledger: _core.Ledger) -> None:
        self._told = told
        self._format: Format = told or PLAIN
        self._ledger: _core.Ledger = ledger
        self._kept = Kept(self._frame, self._format, self._stale_before)
        self._whole: set[int] = set()
        """Messages that look broken off and aren't."""
        self._plan: _core.Plan | None = None
        self._request: list[Message] = []

    def fork(self, at: int | None = None) -> Conversation:
        """A conversation that begins with the first messages of this one.

        What is priced already is shared: nothing is read or priced again. The two go on by
        themselves.

        Args:
            at: how many messages; all of them where it isn't given.

        Raises:
            ValueError: for more messages than there are.

        >>> conversation = Conversation(budget=1000)
        >>> conversation.extend({"role": "user", "content": word} for word in ("one", "two"))
        >>> conversation.fork(1).history
        [{'role': 'user', 'content': 'one'}]
        """
        count = self._count("at", len(self._history) if at is None else at)
        with self._alone:
            self._verify()
            forked = Conversation(
                self.policy,
                system=self.system,
                tools=self.tools,
                format=self._given,
                verify=self._marks is not None,
            )
            forked._begin_with(self, count)
        return forked

    def truncate(self, to: int) -> None:
        """Forget all but the first messages; requests made before stay as they are.

        Args:
            to: how many messages stay.

        Raises:
            ValueError: for more messages than there are.

        >>> conversation = Conversation(budget=1000)
        >>> conversation.extend({"role": "user", "content": word} for word in ("one", "two"))
        >>> conversation.truncate(1)
        >>> len(conversation)
        1
        """
        count = self._count("to", to)
        with self._alone:
            self._verify()
            self._begin_with(self, count)

    def _count(self, name: str, count: int) -> int:
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"{name} must be a number of messages, not {type(count).__name__}")
        if not 0 <= count <= len(self._history):
            raise ValueError(f"{name} must be from 0 to {len(self._history):,}, not {count:,}")
        return count

    def _begin_with(self, other: Conversation, count: int) -> None:
        """Begin with the first messages of another conversation of the same policy."""
        history = other._history[:count]
        told = self._given or recognise(history)
        self._stale_before = min(other._stale_before, count)
        ledger = self._new_ledger(told)
        if (told or PLAIN) is other._format:
            ledger.adopt(history, other._ledger, 0)
        else:
            ledger.fill(history)
        self._history = history
        if self._marks and other._marks:
            self._marks = other._marks.up_to(count)
        self._use(told, ledger)

    def save(self, file: File, *, costs: bool = False) -> None:
        """Write the conversation as JSON lines, for `load`.

        First a line with the versions of all that decides a request, the policy, `system`
        and `tools`; then a line for each message, in its wire format; with `costs` a last
        one with their estimates. Bytes are written as ``{"$bytes": base64}`` and come back as
        bytes; tuples come back as lists, the SDKs' objects as dicts. A policy that can't be
        written down (a predicate, a callable) is left out, and has to be given to `load`.

        Args:
            file: a path, or a file that is open for writing. At a path stands the whole file
                or, after a crash, what stood there before.
            costs: write the estimates too, so that loading prices nothing.

        Raises:
            ValueError: if a message, `system` or `tools` holds what JSON can't, with its
                place; then nothing has been written.
            OSError: if the file can't be written.
        """
        with self._alone:
            self._verify()
            saved = Saved(
                self.policy,
                self._told,
                self._given is not None,
                self.system,
                self.tools,
                self._history,
                self._ledger.costs() if costs else None,
                self._stale_before,
            )
            write_saved(file, saved)

    @classmethod
    def load(
        cls,
        file: File,
        policy: Policy | None = None,
        *,
        format: Format | None = None,
        verify: bool = False,
    ) -> Conversation:
        """The conversation that `save` has written.

        It fits as it did, under a later turnfit too. Estimates that were saved with it are
        used where they belong to the messages and the profile; else all is priced anew.

        Args:
            file: a path, or a file that is open for reading.
            policy: in place of the one that was saved.
            format: the format, if it is one of your own.
            verify: as for a new conversation.

        Raises:
            HistoryError: for a file that holds no conversation or a broken one, and for a
                version that this turnfit doesn't know, with its name.
            OSError: if the file can't be read.
        """
        saved = read_saved(file, policy, format)
        made = cls(
            saved.policy,
            system=saved.system,
            tools=saved.tools,
            format=saved.told if saved.is_given else None,
            verify=verify,
        )
        made._begin_with_saved(saved)
        return made

    def _begin_with_saved(self, saved: Saved) -> None:
        history = parted(self.policy, saved.told or PLAIN, list(saved.messages))
        self._stale_before = min(saved.stale_before, len(history))
        ledger = self._at_costs(saved, history)
        if ledger is None:
            ledger = self._new_ledger(saved.told)
            ledger.fill(history)
        self._history = history
        self._mark_anew(history)
        self._use(saved.told, ledger)

    def _at_costs(self, saved: Saved, history: list[Message]) -> _core.Ledger | None:
        """A ledger of costs that are known; None where they aren't, or are of other messages."""
        if saved.costs is None or len(saved.messages) != len(history):
            return None
        ledger = self._new_ledger(saved.told)
        try:
            ledger.fill_at(history, saved.costs)
        except FormatError:
            return None
        return ledger

    def _mark_anew(self, history: list[Message]) -> None:
        if self._marks is not None:
            self._marks = Marks()
            self._marks.extend(self._marks.of(history))

    def _verify(self) -> None:
        if self._marks is not None:
            self._marks.verify(self._history)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Conversation can't be copied or pickled; use fork() or save()")

    def fit(self, *, repair: bool = False) -> Fitted:
        """The request that `turnfit.fit` makes of this history.

        It stays as it is when the conversation goes on.

        Args:
            repair: as in `turnfit.fit`; where there is something to repair, this costs
                as much as that.

        Raises:
            FormatError: with `verify`, for the first message that was changed after it was
                appended, with its index.
        """
        with self._alone:
            self._verify()
            ledger, history = self._ledger, self._history
            broken = broken_off(self._format, history, ledger, self._whole)
            if repair and (ledger.dead_calls() or ledger.orphans()):
                history = history.copy()
                stale = self._stale_before
                return fit_changed(history, self._format, ledger, self._frame, broken, True, stale)
            if broken:
                return self._fit_without(broken)
            plan = self._frame.plan(ledger)
            before, self._fitted = self._fitted, (ledger, plan)

        def build() -> list[Message]:
            with self._alone:
                if ledger is self._ledger:
                    return self._patched(plan)
                return ledger.request(history, plan)

        return Fitted(history, self._format, ledger, plan, self._frame, build, before=before)

    def _fit_without(self, broken: Broken) -> Fitted:
        kept, self._kept = self._kept, Kept(self._frame, self._format, self._stale_before)
        kept = kept.following(self._history, self._ledger, broken)
        source = kept.source(self._history)
        plan = self._frame.plan(kept.ledger)
        self._kept = kept
        return Fitted(kept.messages, self._format, kept.ledger, plan, self._frame, source=source)

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
