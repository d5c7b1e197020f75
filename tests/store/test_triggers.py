"""What is looked up finds every behavior that it should."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors import When
from brim.store.triggers import ALWAYS, triggers_in, triggers_of
from tests.store import making


@pytest.mark.parametrize(
    ("when", "facts"),
    [
        (When(file="*.py"), {"file": ("src/app.py",)}),
        (When(file="src/**"), {"file": ("/home/me/src/app.py",)}),
        (When(file="Makefile"), {"file": ("a/Makefile",)}),
        (When(file="**/*.test.ts"), {"file": ("a.md", "b/x.test.ts")}),
        (When(file="src\\*.py"), {"file": ("src\\app.py",)}),
        (When(file="a[bc]"), {"file": ("x/ac",)}),
        (When(branch="release/*"), {"branch": ("release/1",)}),
        (When(language="Straße"), {"language": ("STRASSE",)}),
        (When(custom={"team": ["a", "b"]}), {"team": ("B",)}),
    ],
)
def test_a_confirmed_condition_is_found(when: When, facts: dict[str, tuple[str, ...]]) -> None:
    assert when.match(facts).confirmed
    assert triggers_of(when, ()) & triggers_in(facts, ())


@given(making.whens.filter(bool), making.facts)
@settings(max_examples=300)
def test_every_confirmed_condition_is_found(when: When, facts: dict[str, tuple[str, ...]]) -> None:
    if when.match(facts).confirmed:
        assert triggers_of(when, ()) & triggers_in(facts, ())


@given(making.patterns, making.paths.map("/".join).filter(str.strip))
@settings(max_examples=300)
def test_every_pattern_that_matches_a_path_is_found(pattern: str, path: str) -> None:
    when, facts = When(file=pattern), {"file": (path,)}
    if when.match(facts).confirmed:
        assert triggers_of(when, ()) & triggers_in(facts, ())


@given(st.frozensets(making.plain), st.frozensets(making.plain))
def test_words_are_found_by_words_only(own: frozenset[str], said: frozenset[str]) -> None:
    found = triggers_of(When(task="x"), own) & triggers_in({}, said)
    assert found == own & said


def test_what_has_no_conditions_is_always_found() -> None:
    assert ALWAYS in triggers_of(When(), ()) & triggers_in({}, ())
    assert ALWAYS not in triggers_of(When(task="x"), ())


def test_a_word_is_never_taken_for_a_condition() -> None:
    assert not triggers_of(When(custom={"a": "b"}), ()) & triggers_in({}, ("a", "b"))
