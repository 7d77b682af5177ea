"""Makes ``subagent.json``: the history of one agent with one instruction and a long run of tools.

    python examples/make_history.py

A subagent reviews the handbook of a network of weather stations, chapter by chapter, in
English, Russian, Chinese and Hindi. There is one user message, so nothing can be cut at
user messages; what grows are tool results. The history is invented, and the same at
every run. Its texts (and this file's) are dedicated to the public domain, CC0-1.0.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handbook import BANKS, CHAPTERS, LOG_LINES, REMARKS, TASK, TERMS, TOOLS_TOLD, Bank

__all__ = ["as_json", "make_history"]

SEED = 20260314
TARGET = Path(__file__).with_name("subagent.json")
Message = dict[str, Any]


class Dice:
    """Choices that are the same in every version of Python.

    Only `random.Random.random` promises that.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        """A number from 0 to less than the limit."""
        return int(self._random.random() * limit)

    def between(self, low: float, high: float) -> float:
        """A number between two."""
        return low + self._random.random() * (high - low)

    def pick(self, things: Sequence[str]) -> str:
        """One of these."""
        return things[self.below(len(things))]

    def deck(self, things: Sequence[str]) -> Iterator[str]:
        """These in a mixed order, then again in another."""
        while True:
            yield from sorted(things, key=lambda _: self._random.random())


