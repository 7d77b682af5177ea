"""A scripted model that reads volumes: it knows what stands in its request, and nothing else.

How it behaves is written here, not learnt: told to delegate it delegates, told to read it
reads chapter by chapter to the end; but where nothing in its instructions tells it that its
context is looked after, it stops after two chapters to save room. That is how models were seen
to behave, and here it is a rule.
"""

from __future__ import annotations

import re

from servers.wires import Answer, Entry, Seen

from support.library import END, chapter_name

STOPS_AFTER = 2
SAVING = "I stop here, to save room in my context."


def reader(seen: Seen) -> Answer:
    """What the model says to a request."""
    task = seen.of("user")[0].text
    volumes = re.search(r"volumes (\d+) to (\d+)", task)
    if volumes and "delegate" in seen.tools:
        return _delegated(seen, range(int(volumes[1]), int(volumes[2]) + 1))
    volume = re.search(r"volume (\d+)", task)
    return _read_on(seen, int(volume[1])) if volume else Answer("What shall I read?")


def _delegated(seen: Seen, volumes: range) -> Answer:
    results = seen.of("result")
    if results:
        return Answer("\n".join(entry.text for entry in results))
    tasks = [f"Read volume {volume} to its end, chapter by chapter." for volume in volumes]
    return Answer("I give each volume away.", [("delegate", {"task": task}) for task in tasks])


def _read_on(seen: Seen, volume: int) -> Answer:
    calls = [entry for entry in seen.of("call") if entry.tool == "read"]
    if not calls:
        return _reading(volume, 1)
    result = seen.of("result")[-1].text
    cursor = re.search(r'cursor="([^"]+)"', result[-400:])
    chapter = _chapter_of(calls[-1])
    if cursor:
        return Answer(
            "It goes on.", [("read", {"path": path(volume, chapter), "cursor": cursor[1]})]
        )
    if END in result[-400:]:
        return Answer(f"Volume {volume}: read {chapter} chapters, to the end.")
    if chapter >= STOPS_AFTER and "do not stop early" not in seen.instructions:
        return Answer(f"Volume {volume}: read {chapter} chapters. {SAVING}")
    return _reading(volume, chapter + 1)


def _reading(volume: int, chapter: int) -> Answer:
    return Answer(f"Chapter {chapter} is next.", [("read", {"path": path(volume, chapter)})])


def _chapter_of(call: Entry) -> int:
    return int(call.arguments["path"][-7:-4])


def path(volume: int, chapter: int) -> str:
    return f"volume-{volume}/{chapter_name(chapter)}"
