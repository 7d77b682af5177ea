"""OpenAI Agents SDK: every model call of a run is fitted, session and result stay whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import turnfit as tf
from support.reading import (
    BUDGET,
    FILES,
    POLICY,
    TASK,
    assert_long_work,
    assert_request,
    in_tasks,
    in_threads,
    read_file,
    text_of,
)

testing = pytest.importorskip("agents.testing")
pytestmark = pytest.mark.filterwarnings("ignore")

import agents  # noqa: E402
from agents import Agent, RunConfig, Runner  # noqa: E402
from agents.run_config import CallModelData, ModelInputData  # noqa: E402
from turnfit.integrations.openai_agents import FitInput  # noqa: E402


@dataclass
class Report:
    """What was found."""

    findings: list[str]


def script(session: int = 0) -> list[Any]:
    calls = [
        [
            testing.function_call(
                "read_file",
                {"number": number},
                call_id=f"c{session}-{number}",
                item_id=f"i{session}-{number}",
            )
        ]
        for number in range(FILES)
    ]
    return [*calls, [testing.assistant_message("All is well.", item_id=f"m{session}")]]


def agent_of(model: Any, **more: Any) -> Agent[Any]:
    given = {"tools": [agents.function_tool(read_file)], "instructions": "Be brief.", **more}
    return Agent(name="reader", model=model, **given)


def config(fit: FitInput) -> RunConfig:
    return RunConfig(call_model_input_filter=fit, tracing_disabled=True)


def run(agent: Agent[Any], fit: FitInput, **more: Any) -> Any:
    async def go() -> Any:
        return await Runner.run(agent, TASK, max_turns=99, run_config=config(fit), **more)

    return asyncio.run(go())


def run_sync(agent: Agent[Any], fit: FitInput, **more: Any) -> Any:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return Runner.run_sync(agent, TASK, max_turns=99, run_config=config(fit), **more)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def run_streamed(agent: Agent[Any], fit: FitInput, **more: Any) -> Any:
    async def go() -> Any:
        result = Runner.run_streamed(agent, TASK, max_turns=99, run_config=config(fit), **more)
        async for _ in result.stream_events():
            pass
        return result

    return asyncio.run(go())


def outputs(items: list[Any]) -> list[str]:
    return [item["output"] for item in items if item.get("type") == "function_call_output"]


WHOLE = [text_of(number) for number in range(FILES)]


class TestARunsRequests:
    @pytest.mark.parametrize("how", [run, run_sync, run_streamed])
    def test_are_fitted_each_and_its_result_stays_whole(self, how: Callable[..., Any]) -> None:
        seen: list[tf.Fitted] = []
        model = testing.ScriptedModel(script())
        result = how(agent_of(model), FitInput(POLICY, on_fitted=seen.append))
        assert result.final_output == "All is well."
        assert outputs(result.to_input_list()) == WHOLE
        assert_long_work(seen)
        for call, fitted in zip(model.calls, seen, strict=True):
            assert call.input == fitted.messages
            assert_request(call.input, "openai-responses", system=call.system_instructions)

    @pytest.mark.parametrize("how", [run, run_streamed])
    def test_leave_the_session_whole_for_the_next_run(self, how: Callable[..., Any]) -> None:
        seen: list[tf.Fitted] = []
        fit = FitInput(POLICY, on_fitted=seen.append)
        session = agents.SQLiteSession("s")
        try:
            how(agent_of(testing.ScriptedModel(script())), fit, session=session)
            saved = asyncio.run(session.get_items())
            assert outputs(saved) == WHOLE
            answer = testing.assistant_message("Done.", item_id="m9")
            how(agent_of(testing.ScriptedModel([[answer]])), fit, session=session)
            assert asyncio.run(session.get_items())[: len(saved)] == saved
        finally:
            session.close()
        assert seen[-1].step != "whole"
        assert seen[-1].fits

    def test_count_the_instructions_the_tools_handoffs_and_the_answers_schema(self) -> None:
        def tokens(**more: Any) -> int:
            seen: list[tf.Fitted] = []
            agent = agent_of("gpt-5.1", **{"tools": [], **more})
            data = ModelInputData([{"role": "user", "content": TASK}], str(agent.instructions))
            FitInput(POLICY, on_fitted=seen.append)(CallModelData(data, agent, None))
            return seen[0].tokens

        bare = tokens()
        long = "word " * 200
        assert tokens(instructions=long) - bare == tf.estimate(long) - tf.estimate("Be brief.")
        assert tokens(tools=[agents.function_tool(read_file)]) > bare + 20
        assert tokens(handoffs=[agents.handoff(agent_of("gpt-5.1"))]) > bare + 20
        assert tokens(output_type=Report) > bare + 20
        assert tokens(output_type=agents.AgentOutputSchema(Report)) > bare + 20
        assert tokens(output_type=str) == bare
        assert tokens(handoffs=[agent_of("gpt-5.1")], tools=[agents.WebSearchTool()]) == bare

    def test_go_by_the_policy_of_the_agents_model(self) -> None:
        named: list[str] = []
        fit = FitInput(lambda model: named.append(model) or POLICY)  # type: ignore[func-returns-value]
        data = ModelInputData([{"role": "user", "content": TASK}], None)
        for model in ("gpt-5.1", None):
            fit(CallModelData(data, agent_of(model), None))
        assert named == ["gpt-5.1", ""]

    def test_of_agents_in_threads_and_tasks_do_not_touch_each_other(self) -> None:
        fit = FitInput(POLICY)
        alone = testing.ScriptedModel(script())
        run(agent_of(alone), fit)
        shapes = [outputs(call.input) for call in alone.calls]

        def work(_: int) -> Any:
            model = testing.ScriptedModel(script())
            assert outputs(run(agent_of(model), fit).to_input_list()) == WHOLE
            return model

        async def work_async(_: int) -> Any:
            model = testing.ScriptedModel(script())
            result = await Runner.run(agent_of(model), TASK, max_turns=99, run_config=config(fit))
            assert outputs(result.to_input_list()) == WHOLE
            return model

        for model in (*in_threads(work), *in_tasks(work_async)):
            assert [outputs(call.input) for call in model.calls] == shapes

    @pytest.mark.parametrize("how", [run, run_streamed])
    def test_that_cannot_be_made_small_enough_are_an_error_of_turnfit(
        self, how: Callable[..., Any]
    ) -> None:
        agent = agent_of(testing.ScriptedModel(script()), instructions="word " * 9_000)
        with pytest.raises(tf.BudgetError, match="no room for messages: system"):
            how(agent, FitInput(POLICY))
        policy = replace(POLICY, window=BUDGET)
        data = ModelInputData([{"role": "user", "content": "word " * 9_000}], None)
        with pytest.raises(tf.BudgetError, match="over the window"):
            FitInput(policy)(CallModelData(data, agent, None))
