"""The two flags by themselves."""

from __future__ import annotations

from brim.tracking.gauge import Latches


def test_only_a_newer_report_sets_a_cleared_flag_again() -> None:
    latches = Latches()
    assert latches.judge(0.9, 1) == (True, True)
    latches.clear_compact(1)
    assert latches.judge(0.9, 1) == (False, False)
    assert latches.judge(0.9, 2) == (True, True)


def test_a_cleared_warning_comes_back_with_compaction() -> None:
    latches = Latches()
    latches.judge(0.75, 1)
    latches.clear_warning(1)
    assert latches.judge(0.8, 1) == (True, True)


def test_nothing_is_set_while_the_agent_is_asked_already() -> None:
    latches = Latches()
    assert latches.judge(0.9, 1, asked=True) == (False, False)


def test_where_compacting_does_not_help_there_is_only_the_warning() -> None:
    latches = Latches()
    assert latches.judge(0.9, 1, compacting=False) == (True, False)


def test_a_compaction_threshold_below_the_warning_still_sets_both() -> None:
    latches = Latches(warn=0.9, compact=0.5)
    assert latches.judge(0.6, 1) == (True, True)
