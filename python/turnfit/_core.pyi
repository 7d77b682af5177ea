from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

from turnfit.tokens.frames import Frames
from turnfit.tokens.profiles import Profile

__all__ = [
    "NOTE_LENGTH",
    "Ledger",
    "Plan",
    "Reading",
    "Recogniser",
    "Table",
    "Tariff",
    "Terms",
    "Weights",
    "__version__",
    "arrow_of",
    "arrow_texts",
    "count_files",
    "count_scripts",
    "cut_before",
    "cut_rows",
    "cut_text",
    "estimate",
    "estimate_arrow",
    "estimate_code_points",
    "estimate_objects",
    "estimate_text",
    "estimate_tool",
    "features",
    "find_lines",
    "fits",
    "is_json",
    "last_marker",
    "plain",
    "price",
    "read_contents",
    "read_message",
    "recognise",
    "safe_place",
    "strip_escapes",
    "trim_json",
]

__version__: str
NOTE_LENGTH: int

def estimate(
    text: str | Buffer | NDArray[np.uint8],
    /,
    *,
    profile: str | Profile | Weights | Callable[[str], int] | None = None,
) -> int: ...
def features(text: str | Buffer | NDArray[np.uint8], /) -> tuple[list[int], list[int]]: ...
def count_scripts(text: str | Buffer | NDArray[np.uint8], /) -> tuple[int, int, int]: ...
def price(ascii: int, cjk: int, other: int) -> int: ...
def estimate_arrow(
    column: Any, exact: bool, threads: int, weights: Weights | None = None
) -> Any: ...
def arrow_texts(column: Any) -> list[str | None] | None: ...
def arrow_of(numbers: Sequence[int | None]) -> Any: ...
def estimate_objects(
    texts: list[Any] | tuple[Any, ...],
    exact: bool,
    threads: int,
    weights: Weights | None = None,
) -> NDArray[Any]: ...
def estimate_code_points(
    code_points: NDArray[Any], exact: bool, threads: int, weights: Weights | None = None
) -> NDArray[Any]: ...
def cut_before(text: bytes, place: int) -> int: ...
def count_files(
    paths: Sequence[str],
    threads: int,
    told: Callable[[int], object] | None,
    weights: Weights | None = None,
) -> list[tuple[int, int, int, int | None] | int]: ...
def estimate_text(
    text: str, pricing: Tariff | Weights | Callable[[str], int] | None = None, /
) -> int: ...
def estimate_tool(
    tool: Any, pricing: Tariff | Weights | Callable[[str], int] | None = None, /
) -> int: ...
def read_message(
    table: Table,
    index: int,
    message: Any,
    pricing: Tariff | Weights | Callable[[str], int] | None = None,
) -> tuple[
    Literal["system", "user", "assistant", "tool"],
    int,
    list[tuple[Literal["call", "result", "reference"], str | None, str | None, bool, int]],
]: ...
def read_contents(
    table: Table, index: int, message: Any
) -> tuple[
    Literal["system", "user", "assistant", "tool"],
    list[str],
    list[tuple[str | None, str, Any]],
    list[tuple[str | None, str | None, str, bool]],
]: ...
def last_marker(table: Table, messages: list[Any]) -> int | None: ...
def plain(message: Any) -> Any: ...
def recognise(messages: Iterable[Any], recogniser: Recogniser) -> str | None: ...
def fits(text: str, limit: tuple[int, bool, Weights | None]) -> bool: ...
def cut_text(
    text: str, start: int, limit: tuple[int, bool, Weights | None], reserved: str, head_share: float
) -> tuple[int, int]: ...
def cut_rows(
    text: str,
    start: int,
    limit: tuple[int, bool, Weights | None],
    reserved: str,
    head_share: float,
    quoted: bool,
) -> tuple[int, int, int, int, int]: ...
def safe_place(text: str, place: int, forward: bool) -> int: ...
def trim_json(
    text: str, limit: tuple[int, bool, Weights | None], hint: str, head_share: float
) -> (
    tuple[
        str,
        int,
        int,
        str,
        list[tuple[str, Literal["elements", "members", "characters"], int, int]],
    ]
    | None
): ...
def find_lines(text: str, pattern: str, offset: int, most: int) -> list[tuple[int, int, int]]: ...
def is_json(text: str) -> bool: ...
def strip_escapes(text: str) -> str: ...

