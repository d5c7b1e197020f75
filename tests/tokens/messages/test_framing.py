"""Framing by family: exact where the provider publishes it, an interval where it does not."""

from __future__ import annotations

import time

import pytest

from brim.tokens.messages import measure
from brim.tokens.vocabulary import load_table_counter

JARGON = "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."
SLOGAN = "New synergies will help drive top-line growth."
PLAIN_SLOGAN = "Things working well together will increase revenue."
CIRCLE = "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage."
PLAIN_CIRCLE = "Let's talk later when we're less busy about how to do better."
PIVOT = "This late pivot means we don't have time to boil the ocean for the client deliverable."
COOKBOOK = [
    {"role": "system", "content": JARGON},
    {"role": "system", "name": "example_user", "content": SLOGAN},
    {"role": "system", "name": "example_assistant", "content": PLAIN_SLOGAN},
    {"role": "system", "name": "example_user", "content": CIRCLE},
    {"role": "system", "name": "example_assistant", "content": PLAIN_CIRCLE},
    {"role": "user", "content": PIVOT},
]
"""The example of the OpenAI cookbook, for which it shows what the API reported."""


def letters(text: str) -> int:
    return len(text)


def published(messages: list[dict[str, str]], per_message: int, per_name: int) -> int:
    """``num_tokens_from_messages`` of the OpenAI cookbook, written down once more."""
    total = 3
    for message in messages:
        total += per_message
        for key, value in message.items():
            total += len(value)
            total += per_name if key == "name" else 0
    return total


@pytest.mark.parametrize(
    ("model", "encoding", "per_message", "per_name"),
    [
        ("gpt-4o", "o200k_base", 3, 1),
        ("gpt-4o-mini", "o200k_base", 3, 1),
        ("gpt-4o-2024-08-06", "o200k_base", 3, 1),
        ("openai/gpt-4o", "o200k_base", 3, 1),
        ("gpt-4", "cl100k_base", 3, 1),
        ("gpt-4-0613", "cl100k_base", 3, 1),
        ("gpt-4-turbo", "cl100k_base", 3, 1),
        ("gpt-3.5-turbo", "cl100k_base", 3, 1),
        ("gpt-3.5-turbo-0301", "cl100k_base", 4, -1),
    ],
)
def test_plain_chat_of_a_published_family_is_exact(
    model: str, encoding: str, per_message: int, per_name: int
) -> None:
    tally = measure(COOKBOOK, model_name=model, encoding=encoding, count_text=letters)
    assert tally.exact
    assert tally.tokens == tally.low == tally.high == published(COOKBOOK, per_message, per_name)
    assert tally.fixed == 3
    assert tally.reasons == ()


@pytest.mark.parametrize(
    ("model", "encoding", "tokens"),
    [
        ("gpt-3.5-turbo", "cl100k_base", 129),
        ("gpt-4", "cl100k_base", 129),
        ("gpt-3.5-turbo-0301", "cl100k_base", 127),
        ("gpt-4o", "o200k_base", 124),
        ("gpt-4o-mini", "o200k_base", 124),
    ],
)
def test_the_number_that_the_openai_api_reported(model: str, encoding: str, tokens: int) -> None:
    count = load_table_counter(encoding)
    assert measure(COOKBOOK, model_name=model, encoding=encoding, count_text=count).tokens == tokens


@pytest.mark.parametrize(
    "model",
    [
        "gpt-5", "gpt-4.1", "gpt-4.9", "gpt-6-sol", "o3", "o4-mini", "gpt-4o-audio-preview", "gpt-4o-search-preview",
        "claude-sonnet-4-5", "gemini-2.5-pro", "llama-3", "", "x" * 1000,
    ],
)  # fmt: skip
def test_any_other_family_is_an_interval(model: str) -> None:
    tally = measure(COOKBOOK, model_name=model, encoding="o200k_base", count_text=letters)
    assert not tally.exact
    assert tally.low < tally.tokens <= tally.high or tally.low <= tally.tokens < tally.high
    assert "framing of this model's messages is not published" in tally.reasons


@pytest.mark.parametrize("encoding", ["cl100k_base", None, "claude"])
def test_another_vocabulary_is_never_exact(encoding: str | None) -> None:
    tally = measure(COOKBOOK, model_name="gpt-4o", encoding=encoding, count_text=letters)
    assert not tally.exact
    assert tally.reasons == ("text not counted with the model's own vocabulary",)


def test_each_text_is_counted_once() -> None:
    seen: list[str] = []

    def count(text: str) -> int:
        seen.append(text)
        return 1

    measure(
        [*COOKBOOK, *COOKBOOK, COOKBOOK[0]],
        model_name="gpt-4o",
        encoding="o200k_base",
        count_text=count,
    )
    assert len(seen) == len(set(seen))
    assert "" not in seen


def test_ten_thousand_messages_take_well_under_a_second() -> None:
    messages = [{"role": "user", "content": f"message {n}"} for n in range(10_000)]
    started = time.process_time()
    tally = measure(messages, model_name="gpt-4o", encoding="o200k_base", count_text=letters)
    assert time.process_time() - started < 1.0
    assert len(tally.per_message) == 10_000


def test_an_empty_list_is_the_priming_alone() -> None:
    tally = measure([], model_name="gpt-4o", encoding="o200k_base", count_text=letters)
    assert (tally.tokens, tally.per_message, tally.exact) == (3, (), True)
