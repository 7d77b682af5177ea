"""The tokens that a provider reports for a request, each counted once.

What was read from a cache or written to one is input too. Some providers report it
beside the rest, others within it:

- Anthropic, beside: ``input_tokens`` is what follows the last cache breakpoint
  (https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance).
- Bedrock, beside: ``inputTokens``, ``cacheReadInputTokens``, ``cacheWriteInputTokens``
  (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html).
- OpenAI, within: ``prompt_tokens`` of chat completions and ``input_tokens`` of responses
  (https://developers.openai.com/api/docs/guides/prompt-caching).
- Gemini, within: ``promptTokenCount``
  (https://ai.google.dev/api/generate-content#UsageMetadata).
- Cohere, within: ``tokens.input_tokens``; ``billed_units`` leaves out what isn't billed
  (https://docs.cohere.com/reference/chat).
- Ollama: ``prompt_eval_count`` (https://docs.ollama.com/api/usage).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["input_tokens", "output_tokens"]

_HOLDERS = ("usage", "usageMetadata", "usage_metadata")
_WITHIN = (
    *("prompt_tokens", "promptTokens", "promptTokenCount", "prompt_token_count"),
    *("total_input_tokens", "prompt_eval_count"),
)
_BESIDE = {
    "input_tokens": ("cache_read_input_tokens", "cache_creation_input_tokens"),
    "inputTokens": ("cacheReadInputTokens", "cacheWriteInputTokens"),
    "input_token_count": ("cache_read_input_token_count", "cache_write_input_token_count"),
}
_OUTPUT = (
    *("output_tokens", "outputTokens", "completion_tokens", "completionTokens"),
    *("candidatesTokenCount", "candidates_token_count", "output_token_count", "eval_count"),
)
_CREATED = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")


def input_tokens(usage: Any) -> int:
    """The tokens of the request that a provider reports, cached ones counted once.

    Args:
        usage: the usage of a response from Anthropic, OpenAI (chat completions or
            responses), Gemini, Bedrock, Cohere, or a gateway in one of their shapes: a
            mapping or an SDK's object. A response that holds one will do, and so will
            the number itself. Where the provider ran several passes for one request
            (Anthropic's ``iterations``: compaction, server tools), it is the first
            one's input: that is what was sent.

    Raises:
        ValueError: if it holds no count of input tokens.

    >>> input_tokens({"input_tokens": 3, "cache_read_input_tokens": 17842,
    ...               "cache_creation_input_tokens": 8037, "output_tokens": 10})
    25882
    >>> input_tokens({"prompt_tokens": 687, "prompt_tokens_details": {"cached_tokens": 679}})
    687
    """
    if isinstance(usage, int) and not isinstance(usage, bool):
        return _checked("usage", usage)
    for holder in _HOLDERS:
        if (held := _get(usage, holder)) is not None:
            return input_tokens(held)
    found = _found(usage)
    if found is None:
        raise ValueError(f"usage holds no count of input tokens: {_told(usage)}")
    return found


def output_tokens(usage: Any) -> int | None:
    """The tokens of the answer that a provider reports; None where it doesn't tell.

    Args:
        usage: as for `input_tokens`; a number tells of the input alone.

    Raises:
        ValueError: for a count that is no int of at least 0.

    >>> output_tokens({"prompt_tokens": 687, "completion_tokens": 12})
    12
    """
    for holder in _HOLDERS:
        if (held := _get(usage, holder)) is not None:
            return output_tokens(held)
    for name in _OUTPUT:
        if (tokens := _count(usage, name)) is not None:
            return tokens
    counted = _get(usage, "tokens")
    return None if counted is None else _count(counted, "output_tokens")


def _found(usage: Any) -> int | None:
    if (first := _first_pass(usage)) is not None:
        return input_tokens(first)
    for name in _WITHIN:
        if (tokens := _count(usage, name)) is not None:
            return tokens
    for name, cached in _BESIDE.items():
        if (tokens := _count(usage, name)) is not None:
            return tokens + sum(_cached(usage, key) for key in cached)
    counted = _get(usage, "tokens")
    return None if counted is None else _count(counted, "input_tokens")


def _first_pass(usage: Any) -> Any:
    iterations = _get(usage, "iterations")
    return iterations[0] if isinstance(iterations, list) and iterations else None


def _cached(usage: Any, key: str) -> int:
    """Cached tokens; what was created may be told by its lifetimes alone."""
    if (tokens := _count(usage, key)) is not None:
        return tokens
    if key != "cache_creation_input_tokens":
        return 0
    created = _get(usage, "cache_creation")
    return sum(_count(created, lifetime) or 0 for lifetime in _CREATED)


def _get(usage: Any, key: str) -> Any:
    if isinstance(usage, Mapping):
        return usage.get(key)
    return getattr(usage, key, None)


def _count(usage: Any, key: str) -> int | None:
    value = _get(usage, key)
    return None if value is None else _checked(key, value)


def _checked(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{key} must be an int, not {value!r}")
    if value < 0:
        raise ValueError(f"{key} must be at least 0, not {value}")
    return value


def _told(usage: Any) -> str:
    if isinstance(usage, Mapping):
        return f"its keys are {', '.join(map(repr, usage)) or 'none'}"
    return f"it is {type(usage).__name__}"
