"""What providers add to texts, fitted to requests whose usage they reported.

``python -m benches.frames TRAJECTORIES`` reads ``usagepairs-*.jsonl`` there and writes
``turnfit/tokens/data/frames``. A line is as `turnfit.audit` reads it. Left out are requests
with media, with tools that the provider runs and with thinking: their usage counts what is
not in them.

The least absolute relative error is sought, so that a request with a prompt that a provider
adds once doesn't move the rest; what a family's requests don't tell is as the `script`
profile has it. Errors are told for requests of tests that were left out of the fit.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import turnfit as tf
from numpy.typing import NDArray
from scipy.optimize import linprog
from turnfit.auditing import LeftOut, read_line
from turnfit.messages.requests import Request
from turnfit.tokens.frames import SCRIPT_FRAMES, Frames, family_of
from turnfit.tokens.models import profile_name
from turnfit.tokens.profiles import Profile

DATA = Path(tf.__file__).parent / "tokens" / "data" / "frames"
FOLDS = 8
LEAST = 500
"""Errors are told for requests of more tokens."""
FEW = 3
"""A family with fewer requests is not fitted."""
SHORT = 500
"""A request's error weighs as if it had so many tokens at least."""
NOTHING = Frames(request=0, message=0, ids=False, schema=0.0, sealed=0.0)
FIELDS = ("request", "message", "system", "call", "result", "tools", "tool", "answer")
RATES = {"schema": 0.1, "described": 0.1, "sealed": 0.1}
PULL = 0.0005
"""How strongly a figure is held to the script's: for each token of a count, and above for
each of a rate."""
MOST = 1.5
"""A token of a definition costs no more than so many."""
REST = "open"
CLOSED = frozenset(
    (
        "claude",
        "claude-4.7",
        "openai",
        "openai-5",
        "gemini-2.0",
        "gemini-2.5",
        "gemini-3",
        "nova",
        "command-r",
    )
)

VERTEX = "/v1beta1/projects"
"""Vertex AI's usage leaves out tools and thought signatures, that of the Gemini API doesn't."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    provider: str
    test: str
    family: str
    reported: int
    texts: int
    ids: int
    counts: tuple[int, ...]


def pairs(folder: Path) -> Iterator[Pair]:
    for path in sorted(folder.glob("usagepairs-*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            try:
                model, request, reported = read_line(row, plain=True, least=1)
            except LeftOut:
                continue
            if not row["path"].startswith(VERTEX) and not withheld(row["request"]):
                test = row["source"].partition("#")[0]
                yield pair(path.name.split("-")[1], test, model, request, reported)


def withheld(body: dict[str, Any]) -> bool:
    """Whether the model is not to call tools: some providers leave them out then."""
    choice = body.get("tool_choice") or body.get("toolConfig") or {}
    return '"none"' in json.dumps(choice).lower()


def pair(provider: str, test: str, model: str, request: Request, reported: int) -> Pair:
    name = profile_name(model) or "any"
    texts = request.tokens(framed(name, None))
    counts = [request.tokens(framed(name, field)) - texts for field in (*FIELDS, *RATES)]
    ids = request.tokens(framed(name, "ids")) - texts
    return Pair(provider, test, family_of(name, model), reported, texts, ids, tuple(counts))


@cache
def framed(name: str, field: str | None) -> Profile:
    """The profile with nothing but one of the frames' figures, at 1."""
    one: dict[str, Any] = {field: type(getattr(NOTHING, field))(1)} if field else {}
    return replace(tf.profile(name), frames=replace(NOTHING, **one))


def fit(chosen: list[Pair]) -> Frames:
    """The frames of the least error, with ids or without."""
    fitted = [fit_with(chosen, ids) for ids in (False, True)]
    return min(fitted, key=lambda frames: np.abs(errors(frames, chosen, SHORT)).sum())


