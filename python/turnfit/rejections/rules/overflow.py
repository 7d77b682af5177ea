"""More tokens than the model reads at once: the rules for it.

Three tables, since other rules come between them: sums of input and answer, the plain words,
and the loose words that mean it only where nothing else was meant.
"""

from __future__ import annotations

from turnfit.rejections.rules.rule import Rule

__all__ = ["LOOSE", "PLAIN", "SUMS"]

_THROTTLES = frozenset({429})
_OTHER_UNITS = r"(?:(?!token)[^.;\n]|\.(?=\w)){0,60}?\b<chars>\b"
"""Characters and bytes, unless tokens are named before them."""

SUMS = (
    Rule(
        "input-and-answer",
        "context_overflow",
        (
            (
                r"\b(?:inputs?|prompts?|messages|tokens)\b<..60>(?:\+|\band\b|\bplus\b"
                r")<..30>(?:<cap>)<..60>(?:exceed|must be <=|must be ≤|should not|greater|larger"
                r"|longer|over\b|more than)"
            ),
        ),
        (
            "input length and `max_tokens` exceed context limit: 187254 + 20000 > 204798, "
            "decrease input length or `max_tokens` and try again"
        ),
        "https://github.com/anthropics/claude-code/issues/42",
    ),
    Rule(
        "answer-and-input",
        "context_overflow",
        (
            (
                r"(?:<cap>)<..80>too large: <n>\. this model'?s maximum context length is <n> "
                r"tokens and your request has <n> input tokens"
            ),
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum "
            "context length is 32768 tokens and your request has 30000 input tokens (8192 > "
            "32768 - 30000)."
        ),
        "https://github.com/vllm-project/vllm",
    ),
    Rule(
        "maximum-context-length",
        "context_overflow",
        (
            (
                r"(?:model|endpoint|deployment)(?:'|’)?s? max(?:imum)? (?:context|prompt|input"
                r"|sequence) (?:length|window|size) (?:is|of)\b"
            ),
        ),
        (
            "This model's maximum context length is 4097 tokens. However, you requested 4203 "
            "tokens (3703 in the messages, 500 in the completion)."
        ),
        "https://github.com/The-Vibe-Company/quivr/issues/505",
    ),
)

