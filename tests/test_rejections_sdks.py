"""The errors that the real clients raise, against a local server with recorded bodies.

`pip install '.[sdks]'` brings the clients; where one is absent, its tests are skipped.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import turnfit as tf
from servers.recorded import Recorded, recorded
from support.rejections import MORE, RECORDED, expected, refused, rows

# What third parties deprecate or leave open is theirs to mend.
pytestmark = pytest.mark.filterwarnings("ignore")

ROWS = [
    row
    for row in rows(RECORDED) + rows(MORE)
    if row.get("http_status", 0) >= 400 and isinstance(row["body"], dict)
]
PROVIDERS = {
    "google-genai": ("gemini", "vertex"),
    "boto3": ("bedrock",),
    "mistralai": ("mistral",),
    "cohere": ("cohere",),
}
MESSAGES = [{"role": "user", "content": "hi"}]
OVERFLOW = "prompt is too long: 209303 tokens > 200000 maximum"
ANTHROPIC = {"type": "error", "error": {"type": "invalid_request_error", "message": OVERFLOW}}
OPENAI = {
    "message": "This model's maximum context length is 4097 tokens. However, your messages "
    "resulted in 4294 tokens. Please reduce the length of the messages.",
    "type": "invalid_request_error",
    "param": "messages",
    "code": "context_length_exceeded",
}


def sdk(name: str) -> Any:
    """A client library, without its warnings; a skip where it is absent."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, exc_type=ImportError)


def raised(call: Callable[[], object]) -> Exception:
    try:
        answer = call()
    except Exception as error:
        return error
    raise AssertionError(f"nothing was raised, but {answer!r}")


def events(*bodies: dict[str, Any]) -> list[str]:
    return [f"event: {body.get('type', 'message')}\ndata: {json.dumps(body)}" for body in bodies]


@pytest.fixture(scope="module")
def server() -> Iterator[Recorded]:
    with recorded() as running:
        yield running


@pytest.fixture(scope="module")
def openai(server: Recorded) -> Any:
    return sdk("openai").OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)


@pytest.fixture(scope="module")
def anthropic(server: Recorded) -> Any:
    return sdk("anthropic").Anthropic(api_key="k", base_url=server.url, max_retries=0)


@pytest.fixture(scope="module")
def calls(server: Recorded) -> dict[str, Callable[[], object]]:
    """A request by each client of one provider's, made when it is first asked for."""
    return {
        "google-genai": lambda: genai(server.url).models.generate_content(model="m", contents="hi"),
        "boto3": lambda: bedrock(server.url).converse(modelId="m", messages=[said("hi")]),
        "mistralai": lambda: mistral(server.url).chat.complete(model="m", messages=MESSAGES),
        "cohere": lambda: cohere(server.url).chat(
            model="m", messages=MESSAGES, request_options={"max_retries": 0}
        ),
    }


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": text}]}


@cache
def genai(url: str) -> Any:
    return sdk("google.genai").Client(api_key="k", http_options={"base_url": url})


@cache
def bedrock(url: str) -> Any:
    boto3, config = sdk("boto3"), sdk("botocore.config")
    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=config.Config(retries={"total_max_attempts": 1}),
    )


@cache
def mistral(url: str) -> Any:
    return sdk("mistralai.client").Mistral(api_key="k", server_url=url)


@cache
def cohere(url: str) -> Any:
    return sdk("cohere").ClientV2(api_key="k", base_url=url)


@pytest.fixture(scope="module")
def litellm() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        module = sdk("litellm")
        module.suppress_debug_info = True
        yield module


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_openai_raises_what_is_told_like_the_body(
    row: dict[str, Any], server: Recorded, openai: Any
) -> None:
    server.answer(row["http_status"], row["body"])
    error = raised(lambda: openai.chat.completions.create(model="m", messages=MESSAGES))
    assert expected(row).faults(tf.classify_rejection(error)) == []


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_anthropic_raises_what_is_told_like_the_body(
    row: dict[str, Any], server: Recorded, anthropic: Any
) -> None:
    server.answer(row["http_status"], row["body"])
    error = raised(lambda: anthropic.messages.create(model="m", max_tokens=5, messages=MESSAGES))
    assert expected(row).faults(tf.classify_rejection(error)) == []


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_httpx_raises_what_is_told_like_the_body(row: dict[str, Any], server: Recorded) -> None:
    httpx = sdk("httpx")
    server.answer(row["http_status"], row["body"])
    response = httpx.post(server.url, json={})
    for error in (response, raised(response.raise_for_status)):
        assert expected(row).faults(tf.classify_rejection(error)) == []


