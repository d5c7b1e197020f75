"""A long text cut in the middle."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.history.cap import shorten, shorten_together
from brim.tokens import ApproximateTokenCounter, counter_for

EXACT = counter_for("gpt-4o")
LINES = "\n".join(f"line {n}: nothing happened here" for n in range(500))
NOTE = re.compile(r"\n\[about ([\d,]+) tokens are cut out here\]\n")


def test_a_text_that_is_not_longer_is_itself() -> None:
    text = "word " * 100
    assert shorten(text, int(EXACT.count(text)), EXACT) is text
    assert shorten("", 50, EXACT) == ""


def test_the_beginning_and_the_end_stay() -> None:
    begin, _, end = NOTE.split(shorten(LINES, 200, EXACT))
    assert LINES.startswith(begin)
    assert LINES.endswith(end)
    assert len(begin) > len(end) > 0


def test_whole_lines_stay() -> None:
    begin, _, end = NOTE.split(shorten(LINES, 200, EXACT))
    assert set(begin.split("\n")) | set(end.split("\n")) <= set(LINES.split("\n"))


def test_the_note_says_about_how_much_is_gone() -> None:
    short = shorten(LINES, 200, EXACT)
    begin, gone, end = NOTE.split(short)
    really = EXACT.count(LINES) - EXACT.count(begin) - EXACT.count(end)
    assert int(gone.replace(",", "")) == pytest.approx(really, rel=0.1)


def test_most_of_the_limit_is_used() -> None:
    assert 150 <= EXACT.count(shorten(LINES, 200, EXACT)) <= 200
    assert 1_700 <= EXACT.count(shorten(LINES * 3, 2_000, EXACT)) <= 2_000


@pytest.mark.parametrize("piece", ["😀", "xxxxxxxx", "\n\n\n", "语言", "        ", "a1\ud800", "<|endoftext|>"])
@pytest.mark.parametrize("limit", [50, 300])
def test_any_text_comes_within_the_limit(piece: str, limit: int) -> None:
    text = piece * 2_000
    for counter in (EXACT, ApproximateTokenCounter()):
        short = shorten(text, limit, counter)
        assert counter.count(short) <= limit
        assert "tokens are cut out here" in short or short is text


@settings(max_examples=100)
@given(piece=st.text(min_size=1, max_size=80), times=st.integers(1, 300), limit=st.integers(50, 200))
def test_every_text_comes_within_every_limit(piece: str, times: int, limit: int) -> None:
    text = piece * times
    short = shorten(text, limit, EXACT)
    assert EXACT.count(short) <= limit
    assert (short == text) == (EXACT.count(text) <= limit)


def test_many_long_texts_have_one_note_that_is_true() -> None:
    texts = [f"file {n}: " + "some words of text " * 400 for n in range(60)]
    total = sum(int(EXACT.count(text)) for text in texts)
    short = shorten_together(texts, 2_000, EXACT)
    found = re.findall(r"about ([\d,]+) tokens are cut out", "\n".join(short))
    assert len(found) == 1
    left = sum(int(EXACT.count(text)) for text in short)
    assert left <= 2_000
    assert int(found[0].replace(",", "")) == pytest.approx(total - left, rel=0.01)
    assert short[0].startswith("file 0")
    assert short[-1].endswith("text ")
