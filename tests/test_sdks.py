"""Fitted requests are what the providers' own SDKs take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from typing import Any

import pytest
import turnfit as tf
from reference import Format
from support.conversions import converted
from support.trajectories import needs_corpus, recorded
from turnfit.replay import Recording

Validate = Callable[[list[Any]], object]


def typed(wanted: Any) -> Validate:
    """Validation by pydantic, which checks what is declared as an iterable when it is read."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(list[wanted])
    return lambda messages: read_through(adapter.validate_python(messages))


def read_through(value: Any) -> None:
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            read_through(item)


def of_chat() -> Validate:
    from openai.types.chat import ChatCompletionMessageParam

    return typed(ChatCompletionMessageParam)


def of_responses() -> Validate:
    from openai.types.responses import ResponseInputItemParam

    return typed(ResponseInputItemParam)


def of_anthropic() -> Validate:
    from anthropic.types.beta import BetaMessageParam

    return typed(BetaMessageParam)


def of_gemini() -> Validate:
    from google.genai.types import Content

    return typed(Content)


def of_bedrock() -> Validate:
    from botocore.session import get_session
    from botocore.validate import ParamValidator

    model = get_session().get_service_model("bedrock-runtime").operation_model("Converse")

    def validate(messages: list[Any]) -> None:
        parameters = {"modelId": "model", "messages": messages}
        report = ParamValidator().validate(parameters, model.input_shape)
        assert not report.has_errors(), report.generate_report()

    return validate


def of_langchain() -> Validate:
    from langchain_core.messages import convert_to_openai_messages

    def validate(messages: list[Any]) -> None:
        for message in messages:
            assert type(message).model_validate(message.model_dump()) == message
        convert_to_openai_messages(messages)

    return validate


VALIDATORS: dict[Format, tuple[str, Callable[[], Validate]]] = {
    "openai-chat": ("openai", of_chat),
    "openai-responses": ("openai", of_responses),
    "anthropic": ("anthropic", of_anthropic),
    "gemini": ("google.genai", of_gemini),
    "bedrock-converse": ("botocore", of_bedrock),
    "langchain": ("langchain_core", of_langchain),
}


def is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@cache
def validator(format_: Format) -> Validate:
    module, make = VALIDATORS[format_]
    if not is_there(module):
        pytest.skip(f"{module} is not installed: the extra `sdks` brings it")
    return make()


@cache
def histories() -> list[Recording]:
    return list(recorded())


def rules(messages: list[Any], format_: Format) -> set[str]:
    return {problem.rule for problem in tf.check(messages, format=format_)}


@needs_corpus
@pytest.mark.parametrize("format_", VALIDATORS)
def test_the_sdk_takes_every_fitted_recording(format_: Format) -> None:
    validate = validator(format_)
    steps = set()
    for history in histories():
        messages = converted(history.messages, format_)
        if not messages:
            continue
        validate(messages)
        assert rules(messages, format_) <= {"same-role"}, history.name
        whole = tf.estimate_request(messages, format=format_)
        for share in (0.1, 0.3, 0.7):
            policy = tf.Policy(
                budget=max(3, int(whole * share)), keep_at_least=0, clear_tool_inputs=True
            )
            fitted = tf.fit(messages, policy, format=format_)
            steps.add(fitted.step)
            validate(fitted.messages)
            assert rules(fitted.messages, format_) == set(), history.name
    assert steps >= {"results", "turns", "rounds"}


BROKEN: dict[Format, Any] = {
    "openai-chat": {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function"}]},
    "openai-responses": {"type": "function_call_output", "call_id": "c1", "output": 7},
    "anthropic": {"role": "user", "content": [{"type": "tool_result", "content": "no id"}]},
    "gemini": {"role": "user", "parts": [{"functionResponse": {"output": "no response"}}]},
    "bedrock-converse": {"role": "user", "content": [{"toolResult": {"content": []}}]},
}


@pytest.mark.parametrize("format_", BROKEN)
def test_the_sdk_would_refuse_what_is_broken(format_: Format) -> None:
    with pytest.raises((ValueError, AssertionError)):
        validator(format_)([BROKEN[format_]])


@needs_corpus
@pytest.mark.parametrize("format_", VALIDATORS)
def test_a_recording_tells_its_format(format_: Format) -> None:
    validator(format_)
    told = 0
    for history in histories():
        messages = converted(history.messages, format_)
        if messages:
            told += tf.fit(messages, budget=10**9).format == format_
    assert told > 50


def test_the_sdks_take_the_nearest_settings() -> None:
    for format_, module, name in (
        ("anthropic", "anthropic.types.beta", "BetaContextManagementConfigParam"),
        ("openai-responses", "openai.types.responses.response_create_params", "ContextManagement"),
    ):
        wanted = getattr(pytest.importorskip(module), name)
        setting = tf.Policy(budget=1_000).to_context_management(format_).setting
        typed(wanted)(setting if isinstance(setting, list) else [setting])
