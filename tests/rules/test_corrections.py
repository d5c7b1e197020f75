"""Prompts that correct an agent, in five languages, and all the others."""

from __future__ import annotations

import pytest
from hypothesis import given

from brim.rules.corrections import LONGEST, is_correction
from tests.texts import ANY_TEXT

CORRECTIONS = [
    "no, use pnpm here",
    "stop adding comments like that",
    "I told you to leave the lock file alone",
    "wrong, we never edit generated code",
    "Please don't use default exports in this repo",
    "you keep forgetting the changelog",
    "revert that, we only use named exports",
    "ich habe gesagt, keine Emojis",
    "Hör auf, Kommentare zu schreiben",
    "nein, bitte yarn statt npm",
    "arrête d'ajouter des commentaires",
    "non, on utilise pytest",
    "te dije que no tocaras las migraciones",
    "no, aquí usamos pnpm",
    "no, we decided to use Decimal",
    "já te disse que os testes ficam em spec",
    "para de criar ficheiros",
]
ORDINARY = [
    "no problem, go on",
    "no",
    "No, thanks, that's all",
    "no, I meant the other endpoint",
    "never mind, I found it",
    "We decided to use Decimal",
    "We decided to use Decimal, not float.",
    "the button should not be red",
    "make it stop after five retries",
    "Why don't we get a 404 here?",
    "run it again",
    "we use Postgres 15; why is this query slow?",
    "users must never see the price",
    "you get logged out when you keep the tab open",
    "nein danke, das reicht",
    "pas de souci, continue",
    "no pasa nada, sigue",
    "não faz mal, continua",
    "/learn use pnpm here",
    'Traceback (most recent call last):\n  File "a.py"\nValueError: do not use a list here',
]


@pytest.mark.parametrize("prompt", CORRECTIONS)
def test_a_correction_is_noticed(prompt: str) -> None:
    assert is_correction(prompt)
    assert is_correction(prompt.capitalize() + ".")


@pytest.mark.parametrize("prompt", ORDINARY)
def test_an_ordinary_prompt_is_none(prompt: str) -> None:
    assert not is_correction(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "We decided to use Decimal",
        "We decided to use Decimal instead of float.",
        "I decided to use Decimal, not float",
    ],
)
def test_a_decision_corrects_nobody(prompt: str) -> None:
    assert not is_correction(prompt)


def test_a_long_prompt_is_a_task_or_a_log() -> None:
    assert not is_correction("no, use pnpm here " + "x" * LONGEST)
    assert not is_correction("no, use pnpm here\n" + "at line 1\n" * 10)


@given(ANY_TEXT)
def test_no_prompt_is_too_odd(prompt: str) -> None:
    assert isinstance(is_correction(prompt), bool)
