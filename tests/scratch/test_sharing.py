from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.scratch.index import shares

NEEDS = st.lists(st.integers(min_value=0, max_value=1_000), max_size=8)


@given(NEEDS, st.integers(min_value=0, max_value=500))
@settings(max_examples=100)
def test_nobody_gets_more_than_it_needs_and_nothing_is_left_over(needs: list[int], room: int) -> None:
    given_ = shares(needs, room)
    assert all(0 <= part <= need for part, need in zip(given_, needs, strict=True))
    assert sum(given_) == min(room, sum(needs))


@given(NEEDS, st.integers(min_value=0, max_value=500))
@settings(max_examples=100)
def test_who_gets_less_than_it_needs_gets_no_less_than_another(needs: list[int], room: int) -> None:
    given_ = shares(needs, room)
    for part, need in zip(given_, needs, strict=True):
        if part < need:
            assert part >= max(given_) - 1


def test_a_small_need_is_met_whole() -> None:
    assert shares([2, 300, 300], 100) == [2, 49, 49]
