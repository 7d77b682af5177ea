"""OpenAI's Responses API: a flat list of items.

Items: https://platform.openai.com/docs/api-reference/responses/create and the types of
``openai.types.responses.response_input_item_param``.

Reasoning belongs to the item behind it; all output items of one response go together
(https://developers.openai.com/api/docs/guides/keep-prefix-unchanged). What stands before
the last compaction item has been replaced by it and may be left out
(https://developers.openai.com/api/docs/guides/compaction). A history that the provider
holds (``previous_response_id``) can't be fitted here: only the new items would be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turnfit.messages import rules
from turnfit.messages.formats.table import Body, Field, Format, Shape, Signs
from turnfit.messages.reading import Message, Row

__all__ = ["OPENAI_RESPONSES"]

_FREE = {"type": "free", "id": "free", "status": "free", "caller": "free", "namespace": "text"}

_MESSAGE = Shape(
    "plain", {"role": "free", "type": "free", "id": "free", "status": "free", "content": "body"}
)


def _call(needs: str | None = None, **fields: Any) -> Shape:
    """A call whose arguments the API checks: they can't be cleared."""
    fields = {**_FREE, "call_id": "id", **fields}
    return Shape("call", fields, clearable=False, needs=needs, bound=True)


def _result(output: Field = "body", clearable: bool = True, **fields: Any) -> Shape:
    fields = {**_FREE, "call_id": "id", "output": output, **fields}
    return Shape("result", fields, clearable=clearable)


_SHELL_OUTPUT = Shape("plain", {"stdout": "text", "stderr": "text", "outcome": "free"})


