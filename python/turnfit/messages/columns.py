"""What whole columns of messages and requests cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from turnfit import _core
from turnfit.errors import FormatError, MissingExtraError
from turnfit.messages.estimate import message_tokens, request_tokens
from turnfit.messages.formats.table import Format
from turnfit.messages.requests import read_request
from turnfit.tokens.columns import ArrowArray, ArrowColumn
from turnfit.tokens.profiles import Profile, Tariff, tariff_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["estimate_messages_many"]


@overload
def estimate_messages_many(
    column: ArrowColumn,
    *,
    format: str | Format | None = None,
    profiles: Sequence[str | Profile] = ("script",),
) -> dict[str, ArrowArray]: ...
@overload
def estimate_messages_many(
    column: Iterable[Any],
    *,
    format: str | Format | None = None,
    profiles: Sequence[str | Profile] = ("script",),
) -> dict[str, NDArray[np.int64]]: ...
def estimate_messages_many(
    column: Any,
    *,
    format: str | Format | None = None,
    profiles: Sequence[str | Profile] = ("script",),
) -> Any:
    """Estimate the tokens of each message, history or request of a column, frames included.

    A row is a message (an object, priced as `estimate_message` does), a history (a list of
    messages, priced as `estimate_request` does), or a request's body as it was sent (an
    object with ``messages``, ``contents`` or ``input``; its system prompt, tools and the
    schema of its answer are priced too). Each row is parsed once, for all profiles.

    Args:
        column: JSON texts, or the parsed objects, in a list, any iterable, or a numpy array;
            or an Arrow column of JSON texts, or of structs and lists of these, as DuckDB,
            pyarrow and polars make of JSON (for which pyarrow is needed). What is null
            within a struct isn't there.
        format: the format of all rows, or its name; recognised row by row where it isn't
            given. The body of a request tells its own.
        profiles: the profiles to price by: names, or `turnfit.Profile`, such as
            `turnfit.profile_for` gives them for a model.

    Returns:
        By the profile's name, as it was given, the tokens of each row: for Arrow an Arrow
        array of int64, nulls kept; for anything else a numpy array of int64.

    Raises:
        FormatError: for a row that is no message, history or request; its `index` is the
            row's number, from 0.
        ValueError: for a row of broken JSON, with its number.
        TypeError: for a column or a profile that is none, and for null where it is not Arrow.
        MissingExtraError: for Arrow's structs without pyarrow.

    >>> rows = ['{"role": "user", "content": "Read every file."}', '[]']
    >>> estimate_messages_many(rows, profiles=["script", "o200k_base"])
    {'script': array([7, 3]), 'o200k_base': array([6, 3])}
    """
    if isinstance(profiles, str | Profile) or not profiles:
        raise TypeError("profiles must be a sequence of profiles, with one at least")
    tariffs = {str(profile): _tariff(profile) for profile in profiles}
    if hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"):
        priced = [_priced_or_null(n, row, format, tariffs) for n, row in _arrow_rows(column)]
        return {
            name: _core.arrow_of([None if row is None else row[name] for row in priced])
            for name in tariffs
        }
    return _as_numpy(_rows(column), format, tariffs)


def _tariff(profile: str | Profile) -> Tariff:
    if isinstance(profile, str | Profile):
        return tariff_of(profile)
    raise TypeError(f"profiles must hold names or Profiles, not {type(profile).__name__}")


def _as_numpy(
    rows: Iterable[Any], format_: str | Format | None, tariffs: dict[str, Tariff]
) -> dict[str, NDArray[np.int64]]:
    import numpy as np

    priced = [_priced(number, row, format_, tariffs) for number, row in enumerate(rows)]
    return {name: np.array([row[name] for row in priced], np.int64) for name in tariffs}


def _rows(column: Any) -> Iterable[Any]:
    if isinstance(column, str | bytes | dict):
        raise TypeError(f"column must hold rows, not be {type(column).__name__}")
    rows: Iterable[Any] = column.tolist() if hasattr(column, "tolist") else column
    return rows


def _arrow_rows(column: Any) -> Iterable[tuple[int, Any]]:
    texts = _core.arrow_texts(column)
    if texts is not None:
        return enumerate(texts)
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise MissingExtraError("an Arrow column of structs", "engines") from None
    array = pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pa.array(column)
    return enumerate(array.to_pylist(maps_as_pydicts="strict"))


def _priced_or_null(
    number: int, row: Any, format_: str | Format | None, tariffs: dict[str, Tariff]
) -> dict[str, int] | None:
    return None if row is None else _priced(number, row, format_, tariffs)


def _priced(
    number: int, row: Any, format_: str | Format | None, tariffs: dict[str, Tariff]
) -> dict[str, int]:
    parsed = _parsed(number, row)
    try:
        return {name: _cost(parsed, format_, tariff) for name, tariff in tariffs.items()}
    except (ValueError, TypeError) as error:
        raise FormatError(f"row {number}: {error}", number) from None


def _parsed(number: int, row: Any) -> Any:
    if isinstance(row, str | bytes | bytearray):
        try:
            row = json.loads(row)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"row {number}: broken JSON: {error}") from None
    if isinstance(row, dict | list | tuple):
        return row
    kind = type(row).__name__
    raise TypeError(f"row {number}: wanted is JSON of an object or a list, not {kind}")


def _cost(row: Any, format_: str | Format | None, tariff: Tariff) -> int:
    if not isinstance(row, dict):
        return request_tokens(list(row), None, None, format_, tariff)
    if not _is_body(row):
        return message_tokens(row, format_, tariff)
    body = read_request(row)
    return request_tokens(body.messages, body.system, body.tools, body.format or format_, tariff)


def _is_body(row: dict[str, Any]) -> bool:
    """An item of OpenAI's Responses may have an ``input`` too."""
    if row.get("messages") is not None or row.get("contents") is not None:
        return True
    return row.get("input") is not None and row.keys().isdisjoint(("type", "role"))
