"""Frameworks build the same schema from a limited tool as from the tool, and call it."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from turnfit.outputs import OutputLimit, limited

SPEC = OutputLimit(max_tokens=200)
PAGED = OutputLimit(max_tokens=200, on_excess="page")
ARGUMENTS = {"path": "app.log", "level": "error"}


def read_logs(path: str, level: str = "info") -> str:
    """Read a service's log.

    Args:
        path: the log file.
        level: the least level to show.
    """
    return f"{path}: {level}\n" * 2_000


async def read_logs_async(path: str, level: str = "info") -> str:
    """Read a service's log.

    Args:
        path: the log file.
        level: the least level to show.
    """
    return read_logs(path, level)


pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def left_open() -> Iterator[None]:
    """What frameworks leave open is collected here, where its warnings are forgiven."""
    yield
    gc.collect()


both = pytest.mark.parametrize("function", [read_logs, read_logs_async])


def assert_cut(text: str) -> None:
    assert "app.log: error" in text
    assert "characters left out at offset" in text
    assert SPEC.price(text) <= 200


def assert_schemas(of: Callable[[Any], Any], function: Any) -> None:
    """The same for the limited tool; one parameter more for the paged one."""
    plain = of(function)
    assert of(limited(SPEC)(function)) == plain
    paged = of(limited(PAGED)(function))
    assert set(paged["properties"]) == {*plain["properties"], "cursor"}
    assert {name: paged["properties"][name] for name in plain["properties"]} == plain["properties"]


@both
def test_openai_agents(function: Any) -> None:
    agents = pytest.importorskip("agents")
    context = pytest.importorskip("agents.tool_context")
    assert_schemas(lambda tool: agents.function_tool(tool).params_json_schema, function)
    tool = agents.function_tool(limited(SPEC)(function))
    assert tool.description == "Read a service's log."
    arguments = json.dumps(ARGUMENTS)
    call = context.ToolContext(
        context=None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments
    )
    assert_cut(asyncio.run(tool.on_invoke_tool(call, arguments)))


@both
def test_langchain(function: Any) -> None:
    tools = pytest.importorskip("langchain_core.tools")
    schema = lambda tool: tools.tool(tool).args_schema.model_json_schema()  # noqa: E731
    assert_schemas(schema, function)
    tool = tools.tool(limited(SPEC)(function))
    assert tool.description.startswith("Read a service's log.")
    assert_cut(asyncio.run(tool.ainvoke(ARGUMENTS)))
    if function is read_logs:
        call = {"name": tool.name, "args": ARGUMENTS, "id": "1", "type": "tool_call"}
        assert_cut(tool.invoke(call).content)


@both
def test_pydantic_ai(function: Any) -> None:
    ai = pytest.importorskip("pydantic_ai")
    models = pytest.importorskip("pydantic_ai.models.test")
    assert_schemas(lambda tool: ai.Tool(tool).function_schema.json_schema, function)
    agent = ai.Agent(models.TestModel(), tools=[limited(SPEC)(function)])
    returned = [
        part
        for message in agent.run_sync("Read the log.").all_messages()
        for part in message.parts
        if part.part_kind == "tool-return"
    ]
    assert "characters left out at offset" in returned[0].content
    assert SPEC.price(returned[0].content) <= 200


@both
def test_fastmcp(function: Any) -> None:
    fastmcp = pytest.importorskip("fastmcp")

    async def listed(tool: Any) -> Any:
        server = fastmcp.FastMCP("logs")
        server.tool(tool)
        async with fastmcp.Client(server) as client:
            [found] = await client.list_tools()
            return found.model_dump()

    async def called(tool: Any) -> Any:
        server = fastmcp.FastMCP("logs")
        server.tool(tool)
        async with fastmcp.Client(server) as client:
            return await client.call_tool(tool.__name__, ARGUMENTS)

    def schema(tool: Any) -> Any:
        found = asyncio.run(listed(tool))
        return found.get("input_schema") or found["inputSchema"]

    assert_schemas(schema, function)
    assert asyncio.run(listed(limited(SPEC)(function)))["description"] == "Read a service's log."
    assert_cut(asyncio.run(called(limited(SPEC)(function))).content[0].text)
