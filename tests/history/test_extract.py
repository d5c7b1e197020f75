"""A summary without a model: quoted and counted, within a budget."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.history import PROVIDERS, Provider
from brim.history.formats import read
from brim.history.summarize import LINE, extract
from brim.tokens import ApproximateTokenCounter, counter_for
from tests.history.histories import valid_histories
from tests.history.samples import chat_calls, chat_result, says, step, user

every_provider = pytest.mark.parametrize("provider", PROVIDERS)
EXACT = counter_for("gpt-4o")


def lines(provider: Provider, *messages: Any, budget: int = 1_000) -> list[str]:
    return extract(read(messages, provider), EXACT, budget).split("\n")


@every_provider
def test_it_quotes_people_calls_troubles_and_answers(provider: Provider) -> None:
    messages = (user(provider, "Paint it."), *step(provider, "brush", "Error: no paint\nbye"), says(provider, "Sorry."))
    assert lines(provider, *messages) == [
        "Summary of 4 earlier messages, made by quoting:",
        "- the user: Paint it.",
        "- a tool: " + ('{"a":"Error: no paint\\nbye"}' if provider == "gemini" else "Error: no paint"),
        "- the assistant: Sorry.",
        "- called: " + ("brush (1)" if provider == "gemini" else "read (1)"),
    ]


def test_calls_are_counted_by_name() -> None:
    messages = (chat_calls("a", "b"), chat_result("a"), chat_result("b"), chat_calls("c"), chat_result("c"))
    assert lines("openai", *messages)[1:] == ["- called: read (3)"]


def test_a_result_without_trouble_is_not_quoted() -> None:
    assert lines("openai", chat_calls("a"), chat_result("a", "All is well."))[1:] == ["- called: read (1)"]


def test_the_last_line_with_trouble_is_quoted() -> None:
    text = "Traceback (most recent call last):\n  File\nKeyError: 1\nException: two\ndone"
    assert "- a tool: Exception: two" in lines("openai", chat_calls("a"), chat_result("a", text))


def test_a_long_line_is_cut() -> None:
    line = lines("openai", user("openai", "tree " * 200))[1]
    assert line.startswith("- the user: tree tree")
    assert line.endswith("tree…")
    assert len(line) <= len("- the user: ") + LINE


def test_a_quote_is_one_line() -> None:
    assert lines("openai", user("openai", "One\n\ntwo\tthree"))[1:] == ["- the user: One two three"]


def test_the_users_words_come_before_all_else_when_room_is_short() -> None:
    messages = [message for n in range(10) for message in (user("openai", f"Wish {n}."), says("openai", f"Yes {n}."))]
    said = lines("openai", *messages, budget=105)
    assert [line for line in said if "the user" in line] == [f"- the user: Wish {n}." for n in range(10)]
    assert [line for line in said if "the assistant" in line] == []


def test_the_newest_words_come_first_when_room_is_shorter() -> None:
    messages = [user("openai", f"Wish {n}.") for n in range(10)]
    assert lines("openai", *messages, budget=45)[1:] == [f"- the user: Wish {n}." for n in range(7, 10)]


@every_provider
def test_an_earlier_summary_is_quoted_whoever_made_it(provider: Provider) -> None:
    quoted = user(provider, "<summary>\nSummary of 3 earlier messages:\n- the user: A red door.\n</summary>")
    told = user(provider, "<summary>\nThey painted the door red.\n</summary>")
    assert "- the user: A red door." in lines(provider, quoted)
    assert "They painted the door red." in "\n".join(lines(provider, told))


@every_provider
@settings(max_examples=40)
@given(data=st.data(), budget=st.integers(15, 400))
def test_the_summary_stays_within_its_budget(provider: Provider, data: st.DataObject, budget: int) -> None:
    entries = read(data.draw(valid_histories(provider)), provider)
    for counter in (EXACT, ApproximateTokenCounter()):
        text = extract(entries, counter, budget)
        assert counter.count(text) <= budget
        assert extract(entries, counter, budget) == text


@pytest.mark.parametrize("budget", [0, 1, 5])
def test_a_budget_too_small_for_anything_is_kept_too(budget: int) -> None:
    assert EXACT.count(extract(read([user("openai", "Hello")], "openai"), EXACT, budget)) <= budget
