"""LangChain: every model call of an agent is fitted, its state stays whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

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
from turnfit.outputs import OutputLimit, Store, ToolLimits

pytest.importorskip("langchain")
pytestmark = pytest.mark.filterwarnings("ignore")

from langchain.agents import create_agent  # noqa: E402
from langchain.agents.middleware import (  # noqa: E402
    ContextEditingMiddleware,
    SummarizationMiddleware,
    wrap_model_call,
)
from langchain.agents.structured_output import ToolStrategy  # noqa: E402
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: E402
from langchain_core.messages import (  # noqa: E402
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)
from langchain_core.tools import InjectedToolCallId, tool  # noqa: E402
from langgraph.types import Command  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from turnfit.integrations.langchain import FitMiddleware, token_counter  # noqa: E402

Message = Any


class Scripted(GenericFakeChatModel):
    """LangChain's fake model, with tools; remembers what it was sent."""

    model_name: str = "scripted"
    requests: list[list[Message]] = []  # noqa: RUF012
    bound: list[Any] = []  # noqa: RUF012

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        self.bound.extend(tools)
        return self

    def _generate(self, messages: list[Message], *args: Any, **kwargs: Any) -> Any:
        self.requests.append(list(messages))
        return super()._generate(messages, *args, **kwargs)


