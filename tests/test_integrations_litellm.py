"""LiteLLM: what comes to the proxy and what the SDK calls is fitted; the caller's stays whole."""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest
import turnfit as tf
from support.reading import BUDGET, FILES, POLICY, TASK, assert_request, in_tasks, text_of

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
litellm: Any = pytest.importorskip("litellm")
pytestmark = pytest.mark.filterwarnings("ignore")

from litellm.llms.custom_llm import CustomLLM  # noqa: E402
from turnfit.integrations.litellm import FitCalls, FitProxy  # noqa: E402

Messages = list[dict[str, Any]]
TOOLS = [
    {
        "type": "function",
        "function": {"name": "read_file", "description": "Read a file.", "parameters": {}},
    }
]


def chat(files: int = FILES) -> Messages:
    messages: Messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": TASK},
    ]
    for number in range(files):
        function = {"name": "read_file", "arguments": f'{{"number":{number}}}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": text_of(number)},
        ]
    return messages


def anthropic() -> Messages:
    messages: Messages = [{"role": "user", "content": TASK}]
    for number in range(FILES):
        use = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {"n": number}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": text_of(number)}
        messages += [
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ]
    return messages


def responses() -> Messages:
    items: Messages = [{"role": "user", "content": TASK}]
    for number in range(FILES):
        call = {"type": "function_call", "call_id": f"c{number}", "name": "read", "arguments": "{}"}
        output = {"type": "function_call_output", "call_id": f"c{number}"}
        items += [call, {**output, "output": text_of(number)}]
    return items


def gemini() -> Messages:
    contents: Messages = [{"role": "user", "parts": [{"text": TASK}]}]
    for number in range(FILES):
        call = {"functionCall": {"name": "read", "args": {"n": number}}}
        back = {"functionResponse": {"name": "read", "response": {"output": text_of(number)}}}
        contents += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [back]}]
    return contents


BODIES: dict[str, tuple[str, Any, str, dict[str, Any]]] = {
    "acompletion": ("messages", chat(), "openai-chat", {"tools": TOOLS}),
    "anthropic_messages": ("messages", anthropic(), "anthropic", {"system": "Be brief."}),
    "aresponses": ("input", responses(), "openai-responses", {"instructions": "Be brief."}),
    "agenerate_content": ("contents", gemini(), "gemini", {}),
}


