"""Tool outputs: cut honestly, paged, summarised; their originals kept; what is cut counted.

A tool decides how much context its output takes. Whatever is left out of it is told: that
it is, how much, and how to get the rest.

>>> from turnfit.outputs import OutputLimit, limited
>>> @limited(OutputLimit(max_tokens=1_000, hint="read_logs(offset={offset}) reads on."))
... def read_logs(offset: int = 0) -> str:
...     return "".join(f"request {number} served\\n" for number in range(offset, 100_000))
>>> "read_logs(offset=" in read_logs()
True
"""

from __future__ import annotations

from turnfit.outputs.facts import Fact
from turnfit.outputs.limited import Limited, Omission
from turnfit.outputs.limiting import limit
from turnfit.outputs.meter import Meter, Report, ToolUse
from turnfit.outputs.pages import CursorError, Page, PageBudget, paginate
from turnfit.outputs.shelves import Shelf
from turnfit.outputs.spec import OutputLimit
from turnfit.outputs.store import (
    CorruptStoreError,
    HandleError,
    Original,
    Read,
    Store,
    handles_in,
)
from turnfit.outputs.summary import Summary, SummaryRequest, summarise
from turnfit.outputs.wrapping import ToolLimits, limited

__all__ = [
    "CorruptStoreError",
    "CursorError",
    "Fact",
    "HandleError",
    "Limited",
    "Meter",
    "Omission",
    "Original",
    "OutputLimit",
    "Page",
    "PageBudget",
    "Read",
    "Report",
    "Shelf",
    "Store",
    "Summary",
    "SummaryRequest",
    "ToolLimits",
    "ToolUse",
    "handles_in",
    "limit",
    "limited",
    "paginate",
    "summarise",
]
