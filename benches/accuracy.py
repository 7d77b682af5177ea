"""How far estimates are off, beside the rules of thumb that others use.

``PYTHONPATH=tests python -m benches.accuracy COUNTS.tsv`` writes docs/accuracy.md from a table
of true counts, from the errors that the shipped profiles and frames bear (those on sources left
out of their fit), and from recorded Claude Code sessions.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import turnfit as tf
from numpy.typing import NDArray
from support.sessions import sessions
from turnfit.tokens.usage import input_tokens

from benches.frames import DATA, LEAST

PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
SHORT = 250
RULES: dict[str, Callable[[str], float]] = {
    "characters / 4": lambda text: len(text) / 4,
    "bytes / 4": lambda text: len(text.encode()) / 4,
    "words x 1.3": lambda text: len(text.split()) * 1.3,
    "script": tf.estimate,
}
KINDS = ("prose", "tool", "whole")
OBSERVED = 5


def main(counts: Path) -> None:
    rows, texts = _rows(counts)
    tokenizers = [name for name in tf.profiles() if name not in ("script", "any")]
    by_rule = {rule: np.array([price(text) for text in texts]) for rule, price in RULES.items()}
    chosen = {kind: _chosen(kind, rows, texts) for kind in KINDS}
    lines = []
    for name in tokenizers:
        true = np.array([int(row[name]) for row in rows])
        lines.append(f"| {name} | {_own(name)} | {_bound(name)} |")
        for rule, prices in by_rule.items():
            lines.append(f"| | {_of_rule(rule, prices, true, chosen)} | |")
    page = _page(lines, _means(tokenizers), _requests(), _predictions())
    PAGE.write_text(page, "utf-8")


def _rows(counts: Path) -> tuple[list[dict[str, str]], list[str]]:
    with counts.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    read = {
        path: (counts.parent / path).read_bytes().decode() for path in {row["path"] for row in rows}
    }
    return rows, [read[row["path"]][int(row["start"]) : int(row["end"])] for row in rows]


def _chosen(kind: str, rows: list[dict[str, str]], texts: list[str]) -> NDArray[np.bool_]:
    lengths: dict[str, int] = {}
    for row in rows:
        lengths[row["path"]] = max(lengths.get(row["path"], 0), int(row["end"]))
    whole = np.array(
        [row["start"] == "0" and int(row["end"]) == lengths[row["path"]] for row in rows]
    )
    if kind == "whole":
        return whole
    of_kind = np.array([row["path"].startswith(f"{kind}/") for row in rows])
    long = np.array([len(text) >= SHORT for text in texts])
    chosen: NDArray[np.bool_] = of_kind & long & ~whole
    return chosen


def _errors(name: str) -> dict[str, dict[str, float]]:
    errors: dict[str, dict[str, float]] = tf.profile(name).provenance["errors"]
    return errors


def _own(name: str) -> str:
    errors = _errors(name)
    cells = [f"**{errors[kind]['median']:.1f} / {errors[kind]['p95']:.1f}**" for kind in KINDS]
    return " | ".join(["profile", *cells])


def _bound(name: str) -> str:
    whole = _errors(name)["whole"]
    return f"{whole['above bound']:.1f} % above, {whole['bound']:.2f} times"


def _of_rule(
    rule: str,
    prices: NDArray[np.float64],
    true: NDArray[np.int64],
    chosen: dict[str, NDArray[np.bool_]],
) -> str:
    cells = []
    for kind in KINDS:
        off = 100 * np.abs(prices[chosen[kind]] / true[chosen[kind]] - 1)
        cells.append(f"{np.median(off):.1f} / {np.percentile(off, 95):.1f}")
    return " | ".join([rule, *cells])


def _means(tokenizers: list[str]) -> str:
    cells = []
    for kind in KINDS:
        median, p95 = (
            np.mean([_errors(name)[kind][figure] for name in tokenizers])
            for figure in ("median", "p95")
        )
        cells.append(f"{median:.2f} / {p95:.1f}")
    return " | ".join(cells)


def _requests() -> str:
    """The errors of whole requests, by provider."""
    frames = json.loads((DATA / "frames@1.json").read_text("utf-8"))
    rows = []
    for name, row in frames["provenance"]["errors"]["by provider"].items():
        cells = (name, row["requests"], row["median"], row["p95"], f"{row['bias']:+}")
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)


def _predictions() -> str:
    """How far the next call's context is off, after five that were observed."""
    off = []
    for calls in sessions(by_model=True):
        calibration = tf.UsageCalibration()
        for number, (estimated, usage) in enumerate(calls):
            true = input_tokens(usage)
            if number >= OBSERVED:
                off.append(abs(calibration.scale(estimated) - true) / true)
            calibration.observe(estimated, usage)
    median, p95 = (100 * float(np.percentile(off, share)) for share in (50, 95))
    return f"{median:.2f} % (median) and {p95:.1f} % (95 of a hundred), over {len(off)} calls"


