"""What providers do with reasoning that comes back, by their published rules.

    checker = checker_for("claude-opus-5-5")
    report = checker.receive(body)                # raises `RefusedError` with the provider's 400
    content = checker.sign(body, content)         # the model's answer, its thinking signed

`receive` takes each request as it is sent; `sign` takes the answer to it, and gives it back
with signatures that only this checker knows. Rules, read in November 2026:

- `PrefixChecker`: https://platform.claude.com/docs/en/build-with-claude/preserved-thinking and
  its page on prefix checks. A block's prefix is system, tools (in any order) and all before it
  but thinking and cache marks; and the thinking block before it must be the one that stood
  there when it was made, unless no thinking stands before it any more. From the first block
  that fails on, all thinking is invalid: the request is refused or, with
  ``"drop_block"``, the blocks are dropped and listed.
- `TurnChecker`: https://platform.claude.com/docs/en/build-with-claude/extended-thinking. Older
  models compare no prefix; but a signature must be one that they gave, and in a turn that
  waits for results each message must bring its thinking as it was, since a final assistant
  message must start with thinking.
- `ReasoningChecker`: https://developers.openai.com/api/docs/guides/keep-prefix-unchanged and
  https://developers.openai.com/api/docs/guides/reasoning. A reasoning item and the item
  behind it come together; newer models drop reasoning behind a change and list its ids.
- `SignatureChecker`: https://ai.google.dev/gemini-api/docs/thought-signatures. The first call
  of each step of the current turn must bring its signature; none is bound to a prefix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, Protocol, TypeAlias

from servers.requests import Body, RefusedError, canonical, refused, unmarked

Dropped: TypeAlias = dict[str, str]
Behavior: TypeAlias = Literal["error", "drop_block", "ignore"]


class Checker(Protocol):
    """What a provider does with reasoning."""

    def receive(self, request: Body) -> list[Dropped]:
        """Takes a request; gives what of its reasoning was dropped, or raises `RefusedError`."""

    def sign(self, request: Body, content: Sequence[Any]) -> list[Any]:
        """The answer to a request: its blocks, parts or items, with signed reasoning."""


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


# --- Anthropic and Bedrock ----------------------------------------------------------------------


@dataclass(frozen=True)
class Thought:
    """A thinking block of a request: where it stands, and what it is bound to there."""

    path: str
    message: int
    signature: str
    prefix: str
    text: str
    compactions: int = 0


def thoughts(request: Body) -> Iterator[Thought]:
    """The thinking blocks of an Anthropic or Bedrock request, in order.

    Neighbours of one role are one message; a compaction block stands for all before it.
    """
    opening = prefix = _opening(request)
    compactions, role = 0, None
    for index, message in enumerate(request.get("messages") or ()):
        if message["role"] != role:
            role = message["role"]
            prefix = _digest(prefix, str(role))
        for place, block in enumerate(_listed(message.get("content"))):
            if is_thinking(block):
                path = f"messages.{index}.content.{place}"
                signature, text = signature_of(block), text_of(block)
                yield Thought(path, index, signature, prefix, text, compactions)
            elif block.get("type") == "compaction":
                compactions += 1
                prefix = _digest(opening, canonical(unmarked(block)))
            elif list(block) != ["cachePoint"]:
                prefix = _digest(prefix, canonical(unmarked(block)))


def _compactions(request: Body) -> int:
    contents = (_listed(message.get("content")) for message in request.get("messages") or ())
    return sum(block.get("type") == "compaction" for content in contents for block in content)


def _opening(request: Body) -> str:
    config = request.get("toolConfig") or {}
    tools = request.get("tools") or config.get("tools") or ()
    named = sorted(canonical(unmarked(tool)) for tool in tools if list(tool) != ["cachePoint"])
    system = [canonical(block) for block in unmarked(_listed(request.get("system")))]
    return _digest(*system, "tools", *named)


def _listed(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())


def is_thinking(block: Any) -> bool:
    """Whether a block of Anthropic or Bedrock is thinking."""
    if not isinstance(block, Mapping):
        return False
    return block.get("type") in ("thinking", "redacted_thinking") or "reasoningContent" in block


def signature_of(block: Body) -> str:
    """The signature of a thinking block, or what stands for it in one that is redacted."""
    if "reasoningContent" in block:
        block = block["reasoningContent"]
        block = block.get("reasoningText") or {"data": block.get("redactedContent")}
    return str(block.get("signature") or block.get("data") or "")


def text_of(block: Body) -> str:
    """The text of a thinking block."""
    block = block.get("reasoningContent") or block
    block = block.get("reasoningText") or block
    return str(block.get("thinking") or block.get("text") or "")


def _signed(block: Body, signature: str) -> dict[str, Any]:
    if "reasoningContent" in block:
        inner = dict(block["reasoningContent"])
        if "reasoningText" in inner:
            inner["reasoningText"] = {**inner["reasoningText"], "signature": signature}
        else:
            inner["redactedContent"] = signature.encode()
        return {**block, "reasoningContent": inner}
    key = "data" if block.get("type") == "redacted_thinking" else "signature"
    return {**block, key: signature}


def _invalid(thought: Thought, why: str = "", advice: bool = False) -> RefusedError:
    message = f"{thought.path}: Invalid `signature` in `thinking` block"
    if advice:
        message += (
            ". The block is bound to a different conversation. Remove the block, or set "
            '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
        )
    return refused(message + why)


@dataclass(frozen=True)
class Binding:
    """What a signature vouches for."""

    prefix: str
    predecessor: str | None
    text: str


class _Signing:
    """Signs the thinking of answers, and remembers what each signature vouches for."""

    def __init__(self) -> None:
        self._bindings: dict[str, Binding] = {}
        self._answers: dict[str, list[list[str]]] = {}

    def sign(self, request: Body, content: Sequence[Any]) -> list[Any]:
        """See `Checker.sign`."""
        answer = {"role": "assistant", "content": list(content)}
        whole = {**request, "messages": [*request["messages"], answer]}
        last = len(whole["messages"]) - 1
        made, previous, compactions = list(content), None, 0
        for thought in thoughts(whole):
            if thought.compactions > compactions:
                previous, compactions = None, thought.compactions
            if thought.message == last:
                place = int(thought.path.rpartition(".")[2])
                signature = _digest(thought.prefix, str(previous), thought.text, str(place))
                self._bindings[signature] = Binding(thought.prefix, previous, thought.text)
                made[place] = _signed(made[place], signature)
                previous = signature
            else:
                previous = thought.signature
        signatures = [signature_of(block) for block in made if is_thinking(block)]
        self._answers.setdefault(_without_thinking(made), []).append(signatures)
        return made

    def _known(self, thought: Thought) -> Binding:
        binding = self._bindings.get(thought.signature)
        if binding is None or (thought.text and binding.text != thought.text):
            raise _invalid(thought)
        return binding


def _without_thinking(content: Any) -> str:
    """By which an answer is found again when it comes back."""
    return canonical(unmarked([block for block in _listed(content) if not is_thinking(block)]))


class PrefixChecker(_Signing):
    """Newer Claude models: thinking is bound to its prefix; see the module.

    Args:
        behavior: what is done where the request doesn't say: ``error`` as on new accounts,
            ``ignore`` as on some models' old ones.
    """

    def __init__(self, behavior: Behavior = "error") -> None:
        super().__init__()
        self._behavior: Behavior = behavior

    def receive(self, request: Body) -> list[Dropped]:
        """See `Checker.receive`."""
        # What stands before a compaction, the provider doesn't read.
        compactions = _compactions(request)
        listed = [one for one in thoughts(request) if one.compactions == compactions]
        for at, thought in enumerate(listed):
            before = listed[at - 1].signature if at else None
            failure = self._failure(thought, before)
            if failure is not None:
                return self._react(request, listed[at:], failure)
        return []

    def _failure(self, thought: Thought, before: str | None) -> str | None:
        binding = self._known(thought)
        if binding.prefix != thought.prefix:
            return ""
        if before is not None and binding.predecessor != before:
            return (
                " The `thinking` block that preceded this one when it was created is missing "
                "from this request."
            )
        return None

    def _react(self, request: Body, invalid: Sequence[Thought], why: str) -> list[Dropped]:
        thinking = request.get("thinking") or {}
        binding = thinking.get("block_binding") or {}
        behavior = binding.get("prefix_mismatch_behavior") or self._behavior
        if behavior == "error":
            raise _invalid(invalid[0], why, advice=True)
        if behavior == "ignore":
            return []
        return [
            {
                "type": "thinking_block_dropped",
                "path": thought.path,
                "reason": "prefix_binding_mismatch",
            }
            for thought in invalid
        ]


_CHANGED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be "
    "modified. These blocks must remain as they were in the original response."
)
_MUST_START = (
    "Expected `thinking` or `redacted_thinking`, but found `{kind}`. When `thinking` is enabled, "
    "a final `assistant` message must start with a thinking block (preceeding the lastmost set "
    "of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from "
    "previous turns. To avoid this requirement, disable `thinking`. Please consult our "
    "documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)


class TurnChecker(_Signing):
    """Older Claude models: thinking is bound to the turn that waits for results."""

    def receive(self, request: Body) -> list[Dropped]:
        """See `Checker.receive`."""
        for thought in thoughts(request):
            self._known(thought)
        for index, message in _unfinished(request["messages"]):
            self._check_message(index, message)
        return []

    def _check_message(self, index: int, message: Body) -> None:
        content = _listed(message.get("content"))
        brought = [signature_of(block) for block in content if is_thinking(block)]
        made = self._answers.get(_without_thinking(content), [brought])
        if brought in made:
            return
        if not brought:
            kind = content[0].get("type") if content else "nothing"
            raise refused(f"messages.{index}.content.0.type: " + _MUST_START.format(kind=kind))
        raise refused(f"messages.{index}.content.0: {_CHANGED}")


def _unfinished(messages: Sequence[Body]) -> list[tuple[int, Body]]:
    """The assistant messages of the last turn, if the request brings results for it."""
    turn: list[tuple[int, Body]] = []
    if not messages or not _brings_results(messages[-1]):
        return turn
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message["role"] == "assistant":
            turn.append((index, message))
        elif not _brings_results(message):
            break
    return turn[::-1]


def _brings_results(message: Body) -> bool:
    blocks = _listed(message.get("content"))
    return any(block.get("type") == "tool_result" or "toolResult" in block for block in blocks)


# --- OpenAI Responses ---------------------------------------------------------------------------


@dataclass
class _Item:
    """An item of an answer, its reasoning and what it is bound to."""

    reasoning: str | None = None
    follower: str | None = None
    prefix: str = ""


@dataclass
class ReasoningChecker:
    """OpenAI's Responses: reasoning goes with its item; see the module.

    Attributes:
        drops: whether reasoning behind a change is dropped, as by newer models.
    """

    drops: bool = True
    _items: dict[str, _Item] = field(default_factory=dict)
    _count: int = 0

    def receive(self, request: Body) -> list[Dropped]:
        """See `Checker.receive`."""
        items = request["input"] if isinstance(request["input"], list) else []
        self._check_pairs(items)
        return self._changed(request, items) if self.drops else []

    def _check_pairs(self, items: Sequence[Body]) -> None:
        present = {item.get("id") for item in items}
        for at, item in enumerate(items):
            known = self._items.get(str(item.get("id")))
            if known is None:
                continue
            kind = item.get("type", "message")
            follower = items[at + 1].get("id") if at + 1 < len(items) else None
            if kind == "reasoning" and known.follower not in (None, follower):
                raise _openai_refused(
                    f"Item '{item['id']}' of type 'reasoning' was provided without its required "
                    "following item."
                )
            if kind != "reasoning" and known.reasoning and known.reasoning not in present:
                raise _openai_refused(
                    f"Item '{item['id']}' of type '{kind}' was provided without its required "
                    f"'reasoning' item: '{known.reasoning}'."
                )

    def _changed(self, request: Body, items: Sequence[Body]) -> list[Dropped]:
        dropped: list[Dropped] = []
        prefix = _request_opening(request)
        for item in items:
            if item.get("type") != "reasoning":
                prefix = _digest(prefix, _bare(item))
                continue
            known = self._items.get(str(item.get("id")))
            if known is not None and known.prefix != prefix:
                dropped.append(
                    {
                        "type": "reasoning_dropped",
                        "id": str(item.get("id")),
                        "reason": "prefix_mismatch",
                    }
                )
        return dropped

    def sign(self, request: Body, content: Sequence[Any]) -> list[Any]:
        """See `Checker.sign`; items without ids get some."""
        made = [self._named(item) for item in content]
        prefix, reasoning = _request_opening(request), None
        for item in request["input"]:
            if item.get("type") != "reasoning":
                prefix = _digest(prefix, _bare(item))
        for at, item in enumerate(made):
            if item.get("type") == "reasoning":
                reasoning = item["id"]
                follower = made[at + 1]["id"] if at + 1 < len(made) else None
                self._items[item["id"]] = _Item(follower=follower, prefix=prefix)
            else:
                self._items[item["id"]] = _Item(reasoning=reasoning)
                prefix, reasoning = _digest(prefix, _bare(item)), None
        return made

    def _named(self, item: Body) -> dict[str, Any]:
        self._count += 1
        start = {"reasoning": "rs", "function_call": "fc"}.get(str(item.get("type")), "msg")
        named = {"id": f"{start}_{self._count}", **item}
        if start == "rs":
            named["encrypted_content"] = _digest(named["id"])
        return named


def _bare(item: Body) -> str:
    """An item as it is compared: its id is the provider's own."""
    return canonical({key: value for key, value in unmarked(item).items() if key != "id"})


