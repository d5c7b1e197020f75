"""The history budget is plain arithmetic, floored at 0."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import MemoryConfig, WorkingMemory
from brim.tokens import ApproximateTokenCounter
from tests.conftest import Oracle

SECTIONS = ("system_prompt", "procedure", "knowledge", "episodes", "current_message")
TOKENS = st.integers(0, 200_000)


def test_the_example_comes_out_to_the_token() -> None:
    memory = WorkingMemory(MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192))
    sections = dict(zip(SECTIONS, (1_200, 300, 1_500, 400, 100), strict=True))
    assert memory.history_budget(**sections) == 138_308


def test_the_defaults_are_the_documented_ones() -> None:
    assert asdict(MemoryConfig()) == {
        "max_working_memory_tokens": 100_000,
        "output_reserve": 4_096,
        "min_history_tokens": 4_000,
        "max_knowledge_tokens": 3_000,
        "max_episode_tokens": 1_000,
    }
    assert WorkingMemory().history_budget() == 95_904


def test_no_section_is_clamped_to_its_cap() -> None:
    assert WorkingMemory().history_budget(knowledge=50_000, episodes=20_000) == 25_904


@pytest.mark.parametrize("section", SECTIONS)
def test_sections_that_leave_nothing_leave_0(section: str) -> None:
    assert WorkingMemory().history_budget(**{section: 95_904}) == 0
    assert WorkingMemory().history_budget(**{section: 95_903}) == 1
    assert WorkingMemory().history_budget(**{section: 10**12}) == 0


@given(values=st.tuples(TOKENS, TOKENS, TOKENS, TOKENS, TOKENS), most=TOKENS, output=TOKENS)
def test_the_budget_is_what_is_left_and_never_negative(
    values: tuple[int, ...], most: int, output: int
) -> None:
    memory = WorkingMemory(MemoryConfig(max_working_memory_tokens=most, output_reserve=output))
    found = memory.history_budget(**dict(zip(SECTIONS, values, strict=True)))
    assert found == max(0, most - sum(values) - output)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_given_as_text_is_counted(section: str, oracle: Oracle) -> None:
    text = "You are a careful engineer: naïve façade, 上下文窗口.\n" * 20
    memory = WorkingMemory(model="gpt-4")
    assert memory.history_budget(**{section: text}) == 95_904 - oracle(text, "cl100k_base")


def test_text_is_counted_for_the_model_or_by_the_counter() -> None:
    text = "Hello world " * 100
    openai, claude = WorkingMemory(model="gpt-4o"), WorkingMemory(model="claude-sonnet-4-5")
    assert claude.history_budget(knowledge=text) < openai.history_budget(knowledge=text)
    counted = WorkingMemory(counter=ApproximateTokenCounter())
    assert counted.history_budget(knowledge=text) == 95_904 - len(text) // 4


def test_empty_text_is_no_token_whatever_the_counter_says() -> None:
    assert WorkingMemory(counter=ApproximateTokenCounter()).history_budget(procedure="") == 95_904


@pytest.mark.parametrize("field", [field.name for field in fields(MemoryConfig)])
@pytest.mark.parametrize("value", [-1, 1.5, "100", None, True])
def test_a_limit_that_is_no_whole_number_from_0_on_is_refused(field: str, value: Any) -> None:
    with pytest.raises(InputError, match=field):
        MemoryConfig(**{field: value})


def test_a_limit_may_be_0() -> None:
    assert WorkingMemory(MemoryConfig(max_working_memory_tokens=0)).history_budget() == 0


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("value", [-1, 1.5, [], True])
def test_a_section_that_is_neither_text_nor_tokens_is_refused(section: str, value: Any) -> None:
    with pytest.raises(InputError, match=section):
        WorkingMemory().history_budget(**{section: value})


def test_a_configuration_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        MemoryConfig().output_reserve = 5  # type: ignore[misc]


def test_a_section_that_is_none_is_not_there() -> None:
    memory = WorkingMemory()
    assert memory.history_budget(procedure=None, system_prompt=100) == memory.history_budget(
        system_prompt=100
    )


def test_a_function_is_not_a_counter() -> None:
    with pytest.raises(InputError, match="counter must be a TokenCounter"):
        WorkingMemory(counter=len)  # type: ignore[arg-type]
