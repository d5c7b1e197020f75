"""Splitting loses no character."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brim.tokens.vocabulary import PATTERNS, ascii_splitter, unicode_splitter, without_surrogates
from tests.texts import ANY_TEXT, TRICKY

if TYPE_CHECKING:
    from brim.tokens.vocabulary import Splitter

SMALL, LARGE = 12, 1 << 16


def pieces_of(text: str, splitter: Splitter) -> list[str]:
    return [piece for pieces in splitter(text) for piece in pieces]


WHOLE = {name: unicode_splitter(name, LARGE) for name in PATTERNS}
WINDOWED = {name: unicode_splitter(name, SMALL) for name in PATTERNS}
RUNS = st.lists(st.tuples(TRICKY, st.integers(1, 20)), max_size=12).map(
    lambda runs: "".join(a * n for a, n in runs)
)


@pytest.mark.parametrize("name", PATTERNS)
@given(text=ANY_TEXT.map(without_surrogates))
@settings(max_examples=100, deadline=None)
def test_the_pieces_joined_are_the_text(name: str, text: str) -> None:
    assert "".join(pieces_of(text, WHOLE[name])) == text


@pytest.mark.parametrize("name", PATTERNS)
@given(text=st.one_of(ANY_TEXT.map(without_surrogates), RUNS))
@settings(max_examples=150, deadline=None)
@example(text="ABC中DEF" * 30 + "g")
@example(text="x" + " " * 200 + "\n" + " " * 50 + "y")
@example(text="中DEF'" * 9 + "ll")
def test_a_text_split_in_windows_is_split_as_a_whole(name: str, text: str) -> None:
    assert pieces_of(text, WINDOWED[name]) == pieces_of(text, WHOLE[name])


@pytest.mark.parametrize("name", PATTERNS)
@given(text=ANY_TEXT.map(lambda text: text.encode("ascii", "ignore").decode()))
@settings(max_examples=100, deadline=None)
def test_ascii_text_splits_the_same_both_ways(name: str, text: str) -> None:
    assert pieces_of(text, ascii_splitter(name)) == pieces_of(text, WHOLE[name])