@final
class Table:
    def __new__(cls, format: Any, foreign: Mapping[str, Mapping[str, str]]) -> Table: ...

@final
class Recogniser:
    def __new__(
        cls, signs: Mapping[str, Mapping[str, str]], of_object: Callable[[Any], str | None]
    ) -> Recogniser: ...

@final
class Reading:
    def __new__(cls, role: str, rows: Sequence[tuple[Any, ...]]) -> Reading: ...
    def tokens(self, pricing: Tariff | Weights | Callable[[str], int] | None = None) -> int: ...

@final
class Tariff:
    def __new__(
        cls,
        texts: Weights | Callable[[str], int] | None,
        frames: Frames,
        media: Callable[[Any, Any], int] | None = None,
    ) -> Tariff: ...
    @property
    def frames(self) -> Frames: ...

@final
class Terms:
    def __new__(
        cls,
        table: Table,
        *,
        worth: float,
        clear_batch: int,
        stride: int,
        notes: tuple[str, str, str],
        arguments: dict[str, Any],
        known_cleared: Sequence[str],
        known_trimmed: Sequence[str],
        clear_inputs: bool,
        pinned: set[int] | Callable[[Any], bool],
        treatment: Callable[[str], tuple[bool, bool]],
        pricing: Tariff | Weights | Callable[[str], int] | None,
        scale: float,
    ) -> Terms: ...

@final
class Ledger:
    def __new__(cls, table: Table, terms: Terms, remembers: bool = False) -> Ledger: ...
    def __len__(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    def message_tokens(self, message: int) -> int: ...
    def extend(self, messages: Iterable[Any]) -> None: ...
    def fill(self, messages: Iterable[Any]) -> None: ...
    def fill_at(self, messages: Iterable[Any], costs: Sequence[int]) -> None: ...
    def adopt(self, messages: list[Any], other: Ledger, start: int) -> None: ...
    def costs(self) -> list[int]: ...
    def unfinished(self) -> list[int]: ...
    def unanswered(self) -> list[tuple[int, int]]: ...
    def dead_calls(self) -> list[tuple[int, int]]: ...
    def orphans(self) -> list[tuple[int, int]]: ...
    def cuts(self) -> tuple[int, int | None, list[int], list[int]]: ...
    def first_clearable(self) -> tuple[int, int] | None: ...
    def next_clearable(self, plan: Plan) -> tuple[int, int] | None: ...
    def plan(self, room: int, keep_in: str, keep: int, keep_at_least: int, stride: int) -> Plan: ...
    def follow(
        self, rules: tuple[int, str, int, int, int], treatment: str, stale_before: int = 0
    ) -> None: ...
    def stale(self, plan: Plan) -> list[tuple[int, int, bool]]: ...
    def kept(self, before: Plan, plan: Plan) -> tuple[int | None, int]: ...
    def request(self, history: list[Any], plan: Plan) -> list[Any]: ...
    def cleared(self, plan: Plan) -> list[tuple[int, int, str | None, int]]: ...
    def cleared_totals(self, plan: Plan) -> tuple[int, int]: ...

@final
class Plan:
    @property
    def step(self) -> Literal["whole", "results", "turns", "rounds"]: ...
    @property
    def tokens(self) -> int: ...
    @property
    def messages(self) -> int: ...
    @property
    def stripped(self) -> tuple[int, int]: ...
    @property
    def kept(self) -> list[tuple[int, int]]: ...
    @property
    def note_before(self) -> int | None: ...
    def goes_on_in(self, later: Plan) -> bool: ...

@final
class Weights:
    SIZES: tuple[int, int, int, int]
    STEP: int
    UNIT: int
    shapes: list[str]
    def __new__(cls, weights: Sequence[int]) -> Weights: ...
    def weigh(self, text: str | Buffer | NDArray[np.uint8]) -> int: ...
