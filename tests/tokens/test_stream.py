"""Blocks of a text count as the text."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from brim.tokens import ApproximateTokenCounter, CalibratedTokenCounter, ExactTokenCounter, stream
from brim.tokens.stream import blocks, count_stream
from brim.tokens.vocabulary import ENCODINGS, load_table_counter
from tests.conftest import Oracle
from tests.texts import ANY_TEXT, documents

PLACES = [
    "\n",
    "\n\n",
    "\r\n",
    "a1",
    "1a",
    "a b",
    "a  b",
    "Z z",
    "9 z",
    ";\n/",
    "\n/",
    "\n x",
    "\n\u3000x",
    "中A1",
    "'s1",
    "A'll1",
]
CUTTABLE = st.lists(st.one_of(st.sampled_from(PLACES), ANY_TEXT)).map("".join)


@pytest.mark.parametrize("name", sorted(ENCODINGS))
@given(text=CUTTABLE, size=st.integers(1, 6))
@settings(max_examples=100, deadline=None)
@example(text="foo;\n/bar\n\n baz a b 1a1 中Ab", size=1)
def test_blocks_add_up_exactly_wherever_they_are_cut(
    name: str, text: str, size: int, oracle: Oracle
) -> None:
    pieces = list(blocks((text[at : at + size] for at in range(0, len(text), size)), block=1))
    assert "".join(pieces) == text
    assert sum(oracle(piece, name) for piece in pieces) == oracle(text, name)


def test_long_text_is_cut_at_lines() -> None:
    text = "".join(documents(seed=3, number=40))
    pieces = list(blocks([text[at : at + 1000] for at in range(0, len(text), 1000)], block=5000))
    assert len(pieces) > 10
    assert sum(map(load_table_counter("cl100k_base"), pieces)) == load_table_counter("cl100k_base")(
        text
    )


def test_base64_without_a_newline_is_cut_too() -> None:
    assert (
        len(list(blocks(["QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3ODkrLw"] * 100, block=500))) > 5
    )


def test_a_text_without_a_place_to_cut_is_one_block_and_is_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream, "LONG_BLOCK", 50)
    told: list[int] = []
    assert list(blocks(["中" * 10] * 20, block=10, on_long_block=told.append)) == ["中" * 200]
    assert told == [50]


def test_every_counter_counts_a_stream_as_the_whole_text() -> None:
    text = "".join(documents(seed=5, number=10))
    for counter in (
        ExactTokenCounter("gpt-4o"),
        CalibratedTokenCounter("claude-sonnet-4-5"),
        ApproximateTokenCounter(),
    ):
        streamed = count_stream(counter, [text[at : at + 999] for at in range(0, len(text), 999)])
        whole = counter.count(text)
        assert (streamed, streamed.basis, streamed.low, streamed.high) == (
            whole,
            whole.basis,
            whole.low,
            whole.high,
        )


def test_memory_does_not_grow_with_the_stream() -> None:
    def peak(megabytes: int) -> int:
        line = "2026-01-01 INFO request handled in 12 ms, 200 OK\n" * 200

        def chunks() -> Iterator[str]:
            for _ in range(megabytes * 100):
                yield line

        tracemalloc.start()
        for _ in blocks(chunks()):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(40) < 1.5 * peak(5)
