"""What the replay comes to, in sentences; nothing in them is there beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from turnfit.replay.page.figures import cut, listed, many, money, share, whole
from turnfit.replay.page.markup import NOTHING, Markup, join, tag, text
from turnfit.replay.page.reading import Replay
from turnfit.replay.page.totals import Total

__all__ = ["PAID_FOR_LESS", "headline", "paid", "replayed"]

PAID_FOR_LESS = "What is refused costs nothing, so a policy that didn't finish paid for less work."
"""Said where a policy didn't finish."""

_FEW = 4
"""Models or formats that a sentence lists."""
_NAMED, _LONG = 6, 30
"""Policies that a sentence names, and the letters of a name that it has room for."""


def _named(given: Sequence[Total]) -> Markup:
    # Two that would be left out aren't more to read than their number.
    most = _NAMED if len(given) > _NAMED + 1 else len(given)
    names = [tag("b", tag("bdi", text(cut(total.name, _LONG)))) for total in given[:most]]
    left = len(given) - most
    return listed([*names, *[text(f"{whole(left)} others")] * bool(left)])


def headline(replays: Sequence[Replay], given: Sequence[Total]) -> Markup:
    """Under which policies a provider refuses how much of the work."""
    if not given:
        return text("Nothing was replayed.")
    refused = [total for total in given if total.refused]
    if not refused:
        return text("No request is refused under any policy.")
    if len(replays) == 1:
        return _of_one(given)
    counts = sorted({(total.refused, len(total.runs)) for total in given}, reverse=True)
    parts = [_under(count, of, given, first=n == 0) for n, (count, of) in enumerate(counts)]
    return join([listed(parts), text(".")])


def _of_one(given: Sequence[Total]) -> Markup:
    refused = [total for total in given if total.refused]
    passed = [total for total in given if not total.refused]
    start = join([text("Refused under "), _named(refused)])
    never = join([text("; never under "), _named(passed)]) if passed else text(": no policy passes")
    return join([start, never, text(".")])


def _under(count: int, of: int, given: Sequence[Total], first: bool) -> Markup:
    names = _named([total for total in given if (total.refused, len(total.runs)) == (count, of)])
    verb = "is" if count == 1 else "are"
    what = f" {'history' if of == 1 else 'histories'} {verb} refused" if first else ""
    return join(
        [
            text(f"{whole(count)}\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}{whole(of)}{what} under "),
            names,
        ]
    )


def replayed(replays: Sequence[Replay]) -> Markup:
    """What was replayed, and within which limits."""
    if not replays:
        return NOTHING
    messages = many(sum(replay.messages for replay in replays), "message")
    formats = _some({replay.format for replay in replays}, "formats")
    size = many(max(replay.whole for replay in replays), "token")
    known = any(replay.whole for replay in replays)
    if len(replays) == 1:
        what = join(
            [
                text("Replayed: "),
                tag("b", tag("bdi", text(cut(replays[0].name, 2 * _LONG)))),
                text(f", {messages} in "),
            ]
        )
        end = f"; whole it comes to {size}"
    else:
        what = text(f"Replayed: {many(len(replays), 'history', 'histories')}, {messages} in ")
        end = f"; the largest comes to {size} whole"
    return join([what, formats, _models(replays), text(end * known + "." + _limits(replays))])


def _some(names: set[str], things: str) -> Markup:
    """Names, or how many they are where they are too many to read."""
    if len(names) > _FEW:
        return text(f"{whole(len(names))} {things}")
    return listed([text(name) for name in sorted(names)])


def _models(replays: Sequence[Replay]) -> Markup:
    models = {replay.model for replay in replays if replay.model}
    return join([text(" for "), _some(models, "models")]) if models else NOTHING


def _limits(replays: Sequence[Replay]) -> str:
    budgets = sorted({replay.budget for replay in replays if replay.budget})
    windows = sorted({replay.window for replay in replays if replay.window})
    told = [
        f"{name} {whole(limits[0])}" + (f" to {whole(limits[-1])}" if len(limits) > 1 else "")
        for name, limits in (("budget", budgets), ("window", windows))
        if limits
    ]
    return f" {', '.join(told).capitalize()} tokens." if told else ""


def paid(given: Sequence[Total]) -> Markup:
    """What the work costs under the policies that finish it: the cheapest and the dearest."""
    finishing = [total for total in given if total.finishes]
    if not finishing:
        return _farthest(given)
    known = all(total.cost is not None for total in finishing)
    ordered = sorted(finishing, key=lambda total: _price(total, known))
    if len(ordered) == 1:
        alone = " alone finishes: it " if len(given) > 1 else " finishes: it "
        told = [_named(ordered), text(alone), text(_does(ordered[0], known)), text(".")]
        return join(told)
    return _compared(ordered[0], ordered[-1], known)


def _farthest(given: Sequence[Total]) -> Markup:
    most = max((total.finished for total in given), default=0)
    if not most:
        return text("No policy finishes any of it.") if given else NOTHING
    best = [total for total in given if total.finished == most]
    verb = "comes" if len(best) == 1 else "come"
    of = many(best[0].histories, "history", "histories")
    end = text(f" {verb} farthest, with {whole(most)} of {of}.")
    return join([text("No policy finishes all of it; "), _named(best), end])


def _price(total: Total, known: bool) -> float:
    """The cost, or where no prices are known, the tokens that cost most."""
    return total.cost or 0 if known else total.anew


def _compared(first: Total, last: Total, known: bool) -> Markup:
    low, high = _price(first, known), _price(last, known)
    start = [text("Of the policies that finish, "), _named([first]), text(" ")]
    start.append(text(_does(first, known, " least," if high > low else "")))
    if high == low:
        return join([*start, text("; the others pay the same.")])
    dearest = money(high, last.currency) if known else whole(high)
    times = f", {high / low:.1f} times as {'much' if known else 'many'}" if low else ""
    verb = "costs most" if known else "most"
    return join([*start, text("; "), _named([last]), text(f" {verb}, {dearest}{times}.")])


def _does(total: Total, known: bool, least: str = "") -> str:
    sent, requests = total.sum("tokens_sent"), many(total.sum("requests"), "request")
    if known:
        cached = share(total.sum("cache_read"), sent)
        work = f"{whole(sent)} tokens in {requests}, {cached} of them read from the prefix cache"
        return f"costs{least} {money(total.cost, total.currency)} for {work}"
    fewest = "the fewest " if least else ""
    given = f"{whole(total.anew)} of {whole(sent)} in {requests}"
    return f"sends {fewest}tokens that the prefix cache doesn't give: {given}"
