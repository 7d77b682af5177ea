"""What can go wrong, as a tree.

``TurnfitError``
    ├── ``FormatError`` (also a ``ValueError``): a message that can't be read
    ├── ``BudgetError`` (also a ``ValueError``): a budget without room for any message
    ├── ``BusyError`` (also a ``RuntimeError``): a conversation that another thread uses
    ├── ``HistoryError`` (also a ``ValueError``): a file that holds no history or conversation
    ├── ``CompactionError`` (also a ``ValueError``): a compaction that would gain too little
    └── ``RecordError`` (also a ``ValueError``): a carry-over record that can't be read

Bad arguments are plain ``TypeError`` and ``ValueError`` with the parameter named.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "BusyError",
    "CompactionError",
    "FormatError",
    "HistoryError",
    "MissingExtraError",
    "RecordError",
    "TurnfitError",
]


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


class MissingExtraError(TurnfitError, ModuleNotFoundError):
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


class CompactionError(TurnfitError, ValueError):
    """A compaction that can't be done or would gain too little; nothing has changed.

    Attributes:
        gained: the tokens that it would have freed; negative where it would have grown.
    """

    def __init__(self, message: str, gained: int = 0) -> None:
        super().__init__(message)
        self.gained = gained

    def __reduce__(self) -> tuple[type[CompactionError], tuple[str, int]]:
        return type(self), (str(self), self.gained)


class RecordError(TurnfitError, ValueError):
    """A carry-over record that can't be read, or an answer from which none can be made.

    Attributes:
        path: where in the record, as ``established[2].text``; empty for the whole.
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self._message = message

    def __reduce__(self) -> tuple[type[RecordError], tuple[str, str]]:
        return type(self), (self._message, self.path)


class HistoryError(TurnfitError, ValueError):
    """A file that holds no history or saved conversation, or a broken one."""
