"""The form of a rule, and the words that the patterns share."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from turnfit.rejections.rejection import Kind

__all__ = ["Rule", "compiled"]


class Rule(NamedTuple):
    """Words by which a kind is told.

    Attributes:
        name: for logs.
        kind: what the words mean.
        words: regular expressions, case aside, of which one must be found; see `compiled`.
        says: what it was made from, as a provider wrote it.
        source: where that was seen, or the provider's page about it.
        not_at: statuses at which the words don't mean this.
        unless: what right behind them says that they mean something else.
    """

    name: str
    kind: Kind
    words: tuple[str, ...]
    says: str
    source: str = ""
    not_at: frozenset[int] = frozenset()
    unless: str = ""

    def fits(self, text: str) -> bool:
        """Whether a text has the words."""
        found = compiled("|".join(self.words)).search(text)
        if found and self.unless:
            return not compiled(self.unless).match(text, found.end())
        return bool(found)


_NUMBER = r"(?:\d{1,3}(?:[,_.'’\u00a0\u202f ]\d{3})+(?!\d)|\d{1,12}(?:\.\d+)?)(?:\s?[km](?![a-z]))?"
_OUTSIDE_NAMES = r"(?<![a-z_])(?<![a-z]-)"
"""The 4 of gpt-4 is no number of tokens."""
_OTHER_UNIT = (
    r"(?![,._'’]?\d|[ -]?(?:[kmg]i?b|bytes?|b|char\w*|pixels?|px|images?|pages?|words?|letters?"
    r"|requests?|messages?|seconds?|ms|s|minutes?|%|tools?|files?|items?)\b)"
)
"""Behind a number of tokens there is no other unit."""

PARTS = {
    "chars": r"(?:characters?|chars?|bytes?|[kmg]i?b|words|letters|pixels)",
    "subject": (
        r"\b(?<!output )(?<!completion )(?<!max_)(?<!max )(?<!image )(?<!file )(?<!tool )"
        r"(?:inputs?|prompts?|requests?|messages?|conversations?|history|context|quer(?:y|ies)"
        r"|tokens?|texts?|contents?|payload|chat|documents?|transcript|sequence|total|session|it"
        r"|this|length|size)\b"
    ),
    "exceeds": (
        r"\b(?:exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|overflow(?:s|ed|ing)?|overran|overruns"
        r"|(?:(?:is|are|was|were|be|being) )?(?:\w+ )?(?:longer|larger|bigger|greater|more|higher)"
        r"(?: tokens)? than|(?:is|are|was|were|goes|go|went|runs) (?:over|above|beyond|past|out of)"
        r"|too (?:long|large|big|many)(?: tokens)? for|outgrew|beyond|over)\b"
    ),
    "window": (
        r"(?:context[ _-]?(?:window|length|size|limit|len\b|capacity|budget|tokens?\b)"
        r"|(?:prompt|input|sequence|seq)[ _-]?(?:tokens? )?(?:window|length|limit|len\b)"
        r"|max(?:imum)?[ _-](?:(?:allowed|supported|permitted|number of)[ _-])?"
        r"(?:context|prompt|input|sequence|model|seq|position|message|text|total|request)[ _-]?"
        r"(?:window|length|len\b|size|tokens?|limit|embeddings)"
        r"|max_num_tokens|n_ctx\b|max_position_embeddings|session[ _]len(?:gth)?\b"
        r"|(?:token|tokens) (?:limit|window|budget|capacity)"
        r"|max(?:imum)?(?: number of)? (?:input |prompt |context |allowed )?tokens|token size"
        r"|model(?:'s|’s)? (?:max(?:imum)?|limit|capacity|context|window)\b)"
    ),
    "cap": (
        r"max[_ ]?(?:imum )?(?:completion[_ ]?|output[_ ]?|new[_ ]?|generated[_ ]?)?tokens"
        r"(?:[_ ]to[_ ]sample)?\b|max_?(?:completion|output|new|gen)_?(?:tokens|len(?:gth)?)\b"
        r"|num_predict\b|max_length\b|max_gen_len\b|maxtokencount\b"
    ),
    "limits": (
        r"(?:exceed|must be|should be|should not|cannot|can't|can not|may not|less than|at most"
        r"|greater than|above|below|beyond|larger|higher|more than|not less or equal|out of range"
        r"|(?:valid|supported|allowed) range|too (?:large|big|high|many)|maximum|limit"
        r"|up to|<=|≤|不能|超过|范围)"
    ),
    "about": r"(?:a total of |about |approximately |at least )?",
    "request": r"(?:messages|prompt|input|request|conversation|history)",
    "takes": (
        r"(?:resulted in|contains?|has|have|used|uses|totals?|sent|requested|provided|consumed?"
        r"|needs?|requires?|takes?)"
    ),
    "counted": r"(?:tokens?|length|count|size|input|prompt|request)",
    "beyond": r"(?:exceed|surpass|longer than|larger than|greater than|more than|over|above|>)",
    "got": r"(?:got|given|received|actual|used|sent|provided|supplied|found)",
    "limitword": (
        r"(?:max(?:imum)?(?:[ _-](?:allowed|supported|number of))?[ _-](?:context|prompt|input"
        r"|sequence|model|seq|message|token|total|text)?[ _-]?(?:window|length|len|size|tokens?"
        r"|limit)|context[ _-](?:window|length|size|limit)|max_(?:model|seq|input)_len"
        r"|(?:input|prompt|tokens?|configured|model|total)(?:'s)? (?:limit|maximum|window)"
        r"|model max(?:imum)?|\blimit|\bmaximum|\bn(?:um)?_ctx|\bmax tokens|\bwindow)"
    ),
}


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern with its parts put in; compiled when it is first asked for.

    ``<..40>`` are at most 40 characters of one sentence; ``<name>`` is a part of `PARTS`, and
    where there is none of this name, a number of tokens, called so (``<n>`` is called nothing).

    >>> bool(compiled("over <limit> tokens").search("over 12,000 tokens"))
    True
    >>> bool(compiled("prompt<..40>long").search("The prompt ends here. How long was it?"))
    False
    """
    pattern = re.sub(r"<\.\.(\d+)>", r"(?:[^.;\n]|\.(?=\\w)){0,\1}?", pattern)
    return re.compile(re.sub(r"<([a-z]+)>", _part, pattern), re.IGNORECASE)


def _part(found: re.Match[str]) -> str:
    name = found[1]
    if name in PARTS:
        return f"(?:{PARTS[name]})"
    group = "?:" if name == "n" else f"?P<{name}>"
    return f"{_OUTSIDE_NAMES}({group}{_NUMBER}){_OTHER_UNIT}"
