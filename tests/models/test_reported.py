from __future__ import annotations

from typing import Any

import pytest

from brim.errors import InputError
from brim.models import MemoryWindowStore, WindowStore, lookup, model, remember_in, report_window


def test_a_reported_window_outranks_the_table_and_is_remembered() -> None:
    report_window("claude-sonnet-4-5", 1_000_000)
    for name in (
        "claude-sonnet-4-5",
        "Claude-Sonnet-4-5",
        "anthropic/claude-sonnet-4-5",
        "claude-4.5-sonnet",
    ):
        assert (lookup(name).context_window, model(name).context_window) == (1_000_000, 1_000_000)
    assert lookup("claude-sonnet-4-6").context_window == 1_000_000


def test_the_last_report_counts() -> None:
    report_window("gpt-4o", 64_000)
    report_window("gpt-4o", 32_000)
    assert lookup("gpt-4o").context_window == 32_000


def test_a_report_for_one_suffix_says_nothing_about_the_name_without_it() -> None:
    report_window("claude-opus-4-8[1m]", 900_000)
    report_window("claude-haiku-4-5", 150_000)
    assert (
        lookup("claude-opus-4-8[1m]").context_window,
        lookup("claude-opus-4-8").context_window,
    ) == (
        900_000,
        1_000_000,
    )
    assert lookup("claude-haiku-4-5[1m]").context_window == 1_000_000


def test_a_model_that_splits_its_window_keeps_its_maximum_input() -> None:
    report_window("gpt-5", 272_000)
    assert (lookup("gpt-5").context_window, lookup("gpt-5").max_input) == (272_000, 272_000)
    report_window("gpt-5", 500_000)
    assert (lookup("gpt-5").context_window, lookup("gpt-5").max_input) == (500_000, 272_000)


def test_an_unknown_model_takes_the_window_that_was_reported() -> None:
    report_window("in-house-7b", 40_000)
    assert (lookup("in-house-7b").context_window, lookup("in-house-7b").resolved) == (40_000, False)


def test_the_callers_own_window_outranks_a_report() -> None:
    report_window("gpt-4o", 64_000)
    assert model("gpt-4o", context_window=10_000).context_window == 10_000


def test_a_store_can_be_given() -> None:
    mine: WindowStore = MemoryWindowStore()
    report_window("gpt-4o", 64_000, store=mine)
    assert (mine.get("gpt-4o"), lookup("gpt-4o").context_window) == (64_000, 128_000)
    before = remember_in(mine)
    assert lookup("gpt-4o").context_window == 64_000
    assert remember_in(before) is mine
    assert "64000" in repr(mine)


@pytest.mark.parametrize("tokens", [0, -1, True, 1.5, "200000", None])
def test_a_report_that_is_no_number_of_tokens_is_refused(tokens: Any) -> None:
    with pytest.raises(InputError, match="gpt-4o"):
        report_window("gpt-4o", tokens)


def test_a_report_for_what_is_no_name_is_left_out() -> None:
    report_window("", 5)
    assert lookup("").context_window == 8_192
