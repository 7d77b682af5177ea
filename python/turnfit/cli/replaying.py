"""``turnfit replay``: its options."""

from __future__ import annotations

import click

__all__ = ["REPLAY_COMMAND"]

_HELP = {"help_option_names": ["-h", "--help"]}
_TOKENS = click.IntRange(min=1, max=1 << 62)
"""What the extension's integers hold, with room to add."""


@click.command("replay", context_settings=_HELP)
@click.argument("histories", metavar="HISTORY...", nargs=-1, required=True)
@click.option(
    "--budget",
    type=_TOKENS,
    required=True,
    metavar="TOKENS",
    help="The tokens that a request may take, all in.",
)
@click.option(
    "--window",
    type=_TOKENS,
    metavar="TOKENS",
    help="What the model accepts at all; what is over it is refused.",
)
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="FILE.toml",
    help="A policy of your own, beside the others; its budget comes before --budget.",
)
@click.option("--model", metavar="NAME", help="The model; else the one that was recorded.")
@click.option("--prices", metavar="FILE.toml", help="What the models take per million tokens.")
@click.option(
    "--seconds-per-step",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long a step took, for the caches' lifetimes; else the recorded times.",
)
@click.option("--json", "as_json", is_flag=True, help="All figures, those of each request too.")
@click.option("--html", metavar="FILE", help="Where a page with charts goes.")
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Processes for many files."
)
def _replay(
    histories: tuple[str, ...],
    budget: int,
    window: int | None,
    policies: tuple[str, ...],
    model: str | None,
    prices: str | None,
    seconds_per_step: float | None,
    as_json: bool,
    html: str | None,
    jobs: int,
) -> int:
    """Show what policies would have done to recorded work.

    Each HISTORY (a file, - for stdin, or a folder of files) is walked step by step, as the
    agent grew it, under: nothing, where all is sent; drop oldest, which cuts at user
    messages; keep last 6, which clears all older results at every step; clear one, turnfit
    without batches and grid; turnfit's default; and your own policies.

    Known besides what the other commands read are the files of Claude Code, SWE-agent,
    OpenHands, tau-bench, Inspect, AgentBench and aider, and lines of recorded requests. A
    file that holds no history is reported, the others are replayed; then it exits 1.

    \b
    Examples:
      turnfit replay session.jsonl --budget 100000 --window 200000
      turnfit replay runs/ --budget 400000 --jobs 4 --html runs.html
      turnfit replay run.traj --budget 50000 --policy mine.toml --json | jq .totals
    """
    # Here, so that the other commands start without it.
    from turnfit.cli.replays import Options, replay_histories

    options = Options(
        budget, window, model, policies, prices, seconds_per_step, as_json, html, jobs
    )
    return replay_histories(histories, options)


REPLAY_COMMAND = _replay
"""What the group takes in."""
