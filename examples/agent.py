"""A small agent that stays inside its model's window, however long it works.

    pip install turnfit openai anthropic
    python examples/agent.py book/ "Which chapters contradict each other?" --model gpt-5.1

It lists, reads, searches and runs commands in a folder, and gives what needs much reading to
subagents, each in a thread with a history of its own. What keeps it inside the window:

- each tool has its own limit (`limited`), and says how to get the rest;
- each request is fitted just before it is sent (`Conversation.fit`), and for Anthropic its
  cache marks are set (`mark_cache`); the history itself stays whole;
- the instructions tell of that (`guidance`), so that no long task is ended to save room;
- a refusal is told apart (`classify_rejection`): refitted once where less would pass, else the
  person gets a message they understand. Nothing is sent again unchanged; waiting for a rate
  limit or an outage is left to the client, which does so by itself.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import turnfit as tf
from turnfit.outputs import OutputLimit, limited

Message: TypeAlias = dict[str, Any]
Tool: TypeAlias = Callable[..., str]
Report: TypeAlias = Callable[[tf.Rejection], None]

INSTRUCTIONS = (
    "You work in a folder of files, with tools. Give tasks that need much reading to subagents, "
    "one task each, as many as you like at a time."
)
READER = (
    "You work in a folder of files, with tools, for another agent. Do the whole task you are "
    "given, then answer with what you found."
)


# --- tools: each with the limit that suits it --------------------------------------------------


def folder_tools(folder: Path, page: int = 20_000) -> list[Tool]:
    """Tools on a folder; `page` is how many tokens of a file are read at a time."""
    root = folder.resolve()

    def inside(path: str) -> Path:
        found = (root / path).resolve()
        if not found.is_relative_to(root):
            raise ValueError(f"{path} is outside the folder")
        return found

    def files(pattern: str) -> Iterable[Path]:
        return sorted(path for path in root.glob(pattern) if path.is_file())

    @limited(OutputLimit(max_tokens=2_000, keep="head", hint="Use a narrower pattern."))
    def list(pattern: str = "**/*") -> str:
        """List the files whose paths match a glob pattern."""
        return "\n".join(str(path.relative_to(root)) for path in files(pattern))

    @limited(OutputLimit(max_tokens=page, on_excess="page"))
    def read(path: str) -> str:
        """Read a file; a long one page by page."""
        return inside(path).read_text("utf-8", errors="replace")

    @limited(OutputLimit(max_tokens=4_000, keep="head", hint="Use a narrower pattern."))
    def search(pattern: str, among: str = "**/*") -> str:
        """Find the lines that match a regular expression, among files by a glob pattern."""
        wanted = re.compile(pattern)
        return "\n".join(
            f"{path.relative_to(root)}:{number}: {line}"
            for path in files(among)
            for number, line in enumerate(path.read_text("utf-8", errors="replace").split("\n"), 1)
            if wanted.search(line)
        )

    @limited(OutputLimit(max_tokens=4_000, strip_ansi=True, hint="Filter it: | grep, | tail."))
    def run(command: str) -> str:
        """Run a shell command in the folder, for at most a minute."""
        done = subprocess.run(
            command, shell=True, cwd=root, capture_output=True, text=True, timeout=60
        )
        return f"{done.stdout}{done.stderr}\nexit status {done.returncode}"

    return [list, read, search, run]


def schema(tool: Tool) -> dict[str, Any]:
    """The parameters of a tool, all of them texts, as JSON Schema."""
    parameters = inspect.signature(tool).parameters.values()
    return {
        "type": "object",
        "properties": {parameter.name: {"type": "string"} for parameter in parameters},
        "required": [one.name for one in parameters if one.default is inspect.Parameter.empty],
    }


# --- providers: the real clients, and what is particular to their wire formats -----------------


@dataclass(frozen=True)
class Call:
    """A tool call that the model asks for."""

    id: str
    tool: str
    arguments: str | dict[str, Any]
    """As they came: OpenAI's are JSON, which a model may get wrong."""


@dataclass(frozen=True)
class Output:
    """What a call gave back."""

    call: Call
    text: str
    failed: bool = False


@dataclass(frozen=True)
class Reply:
    """The model's answer: the message for the history, its calls, and its text."""

    message: Message
    calls: Sequence[Call]
    text: str


