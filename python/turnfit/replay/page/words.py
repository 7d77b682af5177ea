"""What the replay comes to, in sentences; nothing in them is there beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from turnfit.replay.page.figures import listed, many, money, share, whole
from turnfit.replay.page.markup import NOTHING, Markup, join, tag, text
from turnfit.replay.page.reading import Replay
from turnfit.replay.page.totals import Total

__all__ = ["headline", "paid", "replayed"]


def _named(given: Sequence[Total]) -> Markup:
    return listed([tag("b", tag("bdi", text(total.name))) for total in given])


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
    parts = [_under(count, of, given) for count, of in counts]
    return join([listed(parts), text(".")])


def _of_one(given: Sequence[Total]) -> Markup:
    refused = [total for total in given if total.refused]
    passed = [total for total in given if not total.refused]
    start = join([text("Refused under "), _named(refused)])
    never = join([text("; never under "), _named(passed)]) if passed else text(": no policy passes")
    return join([start, never, text(".")])


def _under(count: int, of: int, given: Sequence[Total]) -> Markup:
    names = _named([total for total in given if (total.refused, len(total.runs)) == (count, of)])
    verb = "is" if count == 1 else "are"
    return join([text(f"{whole(count)} of {many(of, 'history', 'histories')} {verb} refused under "), names])


def replayed(replays: Sequence[Replay]) -> Markup:
    """What was replayed, and within which limits."""
    if not replays:
        return NOTHING
    messages = many(sum(replay.messages for replay in replays), "message")
    formats = listed([text(name) for name in sorted({replay.format for replay in replays})])
    size = f"{whole(max(replay.whole for replay in replays))} tokens"
    if len(replays) == 1:
        what = join([text("Replayed: "), tag("b", tag("bdi", text(replays[0].name))), text(f", {messages} in ")])
        end = text(f"; whole it comes to {size}.")
    else:
        what = text(f"Replayed: {many(len(replays), 'history', 'histories')}, {messages} in ")
        end = text(f"; the largest comes to {size} whole.")
    return join([what, formats, _models(replays), end, text(_limits(replays))])


def _models(replays: Sequence[Replay]) -> Markup:
    models = sorted({replay.model for replay in replays if replay.model})
    return join([text(" for "), listed([text(model) for model in models])]) if models else NOTHING


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
        return text("No policy finishes all of it.") if given else NOTHING
    known = all(total.cost is not None for total in finishing)
    price = (lambda total: total.cost or 0) if known else (lambda total: total.anew)
    ordered = sorted(finishing, key=price)
    first, last = ordered[0], ordered[-1]
    if len(ordered) == 1:
        alone = " alone" * (len(given) > 1)
        start = [_named([first]), text(f"{alone} finishes: it "), _does(first, known)]
        return join([*start, text(".")])
    start = [text("Of the policies that finish, "), _named([first]), text(" "), _does(first, known)]
    if price(last) == price(first):
        return join([*start, text("; the others pay the same.")])
    times = f", {price(last) / price(first):.1f} times as much" if price(first) else ""
    dearest = money(last.cost, last.currency) if known else f"{whole(last.anew)} such tokens"
    verb = " costs most, " if known else " most, "
    return join([*start, text("; "), _named([last]), text(f"{verb}{dearest}{times}.")])


def _does(total: Total, known: bool) -> Markup:
    sent = total.sum("tokens_sent")
    cached = share(total.sum("cache_read"), sent)
    work = f"{whole(sent)} tokens in {many(total.sum('requests'), 'request')}"
    if known:
        cost = money(total.cost, total.currency)
        return text(f"costs {cost} for {work}, {cached} of them read from the prefix cache")
    return text(f"sends {work}, {whole(total.anew)} of them not read from the prefix cache")
