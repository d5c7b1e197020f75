"""Merging window by window gives what merging at once gives."""

from __future__ import annotations

from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.tokens import vocabulary as merge
from brim.tokens.vocabulary import NO_RANK, Merger, open_table

PARTS = st.sampled_from([b"a", b" ", b"ab", b"\n", b"-=", "中".encode(), b"\xff"])
RUNS = st.lists(st.tuples(PARTS, st.integers(1, 60)), max_size=4)
PIECES = st.one_of(
    st.binary(max_size=200),
    st.text("abcdeftion ", max_size=200).map(str.encode),
    RUNS.map(lambda runs: b"".join(part * times for part, times in runs)[:200]),
)


def plain(piece: bytes, name: str) -> int:
    """Merge as the rule says it, with no thought of speed."""
    rank = open_table(name).rank
    parts = [piece[at : at + 1] for at in range(len(piece))]
    while len(parts) > 1:
        ranks = [rank(left + right) for left, right in pairwise(parts)]
        lowest = min(ranks)
        if lowest == NO_RANK:
            break
        at = ranks.index(lowest)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return len(parts)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize(
    ("window", "margin"), [(8, 2), (16, 4), (merge.MERGE_WINDOW, merge.MARGIN)]
)
@given(piece=PIECES)
def test_windows_of_any_size_give_the_same_count(
    name: str, window: int, margin: int, piece: bytes
) -> None:
    if piece:
        assert Merger(open_table(name), window, margin).count(piece) == plain(piece, name)


@given(piece=PIECES)
def test_the_heap_finds_the_same_borders(piece: bytes) -> None:
    merger = Merger(open_table("o200k_base"))
    if piece:
        assert merger._borders_by_heap(piece) == merger.borders(piece)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_a_token_merges_to_itself(name: str) -> None:
    """Counting by windows rests on this: two tokens that stay apart alone stay apart everywhere."""
    merger = Merger(open_table(name))
    tokens = islice(open_table(name).tokens(), 0, None, 9)  # some of every length and age
    assert [token for token in tokens if len(merger.borders(token)) != 2] == []


def test_a_join_that_fails_again_and_again_is_merged_as_one() -> None:
    """Windows this small fail at nearly every join of such a run; once, they failed for ever."""
    piece = b"a" * 37 + b"ab" * 9 + b" " * 50
    assert Merger(open_table("o200k_base"), 8, 2).count(piece) == plain(piece, "o200k_base")


def test_a_piece_is_begun_again_when_no_step_is_left_to_take_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(merge, "STEPS_KEPT", 2)
    for piece in (b"a" * 37 + b"ab" * 9 + b" " * 50, b" " * 301, b"-=" * 99 + b"\n" * 40):
        assert Merger(open_table("o200k_base"), 8, 2).count(piece) == plain(piece, "o200k_base")


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "REMEMBERED", 50)
    merger = Merger(open_table("o200k_base"), 16, 4)
    piece = bytes(range(97, 123)) * 40
    assert merger.count(piece) == plain(piece, "o200k_base")
    assert len(merger._ranks) <= 50
    assert merger._stay_apart.cache_info().currsize <= 50
