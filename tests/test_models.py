"""Model names: each known one has its tokenizer's profile, and nothing is guessed."""

from __future__ import annotations

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turnfit.tokens import profile_name
from turnfit.tokens.models import MODEL_RULES, ModelRule, plain_model_name

KNOWN = {
    "o200k_base": """
        gpt-4o gpt-4o-2024-08-06 gpt-4o-mini chatgpt-4o-latest gpt-4.1 gpt-4.1-nano-2025-04-14
        gpt-4.5-preview gpt-5 gpt-5-mini gpt-5-codex gpt-5.1 gpt-5.1-codex-max gpt-5.3-codex
        gpt-5.4-mini-2026-03-17 gpt-5.6-sol o1 o1-pro o3 o3-mini-2025-01-31 o3-deep-research
        o4-mini codex-mini-latest gpt-oss-120b gpt-oss-safeguard-20b
        openai/gpt-4o azure/gpt-4.1-mini azure/eu/gpt-4o openrouter/openai/gpt-5.1
        groq/openai/gpt-oss-120b openai.gpt-oss-120b-1:0 us.openai.gpt-5.4 gpt-oss:20b
        databricks-gpt-5-1 github_copilot/gpt-41-copilot GPT4o gpt-4o-mini:free
        ft:gpt-4o-mini-2024-07-18:acme::Ab12Cd gpt-4o-2024-08-06.ft-0e208cf33a6a466994aff31a08aba678
    """,
    "cl100k_base": """
        gpt-3.5-turbo gpt-3.5-turbo-0125 gpt-35-turbo gpt-35-turbo-16k gpt-4 gpt-4-0613 gpt-4-32k
        gpt-4-turbo gpt-4-1106-preview gpt-4-turbo-2024-04-09 text-embedding-3-small
        text-embedding-ada-002 davinci-002 ft:gpt-3.5-turbo-0125:acme::x azure/gpt-35-turbo
    """,
    "claude_v3": """
        claude-3-opus-20240229 claude-3-5-sonnet-20241022 claude-3-5-haiku-latest
        claude-3-7-sonnet-20250219 claude-sonnet-4-20250514 claude-sonnet-4-0 claude-opus-4-1
        claude-opus-4-5-20251101 claude-haiku-4-5 claude-sonnet-4-6 claude-opus-4.6
        claude-4-sonnet claude-4.5-haiku anthropic/claude-3.7-sonnet:thinking
        openrouter/anthropic/claude-sonnet-4.5 anthropic.claude-3-haiku-20240307-v1:0
        us.anthropic.claude-sonnet-4-5-20250929-v1:0 us.anthropic.claude-sonnet-4-5-20250929-v1%3A0
        bedrock/eu-central-1/anthropic.claude-opus-4-6-v1 vertex_ai/claude-sonnet-4@20250514
        arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-sonnet-20240229-v1:0
        arn:aws:bedrock:us-west-2:123456789012:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0
        projects/p/locations/us-east5/publishers/anthropic/models/claude-3-5-sonnet-v2@20241022
        claude-opus-4-6@default databricks-claude-sonnet-4-5
    """,
    "claude_v4_7": """
        claude-opus-4-7 claude-opus-4-7-20260416 claude-opus-4.8 claude-opus-4-8-think
        claude-opus-5 claude-sonnet-5 claude-fable-5 claude-fable-5-1 claude-mythos-5
        claude-mythos-preview claude-opus-5-5 claude-haiku-5.5 claude-opus-5-20260724
        anthropic/claude-opus-4.8-fast us-gov.anthropic.claude-sonnet-5-5
        global.anthropic.claude-opus-5-5 claude-opus-5@default databricks-claude-opus-4-7
        claude-4.8-opus
    """,
    "gemma3": """
        gemini-2.0-flash gemini-2.0-flash-001 gemini-2.5-pro gemini-2.5-flash-lite-preview-09-2025
        gemini-3-pro-preview gemini-3-flash-preview gemini-3.1-pro-preview gemini-3.5-flash
        gemini/gemini-2.5-flash models/gemini-2.5-pro google/gemini-3-pro-preview
        publishers/google/models/gemini-2.5-flash databricks-gemini-2-5-pro
        projects/p/locations/global/publishers/google/models/gemini-3-flash-preview
        gemma-3-27b-it google/gemma-3n-E4B-it gemma3:4b google.gemma-3-12b-it gemma-4-31b-it
    """,
    "llama3": """
        meta-llama/Llama-3.3-70B-Instruct llama3 llama3.1:8b-instruct-q4_K_M llama-3.3-70b-versatile
        meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo meta.llama3-1-70b-instruct-v1:0
        us.meta.llama3-2-11b-instruct-v1:0 accounts/fireworks/models/llama-v3p1-405b-instruct
        lmstudio-community/Meta-Llama-3.1-8B-Instruct-GGUF @cf/meta/llama-3.1-8b-instruct
        meta/llama-3_1-8b-instruct replicate/meta/meta-llama-3-70b-instruct
        meta-llama/Llama-Guard-3-8B
        nvidia/llama-3.1-nemotron-70b-instruct deepseek-ai/DeepSeek-R1-Distill-Llama-70B
        deepseek-r1:70b
    """,
    "llama4": """
        meta-llama/Llama-4-Scout-17B-16E-Instruct meta-llama/llama-4-maverick-17b-128e-instruct
        us.meta.llama4-maverick-17b-instruct-v1:0 llama4:scout meta-llama/Llama-Guard-4-12B
        accounts/fireworks/models/llama4-scout-instruct-basic
    """,
    "mistral_tekken": """
        open-mistral-nemo-2407 mistralai/Mistral-Nemo-Instruct-2407 ministral-8b-2410
        ministral-3b-latest mistral.ministral-3-8b-instruct pixtral-12b-2409 mistral-small-2501
        mistral-small-latest mistralai/Mistral-Small-24B-Instruct-2501 mistral-small3.2:24b
        mistralai/mistral-small-3.1-24b-instruct:free mistral-medium-2505 mistral-medium-3
        mistral-medium-3.5 mistral-large-2512 mistral.mistral-large-3-675b-instruct
        magistral-small-2509 devstral-medium-latest mistral.devstral-2-123b voxtral-small-2507
    """,
    "qwen2.5": """
        Qwen/Qwen2.5-72B-Instruct qwen2.5-coder:7b-instruct-q8_0 qwen2-vl-7b-instruct Qwen/QwQ-32B
        qwen/qwen3-32b qwen3:8b Qwen/Qwen3-8B qwen3-235b-a22b-instruct-2507 qwen3-coder-480b-a35b
        qwen-3-32b qwen.qwen3-coder-30b-a3b-v1:0 qwen3-next-80b-a3b-thinking qwen3-max
        accounts/fireworks/models/qwen2p5-72b-instruct qwen-plus-2025-07-14 qwen-turbo-2024-11-01
        deepseek-ai/DeepSeek-R1-Distill-Qwen-32B deepseek-r1:14b qwen2.5-7b-instruct@q4_k_m
    """,
    "qwen3.5": """
        Qwen/Qwen3.5-397B-A17B qwen3.5:9b qwen3-5-plus qwen/qwen3.6-plus qwen-3.6-plus
        qwen3.7-max qwen3p7-plus databricks-qwen35-122b-a10b
    """,
    "deepseek_v3": """
        deepseek-chat deepseek-reasoner deepseek/deepseek-chat-v3-0324:free deepseek-ai/DeepSeek-V3
        deepseek-ai/DeepSeek-R1-0528 deepseek-r1 deepseek-v3.1 deepseek-v3.2-exp deepseek.v3-v1:0
        us.deepseek.r1-v1:0 deepseek.v3.2 accounts/fireworks/models/deepseek-v3p1 deepseek-r1:671b
        deepseek-v3-2-251201 deepseek-v4-pro deepseek/deepseek-v4-flash
    """,
    "glm5": "glm-5 zai-org/GLM-5 zai/glm-5.1 glm-5-2 us.zai.glm-5.3 glm-5p1 zai.glm-4.7-flash",
    "kimi_k2": """
        kimi-k2-0905-preview moonshotai/Kimi-K2-Instruct kimi-k2-thinking kimi-k2.5
        moonshotai/kimi-k2:free accounts/fireworks/models/kimi-k2p6 moonshot.kimi-k2-thinking
        moonshotai/Kimi-K3 us.moonshotai.kimi-k3
    """,
    "minimax_m3": "MiniMaxAI/MiniMax-M2 minimax/minimax-m2.5 minimax.minimax-m2.1 MiniMax-M3",
    "command_r": """
        command-r command-r-plus-08-2024 command-r7b-12-2024 command-a-03-2025
        cohere.command-r-plus-v1:0 CohereLabs/c4ai-command-r-v01 cohere/command-a
    """,
}