def fit_with(chosen: list[Pair], ids: bool) -> Frames:
    matrix = np.array([pair.counts for pair in chosen], float)
    missing = np.array([pair.reported - pair.texts - ids * pair.ids for pair in chosen], float)
    weight = 1 / np.maximum([pair.reported for pair in chosen], SHORT)
    start = np.array([getattr(SCRIPT_FRAMES, field) or 0.0 for field in (*FIELDS, *RATES)])
    pull = np.array([PULL] * len(FIELDS) + list(RATES.values()))
    rows = np.vstack([matrix * weight[:, None], np.diag(pull)])
    figures = least_absolute(rows, np.concatenate([missing * weight, pull * start]))
    counts = [round(figure) for figure in figures[: len(FIELDS)]]
    rates = [round(float(figure), 3) for figure in figures[len(FIELDS) :]]
    named = dict(zip((*FIELDS, *RATES), (*counts, *rates), strict=True))
    if not matrix[:, -1].any():
        named["sealed"] = None
    return Frames(ids=ids, **named)


def least_absolute(rows: Array, wanted: Array) -> Array:
    """What of numbers of at least 0 brings the rows nearest to what is wanted."""
    count, width = rows.shape
    slack = np.eye(count)
    found = linprog(
        np.concatenate([np.zeros(width), np.ones(count)]),
        A_ub=np.block([[rows, -slack], [-rows, -slack]]),
        b_ub=np.concatenate([wanted, -wanted]),
        bounds=[(0, None)] * len(FIELDS) + [(0, MOST)] * len(RATES) + [(0, None)] * count,
    )
    solution: Array = found.x[:width]
    return solution


def errors(frames: Frames, chosen: list[Pair], least: int = 1) -> Array:
    """Signed errors, as shares of what was reported."""
    figures = [getattr(frames, field) or 0 for field in (*FIELDS, *RATES)]
    estimated = [
        pair.texts + frames.ids * pair.ids + np.dot(figures, pair.counts) for pair in chosen
    ]
    reported = np.array([pair.reported for pair in chosen])
    shares: Array = (np.array(estimated) - reported) / np.maximum(reported, least)
    return shares


def fit_all(chosen: list[Pair]) -> dict[str, Frames]:
    """The frames of each family, and of those of open weights together."""
    of_open = [pair for pair in chosen if pair.family not in CLOSED]
    families = {name: [pair for pair in chosen if pair.family == name] for name in names(chosen)}
    fitted = {name: fit(own) for name, own in families.items() if len(own) >= FEW}
    return {**fitted, REST: fit(of_open)}


def names(chosen: list[Pair]) -> list[str]:
    return sorted({pair.family for pair in chosen})


def left_out(chosen: list[Pair]) -> list[tuple[Pair, float]]:
    """Each pair's error under frames that were fitted without its test."""
    folds = [crc32(pair.test.encode()) % FOLDS for pair in chosen]
    found = []
    for fold in range(FOLDS):
        fitted = fit_all([pair for pair, own in zip(chosen, folds, strict=True) if own != fold])
        for pair in (pair for pair, own in zip(chosen, folds, strict=True) if own == fold):
            frames = fitted.get(pair.family, fitted[REST])
            found.append((pair, float(errors(frames, [pair])[0])))
    return found


def summary(found: list[tuple[Pair, float]], key: str) -> dict[str, dict[str, float]]:
    table = {}
    for name in sorted({getattr(pair, key) for pair, _ in found}):
        own = [error for pair, error in found if getattr(pair, key) == name]
        sizes = np.abs(own)
        figures = (np.median(sizes), np.percentile(sizes, 95), np.median(own))
        median, p95, bias = (round(100 * float(figure), 1) for figure in figures)
        table[name] = {"requests": len(own), "median": median, "p95": p95, "bias": bias}
    return table


def main(folder: Path) -> None:
    warnings.simplefilter("ignore")
    chosen = list(pairs(folder))
    fitted = fit_all(chosen)
    found = left_out(chosen)
    long = [(pair, error) for pair, error in found if pair.reported > LEAST]
    told = {
        "version": 1,
        "provenance": {
            "inputs": "usagepairs-*.jsonl: recorded requests of pydantic-ai's tests",
            "fitted": date.today().isoformat(),
            "requests": len(chosen),
            "errors": {
                "by provider": summary(long, "provider"),
                "by family": summary(found, "family"),
            },
        },
        "families": {
            name: {
                "requests": sum(name in (pair.family, REST) for pair in chosen),
                "frames": asdict(frames),
            }
            for name, frames in sorted(fitted.items())
        },
    }
    DATA.mkdir(exist_ok=True)
    (DATA / "frames@1.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
