"""Limits on tool functions, and on a registry of tools."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from turnfit.outputs.limited import Limited
from turnfit.outputs.limiting import limit, limited_of, prepared
from turnfit.outputs.pages import CursorError, PageBudget, paginate
from turnfit.outputs.spec import OutputLimit
from turnfit.outputs.summary import limit_awaiting

if TYPE_CHECKING:
    from turnfit.outputs.meter import Meter
    from turnfit.outputs.store import Store

__all__ = ["ToolLimits", "limited"]

Tool = TypeVar("Tool", bound=Callable[..., Any])


def limited(
    spec: OutputLimit,
    *,
    store: Store | None = None,
    meter: Meter | None = None,
    name: str | None = None,
    pages: PageBudget | None = None,
) -> Callable[[Tool], Tool]:
    """Limit what a tool function gives back, sync or async.

    The function keeps its name, signature, annotations and docstring, so that whatever
    builds a schema from it still sees the tool. With ``on_excess="page"`` it gets one
    parameter more, ``cursor``, with which the model asks for the next page.

    Args:
        spec: the limit.
        store: where originals are put that don't fit.
        meter: counts what was cut.
        name: the tool's name for store and meter; the function's if it is not given.
        pages: how many pages a task may read, for ``on_excess="page"``.

    Raises:
        TypeError: for what is no function, and for a generator, whose output has no end
            that could be measured.
        ValueError: for paging a function that has a ``cursor`` of its own.

    >>> @limited(OutputLimit(max_chars=300))
    ... def read_log(path: str) -> str:
    ...     "Read a log."
    ...     return "all is well\\n" * 1_000
    >>> len(read_log("app.log")) <= 300, read_log.__doc__
    (True, 'Read a log.')
    """
    if not isinstance(spec, OutputLimit):
        raise TypeError(f"spec must be an OutputLimit, not {type(spec).__name__}")

    def decorate(function: Tool) -> Tool:
        _refuse_what_cannot_be_limited(function)
        tool = name or str(getattr(function, "__name__", type(function).__name__))
        if spec.on_excess == "page":
            return _paged(function, _Pager(spec, store, meter, tool, pages))

        def bound(content: Any) -> Any:
            return limit(content, spec, store=store, meter=meter, tool=tool).content

        async def awaited(result: Awaitable[Any]) -> Any:
            content = await result
            made = await limit_awaiting(content, spec, store=store, meter=meter, tool=tool)
            return made.content

        return _wrapped(function, bound, awaited)

    return decorate


def _refuse_what_cannot_be_limited(function: Any) -> None:
    if not callable(function):
        raise TypeError(f"only a function can be limited, not {type(function).__name__}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{function.__name__} is a generator; limit what collects its output")


def _wrapped(
    function: Tool,
    bound: Callable[[Any], Any],
    awaited: Callable[[Awaitable[Any]], Awaitable[Any]],
) -> Tool:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            return await awaited(function(*args, **kwargs))

        return typing.cast("Tool", call_async)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        # A function may give an awaitable without being declared async.
        return awaited(result) if inspect.isawaitable(result) else bound(result)

    return typing.cast("Tool", call)


class _Pager:
    """Gives the page that a call asks for."""

    def __init__(
        self,
        spec: OutputLimit,
        store: Store | None,
        meter: Meter | None,
        tool: str,
        pages: PageBudget | None,
    ) -> None:
        self.spec = spec.part(spec.size)
        self.store = store
        self.meter = meter
        self.tool = tool
        self.pages = pages

    def __call__(self, content: Any, cursor: str | None) -> Any:
        if not isinstance(content, str | list | tuple):
            made = limit(content, self.spec, store=self.store, meter=self.meter, tool=self.tool)
            return made.content
        if isinstance(content, str):
            content = prepared(content, self.spec)
            if not cursor and self.spec.allows(content):
                return self._counted(limit(content, self.spec)).content
        return self._page(content, cursor)

    def _page(self, content: Any, cursor: str | None) -> str:
        try:
            # A model that must fill in every parameter leaves this one empty.
            page = paginate(content, cursor or None, self.spec, budget=self.pages)
        except CursorError as error:
            return f"[turnfit: {error}]"
        text = str(page)
        if isinstance(content, str):
            shown = sum(map(len, page.items))
            cut = page.next_cursor is not None
            omitted = len(content) - shown if cut else 0
            self._counted(
                limited_of(content, text, self.spec, truncated=cut, omitted_chars=omitted)
            )
        return text

    def _counted(self, made: Limited) -> Limited:
        if self.meter is not None:
            self.meter.record(self.tool, made)
        return made


def _paged(function: Tool, pager: _Pager) -> Tool:
    signature = inspect.signature(function)
    if "cursor" in signature.parameters:
        raise ValueError(f"{function.__name__} has a parameter cursor of its own")

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def call_async(*args: Any, cursor: str | None = None, **kwargs: Any) -> Any:
            return pager(await function(*args, **kwargs), cursor)

        made: Any = call_async
    else:

        @functools.wraps(function)
        def call(*args: Any, cursor: str | None = None, **kwargs: Any) -> Any:
            return pager(function(*args, **kwargs), cursor)

        made = call
    return typing.cast("Tool", _with_cursor(made, function, signature))


def _with_cursor(made: Any, function: Any, signature: inspect.Signature) -> Any:
    """Declares the parameter where schemas are built from: signature and annotations."""
    hints = _hints(function)
    told = [
        parameter.replace(annotation=hints.get(name, parameter.annotation))
        for name, parameter in signature.parameters.items()
    ]
    cursor = inspect.Parameter(
        "cursor", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=str | None
    )
    rest = [one for one in told if one.kind is inspect.Parameter.VAR_KEYWORD]
    named = [one for one in told if one.kind is not inspect.Parameter.VAR_KEYWORD]
    back = Any if "return" not in hints else str
    made.__signature__ = signature.replace(
        parameters=[*named, cursor, *rest], return_annotation=back
    )
    made.__annotations__ = {**hints, "cursor": str | None, "return": back}
    # Otherwise what looks through the wrapper would see no cursor.
    del made.__wrapped__
    return made


def _hints(function: Any) -> dict[str, Any]:
    """Annotations as objects, since the wrapper's module may not know their names."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:
        # Names that only a type checker knows stay as they are written.
        return dict(getattr(function, "__annotations__", {}))


