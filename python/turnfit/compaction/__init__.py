"""Compaction that knows what is safe to lose, and measures what was lost.

When room runs out is one question, `Boundary`; what must survive is another, `CarryOver`.
A `FactLog` collects the half of it that costs nothing, the model writes the rest by a
schema, `checklist` says what is missing, `compact` does it, and `Regret` measures it.

>>> import turnfit as tf
>>> from turnfit import compaction
>>> log = compaction.FactLog()
>>> boundary = compaction.Boundary.at_share(0.8)
>>> history = [{"role": "user", "content": "Hello!"}]
>>> done = compaction.compact(history, boundary, log.record(), tf.Policy(budget=10_000))
>>> done.event is None, done.messages == history
(True, True)
"""

from turnfit.compaction.answering import from_answer
from turnfit.compaction.boundary import Boundary
from turnfit.compaction.chart import chart
from turnfit.compaction.checklist import Gap, checklist
from turnfit.compaction.compacting import Compacted, compact, is_record
from turnfit.compaction.effects import Effect, Effects
from turnfit.compaction.event import Event
from turnfit.compaction.facts import FactLog
from turnfit.compaction.record import (
    CarryOver,
    Command,
    Established,
    FileState,
    Handle,
    Open,
    Remaining,
    Workspace,
)
from turnfit.compaction.regret import Finding, Regret
from turnfit.compaction.rendering import parse, render
from turnfit.compaction.simulated import simulated
from turnfit.compaction.table import Rate, RegretTable
from turnfit.compaction.wire import (
    INSTRUCTION,
    answer_schema,
    from_dict,
    structured_output,
    to_dict,
    tool,
)
from turnfit.errors import CompactionError, RecordError

__all__ = [
    "INSTRUCTION",
    "Boundary",
    "CarryOver",
    "Command",
    "Compacted",
    "CompactionError",
    "Effect",
    "Effects",
    "Established",
    "Event",
    "FactLog",
    "FileState",
    "Finding",
    "Gap",
    "Handle",
    "Open",
    "Rate",
    "RecordError",
    "Regret",
    "RegretTable",
    "Remaining",
    "Workspace",
    "answer_schema",
    "chart",
    "checklist",
    "compact",
    "from_answer",
    "from_dict",
    "is_record",
    "parse",
    "render",
    "simulated",
    "structured_output",
    "to_dict",
    "tool",
]
