"""Instructions and decisions: precise on messages that were labelled by hand."""

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
    decisions_in,
    instructions_in,
)

DATA = Path(__file__).parent / "data"
FOUND_IN = {"you": instructions_in, "agent": decisions_in}


def labelled(name: str) -> list[tuple[str, str, set[str]]]:
    """Return role, message and the sentences that are marked in it."""
    found = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines()[1:]:
        role, text = line.split("\t")
        found.append(
            (role, re.sub(r"\[\[|\]\]", "", text), set(re.findall(r"\[\[(.*?)\]\]", text)))
        )
    return found


def test_the_examples_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", ["statements_seen.tsv", "statements_unseen.tsv"])
@pytest.mark.parametrize("role", ["you", "agent"])
def test_what_is_found_is_right_and_most_is_found(name: str, role: str) -> None:
    right = told = marked = 0
    for who, message, wanted in labelled(name):
        got = set(FOUND_IN[role](message)) if who == role else set()
        right, told, marked = (
            right + len(got & wanted),
            told + len(got),
            marked + len(wanted) * (who == role),
        )
    assert right / told >= 0.95
    assert right / marked >= 0.75


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
        "```\nUse this\n```",
        '  File "a.py", line 3, in run',
        "$ make test",
        "src/a.py:12: error: add a type",
        "{",
        "a = 1;",
    ],
)
def test_code_and_logs_ask_for_nothing(pasted: str) -> None:
    assert instructions_in(pasted) == []


@given(st.text(max_size=400))
def test_nothing_in_a_text_raises_and_statements_are_bounded(text: str) -> None:
    for found in (instructions_in(text), binding_statements(text), decisions_in(text)):
        assert len(found) <= MOST_STATEMENTS
        assert all(len(each) <= LONGEST_STATEMENT for each in found)
