"""Where a refusal names tokens.

``<limit>``, ``<used>``, ``<input>``, ``<output>`` and ``<over>`` stand for numbers, the rest for
parts (`turnfit.rejections.rules.rule`). Earlier rows are surer; no number is read twice.
"""

from __future__ import annotations

__all__ = ["ANSWERS", "AT_LEAST", "INPUTS", "NOISE", "OUTPUTS", "OVER", "RATES", "WINDOWS"]

WINDOWS = (
    # both at once, as one provider words it
    r"too large: <output>\. this model'?s maximum context length is <limit> tokens"
    r" and your request has <input> input tokens",
    r"exceed context limit: <input> \+ <output> > <limit>",
    r"length <input> \+ <output> is greater than",
    r"<used> (?:input |prompt )?tokens? ?> ?<limit>",
    r"(?:tokens?|count|length|limit)[^.\d]{0,20}<used> ?> ?<limit>",
    r"has <input> input tokens plus <output>",
    r"<input> plus max_(?:new_|completion_|output_)?tokens <output>",
    r"too many tokens: <used>\. max(?:imum)?(?: allowed)?:? <limit>",
    r"<used> of <limit> tokens",
    r"\((?:total length |length )?<used>(?: tokens)?\) (?:is |are )?too (?:long|large)",
    r"requested <output> output tokens and your prompt contains <about><input> input tokens",
    r"total of <about><used> tokens",
    r"<input> tokens (?:in|from|of) the (?:input )?(?:messages|prompt|input) and <output> tokens",
    r"given: <input> `inputs` tokens and <output> `max_new_tokens`",
    r"tokens \+ `?max_new_tokens`? must be <= <limit>",
    r"n_keep\W{1,3}<used>\W{0,3}>= ?n_ctx\W{1,3}<limit>",
    r"keep the first <used> tokens",
    r"cannot truncate to <limit>, required <used>",
    r"current length is <used> while limit is <limit>",
    r"length (?:should|must) be (?:in |between )?[\[(]?\d+(?:,| and) ?<limit>",
    r"slot context: <limit> tokens, prompt <used>",
    r"must have less than <limit> tokens\. given:? <used>",
    r"too long: <used>,? (?:tokens,? )?(?:model )?max(?:imum)?(?: context length)?:? <limit>",
    r"request input token count:? <used>",
    r"max is <limit> got <used>",
    r"cannot exceed <limit> - received <used>",
    r": <used>(?: tokens)? ?> ?<limit>",
    # what the request takes
    r"\brequest(?:ed|s)?(?: for)?:? <about><used>\)?(?: tokens| input tokens|\)|$|,)",
    r"\b(?:<request>|you)\b[^.\d]{0,24}? <takes> <about><used> (?:\w+ )?tokens",
    r"\b<request>\b (?:is|are|of|was|were) <about><used> (?:\w+ )?tokens",
    r"<counted>(?: counts?)?(?: of| is|:)? ?\(?(?:length )?<used>(?: tokens?)?\)?,?"
    r"(?: which| that| it)? (?:has |have |is |are |was )?(?:cannot |should not )?<beyond>",
    r"<used> (?:input |prompt |total )?tokens?\)?,? (?:which |that |it )?"
    r"(?:has |have |is |are |was )?<beyond>",
    r"(?:<got>|have)[: ]{1,2}<about><used> (?:input |prompt )?tokens\b",
    r"token count (?:is|of|:) ?<used>",
    r"(?<!max )(?<!maximum )\b(?:prompt|input)[ _]tokens:? \(?<used>",
    r"too (?:long|large): <used> tokens",
    # the limit
    r"(?:<limitword>|maximum context) (?:for|of) (?:model )?[\w.:/-]{1,60}(?:,? which)?(?: is|:)"
    r" <limit>",
    r"supports? (?:only )?up to <limit>",
    r"allowed <limit> tokens",
    r"\bmodel (?:only )?(?:takes|accepts|allows) (?:only |at most |up to )?<limit>",
    r"\b(?:max|model context) <limit> tokens",
    r"<limitword>[^.\d]{0,40}? ?[(\[]?<limit>",
    r"(?:exceed(?:s|ed|ing)?|<beyond>)\b[^.\d]{0,60}?[ (]<limit>(?: tokens?)?\)?"
    r"(?: (?:limit|maximum|tokens?|context)\b|[.,)]|$)",
    r"(?:up to|supports?|only|less than|at most|with|has an?|of) <limit>[ -]"
    r"(?:tokens?|maximum context|max|context)",
    # a bare number behind the verb, once the limit is known
    r"<got>[: ]{1,2}<about><used>(?:\)|$|[.,] |\.$)",
)
OVER = (
    r"(?:by|over by) <over> tokens",
    r"<over> tokens (?:too (?:long|many)|over the)",
)
INPUTS = (
    r"<input> (?:tokens )?(?:in|of|from) (?:the |your )?(?:input )?(?:messages|functions|prompt"
    r"|text input|tool input|image input|audio input|input|tools|schema)"
)
OUTPUTS = r"<output> (?:tokens )?(?:in|for|of) (?:the )?(?:completion|output|response)"

ANSWERS = (
    r"at most <limit> (?:completion |output )?tokens[^.]*provided <used>",
    r"max_tokens: <used> > <limit>",
    r"<used> ?> ?<limit>",
    r"(?:range|between)[^.\d]{0,60}(?:\[|from )?\d+ ?(?:,|to|and|-|\(inclusive\) to) ?<limit>",
    r"value <= <limit>,? but got <used>",
    r"(?:less than or equal to|at most|<=|≤|(?:cannot|must not) exceed|not less or equal to"
    r"|maximum(?: value)?(?: is| of|:)|limit(?: is| of|:)|supports(?: up to)?|up to"
    r"|maximum allowed(?: is|:)?) ?`?<limit>",
    r"> <limit>",
    r"(?:value of|too large: ?|requested|<got>:?|> ?max_tokens|/maxtokens:) ?<used>",
    r"max_?(?:completion_?|output_?)?tokens\W{1,4}(?:of |value )?\(?<used>",
    r"exceeds? [^.\d]{0,60}<limit>",
)
RATES = (
    r"tokens per (?:min(?:ute)?|day|hour)[^:]{0,20}: limit:? <limit>,(?: used:? <n>,)?"
    r"(?: requested:? <used>)?",
    r"limit of <limit> (?:input |output )?tokens per",
    r"<limit> (?:input |output )?tokens(?: per |/)(?:min|day|hour)",
)

AT_LEAST = r"at least \d|n_keep|keep the first"
"""The provider stopped counting, or told only a part."""

NOISE = (
    r"^invalid params, .*\(\d{4}\)|expected maxlength: \d+, actual: \d+"
    r"|\(input: \[[^\]]*\]\)|request id:? ?\S+"
)
"""Numbers that aren't tokens: MiniMax's code, Bedrock's characters, an echo, an id."""