class ToolLimits:
    """The limits of a registry of tools: one for each that needs one, and a default.

    Args:
        limits: limits by the tool's name.
        default: for the others; None leaves them unlimited.
        store: where originals are put that don't fit.
        meter: counts what was cut.

    >>> limits = ToolLimits({"read_logs": OutputLimit(max_tokens=4_000)}, default=None)
    >>> limits["read_logs"].max_tokens, limits["get_time"]
    (4000, None)
    >>> limits.limit("get_time", "12:00").content
    '12:00'
    """

    def __init__(
        self,
        limits: Mapping[str, OutputLimit],
        default: OutputLimit | None = None,
        *,
        store: Store | None = None,
        meter: Meter | None = None,
    ) -> None:
        for tool, spec in {**limits, "default": default}.items():
            if spec is not None and not isinstance(spec, OutputLimit):
                raise TypeError(f"{tool}: must be an OutputLimit, not {type(spec).__name__}")
        self._limits = dict(limits)
        self._default = default
        self._store = store
        self._meter = meter

    def __getitem__(self, tool: str) -> OutputLimit | None:
        return self._limits.get(tool, self._default)

    def limit(self, tool: str, content: Any, *, task: str | None = None) -> Limited:
        """Bring an output of a tool within that tool's limit; see `turnfit.outputs.limit`."""
        spec = self[tool]
        if spec is not None:
            return limit(content, spec, store=self._store, meter=self._meter, tool=tool, task=task)
        return self._unlimited(tool, content)

    async def limit_awaiting(self, tool: str, content: Any) -> Limited:
        """As `limit`, where an async summariser can be waited for."""
        spec = self[tool]
        if spec is None:
            return self._unlimited(tool, content)
        return await limit_awaiting(content, spec, store=self._store, meter=self._meter, tool=tool)

    def _unlimited(self, tool: str, content: Any) -> Limited:
        text = content if isinstance(content, str) else ""
        made = Limited(
            content=content,
            truncated=False,
            total_chars=len(text),
            original=(text,),
            rendered=(text,),
        )
        if self._meter is not None:
            self._meter.record(tool, made)
        return made

    def wrap(self, function: Tool, name: str | None = None) -> Tool:
        """A tool function with its limit; see `limited`. Without one it stays as it is."""
        tool = name or function.__name__
        spec = self[tool]
        if spec is None:
            return function
        return limited(spec, store=self._store, meter=self._meter, name=tool)(function)
