"""Aider's chat history in Markdown (https://aider.chat/docs/config/options.html).

The user's lines bear ``####``, aider's own ``>``, the rest is the model's answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turnfit.compaction.presets import AIDER
from turnfit.replay.recordings import Recording

__all__ = ["is_it", "read"]

_SPOKEN = re.compile(r"^(?:#### |# aider chat started at )", flags=re.MULTILINE)


def is_it(text: str) -> bool:
    """Whether a text is such a history: no JSON begins so."""
    return text.lstrip()[:1] in "#>" and bool(_SPOKEN.search(text))


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