class Recording(CustomLLM):
    """A provider of LiteLLM's own making, that remembers what it was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Messages] = []

    def completion(self, *args: Any, **kwargs: Any) -> Any:
        self.requests.append(kwargs["messages"])
        message = {"role": "assistant", "content": "Done."}
        return litellm.ModelResponse(choices=[{"message": message, "finish_reason": "stop"}])

    async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
        return self.completion(*args, **kwargs)

    async def astreaming(self, *args: Any, **kwargs: Any) -> Any:
        self.requests.append(kwargs["messages"])
        yield {
            "text": "Done.",
            "index": 0,
            "is_finished": True,
            "finish_reason": "stop",
            "tool_use": None,
            "usage": None,
        }


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    recording = Recording()
    custom = [{"provider": "recording", "custom_handler": recording}]
    monkeypatch.setattr(litellm, "custom_provider_map", custom)
    callbacks = list(litellm.callbacks)
    litellm.callbacks = []
    litellm.utils.custom_llm_setup()
    yield recording
    litellm.callbacks = callbacks


MODEL = "recording/gpt-5.1"


def sent(messages: Messages) -> Messages:
    """Messages as LiteLLM sends them on: without what is None."""
    return [{key: value for key, value in one.items() if value is not None} for one in messages]


class TestTheSdk:
    def test_calls_are_fitted_and_the_callers_messages_stay_whole(
        self, provider: Recording
    ) -> None:
        seen: list[tf.Fitted] = []
        litellm.callbacks = [FitCalls(POLICY, on_fitted=seen.append)]
        history = chat()
        before = copy.deepcopy(history)
        answer = asyncio.run(litellm.acompletion(model=MODEL, messages=history, tools=TOOLS))
        assert answer.choices[0].message.content == "Done."
        assert history == before
        [request] = provider.requests
        assert request == sent(seen[0].messages)
        assert seen[0].step == "results"
        assert_request(request, "openai-chat", tools=TOOLS)

    def test_streamed_calls_are_fitted(self, provider: Recording) -> None:
        async def stream() -> str:
            answer = await litellm.acompletion(model=MODEL, messages=chat(), stream=True)
            return "".join([part.choices[0].delta.content or "" async for part in answer])

        litellm.callbacks = [FitCalls(POLICY)]
        assert asyncio.run(stream()) == "Done."
        assert_request(provider.requests[0], "openai-chat")

    def test_sync_calls_are_fitted_through_request(self, provider: Recording) -> None:
        history = chat()
        request = FitCalls(POLICY).request(model=MODEL, messages=history, temperature=0)
        assert request["temperature"] == 0
        assert litellm.completion(**request).choices[0].message.content == "Done."
        assert history == chat()
        assert_request(provider.requests[0], "openai-chat")

    def test_each_model_that_a_router_falls_back_to_is_fitted_for_by_its_policy(
        self, provider: Recording, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plain = provider.acompletion

        async def failing(*args: Any, **kwargs: Any) -> Any:
            answer = await plain(*args, **kwargs)
            if kwargs["model"] == "large":
                raise litellm.InternalServerError("overloaded", "recording", "large")
            return answer

        monkeypatch.setattr(provider, "acompletion", failing)
        small = replace(POLICY, budget=BUDGET // 2)
        fits: list[int] = []
        litellm.callbacks = [
            FitCalls(
                lambda model: small if "small" in model else POLICY,
                on_fitted=lambda fitted: fits.append(fitted.budget),
            )
        ]
        router = litellm.Router(
            [
                {"model_name": name, "litellm_params": {"model": f"recording/{name}"}}
                for name in ("large", "small")
            ],
            fallbacks=[{"large": ["small"]}],
            num_retries=0,
        )
        history = chat()
        answer = asyncio.run(router.acompletion(model="large", messages=history))
        assert answer.choices[0].message.content == "Done."
        assert fits == [BUDGET, BUDGET // 2]
        large, small_request = provider.requests
        assert tf.estimate_request(small_request) <= BUDGET // 2 < tf.estimate_request(large)
        assert history == chat()

    def test_concurrent_calls_do_not_touch_each_other(self, provider: Recording) -> None:
        litellm.callbacks = [FitCalls(POLICY)]

        async def work(number: int) -> Any:
            return await litellm.acompletion(model=MODEL, messages=chat(FILES - number))

        in_tasks(work)
        wanted = [sent(tf.fit(chat(FILES - number), POLICY).messages) for number in range(8)]
        assert sorted(provider.requests, key=len, reverse=True) == wanted

    def test_answers_that_were_appended_as_the_objects_they_are_can_be_fitted(
        self, provider: Recording
    ) -> None:
        litellm.callbacks = [FitCalls(POLICY)]
        history: list[Any] = chat()
        history[2::2] = [litellm.Message(**message) for message in history[2::2]]
        asyncio.run(litellm.acompletion(model=MODEL, messages=history))
        assert isinstance(history[2], litellm.Message)
        assert_request(provider.requests[0], "openai-chat")
        assert len(provider.requests[0]) == len(history)

    def test_what_cannot_be_made_small_enough_is_an_error_of_turnfit(
        self, provider: Recording
    ) -> None:
        litellm.callbacks = [FitCalls(POLICY)]
        tools = [{"type": "function", "function": {"name": "x", "description": "word " * 9_000}}]
        with pytest.raises(litellm.ContextWindowExceededError, match="no room for") as caught:
            asyncio.run(litellm.acompletion(model=MODEL, messages=chat(), tools=tools))
        assert isinstance(caught.value.__cause__, tf.BudgetError)
        with pytest.raises(tf.BudgetError, match="no room for messages: tools"):
            FitCalls(POLICY).request(model=MODEL, messages=chat(), tools=tools)
        mixed = [*chat(1), {"type": "function_call_output", "call_id": "c", "output": "x"}]
        with pytest.raises(litellm.BadRequestError, match="message 4"):
            asyncio.run(litellm.acompletion(model=MODEL, messages=mixed))
        assert provider.requests == []

    def test_a_router_falls_back_to_a_larger_window_where_a_request_is_too_large(
        self, provider: Recording
    ) -> None:
        large = tf.Policy(budget=100_000, window=100_000)
        small = tf.Policy(budget=BUDGET, window=BUDGET)
        litellm.callbacks = [FitCalls(lambda model: small if "small" in model else large)]
        router = litellm.Router(
            [
                {"model_name": name, "litellm_params": {"model": f"recording/{name}"}}
                for name in ("small", "large")
            ],
            context_window_fallbacks=[{"small": ["large"]}],
            num_retries=0,
        )
        messages = [{"role": "user", "content": "word " * 9_000}]
        answer = asyncio.run(router.acompletion(model="small", messages=messages))
        assert answer.choices[0].message.content == "Done."
        assert provider.requests == [messages]

    @pytest.mark.parametrize("route", ["responses", "anthropic_messages", "generate_content"])
    def test_other_requests_are_fitted_in_their_wire_format(self, route: str) -> None:
        name = route if route == "anthropic_messages" else f"a{route}"
        key, messages, format_, more = BODIES[name]
        before = copy.deepcopy(messages)
        request = FitCalls(POLICY).request(model="m", **{key: messages}, **more)
        assert messages == before
        assert len(request[key]) == len(messages)
        system = more.get("system") or more.get("instructions")
        assert_request(request[key], format_, system=system)

    def test_what_has_no_messages_stays_as_it_is(self, provider: Recording) -> None:
        calls = FitCalls(POLICY)
        for body in ({"model": "m", "input": "a question"}, {"model": "m", "file": "a.wav"}):
            assert calls.request(**body) == body
        texts = {"model": "m", "input": ["word " * 9_000]}
        hook = calls.async_pre_call_deployment_hook
        for call in (litellm.types.utils.CallTypes.aembedding, "nonsense", None):
            assert asyncio.run(hook(texts, call)) == texts


PROXYS = ("fastapi_sso", "expression", "mcp", "soundfile")
proxied = pytest.mark.skipif(not all(map(find_spec, PROXYS)), reason="needs litellm[proxy]")


class TestTheProxysHook:
    @pytest.mark.parametrize("call", BODIES)
    def test_fits_each_kind_of_request_and_leaves_the_clients_whole(self, call: str) -> None:
        key, messages, format_, more = BODIES[call]
        seen: list[tf.Fitted] = []
        body = {"model": "m", key: messages, **more}
        before = copy.deepcopy(body)
        fit = FitProxy(POLICY, on_fitted=seen.append)
        sent = asyncio.run(fit.async_pre_call_hook(None, None, body, call))
        assert body == before
        assert {name: value for name, value in sent.items() if name != key} == {
            "model": "m",
            **more,
        }
        assert sent[key] == seen[0].messages
        assert seen[0].step == "results"
        assert tf.check(sent[key], format=format_) == []

    @pytest.mark.parametrize("call", ["aembedding", "aimage_generation", "call_mcp_tool"])
    def test_lets_pass_what_is_no_conversation(self, call: str) -> None:
        body = {"model": "m", "input": ["word " * 9_000]}
        hook = FitProxy(POLICY).async_pre_call_hook
        assert asyncio.run(hook(None, None, body, call)) == body

    @proxied
    def test_is_called_by_the_proxy(
        self, provider: Recording, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from fastapi.testclient import TestClient
        from litellm.proxy import proxy_server

        seen: list[tf.Fitted] = []
        litellm.callbacks = [FitProxy(POLICY, on_fitted=seen.append)]
        router = litellm.Router(
            [{"model_name": "reader", "litellm_params": {"model": MODEL}}], num_retries=0
        )
        monkeypatch.setattr(proxy_server, "llm_router", router)
        client = TestClient(proxy_server.app)
        body = {"model": "reader", "messages": chat(), "tools": TOOLS}
        answer = client.post("/v1/chat/completions", json=body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["choices"][0]["message"]["content"] == "Done."
        assert provider.requests == [sent(seen[0].messages)]
        assert seen[0].step == "results"

    @proxied
    def test_goes_with_the_sdks_where_a_deployment_has_a_smaller_window(
        self, provider: Recording, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from fastapi.testclient import TestClient
        from litellm.proxy import proxy_server

        small = replace(POLICY, budget=BUDGET // 2)
        litellm.callbacks = [FitProxy(POLICY), FitCalls(small)]
        router = litellm.Router([{"model_name": "reader", "litellm_params": {"model": MODEL}}])
        monkeypatch.setattr(proxy_server, "llm_router", router)
        body = {"model": "reader", "messages": chat()}
        answer = TestClient(proxy_server.app).post("/v1/chat/completions", json=body)
        assert answer.status_code == 200, answer.text
        assert provider.requests == [sent(tf.fit(chat(), small).messages)]

    @proxied
    def test_answers_the_client_with_what_is_wrong(
        self, provider: Recording, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from fastapi.testclient import TestClient
        from litellm.proxy import proxy_server

        litellm.callbacks = [FitProxy(POLICY)]
        router = litellm.Router([{"model_name": "reader", "litellm_params": {"model": MODEL}}])
        monkeypatch.setattr(proxy_server, "llm_router", router)
        tools = [{"type": "function", "function": {"name": "x", "description": "word " * 9_000}}]
        body = {"model": "reader", "messages": chat(), "tools": tools}
        answer = TestClient(proxy_server.app).post("/v1/chat/completions", json=body)
        assert answer.status_code == 400, answer.text
        assert "no room for messages: tools" in answer.json()["error"]["message"]
        assert provider.requests == []
