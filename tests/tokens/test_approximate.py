"""The two rules of thumb."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.tokens import ApproximateTokenCounter, TokenCounter, estimate_tokens
from tests.texts import ANY_TEXT

TEXT = st.text() | ANY_TEXT


@given(text=TEXT)
def test_four_characters_are_a_token_and_nothing_is_one(text: str) -> None:
    count = ApproximateTokenCounter().count(text)
    assert count == max(1, len(text) // 4)
    assert count.basis == "estimated"
    assert count.low <= count <= count.high


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 1), ("abc", 1), ("abcdefg", 1), ("abcdefgh", 2), ("上下文窗口", 1)]
)
def test_examples(text: str, tokens: int) -> None:
    assert ApproximateTokenCounter().count(text) == tokens


@given(contents=st.lists(TEXT, max_size=5))
def test_each_message_is_4_more(contents: list[str]) -> None:
    messages = [{"role": "user", "content": content} for content in contents]
    count = ApproximateTokenCounter().count_messages(messages)
    assert count == sum(max(1, len(content) // 4) + 4 for content in contents)
    assert count.basis == "estimated"


def test_no_messages_are_no_token() -> None:
    assert ApproximateTokenCounter().count_messages([]) == 0


@pytest.mark.parametrize(
    "message",
    [None, 5, {}, {"role": "user", "content": None}, {"content": [{"type": "x"}]}, "text"],
)
def test_no_message_raises(message: object) -> None:
    assert ApproximateTokenCounter().count_messages([message]) >= 4


def test_an_image_is_not_counted_by_its_base64() -> None:
    url = "data:image/png;base64," + "A" * 400_000
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    assert ApproximateTokenCounter("gpt-4o").count_messages([message]) < 5_000


def test_tools_are_counted() -> None:
    tool = {
        "type": "function",
        "function": {"name": "search", "description": "Search. " * 50, "parameters": {}},
    }
    assert ApproximateTokenCounter().count_messages([], [tool]) > 80


@given(pieces=st.lists(TEXT, max_size=5))
def test_blocks_count_as_the_text(pieces: list[str]) -> None:
    counter = ApproximateTokenCounter()
    assert counter.count_blocks(pieces) == counter.count("".join(pieces))


@given(text=st.text())
def test_an_estimate_is_a_quarter_of_the_bytes_rounded_up(text: str) -> None:
    assert estimate_tokens(text) == -(-len(text.encode()) // 4)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("上下文", 3), ("\ud800", 1)]
)
def test_estimates(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(one=st.text(), two=st.text())
def test_more_text_is_never_estimated_less(one: str, two: str) -> None:
    assert (
        estimate_tokens(one)
        <= estimate_tokens(one + two)
        <= estimate_tokens(one) + estimate_tokens(two)
    )


def test_it_is_a_token_counter_and_remembers_its_model() -> None:
    assert isinstance(ApproximateTokenCounter(), TokenCounter)
    assert ApproximateTokenCounter("gpt-4o").model == "gpt-4o"
