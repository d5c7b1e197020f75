"""Which model the main thread has: answers do not repeat the window that was asked for."""

from __future__ import annotations

import pytest

from brim.agents.events import Compaction, End, Message
from brim.agents.lines import is_short_for
from brim.sessions.window.budget import ContextBudget
from tests.sessions.window.lines import MODEL, assistant, usage


def _started(model: str) -> dict[str, object]:
    return {"type": "system", "subtype": "init", "model": model, "session_id": "s1"}


@pytest.mark.parametrize("answering", ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"])
def test_the_window_that_a_run_was_started_with_stays_when_its_answers_do_not_name_it(
    answering: str,
) -> None:
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
    for line in (
        _started("claude-sonnet-4-5[1m]"),
        assistant("m1", 160_000),
        _started("claude-sonnet-4-5"),
    ):
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
    message = {
        "id": "m1",
        "model": "claude-sonnet-4-5",
        "usage": {"input_tokens": 160_000},
        "content": [],
    }
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
def test_a_short_name_is_the_same_model_without_its_window(
    name: str, full: str, is_short: bool
) -> None:
    assert is_short_for(name, full) is is_short


def test_only_what_a_sub_agent_reports_makes_a_window() -> None:
    """The end of a task names it by another id than its answers do."""
    budget = ContextBudget()
    budget.update(
        {"type": "system", "subtype": "task_started", "task_type": "local_agent", "task_id": "a1"}
    )
    budget.update(assistant("m1", 5_000, parent="toolu_1"))
    budget.update(
        {"type": "system", "subtype": "task_notification", "task_id": "a1", "status": "completed"}
    )
    assert {name: agent.used_tokens for name, agent in budget.agents.items()} == {"toolu_1": 5_000}


def test_the_callers_window_is_the_main_threads_alone() -> None:
    budget = ContextBudget(50_000)
    budget.update(assistant("m1", 5_000))
    budget.update(assistant("m2", 5_000, parent="toolu_1"))
    assert (budget.context_window, budget.agents["toolu_1"].window.tokens) == (50_000, 200_000)


@pytest.mark.parametrize("prompt", [150_000, 180_000])
def test_a_refused_prompt_names_the_window_and_one_that_fits_does_not_disprove_it(
    prompt: int,
) -> None:
    said = "API Error: 400 prompt is too long: 210000 tokens > 180000 maximum"
    for refusal in (Message(role="error", text=said), End(error=True, text=said)):
        budget = ContextBudget()
        budget.update(assistant("m1", 100_000))
        budget.update(refusal)
        budget.update(assistant("m2", prompt))
        assert (budget.context_window, budget.window.source) == (180_000, "overflow")
        budget.update(assistant("m3", 180_001))
        assert (budget.context_window, budget.window.source) == (200_000, "table")


def test_an_answer_that_quotes_such_an_error_says_nothing_about_the_window() -> None:
    said = "prompt is too long: 210000 tokens > 180000 maximum"
    budget = ContextBudget()
    budget.update(assistant("m1", 100_000))
    for quote in (Message(role="assistant", text=said), End(error=False, text=said)):
        budget.update(quote)
    assert budget.context_window == 200_000


def test_overhead_of_exactly_the_threshold_exceeds_it() -> None:
    budget = ContextBudget(model=MODEL)
    budget.update(usage("a", 170_000))
    budget.update(Compaction(before=170_000, after=3_000))
    budget.update(usage("b", 156_000))
    assert budget.overhead_exceeds
