"""A session as an agent lives it, in any format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st
from reference import (
    Format,
    Message,
)

from strategies.anthropic import AnthropicWriter
from strategies.bedrock import BedrockWriter
from strategies.chat import OpenAIWriter
from strategies.draws import TOOLS, Draw, chance, count, pick
from strategies.gemini import GeminiWriter
from strategies.langchain import LangchainWriter, langchain
from strategies.responses import ResponsesWriter
from strategies.writing import ID_SCHEMES, Call, Ids, Writer

FORMATS: tuple[Format, ...] = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock-converse",
    *(("langchain",) if langchain else ()),
)
MOST_MESSAGES = 40


@dataclass
class Session:
    """Writes a whole history; `calls` are all calls so far."""

    draw: Draw
    write: Writer
    tidy: bool
    """A tidy history has none of the accidents."""
    calls: list[Call] = field(default_factory=list)

    def accident(self, one_in: int) -> bool:
        return not self.tidy and chance(self.draw, one_in)

    def history(self) -> list[Message]:
        for _ in range(pick(self.draw, [0, 1, 1, 2])):
            self.write.system()
        if self.accident(5):
            self.round()
        if self.accident(10):
            self.rounds(most=12)
        else:
            for _ in range(1 + count(self.draw, 5)):
                self.turn()
        self.ending()
        return self.write.messages[:MOST_MESSAGES]

    def turn(self) -> None:
        self.write.ids.new_turn()
        self.write.user()
        if self.accident(8):
            self.write.trim_note()
        self.rounds(most=5)
        if self.accident(10):
            self.write.system()

    def rounds(self, most: int) -> None:
        for _ in range(count(self.draw, most)):
            self.round()

    def round(self) -> None:
        """An assistant message and its results, with what goes wrong between them."""
        calls = self.call()
        if self.accident(12):
            pick(self.draw, [self.write.user, self.write.system])()
        self.write.results(self.answered(calls))
        if self.accident(25) and self.calls:
            self.write.results([pick(self.draw, self.calls)])
        if self.accident(40):
            self.write.results([Call("nowhere", "read")])

    def call(self) -> list[Call]:
        count = pick(self.draw, [1, 1, 1, 2, 3, 0])
        names = [pick(self.draw, TOOLS) for _ in range(count)]
        calls = self.write.assistant(names)
        self.calls += calls
        return calls

    def answered(self, calls: list[Call]) -> list[Call]:
        """Which calls get their results now, in which order, and which twice."""
        if self.tidy:
            return calls
        if len(calls) > 1:
            calls = self.draw(st.permutations(calls))
        calls = [call for call in calls if not chance(self.draw, 15)]
        return calls + [call for call in calls if chance(self.draw, 20)]

    def ending(self) -> None:
        """The newest round: huge, in flight, or answered in part."""
        ending = pick(self.draw, ["none", "none", "huge", "in flight", "partly"])
        if ending != "none":
            calls = self.call()
            if ending == "huge":
                self.write.results(calls, huge=True)
            elif ending == "partly":
                self.write.results(calls[1:])


WRITERS: dict[Format, Callable[[Draw, Ids], Writer]] = {
    "openai-chat": OpenAIWriter,
    "openai-responses": ResponsesWriter,
    "anthropic": AnthropicWriter,
    "gemini": GeminiWriter,
    "bedrock-converse": BedrockWriter,
    "langchain": LangchainWriter,
}


def writer(format: Format, draw: Draw, ids: Ids) -> Writer:
    return WRITERS[format](draw, ids)


@st.composite
def histories(draw: Draw, format: Format) -> list[Message]:
    """Wire-format histories: now and then tidy, mostly with accidents."""
    ids = Ids(pick(draw, ID_SCHEMES))
    return Session(draw, writer(format, draw, ids), tidy=chance(draw, 4)).history()


# --- policies -----------------------------------------------------------------------------------
