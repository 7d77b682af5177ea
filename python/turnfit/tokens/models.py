"""Which profile a model's text is priced by.

Rules are data: a pattern of model names, the profile, and where it is said that these
models have this tokenizer. A name that no rule knows has no profile: nothing is guessed
from a likeness, because two models of one maker may be a third apart.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import unquote

__all__ = ["MODEL_RULES", "ModelRule", "plain_model_name", "profile_name"]


class ModelRule(NamedTuple):
    """Models that share a tokenizer.

    Attributes:
        pattern: what the start of a model's plain name matches. A name matches only if
            the pattern ends where the name does, or before one of ``- : @``.
        profile: the profile's name; None where it is known that none fits, so that a
            rule further down doesn't take the model.
        source: where that is said, and when it was looked up.
    """

    pattern: str
    profile: str | None
    source: str


_TIKTOKEN = "https://github.com/openai/tiktoken/blob/0.14.0/tiktoken/model.py, 2026-11"
_CODEX = "https://developers.openai.com/api/docs/models/codex-mini-latest, 2026-11 (an o4-mini)"
_ANTHROPIC = "https://platform.claude.com/docs/en/build-with-claude/token-counting, 2026-11"
_GENAI = (
    "https://github.com/googleapis/python-genai/blob/v3.6.1/google/genai/"
    "_local_tokenizer_loader.py, 2026-11"
)
_GEMMA = "tokenizer.json of huggingface.co/google/gemma-4-E4B-it, 2026-11 (Gemma 3's pieces)"
_LLAMA3 = "https://github.com/meta-llama/llama-models/tree/main/models/llama3, 2026-11"
_LLAMA4 = "https://github.com/meta-llama/llama-models/tree/main/models/llama4, 2026-11"
_DISTILLED = "https://huggingface.co/deepseek-ai/DeepSeek-R1#deepseek-r1-distill-models, 2026-11"
_MISTRAL = "https://docs.mistral.ai/models and tekken.json at huggingface.co/mistralai, 2026-11"
_MISTRAL_COMMON = (
    "https://github.com/mistralai/mistral-common/blob/v1.13.1/src/mistral_common/"
    "tokens/tokenizers/mistral.py, 2026-11"
)
_QWEN = "https://qwen.readthedocs.io/en/latest/getting_started/concepts.html, 2026-11"
_QWEN35 = "https://huggingface.co/Qwen/Qwen3.5-397B-A17B, 2026-11 (a vocabulary of 248,320)"
_QWEN_DATED = "https://www.alibabacloud.com/help/en/model-studio/models, 2026-11"
_DEEPSEEK = "https://huggingface.co/deepseek-ai/DeepSeek-V3.2, 2026-11"
_DEEPSEEK4 = "https://arxiv.org/abs/2606.19348, section 4.1, 2026-11"
_OLLAMA_R1 = "https://ollama.com/library/deepseek-r1/tags, 2026-11"
_GLM = "tokenizer.json of huggingface.co/zai-org: one from GLM-4.7-Flash to GLM-5.2, 2026-11"
_KIMI = "tiktoken.model of huggingface.co/moonshotai: one from Kimi-K2 to Kimi-K3, 2026-11"
_MINIMAX = "https://huggingface.co/MiniMaxAI/MiniMax-M3, 2026-11"
_COHERE = "https://docs.cohere.com/docs/tokens-and-tokenizers, 2026-11"

MODEL_RULES: tuple[ModelRule, ...] = tuple(
    ModelRule(*row)
    for row in (
        # OpenAI. GPT-6 has no published encoding.
        (r"gpt-?4o", "o200k_base", _TIKTOKEN),
        (r"chatgpt-4o", "o200k_base", _TIKTOKEN),
        (r"gpt-4[.-][15](?!\d)", "o200k_base", _TIKTOKEN),
        (r"gpt-?41", "o200k_base", _TIKTOKEN),
        (r"gpt-?5(?:[.-]\d(?!\d))?", "o200k_base", _TIKTOKEN),
        (r"o1|o3|o4-mini", "o200k_base", _TIKTOKEN),
        (r"codex-mini", "o200k_base", _CODEX),
        (r"gpt-oss", "o200k_base", _TIKTOKEN),
        (r"gpt-4-o", None, "a spelling of GPT-4o that some gateways had"),
        (r"gpt-?4", "cl100k_base", _TIKTOKEN),
        (r"gpt-?3[.-]?5(?:-?turbo)?", "cl100k_base", _TIKTOKEN),
        (r"text-embedding-(?:3-(?:small|large)|ada-002)", "cl100k_base", _TIKTOKEN),
        (r"(?:davinci|babbage)-002", "cl100k_base", _TIKTOKEN),
        # Anthropic: the family stands before or behind the version. A date has 8 digits.
        (
            r"claude-(?:opus|sonnet|haiku)-(?:3(?:[.-][57])?|4(?:[.-][0-6])?)(?![.-]\d{1,2}(?!\d))",
            "claude_v3",
            _ANTHROPIC,
        ),
        (
            r"claude-(?:3(?:[.-][57])?|4(?:[.-][0-6])?)-(?:opus|sonnet|haiku)",
            "claude_v3",
            _ANTHROPIC,
        ),
        (
            r"claude-(?:opus|sonnet|haiku|fable|mythos)-(?:4[.-][7-9]|5(?:[.-]\d)?)(?![.-]?\d{1,2}(?!\d))",
            "claude_v4_7",
            _ANTHROPIC,
        ),
        (
            r"claude-(?:4[.-][7-9]|5(?:[.-]\d)?)-(?:opus|sonnet|haiku|fable|mythos)",
            "claude_v4_7",
            _ANTHROPIC,
        ),
        (r"claude-mythos-preview", "claude_v4_7", _ANTHROPIC),
        # Google. Gemini 1 has Gemma 2's tokenizer; that of Gemini 4 isn't known.
        (r"gemini-(?:embedding|robotics|omni)", None, _GENAI),
        (r"gemini-(?:live-)?(?:2[.-][05]|3(?:[.-]\d(?!\d))?)", "gemma3", _GENAI),
        (r"gemma-?3n?", "gemma3", _GENAI),
        (r"gemma-?4", "gemma3", _GEMMA),
        # Meta.
        (r"(?:meta-)?llama-?v?3(?:[.-][1-3](?!\d))?", "llama3", _LLAMA3),
        (r"(?:meta-)?llama-?4", "llama4", _LLAMA4),
        (r"(?:meta-)?llama-guard-?3", "llama3", _LLAMA3),
        (r"(?:meta-)?llama-guard-?4", "llama4", _LLAMA4),
        # Mistral: those before are of SentencePiece. Codestral's isn't published.
        (r"(?:open-)?mistral-nemo", "mistral_tekken", _MISTRAL_COMMON),
        (r"ministral(?:-\d+b|-3)?", "mistral_tekken", _MISTRAL_COMMON),
        (r"pixtral-12b", "mistral_tekken", _MISTRAL_COMMON),
        (
            r"mistral-small-(?:2501|2503|2506|2603|24b|latest|4)",
            "mistral_tekken",
            _MISTRAL,
        ),
        (r"mistral-small-?3(?:[.-][12](?!\d))?", "mistral_tekken", _MISTRAL),
        (
            r"mistral-medium-(?:2505|2508|2604|latest|3(?:[.-][15](?!\d))?)",
            "mistral_tekken",
            _MISTRAL,
        ),
        (r"mistral-large-(?:2512|latest|3)", "mistral_tekken", _MISTRAL),
        (r"magistral|devstral|voxtral", "mistral_tekken", _MISTRAL),
        # Alibaba. Names without a version move from one to the next: only dated ones.
        (r"qwen-?3[.-]?[5-8]", "qwen3.5", _QWEN35),
        (r"qwen-?2(?:\.?5)?", "qwen2.5", _QWEN),
        (r"qwen-?3", "qwen2.5", _QWEN),
        (r"qwq|qvq", "qwen2.5", _QWEN),
        (
            r"qwen-(?:max|plus|turbo|flash)-(?:2024-(?:09|1[0-2])|2025-\d\d)-\d\d",
            "qwen2.5",
            _QWEN_DATED,
        ),
        # DeepSeek. A distilled model has the tokenizer of the one that learnt; Ollama
        # names those by their size alone, of which 8b has been two.
        (r"deepseek-r1-distill-llama", "llama3", _DISTILLED),
        (r"deepseek-r1-distill-qwen", "qwen2.5", _DISTILLED),
        (r"deepseek-r1-.*(?:distill|qwen|llama).*", None, _DISTILLED),
        (r"deepseek-r1:(?:1\.5|7|14|32)b", "qwen2.5", _OLLAMA_R1),
        (r"deepseek-r1:70b", "llama3", _OLLAMA_R1),
        (r"deepseek-r1[:-](?:latest|8b)", None, _OLLAMA_R1),
        (r"deepseek-(?:v?3(?:[.-][12](?!\d))?|r1|chat|reasoner)", "deepseek_v3", _DEEPSEEK),
        (r"deepseek-v4(?![.-]\d(?!\d))", "deepseek_v3", _DEEPSEEK4),
        # Zhipu.
        (r"glm-5(?:[.-]\d(?!\d))?", "glm5", _GLM),
        (r"glm-4[.-]7-flash", "glm5", _GLM),
        # Moonshot, MiniMax, Cohere.
        (r"kimi-k2(?:[.-]\d(?!\d))?|kimi-k3(?![.-]\d(?!\d))", "kimi_k2", _KIMI),
        (r"minimax-m[23](?:[.-]\d(?!\d))?", "minimax_m3", _MINIMAX),
        (r"(?:c4ai-)?command-(?:r|r-plus|r7b)", "command_r", _COHERE),
        (r"command-a-plus", None, _COHERE),
        (r"(?:c4ai-)?command-a", "command_r", _COHERE),
    )
)
"""The rules, in the order in which they are tried."""

_REGION = r"(?:(?:us|eu|apac|au|ca|in|jp|global|us-gov)\.)?"
_VENDOR = re.compile(
    rf"{_REGION}(?:anthropic|openai|google|meta|mistral|qwen|zai|moonshotai|moonshot|minimax|cohere)\."
    r"|(?:databricks|anthropic|openai|alibaba|cohere|snowflake|zai|fw)-"
)
_DEEPSEEK_VENDOR = re.compile(rf"{_REGION}deepseek\.")
_FINE_TUNED = re.compile(r"(?<=\w)\.ft-[0-9a-f]{8,}.*")
_DECIMAL = re.compile(r"(?<=\d)p(?=\d)")


@lru_cache(maxsize=1024)
def profile_name(model: str) -> str | None:
    """The name of the profile that prices a model's text.

    Args:
        model: a public model name, as its maker or a gateway spells it: with a provider
            before it (``openrouter/anthropic/claude-sonnet-4.5``), a Bedrock id or ARN,
            a Vertex path, an Ollama tag, a Hugging Face repository; dated, regional and
            fine-tuned ones too.

    Returns:
        The name, or None for a model that isn't known: nothing is guessed. The rules and
        their sources are in `MODEL_RULES`.

    Raises:
        TypeError: for anything else than a str.

    >>> profile_name("gpt-5.1"), profile_name("us.anthropic.claude-opus-4-7")
    ('o200k_base', 'claude_v4_7')
    >>> profile_name("ft:gpt-4o-mini-2024-07-18:acme::Ab12")
    'o200k_base'
    >>> profile_name("gpt-45") is None
    True
    """
    name = plain_model_name(model)
    return next((profile for pattern, profile in _compiled() if pattern.match(name)), None)


@cache
def _compiled() -> list[tuple[re.Pattern[str], str | None]]:
    return [(re.compile(rf"(?:{rule.pattern})(?=$|[-:@])"), rule.profile) for rule in MODEL_RULES]


def plain_model_name(model: str) -> str:
    """A model's name in lower case without the ways to it: providers, regions, tunings.

    >>> plain_model_name("accounts/fireworks/models/llama-v3p1-8b-instruct")
    'llama-v3.1-8b-instruct'
    >>> plain_model_name("arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-8b-instruct-v1:0")
    'llama3-8b-instruct-v1:0'
    """
    if not isinstance(model, str):
        raise TypeError(f"model must be a str, not {type(model).__name__}")
    name = unquote(model).strip().lower().partition("#")[0]
    if name.startswith("ft:"):
        name = name.split(":")[1]
    name = name.rstrip("/").rpartition("/")[2]
    name = _DECIMAL.sub(".", _FINE_TUNED.sub("", name).replace("_", "-"))
    return _VENDOR.sub("", _DEEPSEEK_VENDOR.sub("deepseek-", name, count=1), count=1)
