"""What was fitted, for OpenTelemetry; the extra ``otel`` brings what it needs.

The current span gets attributes, and an event with the same figures, since several model
calls may share a span. Their names begin with ``turnfit.``: the semantic conventions
(https://github.com/open-telemetry/semantic-conventions-genai) have none for what is left out
of a request, and their ``gen_ai.usage.input_tokens`` is what a provider reports, whose place
an estimate never takes. Events and metrics name the model as the conventions do,
``gen_ai.request.model``; on the span that is for who opened it, which needn't be a model call.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from turnfit._core import __version__

__all__ = ["record"]

_MODEL = "gen_ai.request.model"


class _Instruments(NamedTuple):
    tokens: Any
    cleared: Any
    dropped: Any


def record(figures: Mapping[str, Any], model: str | None = None) -> None:
    """Give a request's figures to the current span and to the global meter provider.

    Without OpenTelemetry this does nothing.

    Args:
        figures: what `turnfit.Fitted.as_dict` gives, and the ``framework``.
        model: the model's name, where it is known.

    >>> import turnfit as tf
    >>> record({"framework": "mine", **tf.fit([], budget=1000).as_dict()}, "gpt-5.1")
    """
    instruments = _instruments()
    if instruments is None:
        return
    named = {_MODEL: model} if model else {}
    _trace({f"turnfit.{key}": value for key, value in figures.items() if value is not None}, named)
    labels = {f"turnfit.{key}": figures[key] for key in ("framework", "step", "fits")} | named
    instruments.tokens.record(figures["tokens"], labels)
    if figures["cleared_tokens"]:
        instruments.cleared.add(figures["cleared_tokens"], labels)
    if figures["dropped"]:
        instruments.dropped.add(figures["dropped"], labels)


def _trace(attributes: Mapping[str, Any], named: Mapping[str, str]) -> None:
    from opentelemetry import trace

    span = trace.get_current_span()
    if span.is_recording():
        span.set_attributes(attributes)
        span.add_event("turnfit.fit", {**attributes, **named})


@cache
def _instruments() -> _Instruments | None:
    """Made once: a provider that is set later takes them over."""
    try:
        from opentelemetry import metrics
    except ModuleNotFoundError:
        return None
    meter = metrics.get_meter("turnfit.integrations", __version__)
    return _Instruments(
        meter.create_histogram("turnfit.request.tokens", "{token}", "Tokens of fitted requests"),
        meter.create_counter(
            "turnfit.request.cleared_tokens", "{token}", "Tokens of tool results cleared"
        ),
        meter.create_counter(
            "turnfit.request.dropped_messages", "{message}", "Messages left out of requests"
        ),
    )
