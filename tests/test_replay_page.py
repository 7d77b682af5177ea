"""The page of a replay: whole by itself, nothing run that is only named, nothing thinned away."""

from __future__ import annotations

import copy
import json
import os
import random
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pages import parsed, svgs
from support.replayed import BUDGET, POLICIES, WINDOW, made_up, replayed, subagent, told
from test_cli import run, tool_rounds
from turnfit.replay.page import page
from turnfit.replay.page.lines import ROOM
from turnfit.replay.page.reading import SUMS, read
from turnfit.replay.page.scale import HEIGHT, Scale, columns_of, ticks
from turnfit.replay.page.tables import ROWS
from turnfit.replay.page.totals import totals

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))
few = settings(max_examples=EXAMPLES // 10, deadline=None)
many = settings(max_examples=EXAMPLES, deadline=None)

NASTY = "<script>ran = 1</script>\"'&\x00\ud800</title></style><!--"


@cache
def generated() -> tuple[dict[str, Any], ...]:
    """Two subagents, whose files pass the window, under all policies."""
    return tuple(replayed(f"subagent-{seed}.json", subagent(seed)) for seed in (1, 2))


def noise(seed: int, steps: int) -> list[dict[str, Any]]:
    """Requests of no pattern, which thinning can spare nothing of."""
    rng = random.Random(seed)
    rows = []
    for step in range(steps):
        tokens, taken = rng.randrange(1, BUDGET), rng.randrange(10**6)
        notes, read = rng.randrange(tokens), rng.randrange(tokens)
        row = {"at": 2 * step, "tokens": tokens, "kept": tokens - notes, "notes": notes}
        row |= {"cleared": taken, "dropped": 2 * taken, "first_changed": rng.choice([-1, 5])}
        rows.append(row | {"read": read, "written": tokens - read, "refused": rng.random() < 0.1})
    return rows


def words(shown: str) -> str:
    """A page's text, outside styles and scripts, with single spaces."""
    texts = [text for tag, text in parsed(shown).texts if tag not in ("style", "script")]
    return " ".join("".join(texts).split())


def cells(shown: str, row: str) -> list[str]:
    """A row of the table of policies."""
    name = rf'<th scope="row"><span>{re.escape(row)}</span>.*?</th>'
    found = re.search(name + r"(.*?)</tr>", shown)
    assert found
    return [re.sub("<.*?>", "", cell) for cell in re.findall(r"<td.*?</td>", found[1])]


def corners(path: str) -> list[tuple[int, int]]:
    """Where a path of steps turns."""
    start, *moves = re.findall(r"[MvhVHZ][^MvhVHZ]*", path)
    x, y = map(int, start[1:].split())
    places = [(x, y)]
    for move in moves:
        if move[0] in "vh":
            x, y = (x, y + int(move[1:])) if move[0] == "v" else (x + int(move[1:]), y)
            places.append((x, y))
    return places


PAGES = {
    "two": lambda: page(generated()),
    "one": lambda: page(generated()[:1]),
    "one request": lambda: page([made_up([123])]),
    "no request": lambda: page([made_up([])]),
    "no policy": lambda: page([{**made_up([]), "policies": []}]),
    "no history": lambda: page([]),
    "no steps": lambda: page([without_steps(), {**without_steps(), "name": "other"}]),
    "noise": lambda: page([{**made_up([]), "policies": [told("p", noise(1, 3000))]}]),
    "nasty": lambda: page([named(NASTY)], title=NASTY),
}


def without_steps() -> dict[str, Any]:
    replay = copy.deepcopy(generated()[0])
    for policy in replay["policies"]:
        del policy["steps"]
    return replay


def named(name: str) -> dict[str, Any]:
    replay = copy.deepcopy(generated()[0])
    replay |= {"name": name, "format": name, "model": name}
    for number, policy in enumerate(replay["policies"]):
        policy |= {"name": f"{number}{name}", "currency": name}
    return replay


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_well_formed_and_its_ids_are_unique_and_found(name: str) -> None:
    shown = PAGES[name]()
    parts = parsed(shown)
    assert parts.faults == []
    ids = parts.values("id")
    assert [one for one, count in Counter(ids).items() if count > 1] == []
    meant = [value.removeprefix("#") for value in parts.values("href")]
    meant += [part for value in parts.values("aria-labelledby") for part in value.split()]
    meant += [*re.findall(r"url\(#([\w-]+)\)", shown), *parts.values("data-source")]
    assert set(meant) <= set(ids)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_nothing_of_a_network(name: str) -> None:
    shown = PAGES[name]()
    bare = shown.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?:|@import|url\((?!#)|\bsrc=|<link|fetch\(|import\(", bare)
    assert all(value.startswith("#") for value in parsed(shown).values("href"))


def test_every_chart_is_xml_with_a_title_and_a_text_in_its_place() -> None:
    charts = svgs(page(generated()))
    # Of each history one per policy, and two with all policies.
    assert len(charts) == 2 * (len(POLICIES) + 2)
    for chart in charts:
        title, desc = chart[0], chart[1]
        assert chart.get("role") == "img"
        assert title.text
        assert desc.text
        assert chart.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"


@few
@given(st.text(max_size=60) | st.just(NASTY))
def test_names_are_shown_and_never_read_as_markup(name: str) -> None:
    plain, shown = (page([named(one)], title=one) for one in ("plain", name))
    shown.encode()
    assert [tag for tag, _ in parsed(shown).elements] == [tag for tag, _ in parsed(plain).elements]
    held = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", name)
    assert " ".join(held.split()) in words(shown)
    svgs(shown)


def test_names_in_the_script_s_data_come_back_as_they_were() -> None:
    shown = page([named(NASTY)])
    [data] = re.findall(r'<script type="application/json".*?>(.*?)</script>', shown)
    assert [run["name"] for run in json.loads(data)["runs"]] == [f"{n}{NASTY}" for n in range(5)]


@many
@given(st.lists(st.integers(0, 10**9), min_size=1), st.integers(1, 20), st.integers(0, 50))
def test_thinning_keeps_the_ends_and_the_extremes_of_every_column(
    values: list[int], columns: int, later: int
) -> None:
    scale = Scale(len(values) + later, 10**9, columns)
    shown = scale.shown(values)
    assert shown == sorted(set(shown))
    assert {0, len(values) - 1} <= set(shown)
    assert len(shown) <= 4 * (columns + 1)
    if len(values) <= 4 * columns:
        assert shown == list(range(len(values)))
    own = -(-columns * len(values) // scale.steps)
    for column in columns_of(len(values), own):
        kept = [values[step] for step in shown if step in column]
        part = values[column.start : column.stop]
        assert (min(kept), max(kept)) == (min(part), max(part))


@many
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=60), st.integers(1, 40))
def test_a_line_holds_each_value_for_its_request(values: list[int], columns: int) -> None:
    scale = Scale(len(values), max(values) + 1, columns)
    places = corners(scale.line(values))
    heights = [y for _, y in places]
    assert (min(heights), max(heights)) == (scale.y(max(values)), scale.y(min(values)))
    assert (places[0][0], places[-1][0]) == (0, scale.x(len(values)))
    if len(values) <= 4 * columns:
        level = dict(places)
        assert all(scale.y(value) in heights for value in values)
        assert level[scale.x(len(values))] == scale.y(values[-1])


@many
@given(st.floats(0, 1e12), st.integers(3, 8))
def test_ticks_are_round_few_and_within(most: float, count: int) -> None:
    found = ticks(most, count)
    assert found[0] == 0
    assert len(found) <= count + 1
    assert found[-1] <= most
    assert len(found) > 1 or most < 1
    assert all(value == round(value, 1) for value in found)


def test_thousands_of_requests_under_many_policies_stay_under_two_megabytes() -> None:
    histories = [
        {**made_up([], name=f"h{number}"), "policies": [told(f"p{n}", rows) for n in range(6)]}
        for number, rows in enumerate(noise(seed, 5000) for seed in range(4))
    ]
    assert len(page(histories).encode()) < 2_000_000
    assert len(page([generated()[0]] * 5000).encode()) < 2_000_000


def test_the_layers_of_a_chart_stand_on_each_other() -> None:
    replay = read(generated())[0]
    [run] = [run for run in replay.runs if run.name == "default"]
    kept, sent, held, whole = run.layers()
    assert sent == list(run.steps["tokens"])
    assert run.whole == whole[-1]
    [chart] = [svg for svg in svgs(page(generated()[:1])) if "default:" in str(svg[0].text)]
    paths = {str(path.get("id")): str(path.get("d")) for path in chart.iter() if path.get("id")}
    for layer, values in (("kept", kept), ("notes", sent), ("cleared", held)):
        [path] = [d for key, d in paths.items() if key.endswith(f"-{layer}")]
        assert path.endswith(f"V{HEIGHT}H0Z")
        heights = [y for _, y in corners(path)]
        assert heights.index(min(heights)) > 0 or values[0] == max(values)
    # Nothing was dropped, so no layer says so.
    assert not [key for key in paths if key.endswith("-dropped")]


def test_the_window_s_refusals_and_the_cache_s_breaks_are_marked() -> None:
    charts = {str(svg[0].text): svg for svg in svgs(page(generated()[:1]))}
    for policy in generated()[0]["policies"]:
        chart = charts[f"{policy['name']}: size of each request"]
        crosses = [use for use in chart.iter() if use.get("href") == "#mark-refused"]
        assert bool(crosses) == bool(policy["refused"])
        ticks_ = [path for path in chart.iter() if path.get("class") == "broke"]
        drawn = sum(str(path.get("d")).count("M") for path in ticks_)
        assert drawn == policy["start_changes"]


@pytest.mark.parametrize(("refused", "css"), [(0, "label up"), (7, "label")])
def test_the_limits_are_named_away_from_the_crosses_which_are_drawn_over_them(
    refused: int, css: str
) -> None:
    replay = made_up([390_000, 1_000_000] * 4)
    replay["policies"][0]["steps"]["refused"] = [step == refused for step in range(8)]
    replay["policies"][0] |= {"refused": 1, "finished": False}
    sizes, _, own = svgs(page([replay]))
    for chart in (sizes, own):
        parts = list(chart.iter())
        names = [part for part in parts if str(part.text).startswith(("budget 4", "window 1"))]
        assert [name.get("class") for name in names] == [css, css]
        [cross] = [part for part in parts if part.get("href") == "#mark-refused"]
        assert all(parts.index(name) < parts.index(cross) for name in names)


def test_a_limit_far_above_all_requests_is_named_and_does_not_flatten_them() -> None:
    shown = page([made_up([100, 200, 300])])
    assert "above this chart: window 1M, budget 400k" in words(shown)
    assert 'class="limit' not in shown
    near = page([made_up([100_000, 390_000])])
    assert "budget 400,000" in words(near)
    assert near.count('class="limit budget"') == 2


def test_the_headline_says_who_was_refused_and_follows_the_figures() -> None:
    assert (
        "2 of 2 histories are refused under nothing and 0 of 2 under drop oldest, "
        "one at a time, last six and default." in words(page(generated()))
    )
    other = copy.deepcopy(generated())
    other[0]["policies"][4]["refused"] = 3
    told_ = words(page(other))
    assert "2 of 2 histories are refused under nothing, 1 of 2 under default and 0 of 2" in told_
    one = words(page(other[:1]))
    assert "Refused under nothing and default; never under drop oldest" in one
    for policy in (policy for replay in other for policy in replay["policies"]):
        policy["refused"] = 0
    assert "No request is refused under any policy." in words(page(other))


def test_the_cheapest_of_those_that_finish_is_named_with_its_cost() -> None:
    finish = [policy for policy in generated()[0]["policies"] if policy["finished"]]
    cheapest = min(finish, key=lambda policy: policy["cost"])
    dearest = max(finish, key=lambda policy: policy["cost"])
    told_ = words(page(generated()[:1]))
    assert f"{cheapest['name']} costs least, {cheapest['cost']:,.2f} USD for" in told_
    assert f"{dearest['name']} costs most, {dearest['cost']:,.2f} USD," in told_


def test_where_no_policy_finishes_all_the_farthest_is_named() -> None:
    other = copy.deepcopy(generated())
    for number, policy in enumerate(other[0]["policies"]):
        policy["finished"] = False
        other[1]["policies"][number]["finished"] = number == 4
    told_ = words(page(other))
    assert "No policy finishes all of it; default comes farthest, with 1 of 2 histories." in told_
    other[1]["policies"][4]["finished"] = False
    assert "No policy finishes any of it." in words(page(other))


def test_many_models_are_counted_and_few_are_named() -> None:
    replays = [{**made_up([1]), "model": f"model-{number}"} for number in range(5)]
    assert "in anthropic for 5 models;" in words(page(replays))
    assert "in anthropic for model-0, model-1 and model-2;" in words(page(replays[:3]))


def test_a_policy_s_own_budget_is_drawn_in_its_chart() -> None:
    replay = made_up([100_000, 390_000])
    replay["policies"][0]["budget"] = 200_000
    of_all, _, own = svgs(page([replay]))
    assert "budget 400,000" in [text.text for text in of_all.iter()]
    assert "budget 200,000" in [text.text for text in own.iter()]


def test_without_prices_tokens_are_compared_and_no_cost_is_made_up() -> None:
    replay = copy.deepcopy(generated()[0])
    for policy in replay["policies"]:
        policy |= {"cost": None, "currency": None}
    told_ = words(page([replay]))
    assert "sends the fewest tokens that the prefix cache doesn't give: " in told_
    assert "USD" not in told_
    assert "cost" not in re.findall(r'scope="row"><span>(.*?)</span>', page([replay]))


def test_costs_in_other_currencies_are_not_summed() -> None:
    other = copy.deepcopy(generated())
    for policy in other[1]["policies"]:
        policy["currency"] = "EUR"
    assert all(total.cost is None for total in totals(read(other)))


@pytest.mark.parametrize("key", SUMS)
def test_a_total_is_the_sum_over_the_histories(key: str) -> None:
    for place, total in enumerate(totals(read(generated()))):
        figures = [replay["policies"][place][key] for replay in generated()]
        assert total.sum(key) == pytest.approx(sum(figures))


def test_the_table_holds_the_totals() -> None:
    shown = page(generated())
    sums = [
        sum(replay["policies"][place]["tokens_sent"] for replay in generated())
        for place in range(len(POLICIES))
    ]
    assert cells(shown, "tokens sent") == [f"{figure:,}" for figure in sums]
    assert cells(shown, "finished") == ["0 of 2", "2 of 2", "2 of 2", "2 of 2", "2 of 2"]


def test_the_least_of_those_that_finished_is_bold_and_nothing_where_all_are_alike() -> None:
    shown = page(generated())
    costs = [
        [replay["policies"][place]["cost"] for replay in generated()]
        for place in range(1, len(POLICIES))
    ]
    least = min(map(sum, costs))
    [row] = re.findall(r"<span>cost</span>(.*?)</tr>", shown)
    assert re.findall(r"<strong>(.*?)\xa0USD</strong>", row) == [f"{least:,.2f}"]
    [row] = re.findall(r"<span>turns dropped</span>(.*?)</tr>", shown)
    assert "<strong>" not in row


def test_what_only_some_replays_tell_is_shown_where_all_do() -> None:
    more = copy.deepcopy(generated())
    assert "results unread" not in words(page(more))
    for policy in (policy for replay in more for policy in replay["policies"]):
        policy["unread"] = 4
    assert cells(page(more), "results unread") == ["8"] * len(POLICIES)


def test_figures_are_called_as_the_terminal_calls_them(tmp_path: Path) -> None:
    history = tmp_path / "history.json"
    history.write_text(json.dumps(tool_rounds(5)), "utf-8")
    model = ("--model", "claude-opus-4-5")
    printed = run("replay", str(history), "--budget", "6000", "--window", "9000", *model).stdout
    rows = [row.name for group in ROWS.values() for row in group]
    assert sorted(set(rows) - {"largest request", "cost"}) == sorted(
        title
        for line in printed.splitlines()[5:]
        if (title := line[:17].strip()) not in ("", "share from cache")
    )


def test_only_what_stands_in_the_charts_is_explained() -> None:
    plain = words(page([made_up([390_000, 399_000])]))
    for mark in ("notes in place of results", "cleared:", "dropped:", "cache broke:", "refused:"):
        assert mark not in plain
        assert mark in words(page(generated()[:1]))


def test_a_chart_s_table_tells_every_request_s_least_and_greatest() -> None:
    sizes = [7 * step % 1000 for step in range(1, 500)]
    shown = page([made_up(sizes)])
    table = re.findall(r'<table class="figures">(.*?)</table>', shown)[-1]
    rows = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    end = 0
    for numbers, tokens, *_ in rows:
        low, high = (int(part) for part in numbers.split("–"))
        assert low == end + 1
        part = sizes[low - 1 : high]
        assert tokens == f"{min(part):,}–{max(part):,}"
        end = high
    assert end == len(sizes)


def test_refused_requests_are_not_paid_for() -> None:
    replay = made_up([100, 200, 300])
    replay["policies"][0]["steps"]["refused"] = [False, True, False]
    assert read([replay])[0].runs[0].paid == [100, 100, 400]


def test_of_many_histories_the_largest_get_charts_and_all_stand_in_the_table() -> None:
    sizes: Sequence[int] = (300, 100, 500, 200, 400)
    shown = page([made_up([size], name=f"of {size}") for size in sizes])
    assert re.findall(r"<h2>(of \d+)</h2>", shown) == ["of 500", "of 400", "of 300"]
    table = shown[shown.index("All histories") :]
    assert re.findall(r"<bdi>(of \d+)</bdi>", table) == [f"of {n}00" for n in (5, 4, 3, 2, 1)]


def test_histories_beyond_the_listed_ones_are_counted() -> None:
    assert "100 smaller ones only counted above" in words(page([generated()[0]] * 300))


def test_histories_without_single_requests_still_have_their_totals() -> None:
    shown = PAGES["no steps"]()
    assert svgs(shown) == []
    assert "largest request" not in words(shown)
    assert cells(shown, "finished")[-1] == "2 of 2"


def test_a_policy_that_some_histories_lack_is_of_fewer() -> None:
    other = copy.deepcopy(generated())
    del other[1]["policies"][4]
    assert cells(page(other), "finished")[-2:] == ["2 of 2", "1 of 1"]
    assert "<td>–</td>" in page(other)[page(other).index("All histories") :]


@pytest.mark.parametrize(
    ("break_it", "where"),
    [
        (lambda replay: replay.pop("name"), r"replays\[0\] has no 'name'"),
        (lambda replay: replay["policies"][1].pop("refused"), r"policies\[1\] has no 'refused'"),
        (lambda replay: replay["policies"][0]["steps"].pop("kept"), r"steps has no 'kept'"),
        (
            lambda replay: replay["policies"][0]["steps"]["notes"].pop(),
            r"policies\[0\]\.steps: 'notes' has \d+ values, but 'tokens' has \d+",
        ),
        (
            lambda replay: replay["policies"][1].update(name="nothing"),
            r"replays\[0\] has 2 policies named 'nothing'",
        ),
    ],
)
def test_what_lacks_something_is_named_with_its_place(break_it: Any, where: str) -> None:
    replay = copy.deepcopy(generated()[0])
    break_it(replay)
    with pytest.raises(ValueError, match=where):
        page([replay])


@pytest.mark.parametrize(("count", "labels"), [(ROOM, ROOM), (ROOM + 1, 0)])
def test_more_lines_than_can_bear_names_are_told_apart_by_the_legend(
    count: int, labels: int
) -> None:
    [policy] = made_up([10, 20])["policies"]
    policies = [{**policy, "name": f"p{number}"} for number in range(count)]
    shown = page([{**made_up([]), "policies": policies}])
    assert len(re.findall(r'class="label ink', shown)) == 2 * labels
    assert shown.count('class="legend narrow"') == 2 * bool(labels)


def test_labels_are_spread_over_the_height_that_the_style_sheet_gives() -> None:
    css = files("turnfit.replay.page").joinpath("page.css").read_text("utf-8")
    [height] = re.findall(r"\.plot\.tall \{ height: (\d+)px", css)
    assert int(height) // 16 == ROOM


def test_the_generated_work_passes_the_window() -> None:
    for replay in generated():
        assert replay["policies"][0]["steps"]["tokens"][-1] > WINDOW
