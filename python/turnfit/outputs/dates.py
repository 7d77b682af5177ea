"""Dates and times in several languages."""

from __future__ import annotations

import re

__all__ = ["DATES", "date_forms"]

_MONTHS = {
    1: "january jan januar jänner enero ene janvier gennaio janeiro января январь янв",
    2: "february feb februar febrero février febbraio fevereiro февраля февраль фев",
    3: "march mar märz marzo mars março марта март мар",
    4: "april apr abril avril aprile апреля апрель апр",
    5: "may mai mayo maggio maio мая май",
    6: "june jun juni junio juin giugno junho июня июнь июн",
    7: "july jul juli julio juillet luglio julho июля июль июл",
    8: "august aug agosto août августа август авг",
    9: "september sep sept septiembre septembre settembre setembro сентября сентябрь сен",
    10: "october oct oktober okt octubre octobre ottobre outubro октября октябрь окт",
    11: "november nov noviembre novembre novembro ноября ноябрь ноя",
    12: "december dec dezember dez diciembre dic décembre dicembre dezembro декабря декабрь дек",
}
_MONTH = {name: number for number, names in _MONTHS.items() for name in names.split()}
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_NAME = rf"(?i:{_NAMES})\.?"
_DAY = r"(?<![\d.,])\d{1,2}"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"

DATES = (
    rf"(?<![\d-])\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}})?)?(?!\d)",
    r"(?<!\d)\d{4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?",
    r"(?<!\d)\d{1,2}月\d{1,2}[日号]",
    r"(?<![\d/])\d{4}/\d{1,2}/\d{1,2}(?![\d/])",
    r"(?<![\d./])\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d{2})(?![\d./]*\d)",
    rf"{_DAY}(?:st|nd|rd|th|\.)?\s+(?:de\s+)?{_NAME}(?!\w)(?:\s+(?:de[l]?\s+)?\d{{4}}(?!\d))?",
    rf"(?<!\w){_NAME}\s+\d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,?\s+\d{{4}}(?!\d))?",
    rf"(?<!\w){_NAME}\s+(?:de[l]?\s+)?\d{{4}}(?!\d)",
    rf"(?<![\d:.]){_CLOCK}(?![\d:])",
)


def date_forms(text: str) -> set[str]:
    """A date as year, month and day, or what it has of them; both readings where day and
    month may be either.

    >>> date_forms("5 марта 2026") == date_forms("2026-03-05") == date_forms("2026年3月5日")
    True
    >>> sorted(date_forms("03/05/2026"))
    ['2026-03-05', '2026-05-03']
    """
    clock = re.search(_CLOCK, text)
    date = text.replace(clock[0], "") if clock else text
    forms = _named(date) or _numbered(date)
    if not forms:
        return {clock[0].lstrip("0") if clock else text}
    return {f"{form} {clock[0]}" if clock else form for form in forms}


def _named(text: str) -> set[str]:
    found = re.search(_NAME, text)
    if not found:
        return set()
    month = _MONTH[found[0].lower().rstrip(".")]
    numbers = re.findall(r"\d+", text)
    years = [number for number in numbers if len(number) == 4]
    days = [number for number in numbers if len(number) < 4]
    parts = [*years[:1], f"{month:02}", *(f"{int(day):02}" for day in days[:1])]
    return {"-".join(parts)}


def _numbered(text: str) -> set[str]:
    numbers = re.findall(r"\d+", text)
    if "年" in text or "月" in text or (numbers and len(numbers[0]) == 4):
        return {"-".join(number.zfill(2) for number in numbers[:3])} if numbers else set()
    if len(numbers) < 3:
        return set()
    first, second, year = numbers[:3]
    year = year if len(year) == 4 else f"20{year}"
    readings = ((second, first), (first, second))
    return {
        f"{year}-{month.zfill(2)}-{day.zfill(2)}" for month, day in readings if int(month) <= 12
    } or {text}
