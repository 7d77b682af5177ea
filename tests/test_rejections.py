"""What a refusal means is told from whatever it comes in; doubt is unknown."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest
import turnfit as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from support.rejections import MORE, RECORDED, ROOT, expected, refused, rows, table
from turnfit.rejections.advice import ADVICE
from turnfit.rejections.persons import MESSAGES, person_message
from turnfit.rejections.rules import RULES
from turnfit.rejections.rules.codes import FINISHES, STRONG, WEAK
from turnfit.rejections.rules.rule import Rule

EXAMPLES = settings(max_examples=int(os.environ.get("TURNFIT_EXAMPLES", "200")), deadline=None)
KINDS = tuple(ADVICE)
ROWS = rows(RECORDED)
EVERY_ROW = ROWS + rows(MORE)
BY_ID = {row["id"]: row for row in EVERY_ROW}
NEEDS_ROWS = pytest.mark.skipif(not ROWS, reason="the recorded refusals are not here")

OVERFLOW = "prompt is too long: 209303 tokens > 200000 maximum"


def told(error: object) -> tf.Rejection:
    return tf.classify_rejection(error)


@NEEDS_ROWS
@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_a_recorded_refusal_is_told_for_what_it_is(row: dict[str, Any]) -> None:
    rejection = told(refused(row))
    assert expected(row).faults(rejection) == [], rejection


@pytest.mark.parametrize("row", rows(MORE), ids=[row["id"] for row in rows(MORE)])
def test_another_refusal_is_told_for_what_it_is(row: dict[str, Any]) -> None:
    rejection = told(refused(row))
    assert expected(row).faults(rejection) == [], rejection
    if "delay" in row:
        assert rejection.delay == row["delay"]


class ClientError(Exception):
    """As clients raise them: the status and the body, and both in words."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"Error code: {status} - {body}")
        self.status_code, self.body = status, body


FORMS: dict[str, Callable[[int, Any], object]] = {
    "body": lambda status, body: body,
    "bytes": lambda status, body: json.dumps(body).encode(),
    "json": lambda status, body: {"status": status, "body": json.dumps(body)},
    "line": lambda status, body: f"{status} {json.dumps(body)}",
    "repr": lambda status, body: f"Error code: {status} - {body}",
    "exception": ClientError,
}


@NEEDS_ROWS
@pytest.mark.parametrize("form", FORMS)
def test_a_recorded_refusal_is_told_in_whatever_form_it_comes(form: str) -> None:
    came = {row["id"]: FORMS[form](row["http_status"], row["body"]) for row in ROWS}
    faults = {name: expected(BY_ID[name]).faults(told(error)) for name, error in came.items()}
    assert {name: parts for name, parts in faults.items() if parts} == {}


