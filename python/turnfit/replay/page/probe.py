"""The figures behind the charts, for the script that tells single requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from turnfit.replay.page.markup import Markup, raw
from turnfit.replay.page.reading import Replay, Run
from turnfit.replay.page.scale import columns_of
from turnfit.replay.page.totals import Total

__all__ = ["probe"]

_KEYS = ("at", "tokens", "notes", "cleared", "dropped", "first_changed")


def probe(key: str, replay: Replay, places: Mapping[str, Total], columns: int) -> Markup:
    """Of each column of requests the largest one's figures, policy by policy."""
    spans = list(columns_of(replay.steps, columns))
    data = {
        "steps": replay.steps,
        "starts": [span.start for span in spans],
        "runs": [_told(places[run.name].badge, run, spans) for run in replay.runs],
    }
    written = json.dumps(data, separators=(",", ":"))
    # Else a name could end the script.
    safe = written.replace("<", "\\u003c")
    return raw(f'<script type="application/json" id="{key}-data">{safe}</script>')


def _told(badge: str, run: Run, spans: list[range]) -> dict[str, Any]:
    tokens = run.steps["tokens"]
    made = (range(span.start, min(span.stop, len(run))) for span in spans)
    steps = [max(span, key=tokens.__getitem__) for span in made if span]
    told = {key: [run.steps[key][step] for step in steps] for key in _KEYS}
    refused = [int(run.steps["refused"][step]) for step in steps]
    paid = [run.paid[step] for step in steps]
    return {
        "badge": badge,
        "name": run.name,
        "step": steps,
        **told,
        "refused": refused,
        "paid": paid,
    }
