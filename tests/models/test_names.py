from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.models.names import clean, provider_forms, shorter_names, spellings, split_window


def test_what_stands_before_the_name_is_taken_off_step_by_step() -> None:
    assert list(provider_forms("bedrock/us.anthropic.claude-x")) == [
        ("bedrock/us.anthropic.claude-x", ""),
        ("us.anthropic.claude-x", "bedrock/"),
        ("anthropic.claude-x", "bedrock/us."),
        ("claude-x", "bedrock/us.anthropic."),
    ]
    assert list(provider_forms("gpt-4.1")) == [("gpt-4.1", "")]


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
        ("gemini-1.5-pro-002", "gemini-1.5-pro"),
        ("gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        ("mistral-large-2411", "mistral-large"),
        ("anthropic.claude-3-haiku-20240307-v1:0", "claude-3-haiku"),
        ("claude-4-5-sonnet", "claude-sonnet-4-5"),
        ("claude-haiku-3-5-20241022", "claude-3-5-haiku"),
        ("gpt-5-2", "gpt-5.2"),
    ],
)
def test_a_spelling_that_is_tried(name: str, spelling: str) -> None:
    assert spelling in [key for key, _ in spellings(name)]


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4"),
        ("gpt-4-32", "gpt-4"),
        ("model-2048", "model"),
        ("llama-3-70", "llama-3"),
    ],
)
def test_a_size_or_version_is_no_date(name: str, spelling: str) -> None:
    assert spelling not in [key for key, _ in spellings(name)]


def test_a_suffix_in_brackets_is_a_window() -> None:
    assert split_window("claude-opus-4-8[1m]") == ("claude-opus-4-8", 1_000_000)
    assert split_window("sonnet[200k]") == ("sonnet", 200_000)
    assert split_window("sonnet[new]") == ("sonnet", 0)
    assert split_window("[1m]") == ("[1m]", 0)
    assert split_window("sonnet") == ("sonnet", 0)


def test_families_are_tried_longest_first() -> None:
    assert list(shorter_names("gpt-4o-super.fast")) == ["gpt-4o-super", "gpt-4o", "gpt"]


@given(st.text(max_size=400))
def test_no_text_has_more_than_a_few_hundred_spellings(text: str) -> None:
    key = clean(text)
    assert len(list(spellings(key))) <= 8 * 6 * 10
    assert len(list(shorter_names(key))) <= 64
