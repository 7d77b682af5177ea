"""pydantic-ai's messages as a format: read, priced, cleared and repaired as they must be."""

from __future__ import annotations

import copy
import os
from dataclasses import replace
from typing import Any

import pytest
import turnfit as tf
from support.reading import BUDGET, TASK
from turnfit.testing import check_format

pytest.importorskip("pydantic_ai")
pytestmark = pytest.mark.filterwarnings("ignore")

from pydantic_ai import BinaryContent, ImageUrl  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    CachePoint,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from turnfit.integrations.pydantic_ai import PYDANTIC_AI  # noqa: E402

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "200"))
IMAGE = BinaryContent(b"\x89PNG", media_type="image/png")


def write(message: tf.Message) -> list[Any]:
    """pydantic-ai's messages that say the same as one of turnfit's."""
    texts = [part.text for part in message.parts if isinstance(part, tf.Text)]
    results = [part for part in message.parts if isinstance(part, tf.Result)]
    if results:
        parts = [ToolReturnPart("tool", one.content, one.id) for one in results]
        return [ModelRequest(parts=parts)]
    if message.role == "assistant":
        calls = [part for part in message.parts if isinstance(part, tf.Call)]
        said: list[Any] = [TextPart(text) for text in texts]
        return [ModelResponse([*said, *(ToolCallPart(c.name, c.arguments, c.id) for c in calls)])]  # type: ignore[arg-type]
    part = SystemPromptPart if message.role == "system" else UserPromptPart
    return [ModelRequest(parts=[part(text) for text in texts])]


def priced(*parts: Any, response: bool = False) -> int:
    message = ModelResponse(parts) if response else ModelRequest(parts)
    return tf.estimate_message(message, format=PYDANTIC_AI)


class TestItsMessagesAsAFormat:
    def test_hold(self) -> None:
        check_format(PYDANTIC_AI, write, examples=EXAMPLES)

    def test_keep_what_a_cleared_return_is_besides_its_content(self) -> None:
        history: list[Any] = [
            ModelRequest(parts=[UserPromptPart(TASK)], run_id="r"),
            ModelResponse(
                parts=[ToolCallPart("read", f'{{"path": "{"a" * 400}"}}', "c1")], run_id="r"
            ),
            ModelRequest(
                parts=[ToolReturnPart("read", "word " * 900, "c1", outcome="failed")], run_id="r"
            ),
            ModelResponse(parts=[ToolCallPart("read", {"path": "b"}, "c2")]),
            ModelRequest(parts=[ToolReturnPart("read", "short", "c2")]),
        ]
        before = copy.deepcopy(history)
        policy = tf.Policy(budget=400, clear_batch=1, clear_tool_inputs=True)
        fitted = tf.fit(history, policy, format=PYDANTIC_AI)
        assert history == before
        assert [entry.index for entry in fitted.cleared] == [2]
        [call], [cleared] = fitted.messages[1].parts, fitted.messages[2].parts
        assert call.args_as_dict() == {"_cleared": "arguments left out to save context"}
        assert cleared == replace(history[2].parts[0], content=policy.notes.cleared)
        assert fitted.messages[2].run_id == "r"

    def test_clear_no_return_by_which_pydantic_ai_finds_a_runs_state(self) -> None:
        found = {"discovered_tools": [{"name": f"tool {n}"} for n in range(300)]}
        history: list[Any] = [
            ModelRequest(parts=[UserPromptPart(TASK)]),
            ModelResponse(parts=[ToolCallPart("search", {}, "c1")]),
            ModelRequest(parts=[ToolReturnPart("search", found, "c1", tool_kind="tool-search")]),
            ModelResponse(parts=[ToolCallPart("read", {}, "c2")]),
            ModelRequest(parts=[ToolReturnPart("read", "word " * 300, "c2")]),
        ]
        fitted = tf.fit(history, tf.Policy(budget=3_500, clear_batch=1), format=PYDANTIC_AI)
        assert fitted.cleared == ()

    def test_repair_what_an_interrupted_run_left(self) -> None:
        history: list[Any] = [
            ModelRequest(parts=[UserPromptPart(TASK)]),
            ModelResponse(parts=[ToolCallPart("read", {}, "c1")]),
            ModelRequest(parts=[UserPromptPart("Go on.")]),
        ]
        assert [p.rule for p in tf.check(history, format=PYDANTIC_AI)] != []
        fitted = tf.fit(history, budget=BUDGET, format=PYDANTIC_AI, repair=True)
        assert fitted.messages[2].parts[0].tool_call_id == "c1"
        assert tf.check(fitted.messages, format=PYDANTIC_AI) == []

    def test_are_priced_by_all_that_is_sent_of_them(self) -> None:
        frame = priced(UserPromptPart(""))
        text = "word " * 100
        cost = tf.estimate(text)
        assert priced(UserPromptPart(text)) == frame + cost
        assert priced(UserPromptPart([text, CachePoint(), TextContent(text)])) == frame + 2 * cost
        assert priced(UserPromptPart([ImageUrl("https://a.b/c.png"), IMAGE])) > frame + 100
        feedback = RetryFeedbackPart(text, retry=RetryInfo(cause="no_output"))
        assert priced(feedback) >= frame + cost
        assert priced(ThinkingPart(text, signature=text), response=True) == frame + 2 * cost
        native = NativeToolCallPart("web_search", {"query": text}, "n1")
        back = NativeToolReturnPart("web_search", {"found": text}, "n1")
        assert priced(native, back, response=True) >= frame + 2 * cost

    def test_what_is_no_message_is_told_with_its_index(self) -> None:
        with pytest.raises(tf.FormatError, match="message 1"):
            tf.fit([ModelRequest(parts=[]), "text"], budget=99, format=PYDANTIC_AI)
