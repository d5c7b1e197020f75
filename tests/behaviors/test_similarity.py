from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors.similarity import NEAR_DUPLICATE, difference, most_similar, near_duplicate, normalized, similarity
from tests.texts import ANY_TEXT

PAIRS = [
    line.replace("\\n", "\n").split("\t")
    for line in (Path(__file__).parent / "data" / "pairs.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
SAME = [(a, b) for label, a, b in PAIRS if label == "same"]
DIFFERENT = [(a, b) for label, a, b in PAIRS if label == "different"]
WORDS = ("use", "uv", "pip", "never", "not", "before", "tests", "run", "only", "if", "commit", "3", "`a.py`", ",", ".")
RULES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10).map(" ".join)


def test_there_are_enough_labelled_pairs() -> None:
    assert min(len(SAME), len(DIFFERENT)) >= 40


def test_rules_that_differ_are_hardly_ever_taken_for_one() -> None:
    mistaken = [pair for pair in DIFFERENT if near_duplicate(*pair)]
    assert len(mistaken) <= 1, mistaken


def test_most_wordings_of_one_rule_are_recognised() -> None:
    found = [pair for pair in SAME if near_duplicate(*pair)]
    assert len(found) >= 0.88 * len(SAME)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("Use pip", "Never use pip", "only one of them has: not"),
        ("Use 2 spaces", "Use 4 spaces", "other numbers: 2, 4"),
        ("Edit src/a.py", "Edit src/b.py", "only one of them names: src/a.py, src/b.py"),
        ("Use uv, not pip", "Use pip, not uv", "one asks for what the other one forbids: pip, uv"),
        ("Lint before testing", "Test before linting", "in another order: lint, test"),
        ("Stop if it fails, retry", "Retry if it stops, fail", "a condition in only one of them: fail, stop"),
        ("Call A from B", "Call B from A", "in other places: a, b"),
        ("Use tabs", "Use spaces", "only one of them says: tab, spac"),
        ("Use uv.", "use  UV.", None),
        ("Never use pip", "Don't use pip", None),
    ],
)
def test_the_difference_is_named(a: str, b: str, reason: str | None) -> None:
    assert difference(a, b) == reason


@settings(max_examples=100, deadline=None)
@given(st.one_of(ANY_TEXT, RULES), st.one_of(ANY_TEXT, RULES))
def test_similarity_is_symmetric_and_between_0_and_1(a: str, b: str) -> None:
    assert 0 <= similarity(a, b) <= 1
    assert similarity(a, b) == similarity(b, a)
    assert (similarity(a, b) == 1) == (normalized(a) == normalized(b))


@settings(max_examples=50, deadline=None)
@given(RULES, st.lists(RULES, max_size=5))
def test_most_similar_of_near_duplicates_is_one_of_them(text: str, candidates: list[str]) -> None:
    found = most_similar(text, candidates, at_least=NEAR_DUPLICATE)
    if found is not None:
        assert found.similarity == similarity(text, candidates[found.index]) >= NEAR_DUPLICATE
    if text in candidates:
        assert found is not None
        assert found.similarity == 1


def test_filter_of_most_similar_loses_no_labelled_pair() -> None:
    for a, b in SAME:
        if near_duplicate(a, b):
            assert most_similar(a, [b], at_least=NEAR_DUPLICATE) is not None
            assert most_similar(b, [a], at_least=NEAR_DUPLICATE) is not None


def test_most_similar_prefers_the_nearest_then_the_first() -> None:
    found = most_similar("Never use pip", ["Use tabs", "Do not use pip", "Don't use pip", "never  use PIP"])
    assert found is not None
    assert found.index == 3
    assert most_similar("Never use pip", ["Do not use pip", "Don't use pip"]) == (0, 0.99)
    assert most_similar("Never use pip", ["Deploy on Fridays"]) is None
    assert most_similar("Never use pip", []) is None