class Provider(Protocol):
    """A model behind an API."""

    refusals: type[Exception]
    """What the client raises when it is refused."""

    def begin(self, policy: tf.Policy, instructions: str, tools: Sequence[Tool]) -> tf.Conversation:
        """An empty conversation."""

    def ask(self, fitted: tf.Fitted, instructions: str, tools: Sequence[Tool]) -> Reply:
        """Send a fitted request."""

    def results(self, outputs: Sequence[Output]) -> list[Message]:
        """The messages that bring outputs to the model."""


class OpenAI:
    """Chat completions of OpenAI, and of all who speak like it."""

    def __init__(self, model: str, client: Any = None, **options: Any) -> None:
        import openai

        self.refusals: type[Exception] = openai.OpenAIError
        self._client: Any = client or openai.OpenAI()
        self._options = {"model": model, **options}

    def begin(self, policy: tf.Policy, instructions: str, tools: Sequence[Tool]) -> tf.Conversation:
        """See `Provider.begin`; the instructions are the first message."""
        specs = self._specs(tools)
        conversation = tf.Conversation(policy, tools=specs, format="openai-chat")
        conversation.append({"role": "developer", "content": instructions})
        return conversation

    def ask(self, fitted: tf.Fitted, instructions: str, tools: Sequence[Tool]) -> Reply:
        """See `Provider.ask`."""
        answer = self._client.chat.completions.create(
            messages=fitted.messages, tools=self._specs(tools), **self._options
        )
        message = answer.choices[0].message
        calls = [
            Call(call.id, call.function.name, call.function.arguments)
            for call in message.tool_calls or ()
        ]
        return Reply(message.model_dump(exclude_none=True), calls, message.content or "")

    def results(self, outputs: Sequence[Output]) -> list[Message]:
        """See `Provider.results`."""
        return [
            {"role": "tool", "tool_call_id": output.call.id, "content": output.text}
            for output in outputs
        ]

    def _specs(self, tools: Sequence[Tool]) -> list[Message]:
        described = (
            {"name": tool.__name__, "description": tool.__doc__, "parameters": schema(tool)}
            for tool in tools
        )
        return [{"type": "function", "function": function} for function in described]


class Anthropic:
    """Anthropic's messages."""

    def __init__(self, model: str, client: Any = None, **options: Any) -> None:
        import anthropic

        self.refusals: type[Exception] = anthropic.AnthropicError
        self._client: Any = client or anthropic.Anthropic()
        self._options = {"model": model, "max_tokens": 8_000, **options}

    def begin(self, policy: tf.Policy, instructions: str, tools: Sequence[Tool]) -> tf.Conversation:
        """See `Provider.begin`; the instructions stand beside the messages."""
        system, specs = self._system(instructions), self._specs(tools)
        return tf.Conversation(policy, system=system, tools=specs, format="anthropic")

    def ask(self, fitted: tf.Fitted, instructions: str, tools: Sequence[Tool]) -> Reply:
        """See `Provider.ask`."""
        system, specs = self._system(instructions), self._specs(tools)
        messages = tf.mark_cache(fitted, system=system, tools=specs)
        answer = self._client.messages.create(
            system=system, tools=specs, messages=messages, **self._options
        )
        blocks = [block.model_dump(exclude_none=True) for block in answer.content]
        calls = [
            Call(block["id"], block["name"], block["input"])
            for block in blocks
            if block["type"] == "tool_use"
        ]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        return Reply({"role": "assistant", "content": blocks}, calls, text)

    def results(self, outputs: Sequence[Output]) -> list[Message]:
        """See `Provider.results`; all in one message."""
        content = [
            {
                "type": "tool_result",
                "tool_use_id": output.call.id,
                "content": output.text,
                "is_error": output.failed,
            }
            for output in outputs
        ]
        return [{"role": "user", "content": content}]

    def _system(self, instructions: str) -> list[Message]:
        mark = {"type": "ephemeral"}
        return [{"type": "text", "text": instructions, "cache_control": mark}]

    def _specs(self, tools: Sequence[Tool]) -> list[Message]:
        return [
            {"name": tool.__name__, "description": tool.__doc__, "input_schema": schema(tool)}
            for tool in tools
        ]


# --- the loop ----------------------------------------------------------------------------------


