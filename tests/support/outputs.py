"""Outputs that are hard to cut."""

from __future__ import annotations

import os
from itertools import accumulate

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("TURNFIT_EXAMPLES", "300"))

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
"""Long texts take their time to be drawn; that is what they are for."""

many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=SLOW)
some = settings(many, max_examples=max(20, EXAMPLES // 5))

FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}\u200d\N{BOY}"
FLAG = "\U0001f1fa\U0001f1e6"
MARKED = "e\u0301\u0323\u0308"
CONJUNCT = "\u0915\u094d\u0937\u093f"
HANGUL = "\u1112\u1161\u11ab"
COLOUR = "\x1b[38;2;255;100;0m"
LINK = "\x1b]8;;https://example.org/a/b\x1b\\"
ESCAPED_PAIR = r"\ud83d\ude42"

WHOLE = (FAMILY, FLAG, MARKED, CONJUNCT, HANGUL, "\r\n", COLOUR, LINK, "\x1b[0m", ESCAPED_PAIR)
"""What no cut may part."""
PLAIN = ("a", "B", "7", " ", "\n", "я", "ж", "世", "界", "🙂", "é", ".")

pieces = st.lists(st.sampled_from(WHOLE + PLAIN * 3), min_size=1, max_size=80)
atoms = st.builds(lambda parts, times: parts * times, pieces, st.integers(1, 40))
long_atoms = st.builds(
    lambda parts, times: parts * (2_000 // len(parts) * times), pieces, st.integers(1, 3)
)


def places_between(parts: list[str]) -> set[int]:
    """Where a text of these parts may be cut."""
    return {0, *accumulate(map(len, parts))}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=200),
    lambda inner: (
        st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=12), inner, max_size=12)
    ),
    max_leaves=60,
)
