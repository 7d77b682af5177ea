"""Aider's chat history in Markdown (https://aider.chat/docs/config/options.html).

The user's lines bear ``####``, aider's own ``>``, the rest is the model's answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnfit.compaction.presets import AIDER
from turnfit.replay.recordings import Recording

__all__ = ["is_it", "read"]

_STARTED = re.compile(r"^# aider chat started at ", flags=re.MULTILINE)
_SPOKEN = re.compile(r"^#### ", flags=re.MULTILINE)
_COUNTED = re.compile(r"^> Tokens: \d", flags=re.MULTILINE)


def is_it(text: str) -> bool:
    """Whether a text is such a history: no JSON begins so, and no other Markdown has aider's
    first line, or what it notes below an answer.
    """
    if text.lstrip()[:1] not in ("#", ">"):
        return False
    is_cut = bool(_SPOKEN.search(text) and _COUNTED.search(text))
    return is_cut or bool(_STARTED.search(text))


def read(text: str, name: str) -> Recording:
    """The history, in OpenAI's chat shape."""
    messages = []
    for role, run in _runs(text.splitlines()):
        said = "\n".join(run).strip()
        if said:
            messages.append({"role": role, "content": said})
    return Recording(name=name, messages=messages, format="openai-chat", effects=AIDER)


def _runs(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    role, run = "assistant", list[str]()
    fenced = False
    for line in lines:
        fenced ^= line.startswith("```") and role == "assistant"
        now = _speaker(line) if not fenced else "assistant"
        if now != role and line.strip():
            yield role, run
            role, run = now, []
        run.append(re.sub(r"^(####|>) ?", "", line) if now != "assistant" else line)
    yield role, run


def _speaker(line: str) -> str:
    return "user" if line.startswith(("#### ", "> ", "# aider chat")) else "assistant"