class RefusedError(Exception):
    """The provider refused, and sending less doesn't help."""

    def __init__(self, rejection: tf.Rejection) -> None:
        super().__init__(rejection.kind)
        self.rejection = rejection


class Agent:
    """A model, its tools and a history.

    Args:
        provider: who answers.
        policy: how requests are fitted.
        tools: functions from texts to a text, with a docstring.
        instructions: what the agent is for; `guidance` is added.
        page: called where whoever runs the service must look at a refusal.
        locale: the person's language.
    """

    def __init__(
        self,
        provider: Provider,
        policy: tf.Policy,
        tools: Sequence[Tool],
        instructions: str,
        page: Report,
        locale: str = "en",
    ) -> None:
        self.provider = provider
        self.tools = {tool.__name__: tool for tool in tools}
        self.instructions = f"{instructions}\n\n{tf.guidance(policy)}"
        self.page = page
        self.locale = locale
        self.conversation = provider.begin(policy, self.instructions, tools)

    def work(self, task: str) -> str:
        """Do a task: the model's answer or, if it is refused, what to tell the person."""
        self.conversation.append({"role": "user", "content": task})
        try:
            return self._until_done()
        except RefusedError as refused:
            if refused.rejection.page_operator:
                self.page(refused.rejection)
            return refused.rejection.person_message

    def _until_done(self) -> str:
        while True:
            reply = self.ask()
            self.conversation.append(reply.message)
            if not reply.calls:
                return reply.text
            with ThreadPoolExecutor(len(reply.calls)) as pool:
                outputs = list(pool.map(self._output, reply.calls))
            self.conversation.extend(self.provider.results(outputs))

    def ask(self) -> Reply:
        """The answer to the history as it stands; a refusal is answered by one smaller request.

        Raises:
            RefusedError: if that was refused too, or can't be made.
        """
        fitted = self.conversation.fit()
        try:
            return self._send(fitted)
        except self.provider.refusals as error:
            rejection = tf.classify_rejection(error, fitted.tokens, locale=self.locale)
            smaller = self._smaller(fitted, rejection)
            if smaller is None:
                raise RefusedError(rejection) from error
        try:
            return self._send(smaller)
        except self.provider.refusals as error:
            raise RefusedError(tf.classify_rejection(error, locale=self.locale)) from error

    def _send(self, fitted: tf.Fitted) -> Reply:
        return self.provider.ask(fitted, self.instructions, list(self.tools.values()))

    def _smaller(self, refused: tf.Fitted, rejection: tf.Rejection) -> tf.Fitted | None:
        """A request within the limit that the refusal told; from now on that is the limit."""
        policy = self.conversation.policy.smaller(rejection, tokens=refused.tokens)
        if policy is None:
            return None
        try:
            self.conversation.policy = policy
            fitted = self.conversation.fit()
        except tf.BudgetError:
            return None
        return fitted if fitted.tokens < refused.tokens else None

    def _output(self, call: Call) -> Output:
        given = call.arguments
        try:
            arguments = json.loads(given) if isinstance(given, str) else given
            return Output(call, self.tools[call.tool](**arguments))
        except Exception as error:
            # The model learns of its mistake, and goes on.
            return Output(call, f"{type(error).__name__}: {error}", failed=True)


def team(
    provider: Provider, policy: tf.Policy, tools: Sequence[Tool], page: Report, locale: str = "en"
) -> Agent:
    """An agent that can give tasks to subagents."""

    def delegate(task: str) -> str:
        """Give a task to a subagent with the same tools; its answer comes back."""
        return Agent(provider, policy, tools, READER, page, locale).work(task)

    return Agent(provider, policy, [*tools, delegate], INSTRUCTIONS, page, locale)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("task")
    parser.add_argument("--model", default="claude-opus-4-7")
    parser.add_argument("--budget", type=int, default=400_000)
    parser.add_argument("--locale", default="en")
    given = parser.parse_args()
    policy = tf.Policy(
        budget=given.budget, model=given.model, no_rerun=["run"], exclude_tools=["delegate"]
    )
    provider = (Anthropic if "claude" in given.model else OpenAI)(given.model)
    agent = team(
        provider,
        policy,
        folder_tools(given.folder),
        lambda rejection: print(f"operator: {rejection.kind}: {rejection.advice}"),
        given.locale,
    )
    print(agent.work(given.task))


if __name__ == "__main__":
    main()
