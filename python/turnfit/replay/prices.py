"""What requests cost, by a file of prices.

    currency = "USD"

    [models."claude-opus-5"]
    input = 5.0          # per million tokens
    cache_read = 0.5
    cache_write = 6.25
    output = 25.0

    [[models."gemini-2.5-pro".above]]
    tokens = 200_000     # requests of more input tokens take these prices
    input = 2.5          # and what isn't given is as for shorter requests

Prices change, so none are shipped: a file is the user's, and says of which day it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from operator import itemgetter
from typing import Any

from turnfit.errors import TurnfitError
from turnfit.replay.caching import CacheUse
from turnfit.tokens.models import plain_model_name

__all__ = ["Price", "PriceError", "Prices"]

_MILLION = 1_000_000
_MOST = 1e9
"""No token is dearer; what is would make sums of costs that are no numbers."""
_DATED = r"(?:[-@]\d{6,8}|-\d{4}-\d\d-\d\d|[-:@]latest|-v\d+(?::\d+)?)*"
"""What stands behind the name of one model: another version is another model."""


class PriceError(TurnfitError, ValueError):
    """A file of prices that can't be used, or that lacks a model."""


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a model takes, per million tokens.

    Attributes:
        input: for tokens that come from no cache.
        output: for tokens of the answer.
        cache_read: for tokens out of the cache; as `input` where it isn't given.
        cache_write: for tokens written to the cache; as `input` where it isn't given.
        above: other prices for requests of more than so many input tokens, in rising order.
    """

    input: float
    output: float = 0.0
    cache_read: float | None = None
    cache_write: float | None = None
    above: tuple[tuple[int, Price], ...] = ()

    def of(self, use: CacheUse, output: int) -> float:
        """What a request costs.

        >>> Price(input=5.0, output=25.0, cache_read=0.5).of(CacheUse(100_000, 0, 2_000), 500)
        0.0725
        """
        for tokens, price in reversed(self.above):
            if sum(use) > tokens:
                return price.of(use, output)
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        taken = use.read * read + use.written * write + use.uncached * self.input
        return (taken + output * self.output) / _MILLION


@dataclass(frozen=True)
class Prices:
    """The prices of several models.

    Attributes:
        models: by name; a name stands for its dated and tagged forms too.
        currency: in what they are given.
    """

    models: Mapping[str, Price]
    currency: str = "USD"

    @classmethod
    def from_toml(cls, text: str) -> Prices:
        """The prices that a TOML document holds, as the module shows it.

        Raises:
            PriceError: with what is wrong, and where.

        >>> Prices.from_toml('[models."gpt-5.1"]\\ninput = 1.25').of("gpt-5.1-2025-11-13").input
        1.25
        """
        try:
            values = tomllib.loads(text)
        except ValueError as error:
            raise PriceError(f"not TOML: {error}") from None
        models, currency = values.get("models"), values.get("currency", "USD")
        if not isinstance(models, dict) or not models:
            raise PriceError('there are no models; wanted is a table such as [models."gpt-5.1"]')
        if not isinstance(currency, str):
            raise PriceError(f"currency must be a text such as USD, not {currency!r}")
        return cls({name: _price(name, row) for name, row in models.items()}, currency)

    def of(self, model: str | None) -> Price:
        """The price of a model: by its name, dated and tagged or not.

        Raises:
            PriceError: for a model that isn't there, and where none is known.
        """
        if model is None:
            raise PriceError("prices need a model, and the history names none")
        name = plain_model_name(model)
        known = {plain_model_name(one): price for one, price in self.models.items()}
        fitting = [one for one in known if re.fullmatch(re.escape(one) + _DATED, name)]
        if not fitting:
            near = get_close_matches(name, known, n=1)
            hint = f"; is it {near[0]!r}?" if near else f"; there are {', '.join(self.models)}"
            raise PriceError(f"there is no price for {model!r}{hint}")
        return known[max(fitting, key=len)]


_NAMES = tuple(entry.name for entry in fields(Price))


def _price(name: str, row: Any) -> Price:
    where = f"models.{name!r}"
    if not isinstance(row, dict):
        raise PriceError(f"{where} must be a table with input and output")
    tiers = row.get("above", [])
    if not isinstance(tiers, list) or not all(isinstance(tier, dict) for tier in tiers):
        raise PriceError(f"{where}: above must be tables, each with tokens and input")
    own = _numbers(where, {key: value for key, value in row.items() if key != "above"})
    if "input" not in own:
        raise PriceError(f"{where} has no input")
    above = [_tier(f"{where}.above", tier, own) for tier in tiers]
    return Price(**own, above=tuple(sorted(above, key=itemgetter(0))))


def _tier(where: str, row: dict[str, Any], base: Mapping[str, Any]) -> tuple[int, Price]:
    """Other prices, and for what is not among them those of shorter requests."""
    tokens = row.get("tokens")
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        raise PriceError(f"{where}: tokens must be a whole number from 0 on, not {tokens!r}")
    own = _numbers(where, {key: value for key, value in row.items() if key != "tokens"})
    if not own:
        raise PriceError(f"{where} has no price")
    return tokens, Price(**{**base, **own})


def _numbers(where: str, row: dict[str, Any]) -> dict[str, Any]:
    for key, value in row.items():
        if key not in _NAMES:
            raise PriceError(f"{where} has no price {key!r}; there are {', '.join(_NAMES)}")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= _MOST:
            most = f"{_MOST:,.0f}"
            raise PriceError(f"{where}: {key} must be a number from 0 to {most}, not {value!r:.40}")
    return {key: float(value) for key, value in row.items()}