def _request_opening(request: Body) -> str:
    return _digest(canonical([request.get("instructions"), request.get("tools")]))


def _openai_refused(message: str) -> RefusedError:
    error = {
        "message": message,
        "type": "invalid_request_error",
        "param": "input",
        "code": None,
    }
    return RefusedError(message, {"error": error})


# --- Gemini -------------------------------------------------------------------------------------


class SignatureChecker:
    """Gemini: the calls of the current turn bring their signatures; see the module."""

    def __init__(self) -> None:
        self._signatures: set[str] = set()

    def receive(self, request: Body) -> list[Dropped]:
        """See `Checker.receive`."""
        contents = request["contents"]
        for part in (part for content in contents for part in content.get("parts") or ()):
            signature = part.get("thoughtSignature")
            if signature is not None and signature not in self._signatures:
                raise _gemini_refused("Corrupted thought signature.")
        for content in _current_turn(contents):
            self._check_step(content)
        return []

    def _check_step(self, content: Body) -> None:
        for place, part in enumerate(content.get("parts") or ()):
            if "functionCall" in part:
                if part.get("thoughtSignature") is None:
                    raise _gemini_refused(
                        "Function call is missing a thought_signature in functionCall parts. This "
                        "is required for tools to work correctly, and missing thought_signature "
                        "may lead to degraded model performance. Additional data, function call "
                        f"`default_api:{part['functionCall'].get('name')}`, position {place}."
                    )
                return

    def sign(self, request: Body, content: Sequence[Any]) -> list[Any]:
        """See `Checker.sign`; the first call, or else the last part, bears the signature."""
        made = [dict(part) for part in content]
        calls = [place for place, part in enumerate(made) if "functionCall" in part]
        place = calls[0] if calls else len(made) - 1
        if made:
            signature = _digest(canonical(made[place]), str(len(self._signatures)))
            self._signatures.add(signature)
            made[place]["thoughtSignature"] = signature
        return made


def _current_turn(contents: Sequence[Body]) -> list[Body]:
    """What the model said since the user last spoke."""
    turn: list[Body] = []
    for content in reversed(contents):
        if content.get("role") == "model":
            turn.append(content)
        elif not any("functionResponse" in part for part in content.get("parts") or ()):
            break
    return turn


def _gemini_refused(message: str) -> RefusedError:
    error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
    return RefusedError(message, {"error": error})


# --- by model -----------------------------------------------------------------------------------

CHECKING = (
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-2",
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
)


def checker_for(model: str) -> Checker:
    """What a model's provider does, on an account that is checked."""
    name = model[model.find("claude") :] if "claude" in model else model
    if name.startswith(CHECKING):
        return PrefixChecker()
    if "claude" in name:
        return TurnChecker()
    if "gemini" in name:
        return SignatureChecker()
    return ReasoningChecker(drops=name >= "gpt-6.2")
