"""A meter's figures as OpenTelemetry metrics; needs the extra ``otel``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from turnfit._core import __version__

if TYPE_CHECKING:
    from turnfit.outputs.meter import Meter, ToolUse

from turnfit.errors import MissingExtraError

__all__ = ["instrument"]

_COUNTERS = {
    "calls": ("{call}", "Tool outputs seen"),
    "truncated": ("{call}", "Tool outputs of which something was left out"),
    "tokens_in": ("{token}", "Tokens of tool outputs before any limit"),
    "tokens_omitted": ("{token}", "Tokens of tool outputs that were left out"),
    "tokens_read_back": ("{token}", "Tokens of originals that were read later"),
    "facts": ("{fact}", "Facts in tool outputs that were summarised"),
    "facts_lost": ("{fact}", "Facts that summaries lost"),
}
Figure: TypeAlias = tuple[float, dict[str, str]]
_PERCENTILES = ("p50", "p95", "p99")


def instrument(meter: Meter, provider: Any = None) -> None:
    """Register observable instruments that read the meter at each collection.

    Their names begin with ``turnfit.outputs.``, the tool is the attribute
    ``gen_ai.tool.name`` of the semantic conventions
    (https://opentelemetry.io/docs/specs/semconv/gen-ai/).
    """
    try:
        from opentelemetry import metrics
    except ModuleNotFoundError as error:
        raise MissingExtraError("OpenTelemetry metrics", "otel") from error
    otel = metrics.get_meter("turnfit.outputs", __version__, meter_provider=provider)

    def observing(value: Callable[[ToolUse], list[Figure]]) -> Any:
        def observe(_: Any) -> Iterator[Any]:
            for use in meter.report().tools:
                for figure, more in value(use):
                    named = {"gen_ai.tool.name": use.tool, **more}
                    yield metrics.Observation(figure, named)

        return observe

    def figure(name: str) -> Callable[[ToolUse], list[Figure]]:
        return lambda use: [(getattr(use, name), {})]

    for name, (unit, told) in _COUNTERS.items():
        observed = [observing(figure(name))]
        otel.create_observable_counter(f"turnfit.outputs.{name}", observed, unit, told)
    share = [observing(figure("truncated_share"))]
    told = "Share of calls of which something was left out"
    otel.create_observable_gauge("turnfit.outputs.truncated_share", share, "1", told)
    sizes = [observing(_percentiles)]
    told = "Percentiles of the true sizes of outputs"
    otel.create_observable_gauge("turnfit.outputs.size", sizes, "{token}", told)


def _percentiles(use: ToolUse) -> list[Figure]:
    return [(getattr(use, name), {"percentile": name}) for name in _PERCENTILES]
