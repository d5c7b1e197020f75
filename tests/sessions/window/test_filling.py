"""What fills the window: an estimate whose parts add up to what was reported."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import ToolCall
from brim.agents.events import Compaction, Message, ToolResult
from brim.sessions.window.budget import ContextBudget
from brim.sessions.window.estimate import CATEGORIES, WindowPart
from tests.sessions.window.lines import by_category, result, usage

GPT = "gpt-4o"


def test_the_first_prompt_is_system_and_tools() -> None:
    budget = ContextBudget()
    assert not budget.filling.parts
    budget.update(usage("a", 10_000))
    assert budget.filling.parts == (WindowPart("system and tools", "", 10_000),)
    assert "estimated" in budget.filling.basis


def test_words_and_results_are_shared_out_by_their_length() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000, model=GPT))
    budget.update(ToolCall(id="1", name="Bash", input={"command": "x" * 388}))
    budget.update(ToolResult(id="1", text="y" * 16_000))
    budget.update(ToolResult(id="unknown", text="y" * 4_000))
    budget.update(Message(role="user", text="z" * 8_000, human=True))
    budget.update(usage("b", 17_102, model=GPT))
    assert [str(part) for part in budget.filling.parts] == [
        "system and tools: 10,000",
        "tool results of Bash: 4,000",
        "your words: 2,000",
        "tool results: 1,000",
        "agent's words: 102",
    ]
    assert sum(by_category(budget.filling).values()) == budget.used_tokens


def test_what_came_after_the_last_report_is_not_in_it_yet() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000))
    budget.update(ToolResult(id="1", text="y" * 16_000))
    assert by_category(budget.filling) == {"system and tools": 10_000}


def test_what_no_line_shows_is_other() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000, model=GPT))
    budget.update(Message(role="user", text="z" * 4_000, human=True))
    budget.update(usage("b", 50_000, model=GPT))
    assert by_category(budget.filling) == {
        "system and tools": 10_000,
        "your words": 2_000,
        "other": 38_000,
    }


def test_after_a_compaction_the_summary_takes_the_place_of_the_rest() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000, model=GPT))
    budget.update(ToolResult(id="1", text="y" * 400_000))
    budget.update(usage("b", 110_000, model=GPT))
    budget.update(Compaction(before=110_000, after=2_000))
    assert budget.filling.parts == (WindowPart("summary", "", 2_000),)
    budget.update(Message(role="summary", text="s" * 8_000))
    budget.update(usage("c", 12_000, model=GPT))
    assert by_category(budget.filling) == {"system and tools": 10_000, "summary": 2_000}


def test_the_words_of_sub_agents_are_not_in_this_window() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000))
    budget.update(ToolResult(id="1", text="y" * 16_000, agent="x"))
    budget.update(usage("b", 10_500))
    assert by_category(budget.filling) == {"system and tools": 10_000, "other": 500}


def test_of_a_sum_nothing_can_be_said() -> None:
    budget = ContextBudget()
    budget.update(result(50_000))
    assert by_category(budget.filling) == {"other": 50_000}


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("user", "assistant", "system", "tool", "report", "summary")),
            st.integers(0, 90_000),
        ),
        max_size=30,
    )
)
def test_the_parts_always_add_up_to_what_is_used(steps: list[tuple[str, int]]) -> None:
    budget = ContextBudget()
    for number, (step, size) in enumerate(steps):
        if step == "report":
            budget.update(usage(str(number), size))
        elif step == "tool":
            budget.update(ToolCall(id=str(number), name=f"T{size % 7}"))
            budget.update(ToolResult(id=str(number), text="x" * size))
        else:
            budget.update(Message(role=step, text="é" * size, human=size % 2 == 0))
        filling = budget.filling
        assert sum(part.tokens for part in filling.parts) == filling.tokens == budget.used_tokens
        assert all(part.tokens > 0 and part.category in CATEGORIES for part in filling.parts)
        assert list(filling.parts) == sorted(filling.parts, key=lambda part: -part.tokens)
