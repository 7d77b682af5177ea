"""What the integrations share: fitting, telling, and errors that name what is wrong."""

from __future__ import annotations

import importlib
import logging
import pickle
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import turnfit as tf
from support.reading import BUDGET, FILES, POLICY, TASK, text_of
from turnfit.errors import MissingExtraError
from turnfit.integrations import Fitter, telemetry

Messages = list[dict[str, Any]]


def history(files: int = FILES) -> Messages:
    messages: Messages = [{"role": "user", "content": TASK}]
    for number in range(files):
        function = {"name": "read_file", "arguments": f'{{"number":{number}}}'}
        call = {"id": f"c{number}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": text_of(number)},
        ]
    return messages


class TestFitting:
    def test_is_that_of_turnfit(self) -> None:
        request: dict[str, Any] = {"system": "Be brief.", "tools": [{"name": "read_file"}]}
        fitted = Fitter("mine", POLICY).fit(history(), **request)
        plain = tf.fit(history(), POLICY, **request)
        assert (fitted.messages, fitted.tokens) == (plain.messages, plain.tokens)

    def test_goes_by_the_policy_of_the_model_that_is_called(self) -> None:
        small = replace(POLICY, budget=BUDGET // 2)
        fitter = Fitter("mine", lambda model: small if model == "small" else POLICY)
        for model, budget in (("small", BUDGET // 2), ("large", BUDGET), (None, BUDGET)):
            assert fitter.fit(history(), model=model).budget == budget

    def test_repairs_where_that_is_asked_for(self) -> None:
        broken = [*history(1)[:2], {"role": "user", "content": "Go on."}]
        assert Fitter("mine", POLICY).fit(broken).messages == broken
        repaired = Fitter("mine", POLICY, repair=True).fit(broken).messages
        assert [message["role"] for message in repaired] == ["user", "assistant", "tool", "user"]

    @pytest.mark.parametrize("pinned", [(), (4,), lambda message: "file 1" in str(message)])
    def test_pins_what_a_framework_needs_besides_what_the_policy_pins(self, pinned: Any) -> None:
        fitter = Fitter("mine", replace(POLICY, pinned=pinned))
        fitted = fitter.fit(history(), pinned=[2])
        cleared = {entry.index for entry in fitted.cleared}
        assert cleared
        assert not cleared & ({2, 4} if pinned else {2})

    @pytest.mark.parametrize("policy", [400_000, None, "large"])
    def test_a_policy_that_is_none_is_refused(self, policy: Any) -> None:
        with pytest.raises(TypeError, match="policy must be a Policy"):
            Fitter("mine", policy)

    def test_a_function_that_gives_no_policy_is_told_with_the_model(self) -> None:
        fitter: Fitter = Fitter("mine", lambda model: 400_000)  # type: ignore[arg-type, return-value]
        with pytest.raises(TypeError, match="the policy for the model 'gpt' must be a Policy"):
            fitter.fit(history(), model="gpt")


class TestTooLargeRequests:
    def test_a_budget_without_room_names_its_parts(self) -> None:
        with pytest.raises(tf.BudgetError, match="no room for messages: system") as caught:
            Fitter("mine", POLICY).fit(history(), system="word " * 9_000)
        assert caught.value.parts["system"] > BUDGET

    def test_what_is_over_the_budget_alone_is_sent(self, caplog: pytest.LogCaptureFixture) -> None:
        fitted = Fitter("mine", POLICY).fit([{"role": "user", "content": "word " * 9_000}])
        assert not fitted.fits
        assert [record.levelname for record in caplog.records] == ["WARNING"]

    def test_what_is_over_the_window_too_is_refused_before_the_provider_does(self) -> None:
        seen: list[tf.Fitted] = []
        policy = replace(POLICY, window=8_000, output=1_000)
        fitter = Fitter("mine", policy, on_fitted=seen.append)
        with pytest.raises(tf.BudgetError, match=r"over the window of 8,000; message 0") as caught:
            fitter.fit([{"role": "user", "content": "word " * 9_000}])
        assert caught.value.parts["output"] == 1_000
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
        assert len(seen) == 1


class TestTelling:
    @pytest.mark.parametrize(("files", "level"), [(1, "DEBUG"), (FILES, "INFO")])
    def test_the_log_says_what_was_done_without_a_word_of_the_messages(
        self, files: int, level: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG, "turnfit")
        fitted = Fitter("mine", POLICY).fit(history(files))
        [record] = caplog.records
        assert (record.name, record.levelname) == ("turnfit.integrations.mine", level)
        assert record.getMessage() == str(fitted)
        assert record.__dict__["turnfit"] == {"framework": "mine", **fitted.as_dict()}
        assert "says" not in f"{record.getMessage()} {record.__dict__['turnfit']}"

    def test_who_watches_never_stops_the_work(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(*_: Any) -> None:
            raise RuntimeError("the watcher broke")

        class Failing(logging.Filter):
            def filter(self, record: logging.LogRecord) -> bool:
                raise RuntimeError("the filter broke")

        monkeypatch.setattr(telemetry, "record", fail)
        fitter = Fitter("mine", POLICY, on_fitted=fail)
        assert fitter.fit(history()).fits
        assert [record.exc_info is not None for record in caplog.records] == [True, True]
        failing, log = Failing(), logging.getLogger("turnfit.integrations.mine")
        log.addFilter(failing)
        try:
            assert fitter.fit(history()).fits
        finally:
            log.removeFilter(failing)

    def test_an_async_callback_which_nobody_would_await_is_refused(self) -> None:
        async def later(fitted: tf.Fitted) -> None: ...

        with pytest.raises(TypeError, match="on_fitted must be a plain function"):
            Fitter("mine", POLICY, on_fitted=later)


class Watched:
    """OpenTelemetry's own in-memory exporters."""

    def __init__(self, spans: Any, reader: Any, tracer: Any) -> None:
        self.spans, self.reader, self.tracer = spans, reader, tracer

    def points(self) -> dict[str, Any]:
        data = self.reader.get_metrics_data()
        return {
            metric.name: list(metric.data.data_points)
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
def otel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    trace_sdk = pytest.importorskip("opentelemetry.sdk.trace")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    metrics_sdk = pytest.importorskip("opentelemetry.sdk.metrics")
    readers = pytest.importorskip("opentelemetry.sdk.metrics.export")
    from opentelemetry import metrics

    spans, reader = memory.InMemorySpanExporter(), readers.InMemoryMetricReader()
    provider = metrics_sdk.MeterProvider(metric_readers=[reader])
    monkeypatch.setattr(metrics, "get_meter", provider.get_meter)
    tracers = trace_sdk.TracerProvider()
    tracers.add_span_processor(export.SimpleSpanProcessor(spans))
    telemetry._instruments.cache_clear()
    yield Watched(spans, reader, tracers.get_tracer("tests"))
    telemetry._instruments.cache_clear()
    provider.shutdown()


class TestOpenTelemetry:
    def test_the_current_span_has_the_figures_of_the_last_request_and_an_event_of_each(
        self, otel: Watched
    ) -> None:
        fitter = Fitter("mine", POLICY)
        with otel.tracer.start_as_current_span("invoke_agent"):
            fitter.fit(history(1), model="gpt-5.1")
            fitted = fitter.fit(history(), model="gpt-5.1")
        [span] = otel.spans.get_finished_spans()
        known = {key: value for key, value in fitted.as_dict().items() if value is not None}
        figures = {f"turnfit.{key}": value for key, value in known.items()}
        assert dict(span.attributes) == {**figures, "turnfit.framework": "mine"}
        told = [(event.name, event.attributes["turnfit.step"]) for event in span.events]
        assert told == [("turnfit.fit", "whole"), ("turnfit.fit", "results")]
        assert span.events[1].attributes == {**span.attributes, "gen_ai.request.model": "gpt-5.1"}

    def test_metrics_say_how_large_requests_were_and_what_was_left_out(self, otel: Watched) -> None:
        fitter = Fitter("mine", replace(POLICY, budget=1_500))
        fits = [fitter.fit(history(files), model="gpt-5.1") for files in (1, 1, FILES)]
        points = otel.points()
        whole, other = points["turnfit.request.tokens"]
        assert (whole.count, whole.sum, other.sum) == (2, 2 * fits[0].tokens, fits[2].tokens)
        assert dict(whole.attributes) == {
            "turnfit.framework": "mine",
            "turnfit.step": "whole",
            "turnfit.fits": True,
            "gen_ai.request.model": "gpt-5.1",
        }
        figures = fits[2].as_dict()
        assert figures["dropped"]
        [dropped] = points["turnfit.request.dropped_messages"]
        assert dropped.value == figures["dropped"]

    def test_without_it_fitting_goes_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "opentelemetry", None)
        telemetry._instruments.cache_clear()
        assert Fitter("mine", POLICY).fit(history()).fits
        telemetry._instruments.cache_clear()


MODULES = {
    "langchain": ("langchain", "langchain"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "openai_agents": ("agents", "openai-agents"),
    "litellm": ("litellm", "litellm"),
}


@pytest.mark.parametrize("module", MODULES)
def test_a_missing_framework_names_the_extra_that_brings_it(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, extra = MODULES[module]
    name = f"turnfit.integrations.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    for loaded in [known for known in sys.modules if known.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"{name} needs the extra .*turnfit\[{extra}\]"):
        importlib.import_module(name)


def test_what_a_framework_itself_lacks_stays_its_own_error() -> None:
    from turnfit.integrations.missing import extra

    with pytest.raises(ModuleNotFoundError) as caught, extra("mine", "mine", "mine"):
        import nowhere_to_be_found  # type: ignore[import-not-found]  # noqa: F401
    assert not isinstance(caught.value, MissingExtraError)
