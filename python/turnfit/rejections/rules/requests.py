"""What is asked for: rules for policy, thinking, answers, bytes and form."""

from __future__ import annotations

from turnfit.rejections.rules.rule import Rule

__all__ = ["ANSWERS", "BYTES", "ECHOING", "FORM", "GUESSES", "OUTAGES", "POLICY", "QUOTING"]

GUESSES = (
    Rule(
        "guess",
        "unknown",
        (
            r"possible (?:causes?|reasons?)\b",
            (
                r"either (?:the |your )?(?:input|prompt|request|messages?)<..60>too (?:long"
                r"|large),? or\b"
            ),
            (
                r"(?:may|might|could) (?:be|have been) (?:\w+ )?(?:too (?:long|large)"
                r"|an? (?:context|token))"
            ),
            r"either too long or",
        ),
        (
            "The request was rejected. Possible causes: input exceeds the model's maximum "
            "context length, or the request contains invalid parameters."
        ),
        "https://openrouter.ai/docs/api-reference/errors",
    ),
    Rule(
        "a-tool's-limit",
        "unknown",
        (r"\bfile content \(<n> tokens\) exceeds",),
        "File content (45923 tokens) exceeds maximum allowed tokens (25000).",
        "https://github.com/anthropics/claude-code/issues/6197",
    ),
)

POLICY = (
    Rule(
        "other-conversation",
        "reasoning_prefix",
        (
            r"bound to a different conversation",
            r"prefix_mismatch_behavior",
        ),
        (
            "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound "
            "to a different conversation."
        ),
        (
            "https://platform.claude.com/docs/en/build-with-claude/preser"
            "ved-thinking/fix-bound-to-a-different-conversation"
        ),
    ),
    Rule(
        "policy",
        "content_policy",
        (
            r"content (?:management|filter(?:ing)?|moderation) polic",
            r"(?:violat|against)\w*<..40>(?:polic(?:y|ies)|terms|guidelines)",
            r"safety (?:system|filter|settings|reasons|polic)",
            r"flagged (?:as|by|for)",
            r"\b(?:was|been|were) flagged",
            r"content filter(?:ing)?\b",
            r"requires moderation",
            r"inappropriate content",
            r"prompt (?:was )?blocked",
            r"blocked by (?:\w+ )?(?:content|safety|moderation|guardrail)",
            r"敏感",
            r"违规",
            r"不安全",
        ),
        (
            "The response was filtered due to the prompt triggering Azure OpenAI's content "
            "management policy."
        ),
        "https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter",
    ),
)

ECHOING = (
    Rule(
        "echo",
        "invalid_request",
        (
            r"\binvalid (?:value|type|format|schema|enum) (?:for|of|in)\b",
            r"is not of type",
            r"input should be (?:a |an |\w+ )",
            r"validation errors? for",
        ),
        "Invalid value for 'messages[3].content': '' is not of type 'array'.",
        "https://github.com/BerriAI/litellm/issues/11455",
    ),
)
"""What is quoted beside these words is the request's, even if it looks like an error."""

QUOTING = (
    Rule(
        "validation",
        "invalid_request",
        (
            r"is not one of",
            r"field required",
            r"not valid json",
            r"failed to (?:parse|deserialize|decode)",
            r"could not (?:parse|decode)",
            r"(?:json|parse) error\b",
            r"unexpected (?:token|keyword|value|role|`tool)",
            r"extra inputs are not permitted",
            r"missing required",
            r"unrecognized (?:request )?argument",
            r"unknown (?:parameter|field|name)",
            r"unsupported (?:parameter|value)",
            r"is not supported with this model",
            r"additionalproperties",
            r"invalid json",
            r"does not match (?:the )?(?:pattern|schema)",
        ),
        "Missing required parameter: 'messages[1].role'.",
        "https://platform.openai.com/docs/guides/error-codes",
    ),
)