@NEEDS_ROWS
def test_the_tables_of_what_was_told(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n\nrecorded refusals\n{table(ROWS)}")
        print(f"\nmore refusals\n{table(rows(MORE))}")
    false = [row["id"] for row in EVERY_ROW if row["label"] != "context_overflow"]
    assert [name for name in false if told(refused(BY_ID[name])).kind == "context_overflow"] == []


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_a_rule_decides_what_it_was_made_from(rule: Rule) -> None:
    rejection = told(rule.says)
    assert (rejection.kind, rejection.rule) == (rule.kind, rule.name)


def test_rules_and_codes_say_one_thing_each() -> None:
    assert [name for name, count in Counter(rule.name for rule in RULES).items() if count > 1] == []
    for one, other in combinations((STRONG, WEAK), 2):
        assert set(one) & set(other) == set()
    assert set(FINISHES.values()) <= set(KINDS)


@pytest.mark.parametrize(
    ("report", "row", "kind", "extra"),
    [
        ("B113", "E021", "context_overflow", {"limit": 272_000, "used": 509_178}),
        ("B114", "E041", "context_overflow", {"used_is_lower_bound": True, "limit": 202_752}),
        (
            "B114",
            "D027",
            "context_overflow",
            {"used_is_lower_bound": True, "input_tokens": 114_689},
        ),
        ("B116", "E001", "context_overflow", {"rule": "code:context_length_exceeded"}),
        ("B117", "E084", "context_overflow", {"limit": 25_088, "used": 25_837}),
        ("B117", "E087", "context_overflow", {"status": 500, "retry": "smaller"}),
        ("B119", "D019", "context_overflow", {"limit": None}),
        ("B120", "E088", "context_overflow", {"status": 500}),
        ("B122", "E046", "rate_limit", {"retry": "later"}),
        ("B122", "D109", "rate_limit", {"retry": "later"}),
        ("B122", "E072", "context_overflow", {"over_by": 1502, "limit": None, "used": None}),
        ("B123", "D101", "rate_limit", {"retry": "smaller", "limit": 6000, "used": 14_810}),
        ("B125", "E132", "output_limit", {}),
        ("B125", "E133", "output_limit", {}),
        ("B125", "E134", "rate_limit", {}),
        ("B125", "E135", "invalid_request", {}),
        ("B125", "E136", "invalid_request", {}),
        ("B126", "D121", "billing", {"retry": "never", "limit": None, "used": None}),
        ("B128", "E100", "unknown", {"retry": "never"}),
        ("B129", "E140", "context_overflow", {"status": 400, "used": 9001}),
        ("B129", "E141", "invalid_request", {}),
    ],
)
def test_what_was_reported_from_the_field_is_told_right(
    report: str, row: str, kind: str, extra: dict[str, Any]
) -> None:
    if row not in BY_ID:
        pytest.skip("the recorded refusals are not here")
    rejection = told(refused(BY_ID[row]))
    assert rejection.kind == kind, report
    assert {name: getattr(rejection, name) for name in extra} == extra, report


NEAR_MISSES = (ROOT / "tests" / "data" / "near-misses.txt").read_text("utf-8")


@pytest.mark.parametrize("text", NEAR_MISSES.splitlines())
def test_a_near_miss_is_no_overflow(text: str) -> None:
    wrapped = {"error": {"message": text, "type": "invalid_request_error"}}
    for error in (text, {"status": 400, "body": wrapped}, RuntimeError(text)):
        assert told(error).kind != "context_overflow"


@pytest.mark.parametrize(
    "error",
    [
        f"Invalid value: {OVERFLOW!r} is not an array",
        f'Could not parse JSON body: unexpected token at "{OVERFLOW}"',
        f"messages.3.content: Input should be a valid string [input_value='{OVERFLOW}']",
        f"Invalid content: '{OVERFLOW}",
        f"Invalid value for content: { {'error': {'message': OVERFLOW}} } is not of type 'array'",
        {"detail": [{"msg": "Field required", "input": {"text": OVERFLOW}}]},
        {"error": {"message": "Failed to call a function.", "failed_generation": OVERFLOW}},
        {"error": {"message": "flagged", "metadata": {"flagged_input": OVERFLOW}}},
        {"statusCode": 400, "message": "Bad Request", "requestBodyValues": {"message": OVERFLOW}},
        {"choices": [{"message": {"role": "assistant", "content": OVERFLOW}}]},
    ],
)
def test_what_a_refusal_quotes_from_the_request_is_no_evidence(error: object) -> None:
    rejection = told({"status": 400, "body": error})
    assert rejection.kind != "context_overflow"
    assert (rejection.limit, rejection.used) == (None, None)


def test_digits_in_a_text_are_no_status() -> None:
    body = {"message": "This request has 429 problems, see item 503.", "type": "BadRequestError"}
    assert told({"status": 400, "body": body}).kind == "invalid_request"


Wrapping = Callable[[str], object]
WRAPPINGS: list[Wrapping] = [
    lambda message: {"error": {"message": message}},
    lambda message: {"error": {"message": json.dumps({"error": {"message": message}})}},
    lambda message: [{"error": {"message": message, "code": 400}}],
    lambda message: {"error": {"metadata": {"raw": json.dumps({"message": message})}}},
    lambda message: {"detail": json.dumps(json.dumps({"message": message}))},
    lambda message: (
        {"message": f"litellm.BadRequestError: XException - {json.dumps({'m': 1})}"}
        | {"error": message}
    ),
    lambda message: f"litellm.APIError: {json.dumps({'error': {'message': message}}).encode()!r}",
    lambda message: f"Error code: 400 - { {'error': {'message': message}}!r}",
    lambda message: f"data: {json.dumps({'error': {'message': message}})}\n\n",
    lambda message: json.dumps({"type": "error", "error": {"message": message}}).encode(),
    lambda message: RuntimeError(message),
    lambda message: ExceptionGroup("two", [ValueError(message), ValueError(message)]),
]


@pytest.mark.parametrize("wrap", WRAPPINGS)
@pytest.mark.parametrize("label", ["context_overflow", "rate_limit", "output_limit"])
def test_wrapping_changes_nothing(wrap: Wrapping, label: str) -> None:
    messages = [rule.says for rule in RULES if rule.kind == label]
    for message in messages:
        bare, wrapped = told(message), told(wrap(message))
        assert (wrapped.kind, wrapped.limit, wrapped.used) == (bare.kind, bare.limit, bare.used)


def test_the_cause_of_an_exception_counts_where_it_says_nothing_itself() -> None:
    error = RuntimeError("the agent stopped")
    error.__cause__ = ValueError(OVERFLOW)
    assert told(error).limit == 200_000


def test_errors_side_by_side_decide_only_where_they_agree() -> None:
    overflow = json.dumps({"error": {"message": OVERFLOW}})
    other = json.dumps({"error": {"message": "tool_use ids must be unique: messages.3"}})
    assert told(f"first: {overflow} fallback: {overflow}").kind == "context_overflow"
    assert told(f"first: {other} fallback: {overflow}").kind == "unknown"


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("200,000", 200_000),
        ("200000", 200_000),
        ("200_000", 200_000),
        ("200.000", 200_000),
        ("200'000", 200_000),
        ("200\u202f000", 200_000),
        ("200k", 200_000),
        ("1M", 1_000_000),
        ("1.5M", 1_500_000),
        ("1,048,576", 1_048_576),
    ],
)
def test_numbers_are_read_as_people_write_them(written: str, number: int) -> None:
    rejection = told(f"The input token count (3,000,000) exceeds the maximum of {written} tokens")
    assert (rejection.kind, rejection.limit) == ("context_overflow", number)


