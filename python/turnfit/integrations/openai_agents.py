"""OpenAI Agents SDK: an input filter; the extra ``openai-agents``.

The filter: https://openai.github.io/openai-agents-python/running_agents. It is given a copy
of the list and gives another; sessions and results keep every item.

A history that OpenAI holds (``conversation_id``, ``previous_response_id``) can't be fitted
here: the filter sees the new items alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnfit.fitting.fitted import Fitted
from turnfit.integrations.fitter import Choice, Fitter
from turnfit.integrations.missing import extra

with extra("turnfit.integrations.openai_agents", "openai-agents", "agents"):
    from agents import AgentOutputSchema, AgentOutputSchemaBase
    from agents.run_config import ModelInputData

__all__ = ["FitInput"]


class FitInput:
    """Fits each request of a run; for ``RunConfig(call_model_input_filter=...)``.

    The agent's instructions, function tools, handoffs and output schema are counted. What
    its MCP servers offer isn't known to a filter: count it into ``Policy.reserve``. To limit
    what a tool gives back, wrap its function (`turnfit.outputs.limited`).

    Args:
        policy: how to fit; or a function from the model's name to the policy.
        on_fitted: called with each `turnfit.Fitted`, before the model is.
        repair: as in `turnfit.fit`.

    Raises:
        BudgetError: from the run, if nothing of the history can be sent.

    >>> import turnfit as tf
    >>> from agents import RunConfig
    >>> config = RunConfig(call_model_input_filter=FitInput(tf.Policy(budget=100_000)))
    """

    def __init__(
        self,
        policy: Choice,
        *,
        on_fitted: Callable[[Fitted], object] | None = None,
        repair: bool = False,
    ) -> None:
        self._fitter = Fitter("openai_agents", policy, on_fitted=on_fitted, repair=repair)

    def __call__(self, data: Any) -> Any:
        """The fitted input of a model call; the SDK calls this."""
        sent, agent = data.model_data, data.agent
        fitted = self._fitter.fit(
            sent.input,
            model=_model_name(agent.model),
            system=sent.instructions,
            tools=[*_tools(agent), *_schemas(agent.output_type)],
            format="openai-responses",
        )
        return ModelInputData(input=fitted.messages, instructions=sent.instructions)


def _model_name(model: Any) -> str | None:
    name = model if isinstance(model, str) else getattr(model, "model", None)
    return name if isinstance(name, str) else None


def _tools(agent: Any) -> list[dict[str, Any]]:
    tools = (
        (tool.name, tool.description, tool.params_json_schema)
        for tool in agent.tools
        if hasattr(tool, "params_json_schema")
    )
    handoffs = (
        (to.tool_name, to.tool_description, to.input_json_schema)
        for to in agent.handoffs
        if hasattr(to, "tool_name")
    )
    return [
        {"type": "function", "name": name, "description": told, "parameters": schema}
        for name, told, schema in (*tools, *handoffs)
    ]


def _schemas(output_type: Any) -> list[dict[str, Any]]:
    """The schema of the answer, where it isn't a plain text."""
    if output_type is None:
        return []
    given = isinstance(output_type, AgentOutputSchemaBase)
    schema = output_type if given else AgentOutputSchema(output_type, strict_json_schema=False)
    return [] if schema.is_plain_text() else [schema.json_schema()]