UNKNOWN = """
    gpt-45 gpt-40 gpt-4x gpt-4omni gpt-4.7 gpt-4-o-preview gpt-6-sol gpt-5x gpt2 gpt4all-j
    my-gpt-4o o2 o10 o4 o3x text-davinci-003 text-embedding-004 gpt-image-1 whisper-1
    claude claude-2.1 claude-v2 anthropic.claude-v2:1 claude-instant-1.2 claude-opus-47
    claude-opus-6 claude-opus-4-10 claude-opus-5-10 claude-sonnet-3-8 claude-5
    gemini-1.5-pro gemini-pro gemini-4-argon gemini-embedding-001 gemini-25-pro gemma-2-9b-it gemma
    codegemma-7b meta-llama/Llama-2-70b-chat-hf llama2 llama-5 llama-3.4 llama-33 codellama-34b
    llama-v2-7b open-mistral-7b open-mixtral-8x22b mistral-large-2407 mistral-large-2411
    pixtral-large-latest codestral-2501 mistral-small-2402 mistral-small mistral-tiny
    mistral-nemotron
    qwen-max qwen-plus qwen-turbo qwen1.5-72b-chat qwen qwen3.9-max qwen4
    deepseek-coder deepseek-v2.5 deepseek-v4.1-flash deepseek-r1:8b deepseek-r1:latest deepseek-ocr
    deepseek-ai/DeepSeek-R1-0528-Qwen3-8B glm-4.5 glm-4.6 glm-4.7 glm-50 chatglm3-6b
    kimi-k3.1-pro moonshot-v1-8k minimax-m1-80k abab6.5 command command-light command-a-plus-05-2026
    grok-4 amazon.nova-pro-v1:0 phi-4 dbrx-instruct any script
    arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3
    projects/p/locations/us-central1/endpoints/1234567890
"""


