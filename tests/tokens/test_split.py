"""Splitting loses no character."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from brim.tokens.encoding import without_surrogates
from brim.tokens.split import PATTERNS, ascii_splitter, unicode_splitter
from tests.texts import ANY_TEXT

SPLITTERS = {name: unicode_splitter(name) for name in PATTERNS}


@pytest.mark.parametrize("name", PATTERNS)
@given(text=ANY_TEXT.map(without_surrogates))
@settings(max_examples=500, deadline=None)
def test_the_pieces_joined_are_the_text(name: str, text: str) -> None:
    assert "".join(SPLITTERS[name](text)) == text


@pytest.mark.parametrize("name", PATTERNS)
@given(text=ANY_TEXT.map(lambda text: text.encode("ascii", "ignore").decode()))
@settings(max_examples=500, deadline=None)
def test_ascii_text_splits_the_same_both_ways(name: str, text: str) -> None:
    assert ascii_splitter(name)(text) == SPLITTERS[name](text)
