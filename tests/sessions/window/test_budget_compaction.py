"""``ContextBudget`` and compactions: what they leave, what is asked for, and when asking again is
no use."""

from __future__ import annotations

import pytest

from brim.agents.events import Compaction, Message
from brim.notices import COMPACT_DUE, CONTEXT_WARNING, Notice
from brim.sessions.window.budget import ContextBudget
from tests.sessions.window.lines import assistant, boundary, by_category, result, usage


def test_after_a_compaction_the_occupancy_is_what_it_left() -> None:
    budget = ContextBudget()
    budget.update(assistant("m1", 160_000))
    budget.update(boundary(160_500, 2_664))
    assert (budget.used_tokens, budget.input_tokens, budget.basis) == (2_664, 2_664, "compaction")
    assert budget.compactions == 1
    budget.update(result(0) | {"total_cost_usd": 0.1})
    budget.update(assistant("m1", 160_000))
    assert budget.used_tokens == 2_664, "an empty result and a repeated line change nothing"
    budget.update(boundary(160_500, 2_664))
    assert budget.compactions == 1, "a repeated boundary is the same compaction"
    budget.update(assistant("m2", 12_000))
    assert (budget.used_tokens, budget.basis) == (12_000, "call")


def test_a_compaction_that_names_no_size_leaves_a_guess() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 9_000))
    budget.update(usage("b", 160_000))
    budget.update(Compaction(time=5.0))
    assert (budget.used_tokens, budget.basis, budget.must_compact()) == (9_000, "guess", False)


def test_the_compaction_of_a_sub_agent_is_its_own() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 50_000))
    budget.update(usage("b", 90_000, agent="x"))
    budget.update(Compaction(after=3_000, agent="x"))
    assert (budget.used_tokens, budget.compactions) == (50_000, 0)
    assert (budget.agents["x"].used_tokens, budget.agents["x"].compactions) == (3_000, 1)


def test_while_a_request_waits_no_newer_report_asks_again() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 160_000, session="s1"))
    budget.request_compaction()
    assert not budget.should_compact
    assert budget.compaction_requested
    assert budget.update(usage("b", 165_000, session="s1")) == []
    assert not budget.should_compact
    assert not budget.must_compact()
    budget.update(Compaction(after=3_000, session="s1"))
    assert not budget.compaction_requested
    budget.update(usage("c", 30_000, session="s1"))
    budget.update(usage("d", 170_000, session="s1"))
    assert budget.should_compact


def test_clearing_ends_a_request_that_the_agent_refused() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 160_000))
    budget.request_compaction()
    budget.clear_compact()
    assert not budget.compaction_requested
    budget.update(usage("b", 160_000))
    assert budget.should_compact


def test_a_request_is_for_the_session_it_was_measured_on() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 160_000, session="s1"))
    budget.request_compaction()
    budget.update(usage("b", 161_000, session="s2"))
    assert not budget.compaction_requested
    assert budget.should_compact
    assert budget.session == "s2"


def test_another_session_with_a_smaller_prompt_is_another_window() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000, session="s1"))
    budget.update(Message(role="user", text="x" * 40_000, human=True, session="s1"))
    budget.update(usage("b", 100_000, session="s1"))
    budget.update(usage("c", 12_000, session="s2"))
    assert budget.overhead == 12_000
    assert by_category(budget.filling) == {"system and tools": 12_000}


@pytest.mark.parametrize("session", ["", "s1"])
def test_overhead_over_the_threshold_is_said_once_and_compaction_not_asked_for_again(
    session: str,
) -> None:
    budget = ContextBudget()
    first = budget.update(usage("a", 165_000, session=session))
    assert [notice.kind for notice in first] == [CONTEXT_WARNING, COMPACT_DUE]
    told: list[Notice] = []
    for turn in range(5):
        budget.request_compaction()
        told += budget.update(
            Compaction(before=165_000, after=3_000, time=float(turn), session=session)
        )
        told += budget.update(usage(f"b{turn}", 164_000, session=session))
        told += budget.update(usage(f"c{turn}", 166_000, session=session))
    assert not budget.should_compact
    assert budget.overhead_exceeds
    assert not budget.must_compact()
    reasons = [getattr(notice, "reason", None) for notice in told]
    assert reasons.count("overhead") == 1
    assert COMPACT_DUE not in [notice.kind for notice in told]
    assert str(told[0]) == (
        "Compacting does not help: what stays (system, tools, pinned text) takes 164,000 of 200,000 tokens, 82%."
        " Remove tools or pinned text, or use a model with a larger window."
    )


def test_a_large_result_right_after_a_compaction_is_no_overhead() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 165_000))
    budget.request_compaction()
    budget.update(Compaction(after=3_000))
    budget.update(Message(role="user", text="x" * 600_000, human=True))
    budget.update(usage("b", 165_000))
    assert budget.should_compact
    assert not budget.overhead_exceeds


def test_once_there_is_room_again_compaction_is_asked_for_again() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 165_000))
    budget.request_compaction()
    budget.update(Compaction(after=3_000))
    budget.update(usage("b", 165_000))
    assert budget.overhead_exceeds
    budget.update(usage("c", 40_000))
    assert not budget.overhead_exceeds
    budget.update(usage("d", 165_000))
    assert budget.should_compact


@pytest.mark.parametrize(
    ("compaction", "times"),
    [
        (Compaction(before=160_000, after=3_000), 1),
        (Compaction(after=3_000), 1),
        (Compaction(time=5.0), 1),
        (Compaction(), 2),
    ],
)
def test_a_repeated_compaction_counts_once_if_it_can_be_told_from_another(
    compaction: Compaction, times: int
) -> None:
    budget = ContextBudget()
    budget.update(usage("a", 160_000))
    for _ in range(2):
        budget.update(compaction)
    assert budget.compactions == times
