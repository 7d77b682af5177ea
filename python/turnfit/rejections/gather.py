"""Evidence from whatever a refusal comes in; each client's shape, no client imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from turnfit.rejections.delays import delay_of
from turnfit.rejections.evidence import Evidence
from turnfit.rejections.nested import parse_whole, split_nested, without_quotes
from turnfit.rejections.rules import keys

__all__ = ["gather"]

_DEEPEST = 16
_LONGEST = 12_000
"""Characters looked at in one message: what refuses stands at its ends, an echo between."""

_STATED = re.compile(
    r"^\W*(?:[\w.]*(?:error|exception)s?\W{1,4}){0,2}"
    r"(?:(?:client|server|api|http|status|error|code)\W{1,3}){0,4}(?:\d\.\d )?"
    r"([1-5]\d\d)\b(?![.,]\d)"
    r"|\b(?:status(?: code)?|error code|http)[:= ]{1,3}([45]\d\d)\b"
    r"|\(([45]\d\d) [A-Z][a-z]+",
    re.IGNORECASE,
)
# What a client writes where the provider wrote nothing.
_BARE = re.compile(
    r"^\W*(?:(?:http|api|error|code|status)\W*)*[1-5]\d\d\W*"
    r"(?:status code|bad request|null|none)?\W*(?:\(no body\))?\W*$"
    r"|^(?:null|none|undefined)$"
    r"|^(?:client|server) error '\d{3} [\w ]+' for url",
    re.IGNORECASE,
)
_TAGS = re.compile(r"<(?:style|script)\b.*?</(?:style|script)>|<[^<>]{1,200}>", re.DOTALL | re.I)
_NAMED = re.compile(r"\((\w+(?:Exception|Error))\)|\b(\w{3,60}(?:Exception|Error))\b(?=\W)")


def gather(error: object) -> Evidence:
    """The evidence of an error; an empty one where nothing can be read."""
    evidence = Evidence()
    _add(evidence, error, 0)
    return evidence


def _add(evidence: Evidence, value: object, depth: int) -> None:
    if depth > _DEEPEST or value is None or not evidence.is_new(value):
        return
    if isinstance(value, bytes | bytearray | memoryview):
        value = bytes(value).decode("utf-8", "replace")
    for fits, read in _READERS:
        if fits(value):
            read(evidence, value, depth)
            return


def _add_text(evidence: Evidence, text: str, depth: int) -> None:
    """A message: data in it are errors of their own, what it quotes is the request's."""
    whole = parse_whole(text)
    if whole is not None and whole != text:
        _add_inner(evidence, whole, depth)
        return
    rest, data = split_nested(_ends(text))
    for value in data:
        _add_inner(evidence, value, depth)
    if rest.lstrip().startswith("<"):
        rest = _TAGS.sub(" ", rest)
    rest = re.sub(r"\s+", " ", without_quotes(rest)).strip()
    stated = _STATED.search(rest[:300])
    if stated and evidence.told_status is None:
        evidence.told_status = int(next(filter(None, stated.groups())))
    if re.search(r"\w", rest) and not _BARE.match(rest):
        evidence.texts.append(rest)
        evidence.names += [name.lower() for pair in _NAMED.findall(rest) for name in pair if name]


def _ends(text: str) -> str:
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


def _add_inner(evidence: Evidence, value: object, depth: int) -> None:
    inner = evidence.another()
    _add(inner, value, depth + 1)
    evidence.inner.append(inner)


def _add_mapping(evidence: Evidence, body: Mapping[Any, Any], depth: int) -> None:
    entries = {_plain(key): value for key, value in body.items() if isinstance(key, str)}
    if str(entries.get("finishreason")).startswith("error"):
        _add_answer(evidence, entries, depth)
    for key, value in entries.items():
        if key in keys.HEADERS:
            evidence.delay = evidence.delay or delay_of(value)
        elif key in keys.REQUESTS or isinstance(value, bool) or _is_message(value):
            continue
        elif isinstance(value, str | int | float):
            _add_named(evidence, key, value, depth)
        else:
            _add(evidence, value, depth + 1)


def _add_answer(evidence: Evidence, choice: Mapping[str, Any], depth: int) -> None:
    """Of an answer that ended in an error, the content is the error.

    Source: https://github.com/ranxianglei/billion-context-pi/issues/169
    """
    for name in ("message", "delta"):
        if isinstance(choice.get(name), Mapping):
            _add(evidence, choice[name].get("content"), depth + 1)


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and "role" in value


