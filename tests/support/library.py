"""Volumes of long chapters in four languages, generated, the same at every run."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from support.subagents import SENTENCES

END = "— The end of the volume. —"
LANGUAGES = sorted(SENTENCES)
CHARACTERS_PER_TOKEN = {"en": 4.7, "hi": 2.85, "ru": 3.7, "zh": 1.08}
"""By o200k_base, of these sentences."""


def write_volume(folder: Path, volume: int, chapters: int, tokens: int) -> None:
    """A volume's chapters, of about so many tokens each; the languages take turns by volume."""
    language = LANGUAGES[volume % len(LANGUAGES)]
    place = folder / f"volume-{volume}"
    place.mkdir(parents=True, exist_ok=True)
    for number in range(1, chapters + 1):
        text = chapter(language, volume, number, tokens)
        end = f"\n{END}\n" if number == chapters else ""
        (place / chapter_name(number)).write_text(text + end, "utf-8")


def chapter_name(number: int) -> str:
    return f"chapter-{number:03}.txt"


def chapter(language: str, volume: int, number: int, tokens: int) -> str:
    """A chapter: a heading, and paragraphs in an order of its own."""
    rng = random.Random(f"{language} {volume} {number}")
    stock = paragraphs(language)
    wanted = tokens * CHARACTERS_PER_TOKEN[language]
    parts, length = [f"# {volume}.{number}"], 0
    while length < wanted:
        parts.append(rng.choice(stock))
        length += len(parts[-1])
    return "\n\n".join(parts)


@cache
def paragraphs(language: str) -> list[str]:
    """A stock of paragraphs, with figures in some sentences."""
    rng = random.Random(language)
    return [_paragraph(rng, language) for _ in range(300)]


def _paragraph(rng: random.Random, language: str) -> str:
    space = "" if language == "zh" else " "
    said = (rng.choice(SENTENCES[language]) for _ in range(12))
    return space.join(f"{sentence}[{rng.randrange(900)}]" for sentence in said)