_PLAIN = (
    Rule(
        "over-the-window",
        "context_overflow",
        (
            r"<subject><..90><exceeds> (?:[\w'’`*-]+ ){0,5}?<window>",
            r"surpassing the (?:\w+ )?context window",
            r"<subject><..60> > (?:\w+ ){0,2}?<window>",
            (
                r"<subject><..40><exceeds> (?:what )?(?:the|this) (?:model|deployment|endpoint)"
                r" (?:can )?(?:allow|accept|support|take|handle|process)"
            ),
        ),
        (
            "Your input exceeds the context window of this model. Please adjust your input and "
            "try again."
        ),
        "https://github.com/BrokkAi/brokk-app/issues/540",
    ),
    Rule(
        "window-exceeded",
        "context_overflow",
        (
            (
                r"^(?:\W*\w*error\W+)*exceed(?:s|ed)? (?:the |model |max\w* )*context"
                r" (?:limit|window)"
            ),
            (
                r"conversation (?:length |limit |size )?(?:has been |was |is )?"
                r"(?:exceeded|reached|full)"
            ),
            r"reached (?:its|the) conversation limit",
            r"(?:reached|hit) (?:the |its )?(?:max(?:imum)? )?context (?:length|window|limit|size)",
            (
                r"(?:context|prompt|input)[ _-]?(?:window|length|size|limit"
                r"|tokens?)(?: limit)?(?: (?:has|was|is|have|been)){0,3} (?:exceed(?:s|ed)?"
                r"|overflow(?:s|ed)?|exhausted|full|reached)\b"
            ),
        ),
        "Context size has been exceeded.",
        "https://github.com/ggml-org/llama.cpp/issues/19774",
    ),
    Rule(
        "must-not-exceed",
        "context_overflow",
        (
            (
                r"<subject><..90>(?:can ?not|can't|must not|should not"
                r"|may not) exceed<..60>(?:<window>|\d)(?!\d*[ -]?<chars>)"
            ),
        ),
        (
            "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 -"
            " received 6354."
        ),
        "https://github.com/cohere-ai/sandbox-topically/issues/4",
    ),
    Rule(
        "counted-tokens",
        "context_overflow",
        (
            r"(?:length|number) of (?:the )?tokens\b<..40>too (?:long|large|many|high)",
            r"tokens (?:in|of) (?:your |the )?(?:request|input|prompt|messages)<..40><exceeds>",
            (
                r"\b(?:inputs?|prompts?|context|messages?)(?: tokens?)? (?:length|size|count)s?\b"
                r"<..40><exceeds><..40>(?:limit|max|context|\d)"
            ),
            (
                r"(?:input|prompt|total|message|request|requested|context)s?[ -]tokens?\b(?: "
                r"counts?)?<..40><exceeds><..40>(?:limit|max|\d)"
            ),
        ),
        "prompt token count of 74490 exceeds the limit of 72000",
        "https://github.com/ericc-ch/copilot-api/issues/210",
    ),
    Rule(
        "over-a-limit",
        "context_overflow",
        (
            (
                r"\b(?:inputs?|prompts?|messages|conversation)\b<..40>\bexceed(?:s|ed)?"
                r" (?:the |its )?(?:length|context|token) limit"
            ),
            (
                r"\b(?:inputs?|prompts?|messages|conversation)\b<..60>\b(?:exceed(?:s|ed)?"
                r"|over) (?:the |its )?limit of <n>"
            ),
        ),
        "Input prompt (15681 tokens) is too long and exceeds limit of 2560",
        "https://github.com/vllm-project/vllm/issues/687",
    ),
    Rule(
        "window-and-more",
        "context_overflow",
        (
            (
                r"\bmax(?:imum)? (?:allowed )?(?:input|prompt|context|sequence)"
                r" (?:length|size|tokens?|window)(?: for [\w.:/-]{1,60})? ?(?:is|of|:) ?<n> tokens"
            ),
            (
                r"too (?:large|long)<..40>\. max(?:imum)? (?:size|length|tokens?|is)"
                r"[: ]{0,2}<n> tokens"
            ),
            (
                r"(?:context|prompt|input)[ _-]?(?:window|length|size|limit) (?:is|of|="
                r"|:) (?:only )?<n><..40>(?:requested|supplied|sent|got|given|received|provided"
                r"|but|has|have|contains)\b"
            ),
        ),
        "Model context window is 128k tokens, you requested 256k tokens",
        "https://github.com/openclaw/openclaw",
    ),
    Rule(
        "must-be-within",
        "context_overflow",
        (
            (
                r"(?:prompt|input)[ _]?(?:tokens?|length)s?\b<..30>must be"
                r" (?:less|smaller|at most|within)"
            ),
            r"`?inputs`? (?:tokens \+ `?max_new_tokens`? )?must (?:be <=|have less than)",
            r"range of input length",
            r"input (?:token )?length (?:must|should) be (?:<|less|at most|in|between)",
        ),
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
        "https://github.com/QwenLM/qwen-code/issues/98",
    ),
    Rule(
        "length-and-limit",
        "context_overflow",
        (
            r"current length is <n> while limit is <n>",
            r"cannot truncate to <n>, required <n>",
            r"trying to keep the first <n> tokens",
            r"context length of only <n>",
            r"n_keep\W{1,3}<n>\W{0,3}>= ?n_ctx",
            (
                r"(?:prompt|input|request) (?:contains|has|is) <n> (?:\w+ "
                r")?tokens[^;]{0,80}?(?:too (?:large|long)|configured|context|but|limit|max)"
            ),
        ),
        (
            "Please reduce the length of the messages or completion. Current length is 42328 "
            "while limit is 40000"
        ),
        "https://github.com/cline/cline/issues/5140",
    ),
    Rule(
        "does-not-fit",
        "context_overflow",
        (
            (
                r"(?:does(?: not|n't)|do(?: not|n't)|can(?:not|'t)|won't|unable to|too (?:long"
                r"|large|big) to|no longer) fit<..50>(?:context|window)"
            ),
            (
                r"(?:no|not enough|insufficient|ran out of|run out of|out of) (?:space"
                r"|room)? ?(?:left )?(?:in|of|for) (?:the |its )?context\b"
            ),
            r"out of context\b",
        ),
        "The prompt does not fit in the context window.",
    ),
    Rule(
        "context-shift",
        "context_overflow",
        (r"context shift is disabled",),
        "context shift is disabled",
        "https://github.com/ikawrakow/ik_llama.cpp/pull/2051",
    ),
    Rule(
        "bedrock-max-length",
        "context_overflow",
        (
            (
                r"malformed input request: (?:#/(?:prompt|inputtext|messages|system)[\w/]*: "
                r")?expected maxlength: \d+, actual"
            ),
        ),
        (
            "ValidationException: Malformed input request: expected maxLength: 50000, actual: "
            "52611, please reformat your input and try again."
        ),
        "https://github.com/BerriAI/litellm",
    ),
    Rule(
        "chinese",
        "context_overflow",
        (
            (
                r"(?:上下文|输入|提示词?|prompt|对话|消息|内容|token)[^。]{0,24}"
                r"(?:超过|超出|过长|太长|超长|超限)(?![^。]{0,12}字符)"
            ),
            r"(?:超过|超出|超长)[^。字]{0,20}(?:上下文|最大长度|输入长度|token|最大输入)",
        ),
        "输入内容超过模型最大上下文长度",
        "https://docs.bigmodel.cn/cn/api/api-code",
    ),
)