def of_provider(client: str) -> list[Any]:
    names = PROVIDERS[client]
    own = [row for row in ROWS if row["provider"].split(" (")[0].split("/")[0] in names]
    return [
        pytest.param(client, row, id=f"{client}-{row['id']}")
        for row in own
        if "mantle" not in row["provider"]  # it speaks as OpenAI does
    ]


@pytest.mark.parametrize(
    ("client", "row"), [entry for client in PROVIDERS for entry in of_provider(client)]
)
def test_a_providers_own_client_raises_what_is_told_like_the_body(
    client: str, row: dict[str, Any], server: Recorded, calls: dict[str, Callable[[], object]]
) -> None:
    kind = row["body"].get("name", "ValidationException")
    server.answer(row["http_status"], row["body"], {"x-amzn-errortype": kind})
    error = raised(calls[client])
    assert expected(row).faults(tf.classify_rejection(error)) == [], repr(error)


@pytest.mark.parametrize("stream", [False, True])
def test_openai_responses_raise_the_same(server: Recorded, openai: Any, stream: bool) -> None:
    server.answer(400, {"error": OPENAI})
    error = raised(lambda: openai.responses.create(model="m", input="hi", stream=stream))
    told = tf.classify_rejection(error)
    assert (told.kind, told.limit, told.used) == ("context_overflow", 4097, 4294)


def test_an_error_within_an_openai_stream_counts(server: Recorded, openai: Any) -> None:
    delta = {"index": 0, "delta": {"content": "a"}, "finish_reason": None}
    chunk = {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [delta]}
    server.answer_events(*(f"data: {json.dumps(body)}" for body in (chunk, {"error": OPENAI})))
    error = raised(
        lambda: list(openai.chat.completions.create(model="m", messages=MESSAGES, stream=True))
    )
    told = tf.classify_rejection(error)
    assert (told.kind, told.limit, told.used) == ("context_overflow", 4097, 4294)


@pytest.mark.parametrize(
    "event",
    [
        {
            "type": "error",
            "code": "context_length_exceeded",
            "message": "Too long.",
            "param": "input",
        },
        {
            "type": "response.failed",
            "response": {
                "id": "resp_1",
                "status": "failed",
                "output": [],
                "error": {"code": "context_length_exceeded", "message": "Too long."},
            },
        },
    ],
    ids=["error", "response.failed"],
)
def test_an_event_of_an_openai_responses_stream_is_told(
    server: Recorded, openai: Any, event: dict[str, Any]
) -> None:
    server.answer_events(*events({**event, "sequence_number": 1}))
    try:
        (told,) = map(
            tf.classify_rejection, openai.responses.create(model="m", input="hi", stream=True)
        )
    except Exception as error:
        told = tf.classify_rejection(error)
    assert (told.kind, told.retry) == ("context_overflow", "smaller")


def test_a_body_that_is_missing_leaves_doubt(server: Recorded, openai: Any) -> None:
    server.answer(400, None)
    error = raised(lambda: openai.chat.completions.create(model="m", messages=MESSAGES))
    assert tf.classify_rejection(error).kind == "unknown"


def test_the_delay_is_read_from_a_clients_headers(server: Recorded, openai: Any) -> None:
    body = {"error": {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}}
    server.answer(429, body, {"retry-after": "7"})
    error = raised(lambda: openai.chat.completions.create(model="m", messages=MESSAGES))
    told = tf.classify_rejection(error)
    assert (told.kind, told.retry, told.delay) == ("rate_limit", "later", 7)


def test_an_error_within_an_anthropic_stream_counts(server: Recorded, anthropic: Any) -> None:
    message: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "m",
        "stop_reason": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    server.answer_events(*events({"type": "message_start", "message": message}, ANTHROPIC))
    stream = {"model": "m", "max_tokens": 5, "messages": MESSAGES, "stream": True}
    told = tf.classify_rejection(raised(lambda: list(anthropic.messages.create(**stream))))
    assert (told.kind, told.limit, told.used) == ("context_overflow", 200_000, 209_303)
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    server.answer_events(*events({"type": "message_start", "message": message}, overloaded))
    told = tf.classify_rejection(raised(lambda: list(anthropic.messages.create(**stream))))
    assert (told.kind, told.retry) == ("server", "later")