def _add_named(evidence: Evidence, key: str, value: Any, depth: int) -> None:
    """A value that stands under a name which says what it is."""
    text = str(value).strip()
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None
    if key in keys.FIGURES and number is not None:
        evidence.figures.setdefault(keys.FIGURES[key], number)
    elif key in keys.STATUSES and number is not None and 100 <= number <= 599:
        evidence.told_status = number
    elif key in keys.DELAYS:
        evidence.delay = evidence.delay or delay_of({key: value})
    elif key in keys.ENDINGS:
        evidence.finishes.append(text.lower())
    elif key in keys.CODES:
        evidence.codes.append(text.lower())
    if isinstance(value, str) and (key in keys.TEXTS or text.startswith(('{"', "[{", "{'"))):
        _add_text(evidence, value, depth + 1)


def _plain(key: str) -> str:
    return re.sub(r"[\W_]", "", key).lower()


def _add_wrapped(evidence: Evidence, value: Mapping[str, Any], depth: int) -> None:
    """A mapping of status, body and perhaps headers."""
    evidence.status = int(value["status"])
    evidence.delay = delay_of(value.get("headers"))
    _add(evidence, value["body"], depth)


def _add_all(evidence: Evidence, values: Any, depth: int) -> None:
    for value in values[:50]:
        _add(evidence, value, depth + 1)


def _add_response(evidence: Evidence, response: Any, depth: int) -> None:
    """A response of httpx, requests or the like, if its body has been read."""
    status = _asked(response, "status_code")
    evidence.status = evidence.status or (status if isinstance(status, int) else None)
    evidence.delay = evidence.delay or delay_of(_asked(response, "headers"))
    with suppress(Exception):
        _add(evidence, response.content or response.text, depth + 1)


def _asked(thing: object, name: str) -> Any:
    """An attribute of a foreign object, which may do anything when it is asked."""
    with suppress(Exception):
        return getattr(thing, name, None)
    return None


def _add_model(evidence: Evidence, model: Any, depth: int) -> None:
    with suppress(Exception):
        _add(evidence, model.model_dump(), depth)


def _add_exception(evidence: Evidence, error: BaseException, depth: int) -> None:
    kinds = [kind.__name__ for kind in type(error).__mro__[:-2]]
    evidence.names += [name.lower() for name in kinds if name not in ("Exception", "OSError")]
    evidence.status = evidence.status or _status_of(error)
    evidence.delay = evidence.delay or delay_of(_asked(error, "headers"))
    for name in ("code", "type", "status"):
        value = _asked(error, name)
        if isinstance(value, str):
            evidence.codes.append(value.lower())
    for name in ("body", "response", "details", "raw_response"):
        _add(evidence, _asked(error, name), depth + 1)
    _add_fallback(evidence, _words_of(error), depth)
    for cause in _causes_of(error):
        _add_fallback(evidence, cause, depth)


def _status_of(error: BaseException) -> int | None:
    for name in ("status_code", "http_status", "code", "status"):
        value = _asked(error, name)
        if isinstance(value, int) and 100 <= value <= 599:
            return value
    return None


def _words_of(error: BaseException) -> str:
    with suppress(Exception):
        return str(_asked(error, "message") or error)
    return ""


def _causes_of(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return list(error.exceptions)
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return [cause] if cause else []


def _add_fallback(evidence: Evidence, value: object, depth: int) -> None:
    fallback = evidence.another()
    _add(fallback, value, depth + 1)
    evidence.fallbacks.append(fallback)


def _is_wrapped(value: object) -> bool:
    return isinstance(value, Mapping) and "body" in value and _is_status(value.get("status"))


def _is_status(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599


_READERS: tuple[tuple[Callable[[Any], bool], Callable[[Evidence, Any, int], None]], ...] = (
    (lambda value: isinstance(value, str), _add_text),
    (_is_wrapped, _add_wrapped),
    (lambda value: isinstance(value, Mapping), _add_mapping),
    (lambda value: isinstance(value, list | tuple), _add_all),
    (lambda value: isinstance(value, BaseException), _add_exception),
    (lambda value: _asked(value, "status_code") is not None, _add_response),
    (lambda value: _asked(value, "model_dump") is not None, _add_model),
)
