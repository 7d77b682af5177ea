"""What can go wrong, as a tree.

``TurnfitError``
    ├── ``FormatError`` (also a ``ValueError``): a message that can't be read
    ├── ``BudgetError`` (also a ``ValueError``): a budget without room for any message
    └── ``BusyError`` (also a ``RuntimeError``): a conversation that another thread uses

Bad arguments are plain ``TypeError`` and ``ValueError`` with the parameter named.
"""

from __future__ import annotations

__all__ = ["BudgetError", "BusyError", "FormatError", "MissingExtraError", "TurnfitError"]


class TurnfitError(Exception):
    """The root of what turnfit raises by itself."""


class FormatError(TurnfitError, ValueError):
    """A message whose shape is of no known format, or of another than the rest.

    Attributes:
        index: the message's place in the history, from 0.
    """

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, int]]:
        return type(self), (str(self), self.index)


class BudgetError(TurnfitError, ValueError):
    """A budget of which nothing is left for messages.

    Attributes:
        parts: tokens taken by each part of the request, by the part's name.
    """

    def __init__(self, message: str, parts: dict[str, int]) -> None:
        super().__init__(message)
        self.parts = parts

    def __reduce__(self) -> tuple[type[BudgetError], tuple[str, dict[str, int]]]:
        return type(self), (str(self), self.parts)


class BusyError(TurnfitError, RuntimeError):
    """A conversation that is in use already: by another thread, or by its own predicate."""


class MissingExtraError(TurnfitError, ImportError):
    """Something that needs packages which only an extra of turnfit brings.

    Attributes:
        extra: the extra's name.
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra {extra!r}: pip install 'turnfit[{extra}]'")
        self.what = what
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        return type(self), (self.what, self.extra)