def _page(lines: list[str], means: str, requests: str, predictions: str) -> str:
    table = "\n".join(lines)
    return f"""# How far estimates are off

Relative errors in percent, median / 95th percentile, without a sign. *prose* and *tool* are
pieces of at least {SHORT} characters of texts in 93 languages and of 76 kinds of tool output;
*whole* are whole files. The profiles' figures are of sources **left out of the fit**: each of
eight lots of sources is estimated by weights from the other seven, never by those that had
seen it. Where a language or a kind of output has one source only, it is then estimated by
weights that know neither; the shipped weights know all of them, and are closer.

*bound* tells in how many whole files `Profile.upper` was too low, and how many times the true
count it was on average, likewise on sources left out.

Mean of the 15 profiles: {means}.

| tokenizer | estimated by | prose | tool | whole | bound |
|---|---|--:|--:|--:|---|
{table}

LangChain's approximate counter (`count_tokens_approximately`) is characters / 4 for a text, plus
3 for each message.

## Whole requests

What a provider adds to texts is fitted to the usage that it reported, family of models by family
(`turnfit.tokens.frames.Frames`): so many tokens a request, a message, a call; once for having
tools, then for each, for each token of its JSON and of the descriptions in it; whether ids are
shown to the model; for the schema of an answer; for each character of a signature. A model's
name chooses them (`model=`, `Policy.model`); a profile has those of its tokenizer's models.

Recorded requests of more than {LEAST} tokens without media, server tools and thinking, each under
frames that were fitted **without its recording**; errors in percent:

| provider | requests | median | p95 | bias |
|---|--:|--:|--:|--:|
{requests}

Of a Claude Code session neither system prompt nor tools are recorded. After {OBSERVED} observed
calls `UsageCalibration` predicts the next call's context within
{predictions}.

- *openrouter*: two requests with a preset that is not in them.
- *cohere*: seven requests, of whose frames too little is known without one recording.
- *huggingface*: Llama 4 there adds 500 tokens for tools, at Groq 660, under the same name.
- *mistral*: one request, a table of Latin-1 names.
- *groq*: two of a model that searches the web by itself.
- Where the model is forced to call a tool, Claude takes 100 tokens more; recordings of 2025 have
  160 fewer for tools than those of 2026.
- Vertex AI's usage leaves out tools and thought signatures that the Gemini API counts: its
  requests are not among these.

`python -m benches.frames TRAJECTORIES` makes the figures.

## How a profile is made

```
turnfit calibrate corpus/counts.tsv --column o200k_base --out o200k_base@1.json
```

The table has the columns `path`, `start`, `end` (in characters) and a column of true counts for
each tokenizer; `any` is fitted to the highest of all 15. The same command makes a profile of your
own texts and tokenizer: `turnfit calibrate texts/ --tokenizer module:function --name mine`.
`turnfit.tokens.profiles.profile_of` reads the file.

A profile is linear: a text costs the sum of the weights of its characters, of their shapes and
of small letters behind each other, none of them negative. A correction by boosted trees over
normalised counts was tried before there were letter pairs and left out: on sources left out of
its fit it made prose worse (median 5.6 to 5.8 %, five tokenizers) and the tail hardly better
(34.4 to 33.8 %).

## What is still bad

- Languages of the Latin alphabet far from English that have one source or none (Albanian,
  Basque, Lithuanian, Irish): 15 to 30 % too low, since what letters and pairs of them cost
  elsewhere says little of how long a tokenizer's pieces of them are.
- Scripts that no sample has are priced by the dearest tenth of those that there are: several
  times too high where the vocabulary knows them (Gemma 3, Qwen 3.5, Llama 4).
- Where no text of the kind is in the fit: emoji in every line, 50 to 130 % too high; Java stack
  traces and code in mathematical signs, 10 to 20 % too high; base64, LaTeX, aligned and boxed
  tables, 10 to 17 % too low. The shipped weights know these.
- Models of open weights of which few requests were recorded (Qwen, Kimi, MiniMax, GLM) share the
  frames of all such models together: their templates add from 50 to 350 tokens for tools.
"""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
