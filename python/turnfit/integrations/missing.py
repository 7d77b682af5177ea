"""Names the extra that a framework's module needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from turnfit.errors import MissingExtraError

__all__ = ["extra"]


@contextmanager
def extra(what: str, name: str, package: str) -> Iterator[None]:
    """Imports under this ask for the extra where the framework's package is missing.

    What a framework that is there can't find by itself stays its own error.

    Args:
        what: the module.
        name: the extra.
        package: the package that the extra brings, as it is imported.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != package:
            raise
        raise MissingExtraError(what, name) from error