_LOOSE = (
    Rule(
        "too-long",
        "context_overflow",
        (
            (
                r"\b(?:prompt|input(?: text)?|messages|conversation|context|history|chat"
                r"|transcript)s?"
                r"(?: (?:is|are|was|were|tokens?|length|size|has become))*,? ?too"
                r" (?:long|large|big)\b"
            ),
            r"prompttoolong",
            (
                r"(?:prompt|input)s? (?:length )?exceed(?:s|ed)? (?:the )?max(?:imum)?"
                r"(?: allowed)? ?(?:input )?length"
            ),
        ),
        "prompt is too long: 213462 tokens > 200000 maximum",
        "https://platform.claude.com/docs/en/api/errors",
        _THROTTLES,
    ),
    Rule(
        "too-many-tokens",
        "context_overflow",
        (
            r"too many (?:input |prompt |total |context )?tokens\b",
            r"^\W*token limit(?: exceeded| reached)?\W*$",
            r"\btoken limit exceeded",
            r"tokens in (?:the )?request more than",
        ),
        (
            "too many tokens: size limit exceeded by 1502 tokens. Try using shorter or fewer "
            "inputs, or setting prompt_truncation='AUTO'."
        ),
        "https://github.com/Quansight/ragna/pull/351",
        _THROTTLES,
    ),
    Rule(
        "tokens-over-a-number",
        "context_overflow",
        (r"<subject><..60>\b(?:exceed(?:s|ed)?|over|above)\b<..40><n> tokens\b",),
        "Your request exceeds the allowed 32,768 tokens",
        not_at=_THROTTLES,
    ),
    Rule(
        "reduce-the-length",
        "context_overflow",
        (
            (
                r"(?:reduce|shorten|decrease|trim|cut) (?:the )?(?:(?:total )?(?:length|number"
                r"|size|amount)(?: of tokens)? (?:of|in) )?(?:the |your )?(?:input|prompt"
                r"|messages?|conversation|history|context)\b"
            ),
            r"(?:provide|use|try) a shorter (?:input|prompt)",
        ),
        "Please reduce the length of the messages or completion.",
        "https://github.com/thepersonalaicompany/amurex-backend/issues/51",
        _THROTTLES,
    ),
)

PLAIN = tuple(rule._replace(unless=_OTHER_UNITS) for rule in _PLAIN)
LOOSE = tuple(rule._replace(unless=_OTHER_UNITS) for rule in _LOOSE)