class Slots(dict[str, str]):
    """Fills a sentence's slots, each time with another word."""

    def __init__(self, dice: Dice, words: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._dice = dice
        self._words = words

    def __missing__(self, slot: str) -> str:
        if slot == "n":
            return str(3 + self._dice.below(88))
        if slot == "clock":
            return f"{self._dice.below(24):02}:{self._dice.below(60):02}"
        return self._dice.pick(self._words[slot])


@dataclass
class Writer:
    """Writes files of the handbook's project."""

    dice: Dice

    def chapter(self, bank: Bank, title: str, sections: int) -> str:
        """A chapter: headings, paragraphs, and a list of points to check."""
        sentences = self.dice.deck(bank.sentences)
        headings = self.dice.deck(bank.headings)
        parts = [f"# {title}"]
        for _ in range(sections):
            parts.append(f"## {next(headings)}")
            parts += [self._paragraph(bank, sentences) for _ in range(2 + self.dice.below(2))]
        points = (f"- {self._say(bank, next(sentences))}" for _ in range(4))
        return "\n\n".join([*parts, f"## {bank.checklist}", "\n".join(points)]) + "\n"

    def _paragraph(self, bank: Bank, sentences: Iterator[str]) -> str:
        count = 4 + self.dice.below(3)
        return bank.space.join(self._say(bank, next(sentences)) for _ in range(count))

    def _say(self, bank: Bank, sentence: str) -> str:
        said = sentence.format_map(Slots(self.dice, bank.words))
        return said[:1].upper() + said[1:]

    def draft(self, title: str) -> str:
        """A short English version of a chapter that was read in another language."""
        return self.chapter(BANKS["en"], title, 1)

    def log(self, lines: int) -> str:
        """A station's log."""
        slots = Slots(self.dice, BANKS["en"].words)
        return "\n".join(self._log_line(number, slots) for number in range(lines))

    def _log_line(self, number: int, slots: Slots) -> str:
        level, text = self.dice.pick(LOG_LINES).split(" ", 1)
        minute = number * 7 + self.dice.below(7)
        time = f"2026-03-{1 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}"
        second = f"{self.dice.below(60):02}.{self.dice.below(1000):03}"
        station = f"KV-{1 + self.dice.below(24):02}"
        return f"{time}:{second}Z {level:<5} {station} {text.format_map(slots)}"

    def table(self, rows: int) -> str:
        """Readings as CSV."""
        lines = ["time,station,temperature_c,humidity_pct,pressure_hpa,wind_ms,rain_mm,battery_v"]
        lines += [self._reading(number) for number in range(rows)]
        return "\n".join(lines) + "\n"

    def _reading(self, number: int) -> str:
        time = f"2026-02-{1 + number // 24:02}T{number % 24:02}:00Z"
        ranges = ((-8, 14, 1), (35, 99, 0), (978, 1034, 1), (0, 17, 1), (0, 4, 1), (11.6, 13.2, 2))
        figures = (f"{self.dice.between(low, high):.{digits}f}" for low, high, digits in ranges)
        return f"{time},KV-{1 + number % 24:02},{','.join(figures)}"

    def driver(self, sensors: Sequence[str]) -> str:
        """A Python module with a class per sensor."""
        head = (
            '"""Drivers of the station\'s sensors on the two-wire bus."""\n\n'
            "from __future__ import annotations\n\nfrom station.bus import Bus, BusError\n"
            "from station.units import rounded\n\n"
        )
        return head + "\n".join(map(self._class, sensors))

    def _class(self, sensor: str) -> str:
        address, register = 0x10 + self.dice.below(0x60), self.dice.below(0xF0)
        scale, offset = self.dice.between(0.001, 0.5), self.dice.between(-40, 40)
        low, high = -self.dice.below(60), 60 + self.dice.below(1100)
        return f'''
class {sensor}:
    """Reads the {sensor.lower()} and refuses what can't be."""

    ADDRESS = 0x{address:02X}
    REGISTER = 0x{register:02X}
    RANGE = ({low}, {high})

    def __init__(self, bus: Bus, *, attempts: int = {2 + self.dice.below(4)}) -> None:
        self.bus = bus
        self.attempts = attempts
        self.last: float | None = None

    def read(self) -> float:
        for attempt in range(self.attempts):
            try:
                raw = self.bus.read_word(self.ADDRESS, self.REGISTER)
            except BusError as error:
                self.bus.reset(wait={self.dice.between(0.05, 0.9):.2f} * (attempt + 1))
                self.bus.note("{sensor.lower()}", attempt, error)
                continue
            value = rounded(raw * {scale:.5f} {"+" if offset >= 0 else "-"} {abs(offset):.3f}, 2)
            if self.RANGE[0] <= value <= self.RANGE[1]:
                self.last = value
                return value
            self.bus.note("{sensor.lower()}", attempt, f"{{value}} is out of range")
        raise BusError(f"no reading from 0x{{self.ADDRESS:02X}} in {{self.attempts}} attempts")
'''


@dataclass
class Agent:
    """Grows a history round by round."""

    dice: Dice
    messages: list[Message] = field(default_factory=list)
    calls: int = 0

    def __post_init__(self) -> None:
        self._remarks = self.dice.deck(REMARKS)

    def round(self, *steps: tuple[str, dict[str, Any], str]) -> None:
        """A round: tools called with arguments, and what each gave back."""
        calls = [self._call(tool, arguments) for tool, arguments, _ in steps]
        remark = next(self._remarks) if self.calls > len(steps) and self.dice.below(3) else None
        self.messages.append({"role": "assistant", "content": remark, "tool_calls": calls})
        for call, (_, _, result) in zip(calls, steps, strict=True):
            answer = {"role": "tool", "tool_call_id": call["id"], "content": result}
            self.messages.append(answer)

    def _call(self, tool: str, arguments: dict[str, Any]) -> Message:
        self.calls += 1
        function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
        return {"id": f"call_{self.calls:04}", "type": "function", "function": function}


def read(path: str, content: str) -> tuple[str, dict[str, Any], str]:
    """The step of reading a file."""
    return "read_file", {"path": path}, content


def wrote(path: str, content: str) -> tuple[str, dict[str, Any], str]:
    """The step of writing a file."""
    size = len(content.encode())
    return "write_file", {"path": path, "content": content}, f"wrote {size} bytes to {path}"


def noted(language: str) -> tuple[str, dict[str, Any], str]:
    """The step of entering a chapter's terms in the glossary."""
    terms = [{"term": term, "english": english} for term, english in TERMS[language]]
    told = f"glossary: {len(terms)} terms in {language}, 0 conflicts"
    return "update_glossary", {"language": language, "terms": terms}, told


def make_history() -> list[Message]:
    """The history, as messages of OpenAI's chat format."""
    dice = Dice(SEED)
    writer, agent = Writer(dice), Agent(dice)
    agent.messages += [
        {"role": "system", "content": TOOLS_TOLD},
        {"role": "user", "content": TASK},
    ]
    files = [f"handbook/{language}/{path}" for language, path, _ in CHAPTERS]
    agent.round(("list_files", {"path": "handbook"}, "\n".join([*files, "handbook/glossary.tsv"])))
    for number, (language, path, title) in enumerate(CHAPTERS):
        _work_on(agent, writer, language, path, title)
        _look_beyond(agent, writer, number)
    return agent.messages


def _work_on(agent: Agent, writer: Writer, language: str, path: str, title: str) -> None:
    """A chapter is read; every third one in another language is written down at once."""
    bank = BANKS[language]
    agent.round(read(f"handbook/{language}/{path}", writer.chapter(bank, title, bank.sections)))
    number = int(path[:2])
    if language != "en" and number % 3 == 1:
        agent.round(wrote(f"review/{language}/{path}", writer.draft(f"Review of {title}")))
    if number % 4 == 2:
        agent.round(noted(language))


def _look_beyond(agent: Agent, writer: Writer, number: int) -> None:
    """What the chapters speak of is looked up: logs, readings, code; some of it at once."""
    if number == 3:
        agent.round(
            read("station/drivers/air.py", writer.driver(["Barometer", "Thermometer"])),
            read("data/2026-02.csv", writer.table(96)),
            read("logs/gateway-mill.log", writer.log(70)),
        )
    elif number == 8:
        missing = "error: handbook/ru/appendix.md: no such file"
        agent.round(read("handbook/ru/appendix.md", missing))
        agent.round(read("station/drivers/water.py", writer.driver(["RainGauge", "Hygrometer"])))
    elif number == 14:
        agent.round(read("logs/gateway-quarry.log", writer.log(90)))
    elif number == 19:
        found = "\n".join(f"handbook/{language}/{path}:12" for language, path, _ in CHAPTERS[::3])
        agent.round(("search", {"pattern": "rain ?gauge|осадкомер|雨量计|वर्षामापी"}, found))
        agent.round(read("station/drivers/wind.py", writer.driver(["Anemometer", "WindVane"])))
    elif number == 24:
        agent.round(read("data/2026-02-north.csv", writer.table(110)))
    elif number == 28:
        agent.round(("run_checks", {}, "links: 214 ok\nglossary: 61 terms, 2 unused\nheadings: ok"))


def as_json(history: list[Message]) -> str:
    """The history as the file holds it: a JSON list with a message a line."""
    lines = ",\n".join(json.dumps(message, ensure_ascii=False) for message in history)
    return f"[\n{lines}\n]\n"


if __name__ == "__main__":
    TARGET.write_text(as_json(make_history()), encoding="utf-8", newline="\n")