def _shell_note(wording: str) -> list[dict[str, Any]]:
    return [{"stdout": wording, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]


_TEXT = {"type": "free", "text": "text", "annotations": "free", "logprobs": "free"}

_FILE = {"type": "free", "file_data": "medium", "file_id": "medium", "file_url": "medium"}

_CALLS = {
    "function_call": Shape(
        "call", {**_FREE, "call_id": "id", "name": "name", "arguments": "body", "async": "free"}
    ),
    "custom_tool_call": Shape(
        "call", {**_FREE, "call_id": "id", "name": "name", "input": "body", "async": "free"}
    ),
    # Its output bears the item's id and no ``call_id``.
    "local_shell_call": Shape(
        "call",
        {**_FREE, "id": "id", "call_id": "free", "action": "body"},
        clearable=False,
        bound=True,
    ),
    "shell_call": _call(action="body", environment="free", max_output_length="free"),
    "apply_patch_call": _call(operation="body"),
    "computer_call": _call(action="body", actions="text", pending_safety_checks="text"),
    "tool_search_call": _call("call_id", arguments="body", execution="free"),
    "program": _call(code="body", fingerprint="text"),
    "mcp_approval_request": Shape(
        "call",
        {**_FREE, "id": "id", "name": "name", "arguments": "body", "server_label": "text"},
        clearable=False,
        bound=True,
    ),
}

_RESULTS = {
    "function_call_output": _result(name="name"),
    "custom_tool_call_output": _result(),
    "local_shell_call_output": Shape("result", {**_FREE, "id": "id", "output": "body"}),
    "shell_call_output": _result(
        Body(of=_SHELL_OUTPUT, note=_shell_note), max_output_length="free"
    ),
    "apply_patch_call_output": _result(),
    # A screenshot, which stays a screenshot.
    "computer_call_output": _result(
        clearable=False,
        output={"type": "free", "image_url": "medium", "file_id": "medium", "detail": "free"},
        acknowledged_safety_checks="text",
    ),
    "tool_search_output": Shape(
        "result",
        {**_FREE, "call_id": "id", "tools": "body", "execution": "free"},
        clearable=False,
        needs="call_id",
    ),
    "program_output": Shape(
        "result", {**_FREE, "call_id": "id", "result": "body"}, clearable=False
    ),
    "mcp_approval_response": Shape(
        "result",
        {**_FREE, "approval_request_id": "id", "approve": "free", "reason": "body"},
        clearable=False,
    ),
}

_OUTPUTS = {
    "reasoning": Shape(
        "plain",
        {
            **_FREE,
            "summary": Shape("plain", {"type": "free", "text": "text"}),
            "content": Shape("plain", {"type": "free", "text": "text"}),
            "encrypted_content": "text",
        },
        thought=True,
    ),
    "image_generation_call": Shape("plain", {**_FREE, "result": "medium"}, bound=True),
    "code_interpreter_call": Shape(
        "plain",
        {
            **_FREE,
            "code": "text",
            "container_id": "free",
            "outputs": Shape("plain", {"type": "free", "logs": "text", "url": "medium"}),
        },
        bound=True,
    ),
    "compaction": Shape("marker", {**_FREE, "encrypted_content": "text"}),
    "compaction_summary": Shape("marker", {**_FREE, "encrypted_content": "text"}),
    "item_reference": Shape("reference", {"type": "free", "id": "text"}, needs="id", bound=True),
    # Hosted tools: call and result in one item, wanted back as it was.
    "web_search_call": Shape("opaque", {}, bound=True),
    "file_search_call": Shape("opaque", {}, bound=True),
    "mcp_call": Shape("opaque", {}, bound=True),
    "mcp_list_tools": Shape("opaque", {}, bound=True),
}

_SETTINGS = {
    "additional_tools": Shape("plain", {**_FREE, "role": "free", "tools": "text"}),
    "configuration_update": Shape("opaque", {}),
    "compaction_trigger": Shape("plain", {"type": "free", "id": "free"}),
}


def _answer(item: Message, call: Row, wording: str) -> Message | None:
    """An approval, a screenshot and a search of tools are no texts."""
    match item["type"]:
        case "function_call" | "custom_tool_call" as kind:
            return {"type": f"{kind}_output", "call_id": call.id, "output": wording}
        case "shell_call":
            output = _shell_note(wording)
            return {"type": "shell_call_output", "call_id": call.id, "output": output}
        case "local_shell_call":
            return {"type": "local_shell_call_output", "id": call.id, "output": wording}
        case "apply_patch_call":
            answer = {"type": "apply_patch_call_output", "call_id": call.id, "output": wording}
            return {**answer, "status": "failed"}
    return None


def _strip(items: Sequence[Message]) -> list[Message | None]:
    """An item that bears an id is refused without its reasoning; without an id it isn't."""
    return [
        None
        if item.get("type") == "reasoning"
        else {key: value for key, value in item.items() if key != "id"}
        for item in items
    ]


OPENAI_RESPONSES = Format(
    name="openai-responses",
    url="https://platform.openai.com/docs/api-reference/responses/create",
    told_by=("type", "role"),
    default="item_reference",
    flat=True,
    roles={
        "system": ("system", _MESSAGE),
        "developer": ("system", _MESSAGE),
        "user": ("user", _MESSAGE),
        "assistant": ("assistant", _MESSAGE),
        **{name: ("assistant", shape) for name, shape in (_CALLS | _OUTPUTS).items()},
        **{name: ("tool", shape) for name, shape in _RESULTS.items()},
        **{name: ("system", shape) for name, shape in _SETTINGS.items()},
        # What is to come: pairs where it bears a ``call_id``, and passes.
        "*_output": ("tool", Shape("result", {**_FREE, "call_id": "id"}, False, needs="call_id")),
        "*_call": (
            "assistant",
            Shape("call", {**_FREE, "call_id": "id"}, False, needs="call_id", bound=True),
        ),
        "*": ("assistant", Shape("opaque", {}, bound=True)),
    },
    parts={
        "input_text": Shape("plain", _TEXT),
        "output_text": Shape("plain", _TEXT),
        "text": Shape("plain", _TEXT),
        "refusal": Shape("plain", {"type": "free", "refusal": "text"}),
        "input_image": Shape(
            "plain", {"type": "free", "image_url": "medium", "file_id": "medium", "detail": "free"}
        ),
        "input_file": Shape("plain", {**_FILE, "filename": "text", "detail": "free"}),
        "input_audio": Shape("plain", {"type": "free", "input_audio": "medium"}),
    },
    signs=Signs(
        types=(*_CALLS, *_RESULTS, *_OUTPUTS, *_SETTINGS),
        parts=("input_text", "output_text", "input_image", "input_file"),
    ),
    note=lambda wording: {"role": "user", "content": wording},
    answer=_answer,
    strip=_strip,
    rules=(
        rules.results_come_later,
        rules.calls_are_answered_later,
        rules.reasoning_has_its_item,
        rules.item_ids_are_unique,
    ),
)
