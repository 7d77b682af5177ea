"""The parts of a whole request, whichever provider's it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnfit.messages.estimate import estimate_request
from turnfit.messages.reading import Message
from turnfit.tokens.profiles import Profile

__all__ = ["Request", "read_request", "tools_in"]


@dataclass(frozen=True)
class Request:
    """A request's body, as `estimate_request` and `fit` take it.

    Attributes:
        messages: the messages, in their wire format.
        system: the system prompt that stands beside them, or None.
        tools: the tool definitions, and the schema of the answer where one is asked for:
            providers count it too.
        format: the wire format's name where the body tells it; None where the messages do.
    """

    messages: list[Message]
    system: Any
    tools: list[Any]
    format: str | None

    def tokens(self, profile: str | Profile | Callable[[str], int] | None = None) -> int:
        """The estimate of all of it, priced as `estimate_request` does."""
        return estimate_request(
            self.messages,
            system=self.system,
            tools=self.tools,
            format=self.format,
            profile=profile,
        )


def read_request(body: Mapping[str, Any]) -> Request:
    """The parts of a request's body, as it was sent to a provider.

    Args:
        body: of Anthropic's messages, OpenAI's chat completions or responses, Gemini's
            ``generateContent``, Bedrock's ``converse``, or of who speaks like one of them.

    Raises:
        ValueError: for a body without messages.

    >>> read_request({"instructions": "Be brief.", "input": "Hello!"}).messages
    [{'role': 'user', 'content': 'Hello!'}]
    """
    messages, format_ = _messages(body)
    tools = [*tools_in(body), *_schemas(body)]
    return Request(messages, _system(body), tools, format_)


def _messages(body: Mapping[str, Any]) -> tuple[list[Message], str | None]:
    said = body.get("input")
    if isinstance(said, str):
        return [{"role": "user", "content": said}], None
    bedrock = not {"inferenceConfig", "toolConfig"}.isdisjoint(body)
    for key, format_ in (
        ("messages", "bedrock-converse" if bedrock else None),
        ("contents", "gemini"),
        ("input", "openai-responses"),
    ):
        if isinstance(body.get(key), list):
            return body[key], format_
    raise ValueError(f"a request needs messages, contents or input; its keys are {list(body)}")


def _system(body: Mapping[str, Any]) -> Any:
    keys = ("system", "instructions", "systemInstruction", "system_instruction")
    system = next((body[key] for key in keys if body.get(key)), None)
    if isinstance(system, Mapping):
        system = system.get("parts", [])
    if system is None or isinstance(system, str):
        return system
    return [{"type": "text", "text": text} for text in _texts(system)]


def _texts(blocks: Any) -> Iterator[str]:
    for block in blocks if isinstance(blocks, list) else [blocks]:
        text = block.get("text") if isinstance(block, Mapping) else block
        if isinstance(text, str):
            yield text


def tools_in(body: Mapping[str, Any]) -> Sequence[Any]:
    """The tool definitions of a request's body."""
    tools = body.get("tools") or _at(body, "toolConfig", "tools") or body.get("functions")
    return tools if isinstance(tools, list) else []


_SCHEMAS = (
    ("response_format", "json_schema"),
    ("text", "format", "schema"),
    ("output_config", "format", "schema"),
    ("output_format", "schema"),
    ("outputConfig", "textFormat", "structure", "jsonSchema", "schema"),
    ("generationConfig", "responseSchema"),
    ("generationConfig", "responseJsonSchema"),
)


def _schemas(body: Mapping[str, Any]) -> list[Any]:
    return [schema for path in _SCHEMAS if (schema := _at(body, *path))]


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
