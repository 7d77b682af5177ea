"""Gemini's generateContent, as the google-genai SDK takes it in dicts.

Contents and parts: https://ai.google.dev/api/caching#Content; calls:
https://ai.google.dev/gemini-api/docs/function-calling; thought signatures, which go back
in the very part where they came: https://ai.google.dev/gemini-api/docs/thought-signatures.

Keys are written in camel case or in snake case. A response answers the call that bears
its id; without ids, position and name decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from turnfit.messages import rules
from turnfit.messages.formats.stripping import without_blocks
from turnfit.messages.formats.table import Body, Field, Format, Shape, Signs
from turnfit.messages.reading import Message, Row
from turnfit.messages.unfinished import Parts, each_by_itself

__all__ = ["GEMINI"]


def _snake(key: str) -> str:
    return re.sub("[A-Z]", lambda capital: "_" + capital[0].lower(), key)


def _either(fields: Mapping[str, Field]) -> dict[str, Field]:
    """The fields in camel case and in snake case."""
    return {**fields, **{_snake(key): field for key, field in fields.items()}}


_MEDIA = Shape("plain", _either({"inlineData": "medium", "fileData": "medium"}))

_CALL = Shape("call", _either({"id": "id", "name": "name", "args": "body", "willContinue": "free"}))

_RESPONSE = Shape(
    "result",
    _either(
        {
            "id": "id",
            "name": "name",
            # "Use the output key", https://ai.google.dev/api/caching#FunctionResponse
            "response": Body(wrap="output"),
            "parts": Body(of=_MEDIA, note=lambda wording: []),
            "willContinue": "free",
            "scheduling": "free",
        }
    ),
)

# Tools that the provider runs: it wants their responses back as they were.
_SERVER = {"id": "id", "toolType": "free"}

_PART = Shape(
    "plain",
    _either(
        {
            "text": "text",
            "thought": "free",
            "thoughtSignature": "thought",
            "inlineData": "medium",
            "fileData": "medium",
            "videoMetadata": "free",
            "mediaResolution": "free",
            "partMetadata": "free",
            "functionCall": _CALL,
            "functionResponse": _RESPONSE,
            "toolCall": Shape("call", _either({**_SERVER, "args": "body"}), clearable=False),
            "toolResponse": Shape(
                "result", _either({**_SERVER, "response": "body"}), clearable=False
            ),
            "executableCode": {"code": "text", "language": "free", "id": "free"},
            "codeExecutionResult": {"output": "text", "outcome": "free", "id": "free"},
        }
    ),
    thought="thought",
)

_CONTENT = Shape("plain", {"role": "free", "parts": Body(of=_PART)})


def _answer(_: Message, call: Row, wording: str) -> Message:
    response: dict[str, Any] = {"name": call.name, "response": {"output": wording}}
    if call.id is not None:
        response["id"] = call.id
    return {"role": "user", "parts": [{"functionResponse": response}]}


_ROWS = ("functionCall", "functionResponse", "toolCall", "toolResponse")


def _is_broken(_: Message, part: Any) -> bool:
    """Where arguments are streamed: https://ai.google.dev/api/caching#FunctionCall."""
    call = part.get("functionCall") or part.get("function_call")
    if not isinstance(call, dict):
        return False
    going_on = call.get("willContinue") or call.get("will_continue")
    in_pieces = "args" not in call and bool({"partialArgs", "partial_args"} & call.keys())
    return bool(going_on) or in_pieces


_PARTS = Parts(
    key="parts",
    is_row=lambda part: not part.keys().isdisjoint(_either(dict.fromkeys(_ROWS, ""))),
    is_broken=_is_broken,
)
_without_thoughts = without_blocks("parts", lambda part: bool(part.get("thought")))


def _strip(contents: Sequence[Message]) -> list[Message | None]:
    """Without thoughts and their signatures."""
    return [content and _unsigned(content) for content in _without_thoughts(contents)]


def _unsigned(content: Message) -> Message:
    if not isinstance(content.get("parts"), list | tuple):
        return content
    signatures = {"thoughtSignature", "thought_signature"}
    parts = [
        {key: value for key, value in part.items() if key not in signatures}
        if isinstance(part, dict) and signatures & part.keys()
        else part
        for part in content["parts"]
    ]
    return {**content, "parts": parts}


GEMINI = Format(
    name="gemini",
    url="https://ai.google.dev/api/caching#Content",
    default="user",
    roles={
        "user": ("user", _CONTENT),
        "model": ("assistant", _CONTENT),
        "function": ("tool", _CONTENT),
        "system": ("system", _CONTENT),
    },
    signs=Signs(roles=("model",), keys=("parts",), refused=("parts",)),
    refuses={"content": "openai-chat"},
    note=lambda wording: {"role": "user", "parts": [{"text": wording}]},
    answer=_answer,
    answers_in="parts",
    finished=each_by_itself(_PARTS.whole),
    strip=_strip,
    rules=(
        rules.results_have_calls,
        rules.calls_are_answered_at_once,
        rules.starts_with_a_user_message,
        rules.parts_are_there,
    ),
)
