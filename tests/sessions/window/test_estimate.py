"""The next prompt: what was reported, and a count of what came since."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import ToolCall
from brim.agents.events import Compaction, Message, ToolResult
from brim.memory.token_length import by_length
from brim.sessions.window.budget import ContextBudget
from brim.tokens import counter_for
from tests.sessions.window.lines import result, usage

GPT = "gpt-4o"


def test_report_output_and_what_arrived_make_the_next_prompt() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000, output=500, model=GPT))
    budget.update(Message(role="assistant", text="w" * 40_000))
    budget.update(ToolResult(id="1", text="y" * 4_000))
    count = budget.pending()
    assert (int(count), count.basis) == (11_500, "anchored"), (
        "the output is known: its words are not counted again"
    )
    assert (count.low, count.high) == (9_600 + 500 + 800, 10_400 + 500 + 3_000)


def test_while_the_output_is_a_placeholder_its_words_are_counted() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000, output=1, final=False, model=GPT))
    budget.update(Message(role="assistant", text="w" * 4_000))
    assert int(budget.pending()) == 11_000


def test_what_is_to_be_sent_comes_on_top() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000, model=GPT))
    assert int(budget.pending("x" * 4_000)) == 11_000
    assert int(budget.pending(messages=[{"role": "user", "content": "x" * 4_000}])) == 11_004


def test_a_counter_counts_what_came_since() -> None:
    counter = counter_for(GPT)
    budget = ContextBudget()
    budget.update(usage("a", 10_000, model=GPT))
    budget.update(ToolResult(id="1", text="Hello world"))
    assert int(budget.pending("Hello world", counter=counter)) == 10_004


def test_the_ratio_of_the_models_vocabulary_is_applied() -> None:
    assert int(by_length(4_000, "claude-sonnet-4-5")) == 1_270


def test_before_any_report_it_is_an_estimate() -> None:
    budget = ContextBudget()
    assert int(budget.pending()) == 0
    budget.update(Message(role="user", text="x" * 4_000, human=True))
    assert budget.pending().basis == "estimated"


def test_a_run_total_has_no_lower_end() -> None:
    budget = ContextBudget()
    budget.update(result(190_000))
    count = budget.pending()
    assert (int(count), count.low) == (190_000, 0)
    assert budget.should_compact
    assert not budget.must_compact(), "a sum is no reason to force anything"


def test_after_a_compaction_system_and_tools_come_on_top_of_what_it_left() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000))
    budget.update(usage("b", 160_000))
    budget.update(Compaction(after=2_500))
    budget.update(Message(role="summary", text="s" * 10_000))
    count = budget.pending()
    assert (int(count), count.low, count.high) == (12_500, 2_400, 12_600)


def test_a_large_result_makes_a_compaction_certain_before_the_next_report() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 60_000, model=GPT))
    assert not budget.must_compact()
    budget.update(ToolResult(id="1", text="y" * 400_000))
    assert budget.must_compact()
    assert not budget.should_compact
    assert not ContextBudget(model=GPT).must_compact("y" * 4_000)


def test_results_that_come_before_their_report_are_in_the_next_prompt() -> None:
    budget = ContextBudget()
    for step in range(3):
        budget.update(ToolCall(id=str(step), name="bash"))
        budget.update(ToolResult(id=str(step), text="y" * 4_000))
        budget.update(usage(str(step), 10_000 + 1_000 * step, output=100, model=GPT))
        assert int(budget.pending()) == 11_100 + 1_000 * step


def test_a_stream_that_begins_with_a_result_is_not_taken_for_one_that_reports_late() -> None:
    budget = ContextBudget()
    budget.update(ToolResult(id="1", text="y" * 4_000))
    budget.update(usage("a", 10_000, model=GPT))
    assert int(budget.pending()) == 10_000


def test_very_much_text_is_kept_only_as_its_length() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 1_000, model=GPT))
    for _ in range(3):
        budget.update(ToolResult(id="1", text="ab " * 1_000_000))
    assert int(budget.pending(counter=counter_for(GPT))) > 2_000_000


def test_no_tokenizer_is_loaded_for_it() -> None:
    script = """
import sys
from brim.sessions.window.budget import ContextBudget
budget = ContextBudget()
budget.update({"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": 9}, "content": "hi"}})
budget.pending("text"), budget.filling, budget.window, budget.must_compact()
heavy = {"pathlib", "logging", "asyncio", "yaml", "tiktoken"}
print(sorted(heavy & set(sys.modules)), [name for name in sys.modules if name.startswith("brim.tokens.e")])
"""
    ran = subprocess.run(
        [sys.executable, "-I", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert ran.stdout == "[] []\n", ran.stdout


@given(
    st.integers(0, 10**9),
    st.sampled_from(("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash", "nobody", "")),
)
def test_an_estimate_lies_in_its_interval_and_grows(size: int, model: str) -> None:
    count = by_length(size, model)
    assert 0 <= count.low <= int(count) <= count.high
    assert by_length(size + 4, model) >= count
