"""Contradictions: what can't both be followed, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from brim.behaviors.behavior import Rule
from brim.behaviors.contradictions import MOST, MOST_PAIRS, among, contradiction, find
from tests.texts import ANY_TEXT

CONTRADICTING = [
    ("Use pnpm, not npm", "Use bun, not pnpm"),
    ("Never use semicolons", "Always use semicolons"),
    ("Prefer composition over inheritance", "Prefer inheritance over composition"),
    ("Use yarn", "Use npm, not yarn"),
    ("Use `uv` instead of pip.", "Use pip"),
    ("Don't commit the lock file.", "Commit the lock file. It's small."),
    ("Never use mocks, use fakes", "Use mocks"),
]
COMPATIBLE = [
    ("Use tabs in Go", "Use tabs in Makefiles"),
    ("Use tabs in Go", "Use spaces in Python"),
    ("Write tests", "Never write tests that need the network"),
    ("Never mock", "Mock the network in tests"),
    ("Keep functions under 40 lines", "Keep files under 400 lines"),
    ("Use Redis for caching", "Use Redis for queues"),
    ("Never commit secrets", "Commit often"),
    ("Use pnpm, not npm", "Use pnpm, not yarn"),
    ("Ask before deleting files", "Don't ask before reading files"),
    ("Don't mock the database", "Mock the network"),
    ("Don't read it, print it or commit it", "Print the version"),
    ("Use single quotes in JS and double quotes in Python", "Use double quotes in Python"),
]


@pytest.mark.parametrize(("older", "newer"), CONTRADICTING)
def test_rules_that_cannot_both_be_followed_contradict_each_other(older: str, newer: str) -> None:
    assert contradiction(newer, older)


@pytest.mark.parametrize(("older", "newer"), COMPATIBLE)
def test_rules_about_different_things_do_not(older: str, newer: str) -> None:
    assert not contradiction(newer, older)


def rule(id: str, text: str, at: float, **fields: Any) -> Rule:
    return replace(Rule(id=id, name=id, kind="directive", canonical=text, created_at=at), **fields)


def test_different_conditions_never_meet() -> None:
    python = rule("a", "Use tabs", 1.0, when={"language": "python"})
    assert not find(rule("b", "Never use tabs", 2.0, when={"language": "go"}), [python])
    assert [each.other for each in find(rule("b", "Never use tabs", 2.0), [python])] == [python]


def test_only_live_rules_count_and_the_newest_come_first() -> None:
    others = [rule(f"b{at}", "Use tabs", float(at)) for at in range(30)]
    found = find(
        rule("x", "Never use tabs", 99.0),
        [*others, rule("gone", "Use tabs", 100.0, status="forgotten")],
    )
    assert [each.other.id for each in found] == [f"b{at}" for at in range(29, 29 - MOST, -1)]


def test_a_store_full_of_contradictions_is_bounded() -> None:
    rules = [
        rule(f"b{at}", f"{('Always', 'Never')[at % 2]} use tabs", float(at)) for at in range(2_000)
    ]
    found = among(rules)
    assert len(found) == MOST_PAIRS
    assert all(newer.created_at > each.other.created_at for newer, each in found)  # type: ignore[operator]


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_no_text_is_too_odd(a: str, b: str) -> None:
    assert isinstance(contradiction(a, b), str)
    assert not contradiction(a, a)
