"""The tables in which the docs show what came out of the loop."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from servers.model import Served

from support.loop import Run
from support.scenarios import CLIENTS, POLICIES, Scenarios

PAGE = Path(__file__).parents[2] / "docs" / "loop.md"


def tables(loop: Scenarios) -> list[str]:
    """All tables, of which each stands in the page."""
    return [_eight(loop), _forty(loop), _refused(loop), _cached(loop)]


def _table(head: str, rows: Iterable[Iterable[object]]) -> str:
    columns = head.count("|") - 1
    line = f"|{'---|' * columns}".replace("---|", "--:|").replace("--:|", "---|", 1)
    return "\n".join([head, line, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def _finished(run: Run) -> int:
    return run.answer.count("to the end.")


def _eight(loop: Scenarios) -> str:
    runs = {
        "without fitting (openai)": loop.eight_unfitted("openai"),
        **{f"turnfit ({client})": loop.eight(client) for client in CLIENTS},
    }
    rows = (
        (name, f"{len(run.stopped)} of 8", f"{_finished(run)} of 8", f"{run.largest:,}")
        for name, run in runs.items()
    )
    return _table("| eight subagents | refused | finished | largest request |", rows)


def _forty(loop: Scenarios) -> str:
    told = {"with the guidance": loop.forty, "without": loop.forty_untold}
    rows = (
        (f"{name} ({client})", run(client).answer.partition(": ")[2])
        for name, run in told.items()
        for client in CLIENTS
    )
    return _table("| forty chapters | answer |", rows).replace("--:|", "---|")


def _refused(loop: Scenarios) -> str:
    rows = []
    for client in CLIENTS:
        for name, run in (
            ("estimate wrong by half", loop.wrong_by_half(client)),
            ("a message longer than the window", loop.hopeless(client)),
        ):
            sizes = " then ".join(f"{one.tokens:,}" for one in _around(run))
            ends = "finished" if _finished(run) else "the person's message"
            rows.append(
                (f"{name} ({client})", sizes, len(run.server.refused), ends, len(run.pages))
            )
    head = "| what | refused request, and the next | refusals | end | operator paged |"
    return _table(head, rows)


def _around(run: Run) -> list[Served]:
    served = run.server.served
    at = served.index(run.server.refused[0])
    return served[at : at + 2]


def _cached(loop: Scenarios) -> str:
    rows = []
    for name in POLICIES:
        runs = [loop.cached(client, name) for client in CLIENTS]
        cells = (f"{run.read_share:.1%} | {run.cost:.3f}" for run in runs)
        rows.append((name, *cells))
    head = "| policy | openai: read | cost | anthropic: read | cost |"
    return _table(head, rows)
