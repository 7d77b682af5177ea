"""What is cut of which tool's output, counted."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnfit import _core
from turnfit.outputs.sketch import Sketch
from turnfit.outputs.spec import OutputLimit

if TYPE_CHECKING:
    from turnfit.outputs.limited import Limited

__all__ = ["Meter", "Report", "ToolUse"]

TOO_OFTEN = 0.6
"""A tool truncated in more than this share of its calls returns too much, or is used wrongly."""
_NAMED = "turnfit-meter"
_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """What is known of one tool's outputs; sizes are in tokens.

    Attributes:
        tool: its name.
        calls: outputs seen.
        truncated: of these, those of which something was left out.
        tokens_in: true sizes, all together.
        tokens_omitted: of these, what was left out.
        tokens_read_back: of the originals, what was read from the store later.
        facts: figures, dates, names and the like in outputs that were summarised.
        facts_lost: of these, those that their summaries lost.
        p50: half of the outputs are no larger.
        p95: 95 of a hundred are no larger.
        p99: 99 of a hundred are no larger.
    """

    tool: str
    calls: int
    truncated: int
    tokens_in: int
    tokens_omitted: int
    tokens_read_back: int
    facts: int
    facts_lost: int
    p50: int
    p95: int
    p99: int

    @property
    def truncated_share(self) -> float:
        """The share of calls of which something was left out."""
        return self.truncated / self.calls if self.calls else 0.0

    @property
    def facts_lost_share(self) -> float:
        """The share of facts that summaries lost."""
        return self.facts_lost / self.facts if self.facts else 0.0

    @property
    def flagged(self) -> bool:
        """Truncated in over 60 % of its calls: it returns too much, or is used wrongly."""
        return self.truncated_share > TOO_OFTEN


@dataclass(frozen=True)
class Report:
    """What a meter has counted, a row a tool, by the tokens that came in.

    Attributes:
        tools: the rows.
    """

    tools: tuple[ToolUse, ...]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """By tool, with the shares and the flag."""
        return {
            use.tool: {
                **asdict(use),
                "truncated_share": use.truncated_share,
                "facts_lost_share": use.facts_lost_share,
                "flagged": use.flagged,
            }
            for use in self.tools
        }

    def __str__(self) -> str:
        """As a table."""
        rows = [_HEADER, *map(_row, self.tools)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = (
            "  ".join(
                cell.ljust(width) if number == 0 else cell.rjust(width)
                for number, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        )
        return "\n".join([*lines, *map(_warning, filter(_is_flagged, self.tools))])


_HEADER = (
    "tool",
    "calls",
    "cut",
    "share",
    "tokens in",
    "omitted",
    "read back",
    "p50",
    "p95",
    "p99",
    "facts lost",
)


def _row(use: ToolUse) -> tuple[str, ...]:
    figures = (use.tokens_in, use.tokens_omitted, use.tokens_read_back, use.p50, use.p95, use.p99)
    share = f"{use.truncated_share:.0%}{'!' if use.flagged else ''}"
    lost = f"{use.facts_lost_share:.0%}" if use.facts else ""
    start = (use.tool or "(unnamed)", f"{use.calls:,}", f"{use.truncated:,}", share)
    return (*start, *map("{:,}".format, figures), lost)


def _is_flagged(use: ToolUse) -> bool:
    return use.flagged


def _warning(use: ToolUse) -> str:
    return (
        f"! {use.tool or '(unnamed)'} was cut in {use.truncated_share:.0%} of its calls: "
        "it returns too much, or is used wrongly"
    )


@dataclass
class _Counts:
    calls: int = 0
    truncated: int = 0
    tokens_in: int = 0
    tokens_omitted: int = 0
    tokens_read_back: int = 0
    facts: int = 0
    facts_lost: int = 0
    sizes: Sketch = field(default_factory=Sketch)

    def add(self, other: _Counts) -> None:
        for name in _FIGURES:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.sizes.merge(other.sizes)


_FIGURES = (
    "calls",
    "truncated",
    "tokens_in",
    "tokens_omitted",
    "tokens_read_back",
    "facts",
    "facts_lost",
)


class Meter:
    """Counts per tool what comes in, what is left out and what is read back.

    Hand it to `limit`, `limited`, `ToolLimits` and `Store`. It may be shared by threads;
    those of several processes are merged, or saved and read by ``turnfit meter report``.

    >>> from turnfit.outputs import OutputLimit, limit
    >>> meter = Meter()
    >>> for lines in (5, 500, 900):
    ...     _ = limit("a line\\n" * lines, OutputLimit(max_chars=400), meter=meter, tool="logs")
    >>> [use] = meter.report().tools
    >>> use.calls, use.truncated, use.p95, use.flagged
    (3, 2, 1575, True)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tools: dict[str, _Counts] = {}

    def record(self, tool: str, limited: Limited) -> None:
        """Count an output; this counts the tokens of the whole original."""
        # Counted before locking: of a large output it takes its time.
        size, omitted = limited.total_tokens, limited.omitted_tokens if limited.truncated else 0
        summary = limited.summary
        with self._lock:
            counts = self._tools.setdefault(tool, _Counts())
            counts.calls += 1
            counts.truncated += limited.truncated
            counts.tokens_in += size
            counts.tokens_omitted += omitted
            counts.sizes.add(size)
            if summary is not None:
                counts.facts += summary.facts
                counts.facts_lost += len(summary.lost)

    def record_read(self, tool: str, text: str) -> None:
        """Count what was read back of a tool's original."""
        tokens = _core.estimate(text)
        with self._lock:
            self._tools.setdefault(tool, _Counts()).tokens_read_back += tokens

    def merge(self, other: Meter) -> None:
        """Add what another meter has counted.

        >>> meter, other = Meter(), Meter()
        >>> other.record_read("logs", "some text")
        >>> meter.merge(other)
        >>> meter.report().tools[0].tokens_read_back
        3
        """
        theirs = Meter.from_dict(other.to_dict())
        with self._lock:
            for tool, counts in theirs._tools.items():
                self._tools.setdefault(tool, _Counts()).add(counts)

    def report(self) -> Report:
        """What was counted so far, the tool with the most tokens first."""
        with self._lock:
            uses = [_use(tool, counts) for tool, counts in self._tools.items()]
        return Report(tuple(sorted(uses, key=lambda use: (-use.tokens_in, use.tool))))

    def suggest(self, *, share: float = 0.95) -> dict[str, OutputLimit]:
        """Limits under which so large a share of each tool's outputs stays whole.

        They are rounded up to two digits, and no lower than what a marker needs.

        >>> meter = Meter()
        >>> from turnfit.outputs import limit
        >>> for size in range(1, 101):
        ...     _ = limit("word" * size * 10, OutputLimit(max_tokens=5_000), meter=meter, tool="t")
        >>> meter.suggest()["t"].max_tokens
        950
        """
        if not 0 < share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {share}")
        with self._lock:
            sizes = {
                tool: counts.sizes.quantile(share)
                for tool, counts in self._tools.items()
                if counts.calls
            }
        return {
            tool: OutputLimit(max_tokens=max(_LEAST, _rounded_up(size)))
            for tool, size in sizes.items()
        }

    def instrument(self, meter_provider: Any = None) -> None:
        """Give the figures to OpenTelemetry, which reads them when it collects.

        Args:
            meter_provider: the provider; the global one if it is not given.

        Raises:
            MissingExtraError: without the extra ``otel``.
        """
        from turnfit.outputs.otel import instrument

        instrument(self, meter_provider)

    def to_dict(self) -> dict[str, Any]:
        """All that was counted, for `from_dict`, as JSON can hold it."""
        with self._lock:
            tools = {
                tool: {
                    **{name: getattr(counts, name) for name in _FIGURES},
                    "sizes": json.loads(json.dumps(counts.sizes.to_dict())),
                }
                for tool, counts in self._tools.items()
            }
        return {"format": _NAMED, "version": _VERSION, "tools": tools}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Meter:
        """A meter that was written down.

        Raises:
            ValueError: for anything else.
        """
        if not isinstance(values, Mapping) or values.get("format") != _NAMED:
            raise ValueError("this is no meter of turnfit")
        if values.get("version") != _VERSION:
            raise ValueError(f"a meter of version {values.get('version')} can't be read here")
        meter = cls()
        try:
            for tool, figures in values["tools"].items():
                counts = _Counts(sizes=Sketch.from_dict(figures["sizes"]))
                for name in _FIGURES:
                    setattr(counts, name, int(figures[name]))
                meter._tools[tool] = counts
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"this meter is damaged: {error}") from error
        return meter

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the meter into a file, whole or not at all."""
        file = Path(path)
        draft = file.with_name(f"{file.name}.{os.getpid()}.tmp")
        draft.write_text(json.dumps(self.to_dict()), "utf-8")
        os.replace(draft, file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Meter:
        """The meter that a file holds.

        Raises:
            ValueError: if it holds none.
        """
        try:
            return cls.from_dict(json.loads(Path(path).read_text("utf-8")))
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from error


_LEAST = 100


def _use(tool: str, counts: _Counts) -> ToolUse:
    figures = {name: getattr(counts, name) for name in _FIGURES}
    at = counts.sizes.quantile
    return ToolUse(tool=tool, **figures, p50=at(0.5), p95=at(0.95), p99=at(0.99))


def _rounded_up(size: int) -> int:
    step: int = 10 ** max(0, len(str(size)) - 2)
    return -(-size // step) * step
