"""HTML and SVG as text that can't be mistaken for text to be shown.

Only `text` makes markup out of a plain str, and it escapes; a type checker finds the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import NewType

__all__ = ["NOTHING", "Markup", "join", "raw", "tag", "text"]

Markup = NewType("Markup", str)
"""Text that may stand in a page as it is."""

NOTHING = Markup("")
_UNHELD = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_EMPTY = frozenset({"col", "line", "meta", "path", "rect", "use"})


def text(shown: object) -> Markup:
    """Text to be shown, escaped; what no page can hold is replaced.

    >>> text("<script> & \\x00")
    '&lt;script&gt; &amp; \ufffd'
    """
    return Markup(escape(_UNHELD.sub("\N{REPLACEMENT CHARACTER}", str(shown))))


def raw(known: str) -> Markup:
    """Markup that the package itself brings."""
    return Markup(known)


def join(parts: Iterable[Markup], between: str = "") -> Markup:
    """Pieces of markup after each other.

    >>> join([tag("b", text("a")), tag("b", text("b"))], ", ")
    '<b>a</b>, <b>b</b>'
    """
    return Markup(text(between).join(parts))


def tag(name: str, /, *inside: Markup, **attributes: object) -> Markup:
    """An element; attributes that are None are left out, and ``_`` stands for ``-``.

    >>> tag("td", text("1 < 2"), class_="sum", data_at=None)
    '<td class="sum">1 &lt; 2</td>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    end = "/>" if name in _EMPTY else f">{join(inside)}</{name}>"
    return Markup(f"<{name}{given}{end}")
