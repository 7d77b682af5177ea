"""LangChain: agent middleware and a token counter; the extra ``langchain``.

Middleware: https://docs.langchain.com/oss/python/langchain/middleware. What it sends to the
model is a view (``ModelRequest.override``); the state keeps every message. Limited tool
outputs are limited in the state too: what was left out never enters the history.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turnfit.fitting.fitted import Fitted
from turnfit.integrations.fitter import Choice, Fitter
from turnfit.integrations.missing import extra
from turnfit.messages.estimate import estimate_request
from turnfit.messages.formats.langchain import LANGCHAIN
from turnfit.tokens.profiles import Profile

if TYPE_CHECKING:
    from turnfit.outputs import ToolLimits

with extra("turnfit.integrations.langchain", "langchain", "langchain"):
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolMessage
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.types import Command
    from pydantic import TypeAdapter

__all__ = ["FitMiddleware", "token_counter"]


class FitMiddleware(AgentMiddleware):
    """Fits each request of an agent, and limits what its tools give back.

    Put it last in the list, so that it sees what other middleware makes of a request.

    Args:
        policy: how to fit; or a function from the model's name to the policy.
        limits: limits on tool outputs; what doesn't fit is cut before it enters the state.
        on_fitted: called with each `turnfit.Fitted`, before the model is.
        repair: as in `turnfit.fit`.

    Raises:
        BudgetError: from the model call, if nothing of the history can be sent.

    >>> import turnfit as tf
    >>> from langchain.agents import create_agent
    >>> from langchain_core.language_models import FakeListChatModel
    >>> middleware = FitMiddleware(tf.Policy(budget=100_000))
    >>> agent = create_agent(FakeListChatModel(responses=["Done."]), middleware=[middleware])
    >>> agent.invoke({"messages": [("user", "Go on.")]})["messages"][-1].content
    'Done.'
    """

    def __init__(
        self,
        policy: Choice,
        *,
        limits: ToolLimits | None = None,
        on_fitted: Callable[[Fitted], object] | None = None,
        repair: bool = False,
    ) -> None:
        super().__init__()
        self._fitter = Fitter("langchain", policy, on_fitted=on_fitted, repair=repair)
        self._limits = limits

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Calls the model with the fitted request; LangChain calls this."""
        return handler(self._fitted(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_model_call`, for async agents."""
        return await handler(self._fitted(request))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Calls the tool and limits its output; LangChain calls this."""
        result, limits = handler(request), self._limits
        if limits is None:
            return result
        name = request.tool_call["name"]
        made = {id(m): limits.limit(name, _blocks(m.content)).content for m in _messages(result)}
        return _limited(result, made)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_tool_call`, for async agents; a summariser may be async here."""
        result, limits = await handler(request), self._limits
        if limits is None:
            return result
        name = request.tool_call["name"]
        made = {
            id(m): (await limits.limit_awaiting(name, _blocks(m.content))).content
            for m in _messages(result)
        }
        return _limited(result, made)

    def _fitted(self, request: Any) -> Any:
        fitted = self._fitter.fit(
            request.messages,
            model=_model_name(request.model),
            system=request.system_prompt,
            tools=[*map(_definition, request.tools), *_schemas(request.response_format)],
            format=LANGCHAIN,
        )
        return request.override(messages=fitted.messages)


def _model_name(model: Any) -> str | None:
    """What the providers' classes call it differs."""
    names = (getattr(model, field, None) for field in ("model_name", "model", "model_id"))
    return next((name for name in names if isinstance(name, str)), None)


def _definition(tool: Any) -> Any:
    """A tool as it is sent; the providers' own are dicts already."""
    return tool if isinstance(tool, dict) else convert_to_openai_tool(tool)


def _schemas(response_format: Any) -> list[Any]:
    """What of a structured answer is sent as a schema, whichever way it is asked for."""
    if response_format is None:
        return []
    schema = getattr(response_format, "schema", response_format)
    return [schema if isinstance(schema, dict) else TypeAdapter(schema).json_schema()]


def _messages(result: Any) -> list[Any]:
    """The tool messages of what a tool call gave: itself, or those of a command's update."""
    if isinstance(result, ToolMessage):
        return [result]
    update = result.update if isinstance(result, Command) else None
    found = update.get("messages", ()) if isinstance(update, dict) else ()
    return [message for message in found if isinstance(message, ToolMessage)]


def _limited(result: Any, contents: dict[int, Any]) -> Any:
    """The result with other contents, in copies; itself where nothing was cut."""

    def changed(message: Any) -> Any:
        content = contents.get(id(message), message)
        if content is message or content == _blocks(message.content):
            return message
        return message.model_copy(update={"content": content})

    if isinstance(result, ToolMessage):
        return changed(result)
    if not contents:
        return result
    messages = [changed(message) for message in result.update["messages"]]
    return replace(result, update={**result.update, "messages": messages})


def _blocks(content: Any) -> Any:
    """A content in which texts that stand between blocks are blocks too."""
    if isinstance(content, str):
        return content
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]


def token_counter(
    profile: str | Profile | Callable[[str], int] | None = None,
) -> Callable[..., int]:
    """Counts the tokens of messages, for what takes a ``token_counter``.

    Such as ``trim_messages`` and LangChain's own middleware (``SummarizationMiddleware``,
    ``ContextEditingMiddleware``). It takes what ``get_num_tokens_from_messages`` takes:
    messages, and tools.

    Args:
        profile: by what text is priced, as in `turnfit.estimate_request`; for a model's own
            tokenizer ``turnfit.profile_for(name)``.

    >>> from langchain_core.messages import HumanMessage
    >>> token_counter()([HumanMessage("Read every file.")])
    10
    """

    def count(messages: Iterable[Any], tools: Sequence[Any] | None = None) -> int:
        known = [_definition(tool) for tool in tools or ()]
        return estimate_request(messages, tools=known, format=LANGCHAIN, profile=profile)

    return count
