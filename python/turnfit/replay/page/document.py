"""The whole page, put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from turnfit.replay.page.bars import bars
from turnfit.replay.page.figures import many
from turnfit.replay.page.frame import limits, top_of
from turnfit.replay.page.legends import kinds, layers, names
from turnfit.replay.page.lines import Line, laid_over
from turnfit.replay.page.markup import Markup, raw, tag, text
from turnfit.replay.page.probe import probe
from turnfit.replay.page.reading import Replay, Run, read, size_of
from turnfit.replay.page.scale import Scale
from turnfit.replay.page.stacked import stacked, summary
from turnfit.replay.page.tables import badged, figures, histories, laid_figures, side_by_side
from turnfit.replay.page.totals import Total, totals
from turnfit.replay.page.words import headline, paid, replayed

__all__ = ["page"]

_CHARTED = 3
"""Of many histories so many get charts."""
_POINTS = 180_000
"""Points that all lines together may have at most, at some six bytes each."""
_COLUMNS = 400
"""Columns that are told apart across a chart, where there is room for so many points."""


def page(replays: Sequence[Mapping[str, Any]], *, title: str = "Replayed histories") -> str:
    """One HTML page that shows what policies made of recorded work.

    It needs no network and no script: styles, charts and figures are in it. Long histories
    are thinned to what can be told apart, least and greatest values kept; of many
    histories the largest few get charts.

    Args:
        replays: histories as `Replayed.as_dict()` gives them.
        title: the page's heading.

    Returns:
        The text of the page, to be written as UTF-8.

    Raises:
        ValueError: for a history that lacks something or has two policies of one name, with
            the place named.

    >>> "<h1>Nothing yet</h1>" in page([], title="Nothing yet")
    True
    """
    histories_ = read(replays)
    given = totals(histories_)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", text(title)),
        tag("style", _packaged("page.css")),
    )
    main = tag("main", _opening(title, histories_, given), *_sections(histories_, given))
    body = tag(
        "body", _packaged("marks.svg"), main, _closing(), tag("script", _packaged("page.js"))
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _packaged(name: str) -> Markup:
    return raw(files("turnfit.replay.page").joinpath(name).read_text("utf-8"))


def _opening(title: str, replays: Sequence[Replay], given: Sequence[Total]) -> Markup:
    return tag(
        "header",
        tag("h1", text(title)),
        tag("p", headline(replays, given), class_="headline"),
        tag("p", replayed(replays)),
        tag("p", paid(given)),
    )


def _sections(replays: Sequence[Replay], given: Sequence[Total]) -> Iterator[Markup]:
    if not given:
        return
    yield _section("Policies side by side", side_by_side(given))
    yield _section("What was sent, and how it is priced", kinds(), bars(given))
    told = [replay for replay in replays if replay.steps or len(replays) == 1]
    charted = sorted(told, key=size_of, reverse=True)[:_CHARTED]
    runs = sum(len(replay.runs) for replay in charted)
    # Six lines for each policy: four layers, its size and what was paid.
    columns = max(20, min(_COLUMNS, _POINTS // (4 * 6 * max(runs, 1))))
    places = {total.name: total for total in given}
    for number, replay in enumerate(charted):
        yield _history(f"h{number}", replay, places, columns)
    if len(replays) > 1:
        yield _section("All histories", histories(replays))


def _section(title: str, *inside: Markup) -> Markup:
    return tag("section", tag("h2", text(title)), *inside)


def _history(key: str, replay: Replay, places: Mapping[str, Total], columns: int) -> Markup:
    facts = [
        many(replay.messages, "message"),
        replay.format,
        replay.model or "",
        f"{many(replay.whole, 'token')} whole" if replay.whole else "",
        many(replay.steps, "request") if replay.steps else "",
    ]
    told = tag("p", text(", ".join(fact for fact in facts if fact)), class_="facts")
    if not replay.steps:
        return _section(replay.name, told, tag("p", text("No single requests are known of it.")))
    scale = Scale(replay.steps, top_of(replay, max(replay.whole, replay.largest)), columns)
    panels = (
        _panel(f"{key}r{number}", key, number, replay, run, places[run.name], scale)
        for number, run in enumerate(replay.runs)
    )
    return _section(
        replay.name,
        told,
        *_overlays(key, replay, places, scale),
        tag("h3", text("Each policy by itself")),
        layers(replay),
        tag("div", *panels, class_="panels"),
        probe(key, replay, places, columns),
    )


def _overlays(
    key: str, replay: Replay, places: Mapping[str, Total], scale: Scale
) -> Iterator[Markup]:
    sizes = [(places[run.name].place, run, run.steps["tokens"]) for run in replay.runs]
    scale = scale._replace(top=top_of(replay, replay.largest))
    crosses = [step for run in replay.runs for step in run.refusals[:1]]
    lines = limits(scale, replay.budget, replay.window, crosses)
    title, told = "Size of each request", "Tokens, request by request."
    drawn = laid_over(f"{key}-sizes", title, scale, sizes, lines, refused=True)
    yield _figure(key, "tokens", title, told, drawn, *_beside(title, sizes, places))
    paid_ = [(places[run.name].place, run, run.paid) for run in replay.runs]
    scale = scale._replace(top=1.06 * max(max(run.paid, default=0) for run in replay.runs) or 1)
    title = "Tokens that the prefix cache didn't give, so far"
    told = "Summed up request by request; these cost the most."
    drawn = laid_over(f"{key}-paid", title, scale, paid_)
    yield _figure(key, "paid", title, told, drawn, *_beside(title, paid_, places))


def _figure(key: str, kind: str, title: str, told: str, *drawn: Markup) -> Markup:
    head = tag("figcaption", tag("h3", text(title)), tag("p", text(told)))
    return tag("figure", head, *drawn, data_source=f"{key}-data", data_kind=kind)


def _beside(
    title: str, lines: Sequence[Line], places: Mapping[str, Total]
) -> tuple[Markup, Markup]:
    """Which line is which, and the figures in a table."""
    rows = [(places[run.name], values) for _, run, values in lines]
    return names(lines), laid_figures(title, rows)


def _panel(
    key: str, source: str, number: int, replay: Replay, run: Run, total: Total, scale: Scale
) -> Markup:
    head = tag("figcaption", tag("h4", badged(total)), tag("p", text(summary(run))))
    data = {"data_source": f"{source}-data", "data_kind": "run", "data_run": number}
    return tag("figure", head, stacked(key, replay, run, scale), figures(run), **data)


def _closing() -> Markup:
    told = "Tokens are turnfit's estimates, or what its policy's tokenizer counts."
    return tag("footer", tag("p", text(told)))
