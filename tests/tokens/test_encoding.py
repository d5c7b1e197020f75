"""The table engine counts what tiktoken counts."""

from __future__ import annotations

import sys
import tracemalloc

import pytest
from hypothesis import given, settings

from brim.tokens import vocabulary as engine
from brim.tokens.vocabulary import ENCODINGS, TableEncoding, load_table_counter
from tests.conftest import Oracle
from tests.texts import ANY_TEXT, PATHOLOGICAL, documents

NAMES = sorted(ENCODINGS)


@pytest.mark.parametrize("name", NAMES)
def test_hello_world_is_two_tokens(name: str) -> None:
    assert load_table_counter(name)("Hello world") == 2


@pytest.mark.parametrize("name", NAMES)
def test_empty_text_is_no_token(name: str) -> None:
    assert load_table_counter(name)("") == 0


@pytest.mark.parametrize("name", NAMES)
def test_generated_documents_count_as_in_tiktoken(name: str, oracle: Oracle) -> None:
    count = load_table_counter(name)
    differing = [
        text for text in documents(seed=7, number=150) if count(text) != oracle(text, name)
    ]
    assert differing == []


@pytest.mark.parametrize("name", NAMES)
@given(text=ANY_TEXT)
@settings(max_examples=200, deadline=None)
def test_any_text_counts_as_in_tiktoken(name: str, oracle: Oracle, text: str) -> None:
    assert load_table_counter(name)(text) == oracle(text, name)


@pytest.mark.parametrize(("name", "step"), [("o200k_base", 1), ("cl100k_base", 8)])
def test_every_character_counts_as_in_tiktoken(name: str, step: int, oracle: Oracle) -> None:
    """Both encodings read the classes of characters from one file, so a sample will do for the
    second."""
    count = load_table_counter(name)
    # Beyond the planes that hold characters there are only private and unassigned ones: a sample of
    # those will do.
    points = [
        *range(0x32000),
        *range(0x32000, 0xE0000, 97),
        *range(0xE0000, 0xE0200),
        *range(0xE0200, 0x110000, 97),
    ]
    points = points[::step]
    for start in range(0, len(points), 256):
        text = "".join(f"{chr(point)}a {chr(point)}1" for point in points[start : start + 256])
        assert count(text) == oracle(text, name), hex(points[start])


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("kind", PATHOLOGICAL)
def test_pathological_text_counts_as_in_tiktoken(name: str, kind: str, oracle: Oracle) -> None:
    text = PATHOLOGICAL[kind](20_011)
    assert TableEncoding(name)(text) == oracle(text, name)


@pytest.mark.parametrize("kind", PATHOLOGICAL)
def test_sixteen_times_the_text_is_at_most_twenty_times_the_work(kind: str) -> None:
    small, large = PATHOLOGICAL[kind](2_000), PATHOLOGICAL[kind](32_000)
    assert calls_to_count(large) <= 20 * calls_to_count(small)


def calls_to_count(text: str) -> int:
    """Return how many calls it takes to count *text*: the same on every machine, unlike the
    time."""
    count = TableEncoding("o200k_base")
    count("warm up: the pattern, ünïcode too")
    calls = 0

    def see(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(see)
    try:
        count(text)
    finally:
        sys.setprofile(None)
    return max(calls, 100)


def test_special_token_strings_are_ordinary_text(oracle: Oracle) -> None:
    for name in NAMES:
        text = "<|endoftext|><|fim_prefix|><|start|>system<|message|>"
        assert load_table_counter(name)(text) == oracle(text, name) > 8


def test_lone_surrogates_count_as_the_replacement_character() -> None:
    count = load_table_counter("o200k_base")
    assert count("a\ud800b") == count("a\ufffdb")
    assert count("\ud83d\ude00") == count("😀")


def test_remembered_pieces_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PIECES_KEPT", 100)
    count = TableEncoding("o200k_base")
    text = " ".join(f"word{number}x" for number in range(5_000))
    assert count(text) == load_table_counter("o200k_base")(text)
    assert len(count._counts) <= 100


def test_memory_stays_near_the_size_of_the_text() -> None:
    text = PATHOLOGICAL["base64"](200_000)
    count = TableEncoding("o200k_base")
    tracemalloc.start()
    count(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16_000_000