@pytest.mark.parametrize("unit", ["bytes", "characters", "chars", "MB", "KB", "images", "pages"])
def test_a_number_of_something_else_is_no_tokens(unit: str) -> None:
    for text in ("input exceeds the limit of 200000 {}", "prompt is too long: 900 {0} > 800 {0}"):
        rejection = told(text.format(unit))
        assert (rejection.limit, rejection.used) == (None, None)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("The prompt exceeds the maximum context for gpt-4 which is 8192 tokens", 8192),
        ("prompt too long: maximum context for llama3-8b-8192 is 8,192 tokens", 8192),
        ("The maximum prompt size for grok-4 is 256k tokens", 256_000),
        ("The input is longer than the context window of claude-sonnet-4-5", None),
    ],
)
def test_a_number_in_a_models_name_is_no_limit(text: str, limit: int | None) -> None:
    rejection = told(text)
    assert (rejection.kind, rejection.limit) == ("context_overflow", limit)


@pytest.mark.parametrize(
    ("row", "fits"), [("E024", True), ("D044", False), ("E001", None), ("D039", None)]
)
def test_whether_the_input_alone_fits_is_told_where_it_is_named_apart(
    row: str, fits: bool | None
) -> None:
    if row not in BY_ID:
        pytest.skip("the recorded refusals are not here")
    assert told(refused(BY_ID[row])).input_alone_fits is fits


@pytest.mark.parametrize(
    ("output", "kind", "limit"),
    [(8192, "context_overflow", 32_768), (40_000, "output_limit", 2768)],
)
def test_an_answer_that_fills_the_window_alone_is_the_answers_fault(
    output: int, kind: str, limit: int
) -> None:
    rejection = told(
        f"'max_tokens' or 'max_completion_tokens' is too large: {output}. This model's maximum "
        f"context length is 32768 tokens and your request has 30000 input tokens ({output} > 2768)."
    )
    assert (rejection.kind, rejection.limit) == (kind, limit)