ANSWERS = (
    Rule(
        "thinking-budget",
        "invalid_request",
        (
            r"max_tokens\W+must be greater than\W+thinking",
            r"budget_tokens",
        ),
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
        "https://platform.claude.com/docs/en/build-with-claude/extended-thinking",
    ),
    Rule(
        "room-below-nothing",
        "unknown",
        (r"(?:<cap>)<..30>must be at least 1, got -",),
        "max_tokens must be at least 1, got -1809.",
        "https://github.com/vllm-project/vllm/issues/4667",
    ),
    Rule(
        "answer-cap",
        "output_limit",
        (
            r"(?:<cap>)<..80><limits>",
            r"<limits><..40>\bmax_(?:completion_|output_|new_)?tokens\b",
            r"range of max_tokens",
            r"max_tokens: <n> > <n>",
            r"maximum tokens you requested",
            r"integer above maximum value",
            r"model output limit",
        ),
        (
            "max_tokens is too large: 6000. This model supports at most 4096 completion tokens, "
            "whereas you provided 6000."
        ),
        "https://github.com/diffbot/code-gpt-docs/issues/284",
    ),
    Rule(
        "answer-words",
        "output_limit",
        (
            (
                r"(?:maximum|max|allowed|at most|supports?)<..30>(?:output|completion|generated"
                r"|generation) (?:tokens?|length)"
            ),
            (
                r"(?:output|completion|generation) (?:tokens? )?(?:limit|length"
                r"|maximum)<..40>(?:exceed|reach)"
            ),
            r"(?:output|completion) tokens?<..30>exceed",
        ),
        "This model supports at most 4096 completion tokens",
        "https://github.com/diffbot/code-gpt-docs/issues/284",
    ),
)

