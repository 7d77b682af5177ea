"""The facts of a text that a summary must not lose: figures, dates, names, places of things.

They are found by their form, not by their meaning: what is written in words ("three",
"last week") is not seen.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple

from turnfit.outputs.dates import DATES, date_forms

__all__ = ["KINDS", "Fact", "Kind", "facts_of", "lost_among", "lost_facts"]

Kind = Literal["figure", "date", "identifier", "path", "url", "quote"]
KINDS: tuple[Kind, ...] = ("figure", "date", "identifier", "path", "url", "quote")


class Fact(NamedTuple):
    """A fact, as a text has it."""

    kind: Kind
    text: str


_ENDINGS = (
    "bak bin c cc cfg conf cpp cs css csv db docx env exe gif go gz h html ini ipynb java jpeg "
    "jpg js json jsonl jsx kt lock log md mp3 mp4 parquet pdf php png pptx py rb rs rst sh sql "
    "sqlite svg swift tar tf tif tiff toml ts tsv tsx txt wasm webp xlsx xml yaml yml zip"
).replace(" ", "|")
# Chinese and Japanese put no space before a name in Latin letters: their characters are
# no part of it.
_LETTER = r"[^\W\u3040-\u30ff\u3400-\u9fff]"
_LEFT = r"(?<![A-Za-z0-9_@./\\-])"
_RIGHT = r"(?![A-Za-z0-9_])"
_NO_PATH = rf"(?<!{_LETTER})(?<![./:\\@+%=-])"

_SCHEMES = "https?|ftp|s3|file|wss?|git|ssh|postgres(?:ql)?|redis|mongodb"
_URL = rf"(?<![A-Za-z0-9])(?:{_SCHEMES})://[^\s<>\"'«»“”「」『』（）。，；、]+"
_EMAIL = r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
_SEGMENT = rf"(?:{_LETTER}|[.+@%=-])+"
_PATHS = (
    r"[A-Za-z]:\\[^\s\"<>|*?:,;]+",
    rf"{_NO_PATH}(?:~|\.{{1,2}})?/{_SEGMENT}(?:/{_SEGMENT})*/?",
    rf"{_NO_PATH}{_SEGMENT}(?:/{_SEGMENT})*/(?:{_LETTER}|[.+-])*\.(?:{_ENDINGS}){_RIGHT}",
    rf"{_NO_PATH}[A-Za-z0-9_.@-]+(?:/[A-Za-z0-9_.+@-]+){{2,}}/?",
    rf"{_NO_PATH}[A-Za-z_][A-Za-z0-9_.-]*\.(?:{_ENDINGS}){_RIGHT}",
)
_QUOTES = (
    r"\"[^\"\n]{2,200}\"",
    r"“[^“”\n]{2,200}”",
    r"„[^„“”\n]{2,200}[“”]",
    r"«[^«»\n]{2,200}»",
    r"»[^«»\n]{2,200}«",
    r"「[^「」\n]{1,200}」",
    r"『[^『』\n]{1,200}』",
)
_IDENTIFIERS = (
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    _EMAIL,
    rf"{_LEFT}\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d+)?(?:/\d{{1,2}})?(?![\d.]*\d)",
    rf"{_LEFT}(?!\d{{1,3}}(?:\.\d{{3}})+(?![.\d]*\d))v?\d+\.\d+\.\d+(?:[-+][A-Za-z0-9.-]*[A-Za-z0-9])?(?![\d.]*\d)",
    rf"{_LEFT}v\d+(?:\.\d+)*{_RIGHT}",
    rf"{_LEFT}0x[0-9a-fA-F]+{_RIGHT}",
    rf"{_LEFT}(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{{7,64}}{_RIGHT}",
    rf"(?<![A-Za-z0-9_&#])#\d+{_RIGHT}",
    rf"{_LEFT}[A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*-\d+[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*{_RIGHT}",
    rf"{_LEFT}(?=\d*_*[A-Za-z])[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+(?:\(\))?{_RIGHT}",
    rf"{_LEFT}[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d+{_RIGHT}",
    rf"{_LEFT}[a-z]+(?:[A-Z][a-z0-9]+)+(?:\(\))?{_RIGHT}",
    rf"{_LEFT}(?:[A-Z][a-z0-9]+){{2,}}(?:\(\))?{_RIGHT}",
    rf"{_LEFT}[A-Za-z]+\d[A-Za-z0-9]*(?:-[A-Za-z0-9]+)*{_RIGHT}",
    r"`[^`\n]{1,200}`",
)
_DIGITS = r"\d+(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
_FIGURE = rf"(?<![A-Za-z0-9_.])(?:[-−+](?=\d))?(?>{_DIGITS})(?![A-Za-z_]{{4,}}|[.,]\d)"


def _group(name: str, patterns: tuple[str, ...]) -> str:
    return f"(?P<{name}>{'|'.join(patterns)})"


_LETTERS = r"[A-Za-z\u00c0-\u024f\u0400-\u04ff]"
_NOT_INSIDE = rf"(?:(?<!{_LETTERS})|(?!{_LETTERS}))"
"""No fact begins between two letters of a word; to see that first saves the rest."""

# What comes first wins where two begin at the same place: a date is no figure.
_GROUPS = (
    _group("url", (_URL,)),
    _group("quote", _QUOTES),
    _group("date", DATES),
    _group("identifier", _IDENTIFIERS),
    _group("path", _PATHS),
    _group("figure", (_FIGURE,)),
)
_FACT = re.compile(f"{_NOT_INSIDE}(?:{'|'.join(_GROUPS)})")
_MARKS = '"“”„«»「」『』`'


def facts_of(text: str) -> list[Fact]:
    """The facts of a text, each once, in the order of their first mention.

    >>> [fact.text for fact in facts_of("On 2026-03-05 run 7f3a9c1 took 1,250 ms: see a/b.log")]
    ['2026-03-05', '7f3a9c1', '1,250', 'a/b.log']
    """
    found: dict[tuple[Kind, str], Fact] = {}
    for fact in _matches(text):
        found.setdefault((fact.kind, min(_forms(fact))), fact)
    return list(found.values())


def _matches(text: str) -> Iterator[Fact]:
    for match in _FACT.finditer(unicodedata.normalize("NFKC", text)):
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        value = match[0].strip()
        if kind == "url":
            value = _without_trailing(value)
        elif kind == "path" or (kind == "date" and value[-2:-1].isalpha()):
            value = value.rstrip(".")
        yield Fact(kind, value)


def _without_trailing(url: str) -> str:
    """What ends a sentence doesn't belong to an address."""
    url = url.rstrip(".,;:!?'")
    while url.endswith(")") and url.count("(") < url.count(")"):
        url = url[:-1].rstrip(".,;:!?'")
    return url


