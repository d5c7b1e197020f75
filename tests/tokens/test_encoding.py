"""The table engine counts what tiktoken counts."""

from __future__ import annotations

import tracemalloc
from time import process_time

import pytest
from tests.conftest import Oracle
from hypothesis import given, settings
from tests.texts import ANY_TEXT, PATHOLOGICAL, documents

from brim.tokens import encoding as engine
from brim.tokens.encoding import ENCODINGS, TableEncoding, load_table_counter

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
    differing = [text for text in documents(seed=7, number=300) if count(text) != oracle(text, name)]
    assert differing == []


@pytest.mark.parametrize("name", NAMES)
@given(text=ANY_TEXT)
@settings(max_examples=1500, deadline=None)
def test_any_text_counts_as_in_tiktoken(name: str, oracle: Oracle, text: str) -> None:
    assert load_table_counter(name)(text) == oracle(text, name)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_every_code_point_counts_as_in_tiktoken(name: str, oracle: Oracle) -> None:
    count = load_table_counter(name)
    for start in range(0, 0x110000, 64):
        text = "".join(f"{chr(point)}a {chr(point)}1" for point in range(start, start + 64))
        assert count(text) == oracle(text, name), hex(start)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("kind", PATHOLOGICAL)
def test_pathological_text_counts_as_in_tiktoken(name: str, kind: str, oracle: Oracle) -> None:
    text = PATHOLOGICAL[kind](20_011)
    assert TableEncoding(name)(text) == oracle(text, name)


@pytest.mark.parametrize("kind", PATHOLOGICAL)
def test_sixteen_times_the_text_takes_at_most_twenty_times_as_long(kind: str) -> None:
    small, large = PATHOLOGICAL[kind](16_000), PATHOLOGICAL[kind](256_000)

    def seconds(text: str) -> float:
        count = TableEncoding("o200k_base")
        count("warm up: the pattern, ünïcode too")
        begin = process_time()
        count(text)
        return process_time() - begin

    # A clock has a grain and a machine has neighbours: the best of several runs, and a floor of a millisecond.
    once = min(seconds(small) for _ in range(4))
    many = min(seconds(large) for _ in range(2))
    assert many <= 20 * max(once, 0.001)


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
    text = PATHOLOGICAL["base64"](1_000_000)
    count = TableEncoding("o200k_base")
    tracemalloc.start()
    count(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64_000_000