@pytest.mark.parametrize(
    ("headers", "body", "delay"),
    [
        ({"Retry-After": "7"}, {}, 7),
        ({"retry-after-ms": "250"}, {}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, {}, 0),
        ({}, {"details": [{"retryDelay": "59s"}]}, 59),
        ({}, {"message": "Please try again in 1m30.5s."}, 90.5),
        ({}, {"message": "Please retry after 20 seconds."}, 20),
        ({}, {"message": "try again in 820ms"}, 0.82),
        ({"retry-after": "soon"}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_delay_is_what_the_refusal_asks_for(
    headers: dict[str, str], body: dict[str, Any], delay: float | None
) -> None:
    rejection = told({"status": 429, "headers": headers, "body": body})
    assert rejection.kind == "rate_limit"
    assert rejection.delay == (None if delay is None else pytest.approx(delay))


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ({"stop_reason": "refusal"}, "content_policy"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "content_policy"),
        ({"stopReason": "guardrail_intervened"}, "content_policy"),
        ({"choices": [{"finish_reason": "length"}]}, "output_limit"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "output_limit",
        ),
        ({"choices": [{"finish_reason": "stop"}]}, "unknown"),
        ({"finish_reason": "ERROR_LIMIT"}, "context_overflow"),
    ],
)
def test_why_an_answer_ended_is_evidence(ending: dict[str, Any], kind: str) -> None:
    assert told(ending).kind == kind


@pytest.mark.parametrize(
    ("usage", "overflows"),
    [
        ({"prompt_tokens": 1000, "completion_tokens": 0}, True),
        ({"prompt_tokens": 991, "completion_tokens": 0}, True),
        ({"prompt_tokens": 900, "completion_tokens": 0}, False),
        ({"prompt_tokens": 995, "completion_tokens": 5}, False),
        ({"prompt_tokens": 1200, "completion_tokens": 50}, True),
        ({"input_tokens": 5, "cache_read_input_tokens": 995, "output_tokens": 0}, True),
        ({"promptTokenCount": 1000, "candidatesTokenCount": 0}, True),
        ({"prompt_eval_count": 1000, "eval_count": 0}, True),
        ({"inputTokens": 10, "cacheReadInputTokens": 995, "outputTokens": 3}, True),
        ({"usage": {"prompt_tokens": 1000, "completion_tokens": 0}}, True),
        ({"prompt_tokens": 900, "cache_read_input_tokens": 800, "completion_tokens": 0}, False),
        ({}, False),
        (None, False),
        ({"prompt_tokens": "many"}, False),
        (1001, True),
        (1000, False),
    ],
)
def test_a_silent_overflow_shows_in_the_usage(usage: object, overflows: bool) -> None:
    rejection = tf.silent_overflow(usage, 1000)
    assert (rejection is not None) is overflows
    if rejection:
        assert (rejection.kind, rejection.retry, rejection.limit) == (
            "context_overflow",
            "smaller",
            1000,
        )


def test_a_window_that_cannot_be_is_an_error() -> None:
    with pytest.raises(ValueError, match="window"):
        tf.silent_overflow({}, 0)


def test_usage_fills_in_what_an_overflow_does_not_say() -> None:
    usage = {"prompt_tokens": 300_000, "completion_tokens": 0}
    assert tf.classify_rejection("context_length_exceeded", usage).used == 300_000
    assert tf.classify_rejection("context_length_exceeded", 5000).used == 5000
    assert tf.classify_rejection(OVERFLOW, usage).used == 209_303
    assert tf.classify_rejection("invalid x-api-key", usage).used is None


def test_an_overflow_is_the_persons_to_resolve_and_an_outage_the_operators() -> None:
    overflow, outage = told(OVERFLOW), told({"status": 503, "body": "Service Unavailable"})
    assert (overflow.page_operator, outage.page_operator) == (False, True)
    for piece in ("too long for the model to read at once", "start a new one", "stays"):
        assert piece in overflow.person_message
    assert overflow.advice != outage.advice


def test_a_changed_prefix_comes_with_what_to_do() -> None:
    rejection = told(
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
        "different conversation."
    )
    assert (rejection.kind, rejection.retry) == ("reasoning_prefix", "never")
    assert "drop_block" in rejection.advice
    assert "new one" in rejection.person_message


def test_every_language_has_every_message_and_none_is_anothers() -> None:
    assert set(MESSAGES) == {"en", "es", "pt", "ru", "hi", "zh", "ja"}
    for topic in MESSAGES["en"]:
        texts = [messages[topic] for messages in MESSAGES.values()]
        assert len(set(texts)) == len(MESSAGES)
        assert all(text == text.strip() and re.search(r"[.।。]$", text) for text in texts)


@pytest.mark.parametrize(
    ("locale", "language"),
    [("pt-BR", "pt"), ("zh_CN.UTF-8", "zh"), ("RU", "ru"), ("fr", "en"), ("", "en")],
)
def test_a_locale_is_taken_by_its_language_and_english_stands_in(
    locale: str, language: str
) -> None:
    message = tf.classify_rejection(OVERFLOW, locale=locale).person_message
    assert message == MESSAGES[language]["too_long"]


def test_a_request_over_a_rate_alone_is_a_conversation_too_long() -> None:
    assert person_message("rate_limit", "smaller", "en") == MESSAGES["en"]["too_long"]
    assert person_message("rate_limit", "later", "en") == MESSAGES["en"]["busy"]


class Hostile:
    """An object that fails whatever is asked of it."""

    status_code = 400

    @property
    def headers(self) -> Any:
        raise RuntimeError("no")

    @property
    def content(self) -> Any:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "error", [None, 5, 0.5, object(), [], {}, b"\xff\xfe", "", Hostile(), "[" * 100_000, "\ud800"]
)
def test_what_cannot_be_read_is_unknown(error: object) -> None:
    assert told(error).kind == "unknown"