def lost_facts(original: str, summary: str) -> list[Fact]:
    """The facts of an original that its summary lacks.

    A figure may be grouped otherwise, a date written in another way, a quotation stand
    without its marks.

    >>> lost_facts("5 March 2026: 1,250 of 3 000 done", "By 2026-03-05, 1250 were done.")
    [Fact(kind='figure', text='3 000')]
    """
    return lost_among(facts_of(original), summary)


def lost_among(facts: list[Fact], summary: str) -> list[Fact]:
    """Those of some facts that a summary lacks; see `lost_facts`."""
    plain = _plain(summary)
    kept = {form for fact in _matches(summary) for form in _forms(fact)}
    return [fact for fact in facts if not _is_kept(fact, kept, plain)]


def _is_kept(fact: Fact, kept: set[str], summary: str) -> bool:
    if not kept.isdisjoint(_forms(fact)):
        return True
    if fact.kind in ("figure", "date"):
        return False
    wanted = _plain(fact.text.strip(_MARKS))
    return bool(wanted) and wanted in summary


def _forms(fact: Fact) -> set[str]:
    """The ways to say the same fact, as one way to write each."""
    if fact.kind == "figure":
        return {f"number {form}" for form in _number_forms(fact.text)}
    if fact.kind == "date":
        return {f"date {form}" for form in date_forms(fact.text)}
    return {_plain(fact.text.strip(_MARKS)).rstrip("/")}


def _number_forms(text: str) -> set[str]:
    """A number without grouping; both readings where a sign may group or part."""
    sign = "-" if text[0] in "-−" else ""
    digits = re.sub(r"[^\d.,]", "", text)
    marks = re.sub(r"\d", "", digits)
    readings = {digits.replace(",", "")}
    if "," in marks and "." in marks:
        decimal = marks[-1]
        other = "," if decimal == "." else "."
        readings = {digits.replace(other, "").replace(decimal, ".")}
    elif len(marks) > 1:
        readings = {re.sub("[.,]", "", digits)}
    elif len(marks) == 1:
        whole, part = re.split("[.,]", digits)
        readings = {f"{whole}.{part}"}
        if len(part) == 3 and 1 <= len(whole) <= 3 and whole != "0":
            readings.add(whole + part)
    return {sign + _shortest(reading) for reading in readings}


def _shortest(number: str) -> str:
    whole, _, part = number.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{part}" if part else "")


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
