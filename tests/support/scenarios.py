"""What is tried of the loop, and the tables in which the docs show it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import turnfit as tf
from servers.model import Script
from servers.requests import RefusedError
from servers.wires import Answer, Seen

from support.library import chapter, write_volume
from support.loop import Agent, DropsTheOldest, Run, SendsAll, policy, run

EIGHT = range(1, 9)
FORTY, MANY = 9, 10
CLIENTS = ("openai", "anthropic")
SMALL = 44_000

POLICIES: Mapping[str, tuple[type[Agent], tf.Policy]] = {
    "default": (Agent, policy(budget=SMALL)),
    "`grid=0`": (Agent, policy(budget=SMALL, grid=0)),
    "`clear_batch=1`": (Agent, policy(budget=SMALL, clear_batch=1)),
    "`grid=0, clear_batch=1`": (Agent, policy(budget=SMALL, grid=0, clear_batch=1)),
    "dropping the oldest": (DropsTheOldest, policy(budget=SMALL)),
}


class UnauthorisedError(RefusedError):
    status = 401


def no_key(_: Seen) -> Answer:
    """A script that takes no one in."""
    error = {"message": "Incorrect API key provided: k.", "code": "invalid_api_key"}
    raise UnauthorisedError("no key", {"error": error})


def reads(volume: int) -> str:
    return f"Read volume {volume} to its end, chapter by chapter."


class Scenarios:
    """What is run over volumes that are written into a folder; each run is made once."""

    def __init__(self, folder: Path) -> None:
        self._run = partial(run, folder=folder)
        for volume in EIGHT:
            write_volume(folder, volume, chapters=19, tokens=60_000)
        write_volume(folder, FORTY, chapters=40, tokens=12_000)
        write_volume(folder, MANY, chapters=80, tokens=1_000)

    @cache  # noqa: B019 - as long-lived as the module that asks
    def eight(self, client: str) -> Run:
        """Eight subagents with a volume each."""
        return self._run(client, task="Have volumes 1 to 8 read.")

    @cache  # noqa: B019
    def eight_unfitted(self, client: str) -> Run:
        """The same without fitting."""
        return self._run(client, task="Have volumes 1 to 8 read.", kind=SendsAll)

    @cache  # noqa: B019
    def forty(self, client: str) -> Run:
        """One subagent and forty chapters, with the guidance in its instructions."""
        return self._run(client, task=f"Have volumes {FORTY} to {FORTY} read.")

    @cache  # noqa: B019
    def forty_untold(self, client: str) -> Run:
        """The same without the guidance."""
        with patch.object(tf, "guidance", return_value=""):
            return self._run(client, task=f"Have volumes {FORTY} to {FORTY} read.")

    @cache  # noqa: B019
    def wrong_by_half(self, client: str) -> Run:
        """The estimate is told to be half of what it is, on a budget near the window."""
        by = policy(budget=950_000, scale=0.5)
        return self._run(client, task=reads(1), by=by)

    @cache  # noqa: B019
    def hopeless(self, client: str) -> Run:
        """A first message that is longer than the window by itself."""
        pasted = "\n".join(chapter("en", 0, number, 60_000) for number in range(19))
        return self._run(client, task=f"{reads(1)}\n{pasted}")

    def told(self, client: str, script: Script) -> Run:
        """A task for a model of another script."""
        return self._run(client, task="Have a look.", script=script)

    def no_key(self, client: str) -> Run:
        """A refusal that is the operator's to resolve."""
        return self.told(client, no_key)

    def thinking(self, **options: Any) -> Run:
        """A model that checks its thinking against what stands before it."""
        return self._run("anthropic", task=reads(FORTY), model="claude-opus-5-5", **options)

    @cache  # noqa: B019
    def cached(self, client: str, name: str) -> Run:
        """Many short chapters on a small budget, by one of `POLICIES`."""
        kind, by = POLICIES[name]
        return self._run(client, task=reads(MANY), kind=kind, by=by)
