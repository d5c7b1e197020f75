"""The two flags."""

from __future__ import annotations

from brim.agents.events import Usage
from brim.sessions.window.budget import ContextBudget
from tests.sessions.window.lines import usage


def report(number: int, part: float) -> Usage:
    return usage(f"request {number}", int(part * 100_000))


def flags(budget: ContextBudget) -> tuple[bool, bool]:
    return budget.should_warn, budget.should_compact


def test_only_a_newer_report_sets_a_cleared_flag_again() -> None:
    budget = ContextBudget(100_000, pinned=True)
    budget.update(report(1, 0.9))
    assert flags(budget) == (True, True)
    budget.clear_compact()
    budget.update(report(1, 0.91))
    assert flags(budget) == (False, False)
    budget.update(report(2, 0.9))
    assert flags(budget) == (True, True)


def test_a_cleared_warning_comes_back_with_compaction() -> None:
    budget = ContextBudget(100_000, pinned=True)
    budget.update(report(1, 0.75))
    budget.clear_warning()
    budget.update(report(1, 0.8))
    assert flags(budget) == (True, True)


def test_nothing_is_set_while_the_agent_is_asked_already() -> None:
    budget = ContextBudget(100_000, pinned=True)
    budget.request_compaction()
    budget.update(report(1, 0.9))
    assert flags(budget) == (False, False)


def test_a_compaction_threshold_below_the_warning_still_sets_both() -> None:
    budget = ContextBudget(100_000, warn_threshold=0.9, compact_threshold=0.5, pinned=True)
    budget.update(report(1, 0.6))
    assert flags(budget) == (True, True)
