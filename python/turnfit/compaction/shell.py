"""What a shell command reads, writes and deletes, by a real parser.

It needs tree-sitter and its grammar of bash, which the extra ``shell`` brings. What a
command does depends on more than its text: a path with an expansion or a wildcard isn't
known and is left out, rather than guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from turnfit.errors import MissingExtraError

__all__ = ["ShellEffect", "ShellParse", "parse_shell"]


class ShellEffect(NamedTuple):
    """What a command does to a file.

    Attributes:
        kind: ``reads``: its content comes back to the model; ``writes``, ``deletes``.
        path: as it stands in the command, relative to `cwd`.
        cwd: where the command has changed to by then; empty for where it began.
        part: what of the file is read, as the command says it; empty for all.
        content: all that is written, where the command tells it.
    """

    kind: Literal["reads", "writes", "deletes"]
    path: str
    cwd: str = ""
    part: str = ""
    content: str | None = None


@dataclass(frozen=True)
class ShellParse:
    """A shell command, taken apart.

    Attributes:
        effects: what it does to files, in order.
        cwd: the directory in which it leaves the shell; empty for where it began.
        commands: how many simple commands it has.
    """

    effects: tuple[ShellEffect, ...]
    cwd: str
    commands: int


@cache
def _parser() -> Any:
    try:
        import tree_sitter
        import tree_sitter_bash
    except ModuleNotFoundError as error:
        raise MissingExtraError("reading shell commands", "shell") from error
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse_shell(command: str) -> ShellParse:
    """What a shell command does to files.

    Raises:
        MissingExtraError: without the extra ``shell``.

    >>> parsed = parse_shell("cd src && sed -n '1,20p' a.py && rm b.py > log.txt")
    >>> [(effect.kind, effect.path, effect.cwd) for effect in parsed.effects]
    [('reads', 'a.py', 'src'), ('deletes', 'b.py', 'src'), ('writes', 'log.txt', 'src')]
    """
    tree = _parser().parse(command.encode("utf-8", "surrogatepass"))
    walk = _Walk()
    try:
        walk.node(tree.root_node)
    except RecursionError:
        # Nested beyond all sense: what it does isn't known.
        return ShellParse((), "", 1)
    return ShellParse(tuple(walk.effects), walk.cwd, walk.commands)


_UNKNOWN = re.compile(r"[$`*?\[{]|<\(")
_SINKS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_GROUPS = ("subshell", "command_substitution", "process_substitution")


@dataclass
class _Walk:
    effects: list[ShellEffect] = field(default_factory=list)
    cwd: str = ""
    commands: int = 0
    hidden: bool = False
    """Whether what is printed goes elsewhere than to the model."""
    behind: str = ""
    """What the output passes on its way."""

    def node(self, node: Any) -> None:
        if node.type == "command":
            self.command(node)
        elif node.type == "redirected_statement":
            self.redirected(node)
        elif node.type == "pipeline":
            self.pipeline(node)
        elif node.type in _GROUPS:
            self.group(node)
        else:
            for child in node.named_children:
                self.node(child)

    def group(self, node: Any) -> None:
        """A shell of its own: where it changes to ends with it; a value isn't shown."""
        cwd, hidden = self.cwd, self.hidden
        self.hidden = hidden or node.type != "subshell"
        for child in node.named_children:
            self.node(child)
        self.cwd, self.hidden = cwd, hidden

    def pipeline(self, node: Any) -> None:
        stages = node.named_children
        behind = self.behind
        for number, stage in enumerate(stages):
            rest = " | ".join(_source(later) for later in stages[number + 1 :])
            self.behind = rest or behind
            self.node(stage)
        self.behind = behind

    def redirected(self, node: Any) -> None:
        body = node.child_by_field_name("body")
        redirects = [child for child in node.named_children if child != body]
        while body is not None and body.type == "list":
            # The grammar hangs it onto the whole list, the shell onto the last command.
            *before, last = body.named_children
            for earlier in before:
                self.node(earlier)
            body = last
        outputs = _outputs(redirects)
        hidden, self.hidden = self.hidden, self.hidden or any(map(_is_stdout, outputs))
        if body is not None:
            self.node(body)
        self.hidden = hidden
        copied = _heredoc(redirects) if body is not None and _source(body) == "cat" else None
        for one in outputs:
            content = copied if _operator(one) in (">", ">|") else None
            self.add("writes", _target(one), content=content)
        for later in _after_heredoc(redirects):
            self.node(later)

    def command(self, node: Any) -> None:
        self.commands += 1
        for child in node.named_children:
            for inner in _substitutions(child):
                self.node(inner)
        words = [_text(word) for word in node.named_children if word.type in _WORDS]
        while words and words[0] in _PREFIXES:
            words = _unprefixed(words)
        if not words or words[0] is None:
            return
        name = words[0].rsplit("/", 1)[-1]
        if name == "cd":
            self.change(words[1:])
        elif name in _EFFECTS:
            for kind, path, part in _EFFECTS[name]([word or "$" for word in words]):
                self.add(kind, path, part)

    def change(self, words: Sequence[str | None]) -> None:
        target = next((word for word in words if word is None or not word.startswith("-")), "~")
        if target is not None:
            self.cwd = target if target.startswith(("/", "~")) else _join(self.cwd, target)

    def add(self, kind: Any, path: str | None, part: str = "", content: str | None = None) -> None:
        if not path or path in _SINKS or _UNKNOWN.search(path):
            return
        if kind == "reads" and self.hidden:
            return
        if kind == "reads" and self.behind:
            part = f"{part} | {self.behind}".strip()
        self.effects.append(ShellEffect(kind, path, self.cwd, part, content))