def calling(name: str, id_: str = "c", **arguments: Any) -> Any:
    call = {"name": name, "args": arguments, "id": id_, "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


def long_work() -> Iterator[Any]:
    for number in range(FILES):
        yield calling("read_file", f"c{number}", number=number)
    yield AIMessage("All is well.")


def model(*script: Any) -> Scripted:
    return Scripted(messages=iter(script or long_work()), requests=[], bound=[])


def agent_of(scripted: Scripted, *middleware: Any, **more: Any) -> Any:
    tools = more.pop("tools", [tool(read_file)])
    return create_agent(scripted, tools, middleware=middleware, **more)


ASK: dict[str, Any] = {"messages": [HumanMessage(TASK)]}


def invoke(agent: Any) -> list[Message]:
    return agent.invoke(ASK, {"recursion_limit": 99})["messages"]  # type: ignore[no-any-return]


def stream(agent: Any) -> list[Message]:
    *_, last = agent.stream(ASK, {"recursion_limit": 99}, stream_mode="values")
    return last["messages"]  # type: ignore[no-any-return]


def ainvoke(agent: Any) -> list[Message]:
    async def run(_: int) -> Any:
        return await agent.ainvoke(ASK, {"recursion_limit": 99})

    return in_tasks(run, 1)[0]["messages"]  # type: ignore[no-any-return]


def answers(state: list[Message]) -> list[Any]:
    return [message for message in state if isinstance(message, ToolMessage)]


def assert_whole(state: list[Message]) -> None:
    assert len(state) == 2 + 2 * FILES
    assert [message.content for message in answers(state)] == [
        text_of(number) for number in range(FILES)
    ]


class TestAnAgentsRequests:
    @pytest.mark.parametrize("run", [invoke, stream, ainvoke])
    def test_are_fitted_each_and_its_state_stays_whole(self, run: Callable[[Any], Any]) -> None:
        seen: list[tf.Fitted] = []
        scripted = model()
        middleware = FitMiddleware(POLICY, on_fitted=seen.append)
        assert_whole(run(agent_of(scripted, middleware, system_prompt="Be brief.")))
        assert_long_work(seen)
        assert len(scripted.requests) == FILES + 1
        for request, fitted in zip(scripted.requests, seen, strict=True):
            assert request == [SystemMessage("Be brief."), *fitted.messages]
            assert_request(request, "langchain")

    def test_count_the_system_prompt_the_tools_and_the_answers_schema(self) -> None:
        class Report(BaseModel):
            """What was found."""

            findings: list[str]

        tokens = []
        for more in ({}, {"system_prompt": "word " * 200}, {"response_format": Report}):
            seen: list[tf.Fitted] = []
            answer = AIMessage("Done.")
            agent = agent_of(model(answer), FitMiddleware(POLICY, on_fitted=seen.append), **more)
            agent.invoke(ASK)
            tokens.append(seen[0].tokens)
        assert tokens[0] > 30
        assert tokens[1] - tokens[0] == tf.estimate("word " * 200)
        assert tokens[2] > tokens[0] + 20

    @pytest.mark.parametrize("schema", [{"title": "A", "type": "object"}, ToolStrategy])
    def test_may_ask_for_an_answer_in_any_way(self, schema: Any) -> None:
        class Report(BaseModel):
            """What was found."""

            ok: bool

        schema = schema if isinstance(schema, dict) else schema(Report)
        answer = calling("A" if isinstance(schema, dict) else "Report", ok=True)
        done = agent_of(model(answer), FitMiddleware(POLICY), response_format=schema).invoke(ASK)
        assert done["structured_response"]

    def test_may_have_tools_that_the_provider_runs(self) -> None:
        search = {"type": "web_search_20250305", "name": "web_search"}
        agent = agent_of(model(AIMessage("Done.")), FitMiddleware(POLICY), tools=[search])
        assert agent.invoke(ASK)["messages"][-1].content == "Done."

    def test_go_by_the_policy_of_the_model_that_other_middleware_chose(self) -> None:
        other = Scripted(messages=iter([AIMessage("Done.")]), requests=[], model_name="small")

        @wrap_model_call
        def choose(request: Any, handler: Any) -> Any:
            return handler(request.override(model=other))

        named: list[str] = []
        middleware = FitMiddleware(lambda name: named.append(name) or POLICY)  # type: ignore[func-returns-value]
        agent_of(model(), choose, middleware).invoke(ASK)
        assert named == ["small"]

    def test_of_agents_in_threads_and_tasks_do_not_touch_each_other(self) -> None:
        middleware = FitMiddleware(POLICY)
        alone = model()
        invoke(agent_of(alone, middleware))
        shapes = [[message.content for message in request] for request in alone.requests]

        def work(_: int) -> Any:
            scripted = model()
            assert_whole(invoke(agent_of(scripted, middleware)))
            return scripted

        async def work_async(_: int) -> Any:
            scripted = model()
            agent = agent_of(scripted, middleware)
            assert_whole((await agent.ainvoke(ASK, {"recursion_limit": 99}))["messages"])
            return scripted

        for scripted in (*in_threads(work), *in_tasks(work_async)):
            sent = [[message.content for message in request] for request in scripted.requests]
            assert sent == shapes

    def test_that_cannot_be_made_small_enough_are_an_error_of_turnfit(self) -> None:
        agent = agent_of(model(), FitMiddleware(POLICY), system_prompt="word " * 9_000)
        with pytest.raises(tf.BudgetError, match="no room for messages: system"):
            agent.invoke(ASK)
        policy = replace(POLICY, window=BUDGET)
        with pytest.raises(tf.BudgetError, match="over the window"):
            agent_of(model(), FitMiddleware(policy)).invoke(
                {"messages": [HumanMessage("word " * 9_000)]}
            )


LIMITS = ToolLimits({"read_file": OutputLimit(max_tokens=200)})


@tool
def read_into_state(number: int, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Read a file into the state."""
    answer = ToolMessage(text_of(number), tool_call_id=tool_call_id, artifact=text_of(number))
    return Command(update={"messages": [answer]})


@tool(response_format="content_and_artifact")
def read_blocks(number: int) -> Any:
    """Read a file as blocks."""
    image = {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}
    text = {"type": "text", "text": text_of(number)}
    return [text, text, image], "the artifact"


class TestWhatToolsGiveBack:
    @pytest.mark.parametrize("run", [invoke, ainvoke])
    def test_is_limited_before_it_enters_the_state(self, run: Callable[[Any], Any]) -> None:
        store = Store()
        limits = ToolLimits({"read_file": OutputLimit(max_tokens=200)}, store=store)
        state = run(agent_of(model(), FitMiddleware(POLICY, limits=limits)))
        results = answers(state)
        assert len(results) == FILES
        for message in results:
            assert tf.estimate(message.content) <= 200
            assert "characters left out" in message.content

    @pytest.mark.parametrize("run", [invoke, ainvoke])
    def test_is_limited_in_a_command_too_and_its_artifact_stays(
        self, run: Callable[[Any], Any]
    ) -> None:
        limits = ToolLimits({}, default=OutputLimit(max_tokens=200))
        script = model(calling("read_into_state", number=1), AIMessage("Done."))
        agent = agent_of(script, FitMiddleware(POLICY, limits=limits), tools=[read_into_state])
        [answer] = answers(run(agent))
        assert tf.estimate(answer.content) <= 200
        assert answer.artifact == text_of(1)

    def test_keeps_its_images(self) -> None:
        limits = ToolLimits({}, default=OutputLimit(max_tokens=200))
        script = model(calling("read_blocks", number=1), AIMessage("Done."))
        agent = agent_of(script, FitMiddleware(POLICY, limits=limits), tools=[read_blocks])
        [answer] = answers(invoke(agent))
        kinds = [block["type"] for block in answer.content]
        texts = [block["text"] for block in answer.content if block["type"] == "text"]
        assert kinds == ["text", "text", "image"]
        assert sum(map(tf.estimate, texts)) <= 200
        assert answer.artifact == "the artifact"

    def test_that_is_within_its_limit_is_the_very_message(self) -> None:
        answer = ToolMessage(["short", {"type": "text", "text": "too"}], tool_call_id="c")
        request: Any = type("Request", (), {"tool_call": {"name": "read_file"}})()
        middleware = FitMiddleware(POLICY, limits=LIMITS)
        assert middleware.wrap_tool_call(request, lambda _: answer) is answer
        other = Command(goto="elsewhere")
        assert middleware.wrap_tool_call(request, lambda _: other) is other

    def test_may_be_summarised_by_an_async_summariser(self) -> None:
        async def summariser(request: Any) -> str:
            return "All is well in the file."

        spec = OutputLimit(max_tokens=200, on_excess="summarise", summariser=summariser)
        limits = ToolLimits({"read_file": spec})
        script = model(calling("read_file", number=1), AIMessage("Done."))
        state = ainvoke(agent_of(script, FitMiddleware(POLICY, limits=limits)))
        assert state[2].content.startswith("All is well in the file.")


class TestTheTokenCounter:
    HISTORY = (
        SystemMessage("Be brief."),
        HumanMessage(TASK),
        *(AIMessage(text_of(number)) for number in range(4)),
        HumanMessage("Go on."),
    )

    def test_counts_as_turnfit_does_tools_too(self) -> None:
        count = token_counter()
        plain = tf.estimate_request(self.HISTORY, format="langchain")
        assert count(self.HISTORY) == plain
        assert count(self.HISTORY, tools=[tool(read_file)]) > plain
        by_model = token_counter(tf.profile_for("gpt-5.1"))
        assert by_model(self.HISTORY) != plain

    def test_serves_trim_messages(self) -> None:
        trimmed = trim_messages(
            list(self.HISTORY), max_tokens=2_500, token_counter=token_counter(), include_system=True
        )
        assert tf.estimate_request(trimmed, format="langchain") <= 2_500
        assert [message.type for message in trimmed] == ["system", "ai", "ai", "human"]

    def test_serves_langchains_own_middleware(self) -> None:
        counted: list[int] = []

        def counting(messages: Any, *args: Any, **kwargs: Any) -> int:
            counted.append(token_counter()(messages, *args, **kwargs))
            return counted[-1]

        for middleware in (
            ContextEditingMiddleware(token_counter=counting),
            SummarizationMiddleware(model(), trigger=("tokens", 10**6), token_counter=counting),
        ):
            counted.clear()
            agent_of(model(AIMessage("Done.")), middleware).invoke(ASK)
            assert counted