def test_streams_of_other_clients_raise_the_same(server: Recorded) -> None:
    body = {"error": {"code": 400, "message": OVERFLOW, "status": "INVALID_ARGUMENT"}}
    server.answer(400, body)
    error = raised(
        lambda: list(genai(server.url).models.generate_content_stream(model="m", contents="hi"))
    )
    assert tf.classify_rejection(error).used == 209_303


def test_bedrock_raises_the_same_however_it_is_called(server: Recorded) -> None:
    body = {"message": f"The model returned the following errors: {OVERFLOW}"}
    server.answer(400, body, {"x-amzn-errortype": "ValidationException"})
    client = bedrock(server.url)
    for call in (
        lambda: client.invoke_model(modelId="m", body=b"{}"),
        lambda: client.converse_stream(modelId="m", messages=[said("hi")]),
    ):
        assert tf.classify_rejection(raised(call)).limit == 200_000


def test_mistrals_stream_and_validation_raise_the_same(server: Recorded) -> None:
    server.answer(400, {"object": "error", "message": OVERFLOW, "type": "invalid_request_prompt"})
    error = raised(lambda: list(mistral(server.url).chat.stream(model="m", messages=MESSAGES)))
    assert tf.classify_rejection(error).limit == 200_000
    detail = {"loc": ["body"], "msg": "Input should be a valid list", "type": "list_type"}
    server.answer(422, {"detail": [{**detail, "input": OVERFLOW}]})
    error = raised(lambda: mistral(server.url).chat.complete(model="m", messages=MESSAGES))
    assert tf.classify_rejection(error).kind == "invalid_request"


LITELLM = {
    "openai": ("openai/gpt-4o", "", {"error": OPENAI}),
    "anthropic": ("anthropic/claude-opus-4-5", "/v1/messages", ANTHROPIC),
}


def by_litellm(litellm: Any, model: str, url: str) -> Exception:
    return raised(
        lambda: litellm.completion(
            model=model, api_base=url, api_key="k", messages=MESSAGES, num_retries=0, max_retries=0
        )
    )


@pytest.mark.parametrize("provider", LITELLM)
def test_litellm_raises_what_is_told_like_the_body(
    server: Recorded, litellm: Any, provider: str
) -> None:
    model, path, body = LITELLM[provider]
    server.answer(400, body)
    told = tf.classify_rejection(by_litellm(litellm, model, server.url + path))
    assert told.kind == "context_overflow"
    assert told.limit in (4097, 200_000)
    assert told.used in (4294, 209_303)


def test_litellm_calling_a_long_string_an_overflow_is_not_believed(
    server: Recorded, litellm: Any
) -> None:
    row = next((row for row in ROWS if row["id"] == "E007"), None)
    if row is None:
        pytest.skip("the recorded refusals are not here")
    server.answer(400, row["body"])
    error = by_litellm(litellm, "openai/gpt-4o", server.url)
    assert tf.classify_rejection(error).kind == "payload_too_large"


def test_a_connection_that_fails_is_an_outage() -> None:
    httpx, module = sdk("httpx"), sdk("openai")
    nowhere = "http://127.0.0.1:9"
    client = module.OpenAI(api_key="k", base_url=nowhere, max_retries=0)
    for call in (
        lambda: httpx.post(nowhere),
        lambda: client.chat.completions.create(model="m", messages=MESSAGES),
    ):
        told = tf.classify_rejection(raised(call))
        assert (told.kind, told.retry) == ("server", "later")


def test_a_response_whose_body_was_not_read_leaves_doubt(server: Recorded) -> None:
    httpx = sdk("httpx")
    server.answer(400, ANTHROPIC)
    with httpx.stream("POST", server.url, json={}) as response:
        assert tf.classify_rejection(raised(response.raise_for_status)).kind == "unknown"
        response.read()
        assert tf.classify_rejection(raised(response.raise_for_status)).limit == 200_000


def test_what_the_rows_say_does_not_depend_on_the_client() -> None:
    assert all(expected(row).faults(tf.classify_rejection(refused(row))) == [] for row in ROWS)