def _join(base: str, path: str) -> str:
    return f"{base}/{path}" if base else path


_WORDS = (
    *("command_name", "word", "string", "raw_string", "concatenation", "number"),
    *("ansi_c_string", "simple_expansion", "expansion", "command_substitution"),
)
_PREFIXES = ("sudo", "env", "time", "nohup", "command", "exec", "timeout", "nice", "xargs")


def _unprefixed(words: list[str | None]) -> list[str | None]:
    """What a command before a command runs: options, settings and numbers are its own."""
    rest = words[1:]
    while rest and rest[0] is not None and re.fullmatch(r"-.*|\w+=.*|[\d.]+[smhd]?", rest[0]):
        rest = rest[1:]
    return rest


def _source(node: Any) -> str:
    return str(node.text.decode("utf-8", "surrogatepass"))


def _text(node: Any) -> str | None:
    """The word that the shell makes of it; None where an expansion decides."""
    if node.type == "raw_string":
        return _source(node)[1:-1]
    if node.type in ("string", "concatenation", "command_name"):
        inner = [_text(child) for child in node.named_children]
        if node.type == "string":
            # Spaces at an edge of a string are no node of their own.
            return _source(node)[1:-1] if all(part is not None for part in inner) else None
        return "".join(part for part in inner if part is not None) if None not in inner else None
    if node.type in ("word", "number", "string_content"):
        return re.sub(r"\\(.)", r"\1", _source(node))
    return None


def _substitutions(node: Any) -> Iterator[Any]:
    if node.type in _GROUPS:
        yield node
    else:
        for child in node.named_children:
            yield from _substitutions(child)


def _outputs(redirects: Sequence[Any]) -> list[Any]:
    """Where output goes; behind a here-document's word they stand in the document."""
    documents = [one for one in redirects if one.type == "heredoc_redirect"]
    inner = [child for one in documents for child in one.named_children]
    files = (one for one in (*redirects, *inner) if one.type == "file_redirect")
    return [one for one in files if _operator(one).startswith((">", "&>"))]


def _operator(redirect: Any) -> str:
    signs = (child.type for child in redirect.children if not child.is_named)
    return next(signs, "")


def _is_stdout(redirect: Any) -> bool:
    descriptor = redirect.child_by_field_name("descriptor")
    return descriptor is None or _source(descriptor) == "1"


def _target(redirect: Any) -> str | None:
    target = redirect.child_by_field_name("destination")
    text = _text(target) if target is not None else None
    return None if text is None or text.isdigit() else text


def _heredoc(redirects: Sequence[Any]) -> str | None:
    """The whole text of a here-document in which nothing is expanded."""
    document = next((one for one in redirects if one.type == "heredoc_redirect"), None)
    if document is None:
        return None
    start = next((c for c in document.children if c.type == "heredoc_start"), None)
    body = next((c for c in document.children if c.type == "heredoc_body"), None)
    if start is None or body is None or document.children[0].type != "<<":
        return None
    text = _source(body)
    return text if _source(start)[:1] in "'\"\\" or not _UNKNOWN.search(text) else None


def _after_heredoc(redirects: Sequence[Any]) -> Iterator[Any]:
    """The grammar hangs what follows a here-document's word onto the document."""
    for document in redirects:
        if document.type == "heredoc_redirect":
            skipped = ("heredoc_start", "heredoc_body", "heredoc_end", "file_redirect")
            yield from (c for c in document.named_children if c.type not in skipped)


