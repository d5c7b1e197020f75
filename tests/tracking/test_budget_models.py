"""Which model the main thread has: answers do not repeat the window that was asked for."""

from __future__ import annotations

import pytest

from brim.tracking.budget import ContextBudget
from brim.tracking.windows import is_short_for
from tests.tracking.lines import assistant


def _started(model: str) -> dict[str, object]:
    return {"type": "system", "subtype": "init", "model": model, "session_id": "s1"}


@pytest.mark.parametrize("answering", ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"])
def test_the_window_that_a_run_was_started_with_stays_when_its_answers_do_not_name_it(answering: str) -> None:
    budget = ContextBudget()
    budget.update(_started("claude-sonnet-4-5[1m]"))
    assert budget.update(assistant("m1", 160_000, model=answering)) == []
    assert (budget.model, budget.context_window) == ("claude-sonnet-4-5[1m]", 1_000_000)


def test_the_window_that_the_caller_asked_for_stays_too() -> None:
    budget = ContextBudget(model="claude-sonnet-4-5[1m]")
    assert budget.update(assistant("m1", 160_000)) == []
    assert budget.context_window == 1_000_000


def test_a_run_that_is_started_with_the_smaller_window_has_that() -> None:
    budget = ContextBudget()
    for line in (_started("claude-sonnet-4-5[1m]"), assistant("m1", 160_000), _started("claude-sonnet-4-5")):
        budget.update(line)
    assert (budget.model, budget.context_window) == ("claude-sonnet-4-5", 200_000)


def test_another_model_is_another_model() -> None:
    budget = ContextBudget()
    budget.update(_started("claude-sonnet-4-5[1m]"))
    budget.update(assistant("m1", 30_000, model="claude-haiku-4-5"))
    assert (budget.model, budget.context_window) == ("claude-haiku-4-5", 200_000)


def test_a_transcript_that_names_the_window_keeps_it() -> None:
    budget = ContextBudget()
    about = {"sessionId": "s1", "isSidechain": False}
    chosen = {"type": "model", "identity": {"modelId": "claude-sonnet-4-5[1m]"}}
    budget.update({"type": "attachment", "uuid": "u1", "attachment": chosen, **about})
    message = {"id": "m1", "model": "claude-sonnet-4-5", "usage": {"input_tokens": 160_000}, "content": []}
    assert budget.update({"type": "assistant", "uuid": "u2", "message": message, **about}) == []
    assert budget.context_window == 1_000_000


@pytest.mark.parametrize(
    ("name", "full", "is_short"),
    [
        ("claude-opus-4-8", "claude-opus-4-8[1m]", True),
        ("CLAUDE-OPUS-4-8", "anthropic/claude-opus-4-8[1m]", True),
        ("claude-opus-4-7", "claude-opus-4-8[1m]", False),
        ("claude-opus-4-8[1m]", "claude-opus-4-8[1m]", False),
        ("claude-opus-4-8", "claude-opus-4-8", False),
        ("x", "x[beta]", False),
        ("", "claude-opus-4-8[1m]", False),
    ],
)
def test_a_short_name_is_the_same_model_without_its_window(name: str, full: str, is_short: bool) -> None:
    assert is_short_for(name, full) is is_short


def test_only_what_a_sub_agent_reports_makes_a_window() -> None:
    """The end of a task names it by another id than its answers do."""
    budget = ContextBudget()
    budget.update({"type": "system", "subtype": "task_started", "task_type": "local_agent", "task_id": "a1"})
    budget.update(assistant("m1", 5_000, parent="toolu_1"))
    budget.update({"type": "system", "subtype": "task_notification", "task_id": "a1", "status": "completed"})
    assert {name: agent.used_tokens for name, agent in budget.agents.items()} == {"toolu_1": 5_000}
