"""A summariser that needs no model: it picks sentences."""

from __future__ import annotations

import heapq
import re
from typing import TYPE_CHECKING

from turnfit import _core
from turnfit.outputs.facts import Fact, facts_of

if TYPE_CHECKING:
    from turnfit.outputs.summary import SummaryRequest

__all__ = ["extract"]

_SENTENCE = re.compile(r"[^\n.!?。！？]*(?:[.!?](?!\s|$)[^\n.!?。！？]*)*[.!?。！？]*[\"”»」)]*\s*")
_WORD = re.compile(r"\w{3,}|[\u3400-\u9fff]{2}")
_LONGEST = 600
"""Characters of a sentence; a longer one is taken in parts."""
_ABOUT_THE_TASK = 3.0
"""How many facts a word of the task is worth."""
_LEAD = 1.0
"""What the first sentence is worth beside its facts; each later one a little less."""


def extract(request: SummaryRequest) -> str:
    """A summary of a text's own sentences, in their order.

    Chosen one after the other is the sentence that adds the most per token: facts not yet
    told, words of the task, and a little for standing early.

    >>> from turnfit.outputs.summary import SummaryRequest
    >>> text = "It was a fine day. Revenue rose to 4,200 in 2026. Nobody minded. Birds sang."
    >>> extract(SummaryRequest(text=text, task="revenue", max_tokens=10))
    'Revenue rose to 4,200 in 2026.'
    """
    sentences = _sentences(request.text)
    facts = [set(facts_of(sentence)) for sentence in sentences]
    prices = [max(1, _core.estimate(sentence)) for sentence in sentences]
    bonus = _bonuses(sentences, request.task)
    chosen = _choose(facts, prices, bonus, request.max_tokens)
    return "\n".join(sentences[index] for index in sorted(chosen))


def _sentences(text: str) -> list[str]:
    found = (match.group().strip() for match in _SENTENCE.finditer(text))
    parts = (
        sentence[start : start + _LONGEST]
        for sentence in found
        for start in range(0, len(sentence), _LONGEST)
    )
    return [part for part in parts if part]


def _bonuses(sentences: list[str], task: str | None) -> list[float]:
    wanted = set(_words(task or ""))
    return [
        _LEAD / (1 + index) + _ABOUT_THE_TASK * len(wanted.intersection(_words(sentence)))
        for index, sentence in enumerate(sentences)
    ]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _choose(facts: list[set[Fact]], prices: list[int], bonus: list[float], room: int) -> list[int]:
    """The greedy choice; a gain only shrinks as others are chosen, so that a stale one
    needs to be looked at again only at the top of the heap."""
    told: set[Fact] = set()
    heap = [
        (-(len(facts[index]) + bonus[index]) / price, index) for index, price in enumerate(prices)
    ]
    heapq.heapify(heap)
    chosen = []
    while heap:
        stale, index = heapq.heappop(heap)
        if prices[index] > room:
            continue
        gain = -(len(facts[index] - told) + bonus[index]) / prices[index]
        if heap and gain > heap[0][0] and gain != stale:
            heapq.heappush(heap, (gain, index))
            continue
        chosen.append(index)
        told |= facts[index]
        room -= prices[index]
    return chosen