def takes(model: str, rule: ModelRule) -> bool:
    return re.match(rf"(?:{rule.pattern})(?=$|[-:@])", model) is not None


@pytest.mark.parametrize(
    ("model", "profile"),
    [(model, profile) for profile, models in KNOWN.items() for model in models.split()],
)
def test_a_known_model_has_its_profile_however_it_is_spelt(model: str, profile: str) -> None:
    assert profile_name(model) == profile


@pytest.mark.parametrize("model", ["", " ", "/", "ft:", "ft", *UNKNOWN.split()])
def test_what_is_not_known_is_not_guessed(model: str) -> None:
    assert profile_name(model) is None


def test_every_rule_is_reached_and_names_its_source() -> None:
    models = [plain_model_name(name) for names in KNOWN.values() for name in names.split()]
    models += [plain_model_name(name) for name in UNKNOWN.split()]
    taken = {next(filter(partial(takes, model), MODEL_RULES), None) for model in models}
    assert [rule.pattern for rule in MODEL_RULES if rule not in taken] == []
    assert all(rule.source for rule in MODEL_RULES)


@given(st.sampled_from([name for names in KNOWN.values() for name in names.split()]))
def test_capitals_spaces_and_a_provider_before_it_change_nothing(model: str) -> None:
    assert profile_name(f" {model.upper()} ") == profile_name(model)
    if not model.startswith(("ft:", "arn:")):
        assert profile_name(f"some/gateway/{model}") == profile_name(model)


@given(st.text())
def test_any_text_is_an_answer_and_no_error(model: str) -> None:
    assert profile_name(model) in {None, *KNOWN}


def test_what_is_no_text_is_told() -> None:
    with pytest.raises(TypeError, match="model must be a str, not int"):
        profile_name(5)
