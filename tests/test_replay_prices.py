"""Costs follow a file of prices, and a wrong file is told with its place."""

from __future__ import annotations

from math import isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.messages import user
from test_fit import MANY
from test_replay import turns
from turnfit.replay import Price, PriceError, Prices, Recording, replay
from turnfit.replay.caching import CacheUse
from turnfit.replay.track import Track

PRICES = """
[models."claude-opus-5"]
input = 5.0
cache_read = 0.5
cache_write = 6.25
output = 25.0
"""


def test_costs_follow_the_prices_and_count_the_answers() -> None:
    prices = Prices.from_toml(PRICES)
    history = [*turns(6, words=2000), user("last")]
    work = Recording(name="w", messages=history, model="claude-opus-5")
    got = replay(work, 10**6, prices=prices)
    one = got["nothing"]
    answers = Track.of(work, "claude-opus-5").outputs
    assert one.cost == pytest.approx(
        (5 * one.uncached + 0.5 * one.cache_read + 6.25 * one.cache_written + 25 * sum(answers))
        / 1e6
    )
    assert got.currency == "USD"
    assert replay(work, 10**6)["nothing"].cost is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("models = 3", "no models"),
        ("[models.a]\noutput = 1", "'a' has no input"),
        ("[models.a]\ninput = -1", "input must be a number from 0 to 1,000,000,000, not -1"),
        ("[models.a]\ninput = 1\nouput = 1", "no price 'ouput'"),
        ("[models.a]\ninput = true", "must be a number"),
        ("[models.a]\ninput = 1" + "0" * 400, "must be a number from 0"),
        ("[models.a]\ninput = inf", "not inf"),
        ("[models.a]\ninput = 1e400", "not inf"),
        ("[models.a]\ninput = nan", "not nan"),
        ("[models.a]\ninput = 1\noutput = 1e10", "output must be a number"),
        ("[models.a]\ninput = 1\n[[models.a.above]]\ntokens = 2\ninput = nan", "not nan"),
        ("[models.a]\ninput = 1\nabove = 3", "above must be tables"),
        ("[models.a]\ninput = 1\n[[models.a.above]]\ninput = 2", "tokens must be a whole number"),
        ("[models.a]\ninput = 1\n[[models.a.above]]\ntokens = 2", "above has no price"),
        ("not toml", "not TOML"),
        ("currency = 1\n[models.a]\ninput = 1", "currency must be a text"),
    ],
)
def test_a_wrong_file_of_prices_is_told_with_its_place(text: str, told: str) -> None:
    with pytest.raises(PriceError, match=told):
        Prices.from_toml(text)


def test_longer_requests_may_have_other_prices() -> None:
    tiers = (
        "[[models.a.above]]\ntokens = 300\ninput = 4\n[[models.a.above]]\ntokens = 200\ninput = 2"
    )
    price = Prices.from_toml(f"[models.a]\ninput = 1\noutput = 9\n{tiers}").of("a")
    uses = [CacheUse(0, 0, tokens) for tokens in (200, 201, 300, 301)]
    assert [price.of(use, 0) * 1e6 for use in uses] == [200, 402, 600, 1204]
    assert price.of(CacheUse(100, 100, 101), 5) * 1e6 == 4 * 301 + 9 * 5


PRICE_NAMES = ("input", "output", "cache_read", "cache_write")


@MANY
@given(
    *(st.dictionaries(st.sampled_from(PRICE_NAMES), st.integers(0, 90), min_size=1) for _ in "12"),
    st.tuples(*[st.integers(0, 10**6)] * 3),
)
def test_longer_requests_take_what_they_have_no_other_price_for_from_shorter_ones(
    base: dict[str, int], other: dict[str, int], use: tuple[int, int, int]
) -> None:
    base = {"input": 1, **base}

    def price_of(rows: str) -> Price:
        return Prices.from_toml(f"[models.a]\n{rows}").of("a")

    def lines(prices: dict[str, int]) -> str:
        return "".join(f"{name} = {value}\n" for name, value in prices.items())

    tiered = price_of(f"{lines(base)}[[models.a.above]]\ntokens = 1000\n{lines(other)}")
    plain = price_of(lines({**base, **other} if sum(use) > 1000 else base))
    assert tiered.of(CacheUse(*use), 7) == plain.of(CacheUse(*use), 7)
    assert isfinite(tiered.of(CacheUse(*use), 7))


def test_another_version_of_a_model_has_another_price() -> None:
    prices = Prices.from_toml(PRICES)
    assert prices.of("us.anthropic.claude-opus-5-20260901-v1:0").output == 25
    for model in ("claude-opus-5-5", "claude-opus-5-mini", "gpt-5.1"):
        with pytest.raises(PriceError, match="no price"):
            prices.of(model)
    with pytest.raises(PriceError, match="names none"):
        prices.of(None)
