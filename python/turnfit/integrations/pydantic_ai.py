"""pydantic-ai: a capability; the extra ``pydantic-ai``.

Hooks: https://pydantic.dev/docs/ai/capabilities/custom. A history processor
(``ProcessHistory``) puts what it returns in place of the run's history, so that
``all_messages()`` would be the fitted request. The hook ``prepare_model_request`` shapes
what is sent and nothing else, and runs for each attempt, with the model that serves it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turnfit.errors import MissingExtraError
from turnfit.fitting.fitted import Fitted
from turnfit.integrations.fitter import Choice, Fitter
from turnfit.integrations.missing import extra
from turnfit.integrations.pydantic_messages import PYDANTIC_AI, compactions

if TYPE_CHECKING:
    from turnfit.outputs import ToolLimits

with extra("turnfit.integrations.pydantic_ai", "pydantic-ai", "pydantic_ai"):
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import InstructionPart, ToolReturn, is_multi_modal_content

__all__ = ["PYDANTIC_AI", "FitHistory"]

if not hasattr(AbstractCapability, "prepare_model_request"):
    # Without the hook it would never be called, and nothing would say so.
    raise MissingExtraError("turnfit.integrations.pydantic_ai, on 2.64 or newer,", "pydantic-ai")


class FitHistory(AbstractCapability[Any]):
    """Fits each request of an agent, and limits what its tools give back.

    The run's history stays whole. What the agent's tools return is limited before it enters
    the history; returns with images or other files stay as they are.

    Args:
        policy: how to fit; or a function from the model's name to the policy.
        limits: limits on tool outputs.
        on_fitted: called with each `turnfit.Fitted`, before the model is.
        repair: as in `turnfit.fit`.

    Raises:
        BudgetError: from the run, if nothing of the history can be sent.

    >>> import turnfit as tf
    >>> from pydantic_ai import Agent
    >>> agent = Agent("test", capabilities=[FitHistory(tf.Policy(budget=100_000))])
    >>> agent.run_sync("Go on.").output
    'success (no tool calls)'
    """

    def __init__(
        self,
        policy: Choice,
        *,
        limits: ToolLimits | None = None,
        on_fitted: Callable[[Fitted], object] | None = None,
        repair: bool = False,
    ) -> None:
        self._fitter = Fitter("pydantic_ai", policy, on_fitted=on_fitted, repair=repair)
        self._limits = limits

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: a policy isn't written in an agent's specification."""
        return None

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Makes a fitted request of the one that is about to be sent; pydantic-ai calls this."""
        parameters = request_context.model_request_parameters
        fitted = self._fitter.fit(
            request_context.messages,
            model=request_context.model.model_name,
            system=InstructionPart.join(parameters.instruction_parts or []),
            tools=_definitions(parameters),
            format=PYDANTIC_AI,
            pinned=compactions(request_context.messages),
        )
        return replace(request_context, messages=fitted.messages)

    async def after_tool_execute(
        self, ctx: Any, *, call: Any, tool_def: Any, args: Any, result: Any
    ) -> Any:
        """Limits what a tool gave back; pydantic-ai calls this."""
        if self._limits is None:
            return result
        if not isinstance(result, ToolReturn):
            return await self._limited(call.tool_name, result)
        limited = await self._limited(call.tool_name, result.return_value)
        return result if limited is result.return_value else replace(result, return_value=limited)

    async def _limited(self, tool: str, value: Any) -> Any:
        if self._limits is None or value is None or _has_files(value):
            return value
        limited = await self._limits.limit_awaiting(tool, value)
        return limited.content if limited.truncated or limited.repaired else value


def _definitions(parameters: Any) -> list[dict[str, Any]]:
    """The tools as they are sent, and the schema of the answer."""
    tools = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters_json_schema,
        }
        for tool in (*parameters.function_tools, *parameters.output_tools)
    ]
    answer = parameters.output_object
    return tools if answer is None else [*tools, answer.json_schema]


def _has_files(value: Any) -> bool:
    items = value if isinstance(value, list | tuple) else [value]
    return any(is_multi_modal_content(item) or isinstance(item, bytes) for item in items)
