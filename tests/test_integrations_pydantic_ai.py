"""pydantic-ai: every model call of a run is fitted, its history stays whole."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
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
from turnfit.errors import MissingExtraError
from turnfit.messages.requests import read_request
from turnfit.outputs import OutputLimit, ToolLimits

pytest.importorskip("pydantic_ai")
pytestmark = pytest.mark.filterwarnings("ignore")

from pydantic_ai import Agent, BinaryContent, ToolReturn  # noqa: E402
from pydantic_ai.capabilities import AbstractCapability  # noqa: E402
from pydantic_ai.exceptions import RetryModelRequest  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    CompactionPart,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import (  # noqa: E402
    AgentInfo,
    DeltaToolCall,
    FunctionModel,
)
from pydantic_ai.models.test import TestModel  # noqa: E402
from turnfit.integrations.pydantic_ai import PYDANTIC_AI, FitHistory  # noqa: E402

Fits = list[tf.Fitted]


def returns(messages: Any) -> list[Any]:
    return [
        part for message in messages for part in message.parts if part.part_kind == "tool-return"
    ]


@dataclass
class Scripted:
    """A model that reads file after file, and remembers what it was sent."""

    requests: list[Any]
    name: str = "scripted"

    def answer(self, messages: list[Any], info: AgentInfo) -> ModelResponse:
        self.requests.append(messages)
        done = self.asked()
        if done == FILES:
            return ModelResponse(parts=[TextPart("All is well.")])
        return ModelResponse(parts=[ToolCallPart("read_file", {"number": done}, f"c{done}")])

    def asked(self) -> int:
        return len(self.requests) - 1

    async def stream(self, messages: list[Any], info: AgentInfo) -> Any:
        self.requests.append(messages)
        done = self.asked()
        if done == FILES:
            yield "All is well."
        else:
            yield {0: DeltaToolCall("read_file", f'{{"number":{done}}}', tool_call_id=f"c{done}")}

    def model(self) -> FunctionModel:
        return FunctionModel(self.answer, stream_function=self.stream, model_name=self.name)


def agent_of(scripted: Scripted, *capabilities: Any, **more: Any) -> Agent[None, Any]:
    tools = more.pop("tools", [read_file])
    return Agent(scripted.model(), tools=tools, capabilities=capabilities, **more)


def run_sync(agent: Agent[None, Any]) -> list[Any]:
    return agent.run_sync(TASK).all_messages()


def run_stream(agent: Agent[None, Any]) -> list[Any]:
    async def run() -> list[Any]:
        async with agent.run_stream(TASK) as result:
            assert await result.get_output() == "All is well."
            return list(result.all_messages())

    return asyncio.run(run())


def iterate(agent: Agent[None, Any]) -> list[Any]:
    async def run() -> list[Any]:
        async with agent.iter(TASK) as steps:
            async for _ in steps:
                pass
            assert steps.result is not None
            return list(steps.result.all_messages())

    return asyncio.run(run())


def assert_whole(messages: list[Any]) -> None:
    assert len(messages) == 2 + 2 * FILES
    assert [part.content for part in returns(messages)] == [text_of(n) for n in range(FILES)]


class TestARunsRequests:
    @pytest.mark.parametrize("run", [run_sync, run_stream, iterate])
    def test_are_fitted_each_and_its_history_stays_whole(self, run: Callable[[Any], Any]) -> None:
        seen: Fits = []
        scripted = Scripted([])
        capability = FitHistory(POLICY, on_fitted=seen.append)
        assert_whole(run(agent_of(scripted, capability, instructions="Be brief.")))
        assert_long_work(seen)
        for request, fitted in zip(scripted.requests, seen, strict=True):
            assert request == fitted.messages
            assert_request(request, PYDANTIC_AI)

    def test_of_a_later_run_go_on_from_the_whole_history(self) -> None:
        seen: Fits = []
        capability = FitHistory(POLICY, on_fitted=seen.append)
        before = run_sync(agent_of(Scripted([]), capability))
        saved = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(before))
        agent = Agent(TestModel(call_tools=[]), capabilities=[capability])
        after = agent.run_sync("Go on.", message_history=saved)
        assert after.all_messages()[: len(before)] == before
        assert len(after.new_messages()) == 2
        assert seen[-1].step != "whole"
        assert seen[-1].fits

    def test_count_the_instructions_the_tools_and_the_answers_schema(self) -> None:
        @dataclass
        class Report:
            """What was found."""

            findings: list[str]

        tokens = []
        variants: list[dict[str, Any]] = [
            {"tools": []},
            {},
            {"tools": [], "instructions": "word " * 200},
            {"tools": [], "output_type": Report},
        ]
        for more in variants:
            seen: Fits = []
            capability = FitHistory(POLICY, on_fitted=seen.append)
            given = {"tools": [read_file], **more}
            Agent(TestModel(call_tools=[]), capabilities=[capability], **given).run_sync(TASK)
            tokens.append(seen[0].tokens)
        bare, tools, instructions, answer = tokens
        assert tools > bare + 20
        assert instructions - bare == tf.estimate(("word " * 200).strip())
        assert answer > bare + 20

    def test_go_by_the_policy_of_the_model_that_serves_the_attempt(self) -> None:
        class Fallback(AbstractCapability[Any]):
            async def on_model_request_error(self, ctx: Any, **given: Any) -> Any:
                raise RetryModelRequest(model=FunctionModel(answering, model_name="small"))

        def answering(messages: list[Any], info: AgentInfo) -> ModelResponse:
            return ModelResponse([TextPart("Done.")])

        def broken(messages: list[Any], info: AgentInfo) -> ModelResponse:
            raise RuntimeError("overloaded")

        named: list[str] = []
        small = replace(POLICY, budget=BUDGET // 2)

        def policy(model: str) -> tf.Policy:
            named.append(model)
            return small if model == "small" else POLICY

        history = run_sync(agent_of(Scripted([])))
        seen: Fits = []
        agent = Agent(
            FunctionModel(broken, model_name="large"),
            tools=[read_file],
            capabilities=[Fallback(), FitHistory(policy, on_fitted=seen.append)],
        )
        result = agent.run_sync("Go on.", message_history=history)
        assert named == ["large", "small"]
        assert [fitted.budget for fitted in seen] == [BUDGET, BUDGET // 2]
        assert result.all_messages()[: len(history)] == history

    def test_a_providers_summary_of_what_was_before_stays_in_the_request(self) -> None:
        summary = ModelResponse([CompactionPart(content="Four files were read.")])
        before = [
            ModelRequest(parts=[UserPromptPart(TASK)]),
            summary,
            *(
                message
                for number in range(FILES)
                for message in (
                    ModelRequest(parts=[UserPromptPart(text_of(number))]),
                    ModelResponse([TextPart("Noted.")]),
                )
            ),
        ]
        seen: Fits = []
        capability = FitHistory(POLICY, on_fitted=seen.append)
        Agent(TestModel(), capabilities=[capability]).run_sync("Go on.", message_history=before)
        assert seen[0].step == "turns"
        assert summary.parts[0] in [part for m in seen[0].messages for part in m.parts]

    def test_of_agents_in_threads_and_tasks_do_not_touch_each_other(self) -> None:
        capability = FitHistory(POLICY)
        alone = Scripted([])
        run_sync(agent_of(alone, capability))
        shapes = [[part.content for part in returns(request)] for request in alone.requests]

        def work(_: int) -> Scripted:
            scripted = Scripted([])
            assert_whole(run_sync(agent_of(scripted, capability)))
            return scripted

        async def work_async(_: int) -> Scripted:
            scripted = Scripted([])
            assert_whole((await agent_of(scripted, capability).run(TASK)).all_messages())
            return scripted

        for scripted in (*in_threads(work), *in_tasks(work_async)):
            sent = [[part.content for part in returns(request)] for request in scripted.requests]
            assert sent == shapes

    def test_that_cannot_be_made_small_enough_are_an_error_of_turnfit(self) -> None:
        agent = agent_of(Scripted([]), FitHistory(POLICY), instructions="word " * 9_000)
        with pytest.raises(tf.BudgetError, match="no room for messages: system"):
            agent.run_sync(TASK)
        with pytest.raises(tf.BudgetError, match="over the window"):
            agent_of(Scripted([]), FitHistory(replace(POLICY, window=BUDGET))).run_sync(
                "word " * 9_000
            )


def test_the_estimate_is_what_the_body_costs_that_goes_to_a_provider() -> None:
    openai, httpx = pytest.importorskip("openai"), pytest.importorskip("httpx")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    bodies: list[dict[str, Any]] = []

    def answer(request: Any) -> Any:
        number = len(bodies)
        bodies.append(json.loads(request.content))
        function = {"name": "read_file", "arguments": f'{{"number":{number}}}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        called = {"role": "assistant", "content": None, "tool_calls": [call]}
        message = called if number < FILES else {"role": "assistant", "content": "All is well."}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        told = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-5.1"}
        return httpx.Response(200, json={**told, "choices": [choice]})

    transport = httpx.AsyncClient(transport=httpx.MockTransport(answer))
    client = openai.AsyncOpenAI(api_key="none", base_url="http://local", http_client=transport)
    model = OpenAIChatModel("gpt-5.1", provider=OpenAIProvider(openai_client=client))
    seen: Fits = []
    capability = FitHistory(POLICY, on_fitted=seen.append)
    agent = Agent(model, tools=[read_file], instructions="Be brief.", capabilities=[capability])
    assert_whole(run_sync(agent))
    assert_long_work(seen)
    for body, fitted in zip(bodies, seen, strict=True):
        request = read_request(body)
        assert tf.check(request.messages) == []
        assert fitted.tokens == pytest.approx(request.tokens(), rel=0.01, abs=20)


def test_an_older_framework_without_the_hook_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(AbstractCapability, "prepare_model_request")
    monkeypatch.delitem(sys.modules, "turnfit.integrations.pydantic_ai")
    with pytest.raises(MissingExtraError, match=r"2\.64 or newer, needs the extra 'pydantic-ai'"):
        import_module("turnfit.integrations.pydantic_ai")


IMAGE = BinaryContent(b"\x89PNG", media_type="image/png")


def short() -> str:
    """Say little."""
    return "short"


def data() -> dict[str, Any]:
    """Give data."""
    return {"rows": [{"id": n, "name": f"row {n}"} for n in range(500)], "total": 500}


def told() -> ToolReturn:
    """Give a text, and something for the application alone."""
    return ToolReturn(text_of(1), metadata=text_of(2))


def picture() -> list[Any]:
    """Give a picture."""
    return [text_of(1), IMAGE]


def nothing() -> None:
    """Give nothing."""


class TestWhatToolsGiveBack:
    LIMITS = ToolLimits({}, default=OutputLimit(max_tokens=200))

    def returned(self, function: Callable[..., Any], limits: ToolLimits | None = LIMITS) -> Any:
        agent = Agent(
            TestModel(), tools=[function], capabilities=[FitHistory(POLICY, limits=limits)]
        )
        [part] = returns(agent.run_sync(TASK).all_messages())
        return part

    def test_is_limited_before_it_enters_the_history(self) -> None:
        content = self.returned(read_file).content
        assert tf.estimate(content) <= 200
        assert "characters left out" in content

    def test_stays_data_and_what_only_the_application_sees_stays_whole(self) -> None:
        content = self.returned(data).content
        assert content["total"] == 500
        assert 0 < len(content["rows"]) < 500
        part = self.returned(told)
        assert "characters left out" in part.content
        assert part.metadata == text_of(2)

    @pytest.mark.parametrize(
        ("function", "content"),
        [(short, "short"), (nothing, None), (picture, [text_of(1), IMAGE])],
    )
    def test_stays_as_it_is_where_there_is_nothing_to_cut(
        self, function: Callable[..., Any], content: Any
    ) -> None:
        assert self.returned(function).content == content

    def test_is_not_touched_without_limits(self) -> None:
        assert self.returned(read_file, None).content == text_of(0)

    def test_may_be_summarised_by_an_async_summariser(self) -> None:
        async def summariser(request: Any) -> str:
            return "All is well in the file."

        spec = OutputLimit(max_tokens=200, on_excess="summarise", summariser=summariser)
        content = self.returned(read_file, ToolLimits({"read_file": spec})).content
        assert content.startswith("All is well in the file.")
