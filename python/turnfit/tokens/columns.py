"""Estimating whole columns of texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, overload

from turnfit import _core
from turnfit.tokens.profiles import Profile, pricing_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ArrowArray", "ArrowColumn", "estimate_many"]


class ArrowArray(Protocol):
    """An Arrow array, as every Arrow library takes and gives it.

    See https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
    """

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """The array's schema and data, as two capsules."""
        ...


class ArrowStream(Protocol):
    """An Arrow array in chunks, likewise."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The stream, as a capsule."""
        ...


ArrowColumn = ArrowArray | ArrowStream


@overload
def estimate_many(
    column: ArrowColumn,
    *,
    profile: str | Profile | None = None,
    exact_sum: bool = False,
    threads: int = 1,
) -> ArrowArray: ...
@overload
def estimate_many(
    column: Iterable[str | bytes] | NDArray[Any],
    *,
    profile: str | Profile | None = None,
    exact_sum: bool = False,
    threads: int = 1,
) -> NDArray[np.int64] | NDArray[np.float64]: ...
def estimate_many(
    column: Any,
    *,
    profile: str | Profile | None = None,
    exact_sum: bool = False,
    threads: int = 1,
) -> Any:
    """Estimate the tokens of each text of a column.

    Args:
        column: texts in a list, a tuple or any iterable; a numpy array of strings or
            objects; or an Arrow column, as pyarrow, polars, pandas or DuckDB have it
            (utf8, large_utf8, string_view, dictionaries of these, chunks, nulls; a table
            of one column too). Arrow's texts and numpy's strings are read where they lie.
        profile: the name of a profile, or a `turnfit.Profile`; by script where it is not given.
        exact_sum: leave the rows unrounded, so that they add up to the price of all
            texts together; each row is then a float64 that is exact.
        threads: at most how many threads share the rows; fewer, where one would have less
            than about a megabyte to read. One, unless told otherwise: an engine that calls
            this for each of its batches has the cores already.

    Returns:
        For Arrow an Arrow array of int64 (float64 with `exact_sum`), nulls kept, that
        ``pyarrow.array``, ``polars.Series`` and others take without a copy. For anything
        else a numpy array of int64 (float64), of the shape that came in.

    Raises:
        TypeError: for a column or a row that is no text, with the row's number.

    >>> estimate_many(["Hello, world!", "привет мир", b"\\xe4\\xb8\\x96\\xe7\\x95\\x8c"])
    array([4, 5, 2])
    >>> estimate_many(["ab", "c"], exact_sum=True).sum()
    np.float64(0.75)
    >>> estimate_many(["0xDEADBEEF", "привет"], profile="o200k_base")
    array([4, 2])
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise ValueError(f"threads must be an int of at least 1, not {threads!r}")
    weights = weights_of(profile, "a column")
    if hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"):
        return _core.estimate_arrow(column, exact_sum, threads, weights)
    if isinstance(column, str | bytes | bytearray | memoryview | dict):
        raise TypeError(f"column must hold texts, not be {type(column).__name__}")
    if type(column).__module__ == "numpy" and hasattr(column, "dtype"):
        return _estimate_array(column, exact_sum, threads, weights)
    texts = column if isinstance(column, list | tuple) else list(column)
    return _core.estimate_objects(texts, exact_sum, threads, weights)


def weights_of(profile: str | Profile | None, what: str) -> _core.Weights | None:
    """The weights of a profile, by which alone a whole column or file can be priced."""
    pricing = pricing_of(profile)
    if pricing is not None and not isinstance(pricing, _core.Weights):
        raise TypeError(f"{what} can't be priced by a callable; call it for each text")
    return pricing


def _estimate_array(
    array: NDArray[Any], exact: bool, threads: int, weights: _core.Weights | None
) -> NDArray[Any]:
    rows = array.ravel()
    if array.dtype.kind != "U" or not array.dtype.itemsize:
        priced = _core.estimate_objects(rows.tolist(), exact, threads, weights)
    else:
        native = rows.astype(rows.dtype.newbyteorder("="), copy=False)
        width = native.dtype.itemsize // 4
        points = native.view("u4").reshape(len(native), width)
        priced = _core.estimate_code_points(points, exact, threads, weights)
    return priced.reshape(array.shape)
