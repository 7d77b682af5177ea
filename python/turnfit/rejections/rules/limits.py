"""Who may ask, who pays, and how often: rules for access, billing and rates."""

from __future__ import annotations

from turnfit.rejections.rules.rule import Rule

__all__ = ["BILLING", "PLANS", "RATES", "SMALLER_HELPS", "WAITING_HELPS"]

BILLING = (
    Rule(
        "credit-balance",
        "billing",
        (
            r"credit balance is too low",
            (
                r"(?:insufficient|not enough|exhausted|depleted|no (?:remaining|more)|out of"
                r"|negative|low) (?:account |prepaid |remaining )?(?:credit|balance|fund)s?\b"
            ),
            r"requires? (?:more|at least [\w.$]+) credits",
            (
                r"credits? (?:have been |has been |are |is )?(?:exhausted|depleted|insufficient"
                r"|used up)"
            ),
            r"can only afford",
        ),
        (
            "This request requires more credits, or fewer max_tokens. You requested up to 32000 "
            "tokens, but can only afford 24505."
        ),
        "https://github.com/openclaw/openclaw/pull/25395",
    ),
    Rule(
        "long-context-plan",
        "billing",
        (
            r"extra usage is required for long context",
            r"long context beta is not (?:yet )?available",
        ),
        "Extra usage is required for long context requests.",
        "https://github.com/anomalyco/opencode/pull/17766",
    ),
    Rule(
        "spend-limit",
        "billing",
        (
            r"specified (?:api )?usage limits",
            r"spend(?:ing)? (?:limit|cap)",
            r"billing (?:hard )?limit",
            r"budget (?:has been )?exceeded",
            r"over budget",
            r"exceeded (?:\w+ )?budget",
            r"payment required",
            r"(?:past due|unpaid|overdue) (?:invoice|balance|payment)",
            r"monthly (?:usage )?cap\b",
            r"included credits",
            r"key limit exceeded",
        ),
        ("You have reached your specified API usage limits. You will regain access on 2026-01-01."),
        "https://platform.claude.com/docs/en/api/rate-limits#setting-your-own-spend-limit",
    ),
    Rule(
        "account-standing",
        "billing",
        (
            (
                r"account (?:\S+ )?(?:is |has been |in )*(?:not active|deactivated|arrears"
                r"|overdue)"
            ),
            r"account is in good standing",
            r"余额不足",
            r"欠费",
            r"账户余额",
            r"充值",
            r"账号已停机",
        ),
        "Access denied, please make sure your account is in good standing.",
        "https://help.aliyun.com/zh/model-studio/error-code",
    ),
)

RATES = (
    Rule(
        "gemini-quota",
        "rate_limit",
        (
            r"ai\.google\.dev/gemini-api/docs/rate-limits",
            r"quota exceeded for (?:metric|quota metric)",
        ),
        (
            "You exceeded your current quota, please check your plan and billing details. For "
            "more information on this error, head to: "
            "https://ai.google.dev/gemini-api/docs/rate-limits."
        ),
        "https://github.com/google-gemini/gemini-cli/issues/8437",
    ),
    Rule(
        "per-time",
        "rate_limit",
        (
            (
                r"\b(?:tokens?|requests?|input|images?|calls?|messages?)\b[\w ()/,'-]{0,40}?(?: "
                r"per |/ ?|-per-)(?:min(?:ute)?|day|hour|second|sec|month|week)\b"
            ),
            r"\(?\b[TR]P[MDHS]\b\)?",
            (
                r"\b(?:daily|hourly|per[- ]minute|monthly|weekly)\b[\w ]{0,20}(?:limit|quota|rate"
                r"|allowance|cap)\b"
            ),
            (
                r"\b(?:in|for|within|over|of) (?:the |an? )?(?:last|past|this|current|given)[ -]"
                r"(?:second|minute|hour|day|week|month|time|period)\b"
            ),
            r"\b\d+-hour (?:window|limit)\b",
            r"每分钟",
            r"每秒",
            r"每日",
            r"每天",
        ),
        (
            "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit "
            "30000, Requested 36278. The input or output tokens must be reduced in order to run "
            "successfully."
        ),
        "https://github.com/Aider-AI/aider/issues/1880",
    ),
    Rule(
        "rate-limit",
        "rate_limit",
        (
            r"rate[ _-]?limit(?:s|ed|ing|er)?\b",
            r"rate increased too quickly",
            r"too many (?:\w+ )?requests",
            r"too many concurrent",
            r"concurren(?:t|cy) (?:\w+ )?limit",
            r"throttl",
            r"请求过于频繁",
            r"请求频率",
            r"速率限制",
            r"限流",
            r"并发(?:数|过高|超)",
            r"访问量过大",
            r"调用频率",
        ),
        "This request would exceed your account's rate limit. Please try again later.",
        "https://github.com/anthropics/claude-code/issues/5707",
    ),
    Rule(
        "wait",
        "rate_limit",
        (
            (
                r"(?:too many tokens|capacity|quota|limit|demand|busy)\b.{0,80}?\b(?:please "
                r")?(?:wait|slow down)\b"
            ),
            r"retry after \d+",
        ),
        "Too many tokens, please wait before trying again.",
        "https://github.com/RooCodeInc/Roo-Code/issues/5050",
    ),
    Rule(
        "capacity",
        "rate_limit",
        (
            r"(?:reached|exceeded|hit) your limit",
            r"tier capacity exceeded",
            r"resource (?:has been )?exhausted",
            r"usage limit (?:has been )?(?:reached|exceeded)",
            r"(?:reached|exceeded|hit) (?:your|the) (?:\S+ )?(?:usage|session|weekly) limit",
            r"too many tokens processed",
        ),
        "Service tier capacity exceeded for this model.",
        "https://docs.mistral.ai/deployment/ai-studio/tier",
    ),
    Rule(
        "quota",
        "rate_limit",
        (
            (
                r"\b(?:organization|project|workspace|allocated|account|token|request"
                r"|usage)'?s? (?:\w+ )?quota\b(?!.{0,60}(?:plan|billing))"
            ),
            r"quota (?:limit )?(?:exceeded|exhausted|reached)",
            r"\bkey'?s? (?:token |usage )?(?:limit|quota)",
            r"enqueued token limit",
        ),
        "Current token count exceeds your organization quota",
        "https://github.com/aaif-goose/goose/pull/9831",
    ),
)

