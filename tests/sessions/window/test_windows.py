"""Which window holds, and what the other sources say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from brim.agents.events import End, Message, ModelSeen, RunTotal
from brim.models.reported import MemoryWindowStore, remember_in, report_window
from brim.sessions.window.budget import ContextBudget
from brim.sessions.window.windows import Window, Windows
from tests.sessions.window.lines import MODEL, usage

TOO_LONG = "prompt is too long: 210000 tokens > 180000 maximum"


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    before = remember_in(MemoryWindowStore())
    yield
    remember_in(before)


def test_without_any_word_it_is_the_default() -> None:
    assert ContextBudget().window == Window(200_000, "default")
    assert ContextBudget(model="nobody-knows-this").window == Window(200_000, "default")


def test_the_table_speaks_for_a_model_that_is_known() -> None:
    assert ContextBudget(model="gemini-2.5-flash").window == Window(1_048_576, "table")


def test_a_given_window_outranks_the_table_even_if_it_is_the_default_number() -> None:
    window = ContextBudget(200_000, model="gemini-2.5-flash").window
    assert window == Window(200_000, "given", (("table", 1_048_576),))


def test_what_the_agent_reports_outranks_what_is_given() -> None:
    budget = ContextBudget(100_000)
    budget.update(usage("a", 50_000))
    budget.update(RunTotal(windows={MODEL: 1_000_000, "claude-haiku-4-5": 200_000}))
    assert budget.window == Window(1_000_000, "reported", (("given", 100_000), ("table", 200_000)))
    assert budget.utilization == 0.05


def test_a_pinned_window_outranks_everything_and_says_who_disagrees() -> None:
    budget = ContextBudget(100_000, pinned=True)
    budget.update(ModelSeen(model=MODEL, window=1_000_000))
    assert budget.context_window == 100_000
    assert str(budget.window) == (
        "100,000 tokens (pinned; reported by the agent: 1,000,000; model table: 200,000)"
    )


@pytest.mark.parametrize(
    "event", [Message(role="error", text=TOO_LONG), End(error=True, text=TOO_LONG)]
)
def test_an_overflow_error_is_the_providers_word_until_more_goes_through(
    event: Message | End,
) -> None:
    budget = ContextBudget()
    budget.update(ModelSeen(model=MODEL, window=200_000))
    budget.update(event)
    assert (budget.context_window, budget.window.source) == (180_000, "overflow")
    budget.update(RunTotal(windows={MODEL: 200_000}))
    assert budget.context_window == 180_000, "the client repeats what it believes"
    budget.update(usage("a", 190_000))
    assert (budget.context_window, budget.window.source) == (200_000, "reported")


def test_an_answer_that_quotes_such_an_error_is_none() -> None:
    budget = ContextBudget()
    budget.update(Message(role="assistant", text=TOO_LONG))
    budget.update(End(text=TOO_LONG))
    assert budget.context_window == 200_000


def test_another_model_has_another_window() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 50_000))
    assert budget.context_window == 200_000
    budget.update(usage("b", 50_000, model="gemini-2.5-flash"))
    assert (budget.model, budget.context_window) == ("gemini-2.5-flash", 1_048_576)
    budget.update(usage("c", 50_000))
    assert budget.context_window == 200_000


def test_the_window_of_a_sub_agents_model_is_not_the_main_threads() -> None:
    budget = ContextBudget(100_000)
    budget.update(usage("a", 50_000))
    budget.update(ModelSeen(model="gemini-2.5-flash", window=32_000, agent="x"))
    assert budget.context_window == 100_000
    assert budget.agents["x"].window == Window(32_000, "reported", (("table", 1_048_576),))


def test_a_prompt_is_measured_by_what_a_prompt_may_have() -> None:
    assert ContextBudget(model="gpt-5").context_window == 272_000, "of 400,000 in all"


@pytest.mark.parametrize("name", [f"{MODEL}[1m]", MODEL.upper(), f"{MODEL}-20250929"])
def test_a_window_is_found_under_another_spelling_of_the_model(name: str) -> None:
    budget = ContextBudget(model=MODEL)
    budget.update(RunTotal(windows={name: 1_000_000, "claude-haiku-4-5": 200_000}))
    assert budget.context_window == 1_000_000


def test_a_window_that_was_reported_earlier_outranks_the_table() -> None:
    report_window(MODEL, 1_000_000)
    assert ContextBudget(model=MODEL).window == Window(1_000_000, "remembered")


def test_a_window_without_a_name_is_the_window_of_whatever_model_comes() -> None:
    budget = ContextBudget()
    budget.update(ModelSeen(model="", window=258_400))
    budget.update(usage("a", 10_000))
    assert budget.window == Window(258_400, "reported", (("table", 200_000),))


def test_sizes_that_cannot_be_are_not_taken() -> None:
    windows = Windows()
    windows.report({MODEL: 0, "b": -1, "c": True, "d": 10**15})
    windows.overflow(MODEL, 0)
    assert windows.of(MODEL) == Window(200_000, "table")


def test_a_window_that_shrinks_can_cross_a_threshold_without_a_new_report() -> None:
    budget = ContextBudget(model=MODEL)
    budget.update(usage("a", 100_000))
    assert not budget.should_warn
    assert len(budget.update(RunTotal(windows={MODEL: 100_000}))) == 2
    assert budget.should_compact
