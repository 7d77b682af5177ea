"""What a stream leaves behind that broke off: calls and thinking that never came to their end.

Streams send a message part by part, so only the last part can be broken. A call's arguments
come as pieces of JSON text (Anthropic: ``input_json_delta``,
https://platform.claude.com/docs/en/build-with-claude/streaming; OpenAI: ``arguments`` deltas,
https://platform.openai.com/docs/api-reference/chat-streaming; Bedrock: ``toolUse.input``,
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlockDelta.html);
thinking is signed last, just before its block ends. OpenAI's Responses tell by an item's
``status``, Gemini by a call's ``willContinue``. A provider refuses a call that nothing
answers, and thinking without its signature.

A call is left alone as soon as something answers it: then it was carried out, or refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from turnfit.messages.reading import Message

__all__ = ["Finished", "Open", "Parts", "each_by_itself", "is_json"]

Open: TypeAlias = Mapping[int, str | None]
"""A message's calls that nothing has answered: their ids by their places among its rows."""

Finished: TypeAlias = Callable[[Sequence[Message], Mapping[int, Open]], "dict[int, Message | None]"]
"""From a history and its suspects, each with its open calls, to what becomes of those that are
broken: a copy without what is unfinished, or None where nothing is left."""


def is_json(text: Any) -> bool:
    """Whether arguments in a text came to their end."""
    try:
        json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def each_by_itself(whole: Callable[[Message, Open], Message | None]) -> Finished:
    """For formats in which a message is broken, or not, whatever its neighbours are."""

    def finished(
        messages: Sequence[Message], suspects: Mapping[int, Open]
    ) -> dict[int, Message | None]:
        made = {index: whole(messages[index], open_) for index, open_ in suspects.items()}
        return {index: one for index, one in made.items() if one is not messages[index]}

    return finished


@dataclass(frozen=True)
class Parts:
    """How the parts of a content tell that they are broken.

    Attributes:
        key: the content's key.
        is_row: whether a part is a call or a result.
        is_broken: whether a call, given with its message, is; asked of open calls only.
        is_thinking: whether a part is thinking; a message that was broken off doesn't end so.
        is_unsigned: whether thinking lacks its signature; asked of the last part only.
    """

    key: str
    is_row: Callable[[Any], bool]
    is_broken: Callable[[Message, Any], bool]
    is_thinking: Callable[[Any], bool] = lambda part: False
    is_unsigned: Callable[[Any], bool] = lambda part: False

    def whole(self, message: Message, open_: Open) -> Message | None:
        """The message without broken parts; the very object where it has none."""
        parts = message.get(self.key)
        if not isinstance(parts, list | tuple):
            return message
        kept = self._kept(message, parts, open_)
        if len(kept) == len(parts):
            return message
        while kept and isinstance(kept[-1], dict) and self.is_thinking(kept[-1]):
            kept.pop()
        return {**message, self.key: kept} if kept else None

    def _kept(self, message: Message, parts: Sequence[Any], open_: Open) -> list[Any]:
        kept: list[Any] = []
        place = 0
        for part in parts:
            is_row = isinstance(part, dict) and self.is_row(part)
            if not (is_row and place in open_ and self.is_broken(message, part)):
                kept.append(part)
            place += is_row
        last = parts[-1] if parts else None
        if isinstance(last, dict) and kept and kept[-1] is last and self.is_unsigned(last):
            kept.pop()
        return kept