Found = tuple[Literal["reads", "writes", "deletes"], str, str]
"""Kind, path and part."""


def _operands(words: Sequence[str], with_value: str = "") -> list[str]:
    """The words that are no options, nor values of the options that take one."""
    found: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            return [*found, *rest]
        if word.startswith("-") and len(word) > 1:
            if word[1:] and word[-1] in with_value and not word.startswith("--"):
                next(rest, None)
        else:
            found.append(word)
    return found


def _reads_all(words: Sequence[str]) -> Iterator[Found]:
    return (("reads", path, "") for path in _operands(words))


def _reads_ends(words: Sequence[str]) -> Iterator[Found]:
    files = _operands(words, "nc")
    part = " ".join(word for word in words if word not in files)
    return (("reads", path, part) for path in files)


def _reads_by_pattern(words: Sequence[str]) -> Iterator[Found]:
    """The first operand is a pattern, unless an option gave it."""
    given = any(word in ("-e", "-f") for word in words)
    files = _operands(words, "efABCmd") if given else _operands(words, "ABCmdvF")[1:]
    part = " ".join(word for word in words if word not in files)
    return (("reads", path, part) for path in files)


def _sed(words: Sequence[str]) -> Iterator[Found]:
    in_place = any(re.match(r"-[nErs]*i|--in-place", word) for word in words)
    if not in_place:
        yield from _reads_by_pattern(words)
        return
    given = "-e" in words
    files = _operands(words, "ef") if given else _operands(words)[1:]
    yield from (("writes", path, "") for path in files)


def _perl(words: Sequence[str]) -> Iterator[Found]:
    if any(re.match(r"-\w*i", word) for word in words):
        yield from (("writes", path, "") for path in _operands(words, "e"))


def _writes_all(words: Sequence[str]) -> Iterator[Found]:
    return (("writes", path, "") for path in _operands(words, "sdtr"))


def _makes(words: Sequence[str]) -> Iterator[Found]:
    return (("writes", path, "") for path in _operands(words, "m"))


def _writes_tee(words: Sequence[str]) -> Iterator[Found]:
    return (("writes", path, "") for path in _operands(words))


def _deletes(words: Sequence[str]) -> Iterator[Found]:
    return (("deletes", path, "") for path in _operands(words))


def _destinations(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Sources with where they come to."""
    *sources, target = _operands(words) or [""]
    into = len(sources) > 1 or target.endswith("/") or target in (".", "..")
    for source in sources:
        name = source.rstrip("/").rsplit("/", 1)[-1]
        yield source, f"{target.rstrip('/')}/{name}" if into else target


def _copies(words: Sequence[str]) -> Iterator[Found]:
    return (("writes", target, "") for _, target in _destinations(words))


def _moves(words: Sequence[str]) -> Iterator[Found]:
    for source, target in _destinations(words):
        yield "deletes", source, ""
        yield "writes", target, ""


def _fetches(words: Sequence[str]) -> Iterator[Found]:
    for option, value in pairwise(words):
        if option in ("-o", "--output", "-O", "--output-document") and not value.startswith("-"):
            yield "writes", value, ""


def _git(words: Sequence[str]) -> Iterator[Found]:
    verb, rest = words[1] if len(words) > 1 else "", words[1:]
    if verb == "rm" and "--cached" not in rest:
        yield from _deletes(rest)
    elif verb == "mv":
        yield from _moves(rest)
    elif verb == "restore" or (verb == "checkout" and "--" in rest):
        after = rest[rest.index("--") :] if "--" in rest else rest
        yield from (("writes", path, "") for path in _operands(after, "s"))


_EFFECTS: dict[str, Callable[[Sequence[str]], Iterator[Found]]] = {
    **dict.fromkeys(("cat", "less", "more", "nl", "bat", "tac", "xxd", "od"), _reads_all),
    **dict.fromkeys(("head", "tail"), _reads_ends),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "awk", "jq"), _reads_by_pattern),
    "sed": _sed,
    "perl": _perl,
    **dict.fromkeys(("touch", "truncate"), _writes_all),
    "mkdir": _makes,
    "tee": _writes_tee,
    **dict.fromkeys(("rm", "unlink"), _deletes),
    **dict.fromkeys(("cp", "ln", "install"), _copies),
    "mv": _moves,
    **dict.fromkeys(("curl", "wget"), _fetches),
    "git": _git,
}
