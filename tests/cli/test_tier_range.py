"""A range of budgets has both its ends, round steps, and no more columns than fit."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.cli.commands.why import DRAWN, LISTED, budgets_of, is_range
from brim.errors import InputError


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_a_range_without_a_step_can_be_drawn(first: int, more: int) -> None:
    budgets = budgets_of(f"{first}..{first + more}", for_drawing=True)
    assert (budgets[0], budgets[-1]) == (first, first + more)
    assert budgets == sorted(set(budgets))
    assert len(budgets) <= DRAWN
    assert len({second - first for first, second in pairwise(budgets[:-1])}) <= 1


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 500))
def test_a_step_is_kept_or_refused(first: int, more: int, step: int) -> None:
    text = f"{first}..{first + more}..{step}"
    expected = [*range(first, first + more, step), first + more]
    for for_drawing, most in ((True, DRAWN), (False, LISTED)):
        if len(expected) <= most:
            assert budgets_of(text, for_drawing=for_drawing) == expected
        else:
            with pytest.raises(InputError, match="at most"):
                budgets_of(text, for_drawing=for_drawing)


@pytest.mark.parametrize("text", ["1..", "..5", "a..b", "5..1", "-5..1", "1..5..0", "1..5..1..1", "1...5", "1..5.5"])
def test_what_is_no_range_is_refused(text: str) -> None:
    assert is_range(text)
    with pytest.raises(InputError, match="--tokens"):
        budgets_of(text, for_drawing=True)
