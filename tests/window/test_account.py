"""Every token of a request belongs to a section, and the result prints itself."""

from __future__ import annotations

from brim.tokens import AnchoredTokenCounter, ApproximateTokenCounter, counter_for
from brim.window import MemoryConfig, WorkingMemory
from brim.window.assembly import SECTIONS
from tests.window.requests import memory, request_of, talk, words


def test_the_account_prints_itself() -> None:
    found = memory(100).assemble(system_prompt=words(10), knowledge=["a", words(5_000)], history=talk(9))
    assert repr(found) == f"Assembly({len(found.messages)} messages, {found.tokens} of 100 tokens, fits)"
    lines = str(found).splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(SECTIONS)
    assert "1 item, 1 dropped" in lines[3]
    assert "10.0%" in lines[1]
    assert len(repr(found.section("knowledge").dropped[0])) < 150


def test_an_account_of_trouble_says_so() -> None:
    over = memory(50).assemble(system_prompt=words(100))
    assert "over budget by 57" in repr(over)
    assert str(over).endswith(over.reason)
    assert "does not fit" in repr(memory(50).assemble(system_prompt=words(100), context_window=60))


def test_text_that_takes_less_together_is_accounted_for() -> None:
    wm = WorkingMemory(model="gemini-2.5-pro")
    found = wm.assemble(system_prompt="a\n", procedure="\nb", provider="gemini")
    assert sum(section.tokens for section in found.sections) == found.tokens


def test_text_of_spaces_is_no_text() -> None:
    found = memory().assemble(system_prompt=" \n", procedure="\t", current_message="  ", history=talk(1))
    assert len(found.messages) == 2
    assert found.system == ""


def test_an_approximate_count_works_too() -> None:
    wm = WorkingMemory(MemoryConfig(max_working_memory_tokens=200, output_reserve=0), counter=ApproximateTokenCounter())
    found = wm.assemble(system_prompt="Be brief.", history=talk(3), current_message="Why?")
    assert found.tokens == ApproximateTokenCounter().count_messages(request_of(found))
    assert found.section("procedure").tokens == 0


def test_what_a_provider_reported_is_accounted_for() -> None:
    for reported in (20, 400):
        counter = AnchoredTokenCounter(counter_for("gpt-4o"))
        wm = WorkingMemory(MemoryConfig(max_working_memory_tokens=1_000, output_reserve=0), counter=counter)
        first = wm.assemble(system_prompt="Be brief.", history=talk(9), current_message="Why?")
        counter.report(first.messages, reported)
        found = wm.assemble(system_prompt="Be brief.", history=talk(9), current_message="Why?")
        assert (int(found.tokens), found.tokens.basis) == (reported, "anchored")
        assert sum(int(section.tokens) for section in found.sections) == reported


def test_a_report_that_is_over_the_budget_is_heeded() -> None:
    counter = AnchoredTokenCounter(counter_for("gpt-4o"))
    wm = WorkingMemory(
        MemoryConfig(max_working_memory_tokens=300, output_reserve=0, min_history_tokens=20), counter=counter
    )
    first = wm.assemble(history=talk(9), current_message="Why?")
    counter.report(first.messages, 400)
    found = wm.assemble(history=talk(9), current_message="Why?")
    assert found.tokens <= 300
    assert len(found.messages) < len(first.messages)
