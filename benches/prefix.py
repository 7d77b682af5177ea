"""How still a request's start holds: the share of tokens that a provider can reuse.

    PYTHONPATH=tests python -m benches.prefix

Eight generated subagents, each with one instruction, read files in four languages past
1,000,000 tokens on a budget of 400,000. At every step the request is compared with the
one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import turnfit as tf
from support.subagents import opening, rounds

POLICIES = {
    "default": tf.Policy(budget=400_000),
    "grid=0": tf.Policy(budget=400_000, grid=0),
    "clear_batch=1": tf.Policy(budget=400_000, clear_batch=1),
    "grid=0, clear_batch=1": tf.Policy(budget=400_000, grid=0, clear_batch=1),
}


@dataclass
class Tally:
    """Sums over the steps of all subagents."""

    steps: int = 0
    changed: int = 0
    sent: int = 0
    kept: int = 0

    def add(self, before: tf.Fitted, now: tf.Fitted) -> None:
        """Counts one step."""
        kept = now.cache_kept(before)
        self.steps += 1
        self.sent += now.tokens
        self.kept += kept
        self.changed += kept < before.tokens - tf.estimate_request([])

    def row(self, name: str) -> str:
        """A row of the table."""
        share, moved = self.kept / self.sent, self.changed / self.steps
        cost = (1.25 * (self.sent - self.kept) + 0.1 * self.kept) / self.sent
        return f"| {name} | {self.steps:,} | {moved:.1%} | {share:.1%} | {cost:.3f} |"


def run(policy: tf.Policy, seed: int, tally: Tally) -> None:
    """One subagent, step by step to its end."""
    conversation = tf.Conversation(policy)
    conversation.extend(opening(seed))
    before = None
    work = rounds(seed)
    while conversation.tokens <= 1_000_000:
        conversation.extend(next(work))
        now = conversation.fit()
        if before is not None:
            tally.add(before, now)
        now.messages  # noqa: B018 - kept as sent, before the conversation goes on
        before = now


def main() -> None:
    """Prints the table."""
    print("| policy | steps | start changed | tokens in common | cost per token |")
    print("|---|--:|--:|--:|--:|")
    for name, policy in POLICIES.items():
        tally = Tally()
        for seed in range(8):
            run(policy, seed, tally)
        print(tally.row(name), flush=True)


if __name__ == "__main__":
    main()
