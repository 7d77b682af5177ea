"""How long a conversation keeps an event loop waiting, by what is done to it.

    python -m benches.event_loop

Histories are read rounds of some 200 tokens a result, on a budget of 40,000 under a calibrated
profile. A figure is the median of several runs; of steps also the longest of 1,000, in which the
request's start moves several times.
"""

from __future__ import annotations

import gc
import io
from collections.abc import Callable
from statistics import median
from time import process_time

import turnfit as tf

from benches import sizes
from benches.histories import Message, short_history, short_rounds

POLICY = tf.Policy(budget=40_000, profile="o200k_base")
OTHER = tf.Policy(budget=50_000, profile="o200k_base")
DEARER = tf.Policy(budget=40_000, profile="claude_v4_7")
MESSAGES = (200, 400) if sizes.SMOKE else (1_000, 10_000, 100_000)
RUNS = 3 if sizes.SMOKE else 5
STEPS = 20 if sizes.SMOKE else 1_000


def seconds(work: Callable[[], object]) -> float:
    """Of the processor: on a busy machine others are waited for too."""
    started = process_time()
    work()
    return process_time() - started


def grown(history: list[Message]) -> tf.Conversation:
    conversation = tf.Conversation(POLICY)
    conversation.extend(history)
    return conversation


def steps(messages: int) -> dict[str, float]:
    """A round is appended, the request is fitted and read."""
    conversation, rounds = grown(short_history(messages)), short_rounds()

    def step() -> None:
        conversation.extend(next(rounds))
        conversation.fit().messages  # noqa: B018 - this builds the request

    step()
    taken = [seconds(step) for _ in range(STEPS)]
    return {"step (append a round, fit, read)": median(taken), "the longest step": max(taken)}


def saved(conversation: tf.Conversation, costs: bool) -> bytes:
    file = io.BytesIO()
    conversation.save(file, costs=costs)
    return file.getvalue()


def whole(messages: int) -> dict[str, Callable[[], object]]:
    """What takes the longer the longer the history is."""
    history = short_history(messages)
    conversation = grown(history)
    plain, priced = saved(conversation, False), saved(conversation, True)
    policies = (OTHER, POLICY, DEARER)

    def put(policy: tf.Policy) -> Callable[[], object]:
        return lambda: setattr(conversation, "policy", policy)

    same, _, other = map(put, policies)
    return {
        "`tf.fit` of the whole history": lambda: tf.fit(history, POLICY).messages,
        "`extend` by the whole history": lambda: grown(history),
        "`fork`": conversation.fork,
        "another policy, the same profile": same,
        "another profile": lambda: (other(), put(POLICY)()),
        "`save` to memory": lambda: saved(conversation, False),
        "`load`": lambda: tf.Conversation.load(io.BytesIO(plain)),
        "`load` with costs": lambda: tf.Conversation.load(io.BytesIO(priced)),
    }


def measured(messages: int) -> dict[str, float]:
    figures = steps(messages)
    for name, work in whole(messages).items():
        taken = median(seconds(work) for _ in range(RUNS))
        figures[name] = taken / 2 if name == "another profile" else taken
    return figures


def shown(taken: float) -> str:
    if taken < 1e-3:
        return f"{taken * 1e6:,.0f} µs"
    return f"{taken * 1e3:,.1f} ms" if taken < 0.1 else f"{taken * 1e3:,.0f} ms"


def main() -> None:
    """Prints the table, with nothing of the collector's pauses in it."""
    gc.disable()
    columns = [measured(messages) for messages in MESSAGES]
    print("|", " | ".join(["messages in the history", *(f"{count:,}" for count in MESSAGES)]), "|")
    print("|---" + "|--:" * len(MESSAGES) + "|")
    for name in columns[0]:
        print("|", " | ".join([name, *(shown(column[name]) for column in columns)]), "|")


if __name__ == "__main__":
    main()