def test_a_body_that_holds_itself_ends() -> None:
    body: dict[str, Any] = {"message": "no"}
    body["error"] = body
    many: list[Any] = []
    many += [many] * 50
    assert told(body).kind == "unknown"
    assert told({"error": many, "message": OVERFLOW}).kind == "context_overflow"


words = st.sampled_from([rule.says for rule in RULES] + [*STRONG] + ["400", "tokens", "{", "'"])
keys = st.sampled_from(
    ["error", "message", "code", "type", "status", "body", "detail", "metadata", "raw", "input"]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | words | st.binary()
bodies = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(keys | st.text(), inner, max_size=4)
    ),
)


@EXAMPLES
@given(bodies, bodies, st.text(max_size=8))
def test_it_never_raises_and_always_says_the_same(error: Any, usage: Any, locale: str) -> None:
    once, again = (tf.classify_rejection(error, usage, locale=locale) for _ in range(2))
    assert once == again
    assert once.kind in KINDS
    assert once.retry in ("never", "smaller", "later")
    for figure in (once.limit, once.used, once.over_by, once.input_tokens, once.output_tokens):
        assert figure is None or figure >= 0


@EXAMPLES
@given(st.integers(1_000, 10**7), st.integers(1, 10**6), st.booleans())
def test_limit_and_used_are_read_whatever_their_size(limit: int, over: int, grouped: bool) -> None:
    used = limit + over
    one, other = (f"{number:,}" if grouped else str(number) for number in (used, limit))
    for text in (
        f"prompt is too long: {one} tokens > {other} maximum",
        f"The input token count ({one}) exceeds the maximum number of tokens allowed ({other}).",
        f"This model's maximum prompt length is {other} but the request contains {one} tokens",
        f"This model's maximum context length is {other} tokens. However, your messages resulted "
        f"in {one} tokens.",
        f"The input ({one} tokens) is longer than the model's context length ({other} tokens).",
        f"Your request exceeded model token limit: {other} (requested: {one})",
    ):
        rejection = told(text)
        assert (rejection.limit, rejection.used) == (limit, used), text


@EXAMPLES
@given(st.sampled_from([rule.says for rule in RULES if rule.kind == "context_overflow"]))
def test_an_echo_in_a_validation_error_is_never_an_overflow(text: str) -> None:
    quoted = json.dumps(text)
    for error in (f"Invalid value for 'messages[3].content': {quoted} is not of type 'array'.",):
        assert (
            told({"status": 400, "body": {"error": {"message": error}}}).kind == "invalid_request"
        )
