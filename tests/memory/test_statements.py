"""A person's sentences that go on holding: precise on messages that were labelled by hand."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.memory import statements as module
from brim.memory.statements import (
    LONGEST_STATEMENT,
    MOST_STATEMENTS,
    binding_statements,
)

DATA = Path(__file__).parent / "data"


def labelled(name: str) -> list[tuple[str, set[str]]]:
    """Return the messages of people and the sentences that are marked in them."""
    messages = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines()[1:]:
        role, text = line.split("\t")
        if role == "you":
            marked = set(re.findall(r"\[\[(.*?)\]\]", text))
            messages.append((re.sub(r"\[\[|\]\]", "", text), marked))
    return messages


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", ["statements_seen.tsv", "statements_unseen.tsv"])
def test_nearly_all_that_is_found_asks_for_something(name: str) -> None:
    statements = 0
    right = 0
    for message, marked in labelled(name):
        found = set(binding_statements(message))
        statements += len(found)
        right += len(found & marked)
    assert right / statements >= 0.85


@pytest.mark.parametrize(
    "rule",
    [
        "Never touch src/legacy.",
        "I don't want any new dependency.",
        "No new packages without asking me.",
        "The server has PHP 8.1, so no readonly classes.",
        "Please limit the cache to 64 MB.",
        "Threshold goes into the config, not into the code.",
        "Keep the public headers unchanged.",
        "It has to ask, unless --yes is given.",
        "Antworte ab jetzt bitte auf Deutsch.",
        "fallbackToDestructiveMigration ist tabu.",
        "Il ne faut jamais modifier ce dossier.",
        "Usa siempre UTF-8 en los ficheros.",
        "D'ora in poi scrivi i commenti in inglese.",
        "Никогда не меняй схему.",
        "不要修改旧的接口。",
        "テストは必ず実行してください。",
    ],
)
def test_what_goes_on_holding_is_found_in_many_languages(rule: str) -> None:
    assert binding_statements(f"The page is slow. {rule}") == [rule]


@pytest.mark.parametrize(
    "prompt",
    [
        "Find the cause.",
        "No idea why it fails.",
        "There is no log of that.",
        "No problem, go on.",
        "Why is the first one not shown?",
        "The worker pods are killed during the nightly export.",
        "Now the widget.",
        "[Request interrupted by user]",
    ],
)
def test_what_is_done_with_once_does_not_go_on_holding(prompt: str) -> None:
    assert binding_statements(prompt) == []


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nNever use this\n```",
        '  File "a.py", line 3, in never',
        "$ make only",
        "src/a.py:12: error: must be a type",
        "Error: src/a.py:12:4: must be a type",
        "Feb 9 09:08:29.8 |DEBU| never changed",
        "level=warn msg=never retried",
        "> never do that",
        "⎿ Added 286 lines in 3 s",
        "--- FAIL: TestOnly (13.84s)",
        "never = 1;",
        "See this plan:\n\n# Plan\n\nNever log.",
        "Fix what the review says:\n\n" + "The map must be kept. " * 20,
    ],
)
def test_what_a_person_pasted_is_not_their_words(pasted: str) -> None:
    assert binding_statements(pasted) == []


def test_a_list_after_a_colon_is_typed() -> None:
    rules = [f"- Never touch src/part_{at}." for at in range(12)]
    assert binding_statements("For this task:\n\n" + "\n".join(rules)) == rules


@given(st.text(max_size=400))
def test_nothing_in_a_text_raises_and_statements_are_bounded(text: str) -> None:
    found = binding_statements(text)
    assert len(found) <= MOST_STATEMENTS
    assert all(len(each) <= LONGEST_STATEMENT for each in found)
