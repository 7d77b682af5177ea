"""What the tools of common coding agents do.

Claude Code: https://code.claude.com/docs/en/tools-reference. SWE-agent:
https://swe-agent.com/latest/config/tools. OpenHands: its ``execute_bash`` and
``str_replace_editor``. Aider: https://aider.chat/docs/more/edit-formats.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from turnfit.compaction.effects import Effect, Effects
from turnfit.messages.contents import SeenCall

__all__ = ["AIDER", "CLAUDE_CODE", "CODING", "OPENHANDS", "SWE_AGENT"]

CLAUDE_CODE = Effects(
    {
        "Read": (Effect.reads("file_path", part=("offset", "limit", "pages")),),
        "Write": (Effect.writes("file_path", content="content"),),
        "Edit": (
            Effect.writes("file_path"),
            Effect.creates("file_path", content="new_string").only(old_string=""),
        ),
        "MultiEdit": (Effect.writes("file_path"),),
        "NotebookEdit": (Effect.writes("notebook_path"),),
        "Bash": (Effect.runs("command", marked=True),),
        "AskUserQuestion": (Effect.asks("questions"),),
    },
    failed=re.compile(r"\A(?:<tool_use_error>|The user doesn't want to proceed)"),
    created=re.compile(r"\A(?:New file created|File created successfully)"),
)
"""The tools of Claude Code."""

_EDITOR = (
    Effect.reads("path", part=("view_range",)).only(command="view"),
    Effect.creates("path", content="file_text").only(command="create"),
    Effect.writes("path").only(command=("str_replace", "insert", "undo_edit")),
)

OPENHANDS = Effects(
    {
        "execute_bash": (Effect.runs("command"),),
        "terminal": (Effect.runs("command"),),
        **dict.fromkeys(
            ("str_replace_editor", "str_replace_based_edit_tool", "file_editor"), _EDITOR
        ),
        "edit_file": (Effect.writes("path"),),
        "execute_ipython_cell": (Effect.acts(),),
    },
    failed=re.compile(r"\A(?:ERROR:|\[Error)"),
)
"""The tools of OpenHands."""


def _fenced(text: str) -> Iterator[SeenCall]:
    """SWE-agent without tool calls: the command in the last fence is what is done."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```[ \t]*$", text, flags=re.DOTALL | re.MULTILINE)
    if blocks:
        yield _swe_call(blocks[-1].strip("\n"))


def _swe_call(command: str) -> SeenCall:
    """One of SWE-agent's own commands, or one of the shell."""
    name, _, rest = command.partition("\n")[0].strip().partition(" ")
    first, _, more = rest.strip().partition(" ")
    path = first.strip("\"'")
    match name:
        case "open":
            return SeenCall(None, name, {"path": path, "line_number": more.strip() or None})
        case "create":
            return SeenCall(None, name, {"filename": path})
        case "edit" | "insert" | "append":
            return SeenCall(None, "edit", {})
        case "goto" | "scroll_up" | "scroll_down":
            return SeenCall(None, name, {"line_number": path or None})
        case "search_dir" | "search_file" | "find_file" | "submit":
            return SeenCall(None, name, {"arguments": rest})
    return SeenCall(None, "bash", {"command": command})


SWE_AGENT = Effects(
    {
        "bash": (Effect.runs("command"),),
        "open": (Effect.opens("path", part=("line_number",)),),
        "create": (Effect.creates("filename"),),
        "edit": (Effect.writes(),),
        "insert": (Effect.writes(),),
        "str_replace_editor": _EDITOR,
    },
    failed=re.compile(
        r"\A(?:Your proposed edit has introduced|Text not found|File .* not found"
        r"|Error: File|No file open|Usage:|The proposed edit)"
    ),
    succeeded=re.compile(r"\AYour command ran successfully"),
    place=re.compile(r"\(Open file: (?P<open>.+?)\)\s*\(Current directory: (?P<cwd>.+?)\)"),
    words=_fenced,
)
"""The tools of SWE-agent, called as tools or in fences."""

_EDIT_BLOCK = re.compile(
    r"^(?P<path>[^\s`<>][^\n`<>]*)\n```[^\n]*\n<{5,9} SEARCH\n(?P<old>.*?)^={5,9}\n"
    r"(?P<new>.*?)^>{5,9} REPLACE",
    flags=re.DOTALL | re.MULTILINE,
)


def _edit_blocks(text: str) -> Iterator[SeenCall]:
    """Aider's edits stand in the answer: a path, and what is to be replaced by what."""
    for block in _EDIT_BLOCK.finditer(text):
        arguments = {"path": block["path"].strip("#* "), "old": block["old"], "new": block["new"]}
        yield SeenCall(None, "search_replace", arguments)


AIDER = Effects(
    {
        "search_replace": (
            Effect.writes("path"),
            Effect.creates("path", content="new").only(old=""),
        )
    },
    words=_edit_blocks,
    answered=False,
)
"""Editors that put their edits as search and replace blocks into the answer."""

CODING = replace(SWE_AGENT | OPENHANDS | CLAUDE_CODE, words=None)
"""The tools of all these, for histories of an agent that isn't known.

Calls in words are left out: to another agent, a fence in an answer is no command.
"""
