"""Hypothesis strategies for carry-over records."""

from __future__ import annotations

from hypothesis import strategies as st
from turnfit.compaction import (
    CarryOver,
    Command,
    Established,
    FileState,
    Handle,
    Open,
    Remaining,
    Workspace,
)

WORDS = st.sampled_from(
    ["a.py", "b/c.txt", "Do NOT push.", "не трогать main", "時刻はUTC", 'q"\\\n]', "\ud800", "{}"]
)
COUNTS = st.integers(0, 9)
MAYBE = st.none() | COUNTS
DIGESTS = st.none() | st.sampled_from(["blake2b:00", "blake2b:11"])

FILES = st.builds(
    FileState,
    WORDS,
    st.sampled_from(["created", "written", "deleted", "temporary"]),
    DIGESTS,
    MAYBE,
)
COMMANDS = st.builds(Command, WORDS, MAYBE, MAYBE)
REMAINING = st.builds(Remaining, st.sampled_from(["tokens", "USD"]), MAYBE, COUNTS)
SOURCES = st.lists(COUNTS, max_size=2, unique=True).map(tuple)
ESTABLISHED = st.builds(Established, WORDS, st.sampled_from(["fact", "constraint"]), SOURCES)
OPEN = st.builds(Open, WORDS, st.sampled_from(["blocked", "request"]), st.booleans())
HANDLES = st.builds(Handle, st.sampled_from(["h1", "h2"]), st.sampled_from(["", "log"]))
VALUES = st.none() | st.booleans() | COUNTS | WORDS | st.lists(COUNTS, max_size=2)
EXTRA = st.dictionaries(
    st.sampled_from(["tickets", "users"]), st.lists(VALUES, min_size=1, max_size=3).map(tuple)
)
LEFT_OUT = st.dictionaries(st.sampled_from(["files", "commands"]), st.integers(1, 9))


def records() -> st.SearchStrategy[CarryOver]:
    """Records as merging leaves them: one item for a key."""
    raw = st.builds(
        CarryOver,
        workspace=st.builds(
            Workspace,
            st.lists(FILES, max_size=4).map(tuple),
            st.lists(COMMANDS, max_size=4).map(tuple),
        ),
        remaining=st.lists(REMAINING, max_size=2).map(tuple),
        established=st.lists(ESTABLISHED, max_size=4).map(tuple),
        open=st.lists(OPEN, max_size=3).map(tuple),
        handles=st.lists(HANDLES, max_size=2).map(tuple),
        extra=EXTRA,
        dropped=LEFT_OUT,
    )
    return raw.map(CarryOver().merge)