PLANS = (
    Rule(
        "current-quota",
        "billing",
        (
            r"exceeded (?:your |the |its )?current quota",
            r"insufficient[ _]quota",
            r"check your plan and billing",
            r"quota insufficient",
            r"额度不足",
            r"配额不足",
        ),
        "You exceeded your current quota, please check your plan and billing details.",
        "https://platform.openai.com/docs/guides/error-codes",
    ),
    Rule(
        "unknown-model",
        "invalid_request",
        (
            (
                r"\bmodel\b<..80>(?:does not exist|doesn't exist|not found|is not supported"
                r"|no longer available|is not a valid model|has been (?:deprecated|retired))"
            ),
            r"no endpoints found",
            r"模型不存在",
        ),
        "The model `gpt-9` does not exist or you do not have access to it.",
        "https://platform.openai.com/docs/guides/error-codes",
    ),
    Rule(
        "api-key",
        "auth",
        (
            (
                r"\b(?:invalid|incorrect|missing|expired|revoked|malformed|wrong|disabled|no"
                r"""|valid)\b[\w\s\"'’-]{0,25}(?:\bapi[ _-]?keys?\b|x-api-key|access token"""
                r"|auth(?:entication|orization)?[ _-](?:token|header|credentials)|credentials"
                r"|security token|bearer token)"
            ),
            (
                r"api[ _-]?key\b<..30>(?:not valid|invalid|expired|not found|required|missing"
                r"|disabled|leaked)"
            ),
            r"security token included in the request",
            r"credentials<..30>(?:not found|missing|expired)",
            r"unable to locate credentials",
        ),
        "Incorrect API key provided: sk-***. You can find your API key on our page.",
        "https://platform.openai.com/docs/guides/error-codes",
    ),
    Rule(
        "access",
        "auth",
        (
            r"\bunauthori[sz]ed\b",
            r"authentication (?:failed|fails|error|required)",
            r"permission denied",
            r"not authorized to",
            r"\bforbidden\b",
            r"access (?:is |was )?denied",
            r"do(?:es)?(?: not|n't) have (?:access|permission)",
            r"no auth credentials",
            r"user not found",
            r"鉴权失败",
            r"未授权",
            r"无权",
            r"令牌",
            r"身份验证",
        ),
        "You don't have access to the model with the specified model ID.",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/model-access.html",
    ),
)

SMALLER_HELPS = (
    r"long context requests?|request too large|must be reduced|request (?:is )?larger than"
    r"|reduce (?:the |your )?(?:message|prompt|request|input|context|tokens|length)"
)
"""In a refusal for rate or plan: waiting or paying is one way, a smaller request the other."""

WAITING_HELPS = r"(?:try|trying) again (?:later|in|after)|retry after"
"""Where a refusal says so too, a smaller request is only the other way."""
