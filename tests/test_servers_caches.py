"""The simulated prefix caches do what their providers publish."""

from __future__ import annotations

from typing import Any

import pytest
from servers.prefix_cache import (
    AnthropicCache,
    AutomaticCache,
    CacheUse,
    cache_for,
    ideal_cache,
    minimum_of,
)
from servers.requests import RefusedError

MARK = {"cache_control": {"type": "ephemeral"}}
HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}


def hundred(block: Any) -> int:
    return 100


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def text(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": name, **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "claude-opus-5", "messages": list(messages), **more}


def test_a_marked_beginning_is_written_once_and_read_from_then_on() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    first = body(user(text("a"), text("b", **MARK)))
    assert cache.read(first) == CacheUse(0, 200, 0)
    again = body(user(text("a"), text("b")), user(text("c", **MARK)), user(text("d")))
    assert cache.read(again) == CacheUse(200, 100, 100)


def test_what_was_not_marked_is_not_read() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    cache.read(body(user(text("a", **MARK), text("b"))))
    assert cache.read(body(user(text("a"), text("b"), text("c", **MARK)))).read == 100


def test_a_changed_block_spoils_all_entries_behind_it() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    cache.read(body(user(text("a", **MARK), text("b"), text("c", **MARK))))
    assert cache.read(body(user(text("a"), text("B"), text("c", **MARK)))).read == 100


def test_a_mark_on_the_whole_request_stands_on_its_last_block() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    assert cache.read(body(user(text("a"), text("b")), **MARK)).written == 200


def test_a_text_is_the_same_as_a_list_of_it() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    cache.read(body(user(text("a", **MARK))))
    assert cache.read(body({"role": "user", "content": "a"}, user(text("b", **MARK)))).read == 100


@pytest.mark.parametrize(("more", "read"), [(19, 100), (20, 0)])
def test_a_mark_looks_back_over_twenty_positions_itself_the_first(more: int, read: int) -> None:
    cache = AnthropicCache(hundred, minimum=0)
    cache.read(body(user(text("a", **MARK))))
    blocks = [text(str(number)) for number in range(more - 1)]
    assert cache.read(body(user(text("a"), *blocks, text("z", **MARK)))).read == read


def test_neighbouring_results_are_one_position() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    cache.read(body(user(text("a", **MARK))))
    calls = [{"type": "tool_use", "id": str(n), "name": "f", "input": {}} for n in range(30)]
    results: list[Any] = [
        {"type": "tool_result", "tool_use_id": str(n), "content": "x"} for n in range(30)
    ]
    results[-1] |= MARK
    turn = [{"role": "assistant", "content": calls}, user(*results)]
    assert cache.read(body(user(text("a")), *turn)).read == 100


def test_nothing_shorter_than_the_minimum_is_kept() -> None:
    cache = AnthropicCache(hundred, minimum=300)
    request = body(user(text("a"), text("b", **MARK)))
    assert cache.read(request) == cache.read(request) == CacheUse(0, 0, 200)


def test_an_entry_lives_five_minutes_from_its_last_use_and_an_hour_where_asked_for() -> None:
    clock = Clock()
    cache = AnthropicCache(hundred, minimum=0, clock=clock)
    short, long = body(user(text("a", **MARK))), body(user(text("b", **HOUR)))
    cache.read(short), cache.read(long)
    clock.now = 299.0
    assert cache.read(short).read == 100
    clock.now = 598.0
    assert cache.read(short).read == 100
    clock.now = 899.0
    assert cache.read(short).read == 0
    assert cache.read(long).read == 100
    clock.now = 899.0 + 3600.0
    assert cache.read(long).read == 0


def test_a_fifth_mark_is_refused() -> None:
    request = body(user(*(text(str(number), **MARK) for number in range(5))))
    with pytest.raises(RefusedError, match="Found 5"):
        AnthropicCache(hundred).read(request)


def test_an_hour_behind_five_minutes_is_refused() -> None:
    with pytest.raises(RefusedError, match=r"messages\.0\.content\.1"):
        AnthropicCache(hundred).read(body(user(text("a", **MARK), text("b", **HOUR))))


def test_tools_come_before_the_system_prompt_and_it_before_the_messages() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    tools = [{"name": "f", "input_schema": {}}]
    system = [text("s", **MARK)]
    cache.read(body(user(text("a")), tools=tools, system=system))
    assert cache.read(body(user(text("b")), tools=tools, system=system)).read == 200
    assert cache.read(body(user(text("b")), tools=[], system=system)).read == 0


def test_bedrocks_point_marks_the_block_before_it() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    point = {"cachePoint": {"type": "default"}}
    content = [{"text": "a"}, point, {"text": "b"}]
    request = {"model": "m", "messages": [{"role": "user", "content": content}]}
    assert cache.read(request) == CacheUse(0, 100, 100)
    assert cache.read(request) == CacheUse(100, 0, 100)


def test_a_mark_on_the_whole_never_stands_on_thinking() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    thinking = {"type": "thinking", "thinking": "", "signature": "s"}
    request = body({"role": "assistant", "content": [text("a"), thinking]}, **MARK)
    assert cache.read(request) == CacheUse(0, 100, 100)


def test_an_automatic_cache_reads_whole_steps_of_the_common_beginning() -> None:
    cache = AutomaticCache(hundred, minimum=1024, step=128)
    item = [{"role": "user", "content": str(number)} for number in range(12)]
    assert cache.read({"model": "m", "input": item[:11]}).read == 0
    assert cache.read({"model": "m", "input": item}).read == 1024
    assert cache.read({"model": "m", "input": item[:11]}).read == 1024
    changed = [*item[:10], {"role": "user", "content": "other"}]
    assert cache.read({"model": "m", "input": changed}).read == 0


def test_an_automatic_cache_forgets() -> None:
    clock = Clock()
    cache = AutomaticCache(hundred, minimum=0, step=1, lifetime=10.0, clock=clock)
    request = {"model": "m", "input": "a"}
    cache.read(request)
    clock.now = 9.0
    assert cache.read(request).read == 100
    clock.now = 19.0
    assert cache.read(request).read == 0


def test_another_model_reads_nothing() -> None:
    cache = AnthropicCache(hundred, minimum=0)
    cache.read(body(user(text("a", **MARK))))
    assert cache.read({**body(user(text("a", **MARK))), "model": "claude-opus-4-8"}).read == 0


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5-5", 512),
        ("claude-fable-5-2", 512),
        ("claude-sonnet-5", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-haiku-4-5-20251001", 4096),
        ("us.anthropic.claude-opus-4-5-v1:0", 4096),
        ("gemini-2.5-pro", 2048),
        ("gemini-3.8-flash", 4096),
        ("gpt-5.1", 1024),
    ],
)
def test_minima_are_as_published(model: str, minimum: int) -> None:
    assert minimum_of(model) == minimum


@pytest.mark.parametrize("model", ["claude-opus-5", "gpt-5.1", "gpt-6.2-sol", "gemini-3.8-flash"])
def test_no_cache_reads_more_than_the_ideal_one(model: str) -> None:
    cache, ideal = cache_for(model, hundred), ideal_cache(model, hundred)
    messages: list[dict[str, Any]] = []
    for number in range(60):
        messages.append(user(text(str(number))))
        request = {"model": model, "messages": messages, **MARK}
        use, best = cache.read(request), ideal.read(request)
        assert use.total == best.total == 100 * len(messages)
        assert use.read <= best.read
    assert use.read > 0


def test_usage_is_told_as_providers_tell_it() -> None:
    use = CacheUse(read=3, written=2, uncached=1)
    assert sum(use.as_anthropic().values()) == 6
    assert use.as_openai()["input_tokens_details"]["cached_tokens"] == 3
