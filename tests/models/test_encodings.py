from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.models.light import encoding_of


@pytest.mark.parametrize(
    ("names", "encoding"),
    [
        (
            "gpt-4o azure/gpt-4o-mini gpt-5 gpt-5.4-nano gpt-4.1 o1 o3-mini openai/o4-mini chatgpt-4o-latest",
            "o200k_base",
        ),
        ("gpt-oss-120b groq/openai/gpt-oss-20b", "o200k_harmony"),
        (
            "gpt-4 gpt-4-turbo gpt-4-1106-preview gpt-3.5-turbo azure/gpt-35-turbo text-embedding-3-small",
            "cl100k_base",
        ),
        ("davinci-002 babbage-002", "cl100k_base"),
        ("text-davinci-003 code-davinci-002", "p50k_base"),
        ("text-davinci-001 davinci ada", "r50k_base"),
        (
            "claude-2 claude-3-5-sonnet claude-sonnet-4-5 claude-opus-4@20250514 claude-4-sonnet claude-opus-4-6",
            "claude",
        ),
        (
            "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0 openrouter/anthropic/claude-3.5-sonnet",
            "claude",
        ),
        (
            "claude-opus-4-7 claude-opus-4.8 claude-sonnet-5 claude-opus-5-5 claude-haiku-5-5 claude-fable-5",
            "claude-4.7",
        ),
        ("us.anthropic.claude-opus-4-7 claude-mythos-preview", "claude-4.7"),
        ("gemini-2.5-pro vertex_ai/gemini-3-flash-preview", "gemini"),
        ("gemma-3-27b-it", "gemma"),
        ("meta.llama3-70b-instruct-v1:0 llama-3.3-70b", "llama3"),
        ("ollama/llama2", "llama2"),
        ("meta_llama/llama-4-maverick", "llama4"),
        ("qwen3-coder qwen/qwen3-32b", "qwen3"),
        ("qwen2.5-72b qwq-32b", "qwen2"),
        ("deepseek-chat deepseek.r1 deepseek/deepseek-v3.2", "deepseek"),
        ("deepseek-r1-distill-llama-70b", "llama3"),
        ("open-mixtral-8x22b mistral-7b-instruct", "mistral"),
        ("open-mistral-nemo ministral-8b devstral-small", "tekken"),
        ("zai/glm-4.6", "glm"),
        ("moonshot/kimi-k2.5", "kimi"),
        ("xai/grok-4.5", "grok"),
        ("command-r-plus cohere.command-text-v14", "command"),
        ("whatever proto1 canada-7b myo3", ""),
    ],
)
def test_tokenizer_family_by_name_through_any_provider_prefix(names: str, encoding: str) -> None:
    assert {name: encoding_of(name) for name in names.split()} == dict.fromkeys(
        names.split(), encoding
    )


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    assert isinstance(encoding_of(text.lower()), str)