BYTES = (
    Rule(
        "images-and-files",
        "invalid_request",
        (
            (
                r"\b(?:image|images|pixels?|dimensions?|pdf|pages|video|audio|attachments?"
                r"|base64)\b<..100>(?:exceed|too (?:large|big|many|long|small)|max(?:imum)?\b"
                r"|limit|larger|at most|more than|> \d)"
            ),
            (
                r"(?:too many|at most|maximum of|more than|up to|limit of) (?:\d+ )?(?:\w+ "
                r")?(?:images?|pages|documents|videos|pdf|attachments)"
            ),
        ),
        (
            "messages.7.content.2.image.source.base64.data: At least one of the image "
            "dimensions exceed max allowed size: 8000 pixels"
        ),
        "https://github.com/anthropics/claude-code/issues/4778",
    ),
    Rule(
        "tools-and-parameters",
        "invalid_request",
        (
            (
                r"too many (?:tools|functions|stop|cache|keys|metadata|properties|enum"
                r"|breakpoints|logprobs)"
            ),
            r"(?:tools|functions)\W{1,3}array too long",
            r"\barray too long(?!.{0,5}messages)",
            (
                r"\b(?:schema|temperature|top_[pk]|stop(?:[_ ]sequences?)?|metadata"
                r"|tool[ _]?(?:name|description|schema)s?|function[ _](?:name|description)s?"
                r"|tools?|description|user_id|presence_penalty|logit_bias|cache_control"
                r"|breakpoints|embedding|batch(?: size)?)\b<..60>(?:too (?:long|many|large|high)"
                r"|exceeds?|(?:maximum|max)\b|at most|must be|longer than|limit)"
            ),
        ),
        "schema is too long",
        "https://github.com/aaif-goose/goose/pull/9831",
    ),
    Rule(
        "content-string",
        "payload_too_large",
        (
            r"\bmessages'?\W* is too long\. maximum length is \d+, but got \d+ items",
            (
                r"invalid '(?:input|prompt|instructions|(?:[\w.\[\]]+[.\]])?(?:content|text|input"
                r"|output|arguments|instructions|prompt)(?:\[\d+\](?:\.text)?)?)': string too "
                r"long"
            ),
            r"invalid '(?:messages|input)': array too long",
        ),
        (
            "Invalid 'input[0].content': string too long. Expected a string with maximum length "
            "10485760, but got a string with length 62114761 instead."
        ),
        "https://github.com/VectorlyApp/bluebox/issues/31",
    ),
    Rule(
        "other-string",
        "invalid_request",
        (
            r"string too long",
            r"string should have at most",
            r"ensure this value has at most",
        ),
        (
            "Invalid 'messages[10].tool_calls[0].id': string too long. Expected a string with "
            "maximum length 40, but got a string with length 52 instead."
        ),
        "https://github.com/langmanus/langmanus/issues/119",
    ),
    Rule(
        "body-size",
        "payload_too_large",
        (
            r"请求(?:体|内容)?(?:过大|太大)",
            r"request (?:entity |is )?too long(?!<..60>(?:context|token|prompt))",
            (
                r"(?:request|payload|body|content|entity|upload|http)\b<..40>(?:too (?:large|big)"
                r"|size exceed|exceeds? (?:the |its )?(?:\w+ ){0,2}size"
                r"|larger than max)(?!<..60>(?:context|token|prompt))"
            ),
            r"maximum request (?:body )?size",
            r"exceeds the maximum (?:allowed )?(?:size|number of bytes)",
            r"length limit exceeded",
            r"message larger than max",
            r"body (?:size )?limit",
        ),
        "Maximum request body size 1048576 exceeded, actual body size 1056562",
        "https://github.com/google-gemini/gemini-cli/issues/13776",
    ),
    Rule(
        "bytes-and-characters",
        "payload_too_large",
        (
            r"total (?:text |\w+ files? )?bytes",
            (
                r"(?:exceed(?:s|ed|ing)?|too (?:long|large|big|many)|max(?:imum)?|limit|larger"
                r"|over|more than|at most|less than)\b<..80>(?:\b|\d)<chars>\b"
            ),
            r"<chars>\b<..40>(?:exceed|too (?:many|large)|limit)",
            r"字符[^。]{0,12}(?:超|上限|限制)",
            r"(?:超过|超出)[^。]{0,12}字符",
        ),
        "The model returned the following errors: too many total text bytes",
        "https://github.com/strands-agents/harness-sdk/issues/3969",
    ),
)

FORM = (
    Rule(
        "form",
        "invalid_request",
        (
            r"messages?[.\[]\d+",
            r"\btool_(?:call|use|result)",
            r"tool_call_id",
            r"\broles? (?:must|should)",
            r"must alternate",
            r"must be a response to",
            r"(?:preceding|following) item",
            r"function call turn",
            r"invalid argument",
            r"tool(?: result)?'s tool id",
            r"cannot be provided in the same turn",
            r"invalid (?:parameter|request|params)",
            r"参数(?:错误|非法|有误)",
        ),
        (
            "Please ensure that function call turn comes immediately after a user turn or after "
            "a function response turn."
        ),
        "https://github.com/google-gemini/gemini-cli/issues/26486",
    ),
)

OUTAGES = (
    Rule(
        "outage",
        "server",
        (
            r"deadline ?exceeded",
            r"\boverloaded\b",
            r"internal (?:server )?error",
            r"service (?:is )?(?:temporarily )?unavailable",
            r"bad gateway",
            r"gateway time-?out",
            r"timed? ?out",
            r"connection (?:error|reset|refused|aborted|closed)",
            r"high demand",
            r"temporarily unavailable",
            r"server had an error",
            r"upstream (?:connect|error|request)",
            r"network error",
            r"server disconnected",
            r"currently loading",
            r"no healthy upstream",
            r"服务(?:繁忙|不可用|异常)",
            r"系统繁忙",
        ),
        "The model is overloaded. Please try again later.",
        "https://ai.google.dev/gemini-api/docs/troubleshooting",
    ),
)
