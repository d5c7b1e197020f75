"""The budget is the formula's, to the token."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, fields
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import (
    DEFAULT_CONTEXT_WINDOW,
    MODEL_CONTEXT_WINDOWS,
    RESPONSE_RESERVE_MAX,
    RESPONSE_RESERVE_MIN,
    RESPONSE_RESERVE_RATIO,
    SAFETY_BUFFER_RATIO,
    Reserves,
    TokenBudget,
    TokenBudgetCalculator,
)
from brim.models import report_window, use
from tests.conftest import Oracle

ENCODINGS = {
    "gpt-4o": "o200k_base",
    "gpt-4o-mini": "o200k_base",
    "gpt-4-turbo": "cl100k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5-turbo": "cl100k_base",
    "gpt-3.5-turbo-16k": "cl100k_base",
    "nobody-knows-me": "cl100k_base",
}
CHAT = [
    {"role": "system", "content": "You are a careful engineer.\n\nNever guess."},
    {"role": "user", "content": "Why does naïve façade 上下文窗口 fail?"},
    {"role": "assistant", "content": "def f(x):\n    return x  # it doesn't\n"},
    {"role": "user", "content": "<|endoftext|> is text"},
]
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": st.text(max_size=80)},
    ),
    max_size=6,
)


def formula(messages: list[dict[str, Any]], encoding: str, oracle: Oracle) -> int:
    """The milestone's count_messages_tokens, with tiktoken itself."""
    return 3 + sum(
        4 + oracle(each["content"] or "", encoding) + oracle(each["role"], encoding)
        for each in messages
    )


# Acceptance criteria of the milestone


def test_hello_world_is_two_tokens() -> None:
    assert TokenBudgetCalculator().count_tokens("Hello world", "gpt-4o") == 2


@pytest.mark.parametrize("words", [7_000, 8_192, 50_000])
def test_no_memory_is_left_when_the_messages_fill_the_window(words: int) -> None:
    budget = TokenBudgetCalculator().calculate(
        "gpt-4", [{"role": "user", "content": " word" * words}]
    )
    assert (budget.memory_tokens, budget.is_constrained) == (0, True)


def test_an_unknown_model_is_counted_with_cl100k(oracle: Oracle) -> None:
    calculator = TokenBudgetCalculator()
    for text in ("Hello world", "naïve façade 上下文窗口", ""):
        assert calculator.count_tokens(text, "nobody-knows-me") == oracle(text, "cl100k_base")
    budget = calculator.calculate("nobody-knows-me", CHAT)
    assert budget.context_window == DEFAULT_CONTEXT_WINDOW == 8_192
    assert budget.messages_tokens == formula(CHAT, "cl100k_base", oracle)


@pytest.mark.parametrize("name", ["", " ", "\ud800", "a/b/c/d", "x" * 10_000, "[1m]"])
def test_no_name_of_a_model_raises(name: str) -> None:
    assert TokenBudgetCalculator().calculate(name, CHAT).memory_tokens >= 0


@pytest.mark.parametrize(("free", "constrained"), [(999, True), (1_000, False), (1_001, False)])
def test_less_than_a_thousand_tokens_is_constrained(free: int, constrained: bool) -> None:
    window = 10_000
    output = window - int(0.05 * window) - 3 - free
    budget = TokenBudgetCalculator().calculate(
        "gpt-4o", [], max_output=output, context_window=window
    )
    assert (budget.memory_tokens, budget.is_constrained) == (free, constrained)


# The formula


def test_the_constants_are_the_milestones() -> None:
    assert MODEL_CONTEXT_WINDOWS == {
        "gpt-4o": 128_000,
        "gpt-4o-mini": 128_000,
        "gpt-4-turbo": 128_000,
        "gpt-4": 8_192,
        "gpt-3.5-turbo": 16_385,
        "gpt-3.5-turbo-16k": 16_385,
    }
    assert (RESPONSE_RESERVE_RATIO, RESPONSE_RESERVE_MIN, RESPONSE_RESERVE_MAX) == (
        0.15,
        500,
        4_096,
    )
    assert (DEFAULT_CONTEXT_WINDOW, SAFETY_BUFFER_RATIO) == (8_192, 0.05)


@pytest.mark.parametrize(
    ("model", "reserve", "safety", "free"),
    [
        ("gpt-4o", 4_096, 6_400, 117_504),
        ("gpt-4o-mini", 4_096, 6_400, 117_504),
        ("gpt-4-turbo", 4_096, 6_400, 117_504),
        ("gpt-4", 1_228, 409, 6_555),
        ("gpt-3.5-turbo", 2_457, 819, 13_109),
        ("gpt-3.5-turbo-16k", 2_457, 819, 13_109),
    ],
)
def test_the_six_models_come_out_as_the_formula_says(
    model: str, reserve: int, safety: int, free: int, oracle: Oracle
) -> None:
    budget = TokenBudgetCalculator().calculate(model, CHAT, "Answer in German.")
    messages, directive = (
        formula(CHAT, ENCODINGS[model], oracle),
        oracle("Answer in German.", ENCODINGS[model]),
    )
    assert budget == TokenBudget(
        model=model,
        context_window=MODEL_CONTEXT_WINDOWS[model],
        messages_tokens=budget.messages_tokens,
        directive_tokens=budget.directive_tokens,
        response_reserve=reserve,
        safety_buffer=safety,
        memory_tokens=free - messages - directive,
        is_constrained=False,
    )
    assert (budget.messages_tokens, budget.directive_tokens) == (messages, directive)


def test_the_fields_of_the_milestone_come_first_and_cannot_be_changed() -> None:
    names = [field.name for field in fields(TokenBudget)]
    assert names[:8] == [
        "model",
        "context_window",
        "messages_tokens",
        "directive_tokens",
        "response_reserve",
        "safety_buffer",
        "memory_tokens",
        "is_constrained",
    ]
    with pytest.raises(FrozenInstanceError):
        TokenBudgetCalculator().calculate("gpt-4o", []).memory_tokens = 5  # type: ignore[misc]


@pytest.mark.parametrize("window", [1, 499, 3_333, 3_334, 27_306, 27_307, 27_308, 1_048_576])
def test_the_reserve_is_15_percent_between_500_and_4096(window: int) -> None:
    budget = TokenBudgetCalculator().calculate("gpt-4o", [], context_window=window)
    assert budget.response_reserve == max(500, min(4_096, int(0.15 * window)))
    assert budget.safety_buffer == int(0.05 * window)


@pytest.mark.parametrize("model", ENCODINGS)
def test_messages_are_3_and_4_each_and_content_and_role(model: str, oracle: Oracle) -> None:
    calculator = TokenBudgetCalculator()
    for number in range(len(CHAT) + 1):
        expected = formula(CHAT[:number], ENCODINGS[model], oracle)
        assert calculator.count_messages_tokens(CHAT[:number], model) == expected


@given(messages=MESSAGES)
@settings(deadline=None)
def test_any_messages_are_3_and_4_each_and_content_and_role(
    messages: list[dict[str, Any]], oracle: Oracle
) -> None:
    assert TokenBudgetCalculator().count_messages_tokens(messages, "gpt-4o") == formula(
        messages, "o200k_base", oracle
    )


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gemini-2.5-pro"])
def test_the_formula_is_the_same_for_every_model(model: str) -> None:
    calculator = TokenBudgetCalculator()
    assert calculator.count_messages_tokens([], model) == 3
    count = calculator.count_messages_tokens([{"role": "user", "content": ""}] * 10, model)
    assert 3 + 10 * (4 + 1) <= count <= 3 + 10 * (4 + 2)
    assert count.basis == "estimated"


# Messages of every kind


@dataclass
class Message:
    """As a protocol buffer's message would be."""

    role: str
    content: str | None


def test_objects_count_as_dicts_do() -> None:
    calculator = TokenBudgetCalculator()
    expected = calculator.count_messages_tokens(CHAT, "gpt-4o")
    for kind in (Message, SimpleNamespace):
        assert (
            calculator.count_messages_tokens([kind(**each) for each in CHAT], "gpt-4o") == expected
        )
    assert (
        calculator.calculate("gpt-4o", [Message(**each) for each in CHAT]).messages_tokens
        == expected
    )


@pytest.mark.parametrize(
    "message", [{"role": "user", "content": None}, {"role": "user"}, Message("user", None)]
)
def test_content_that_is_none_or_missing_is_no_token(message: object) -> None:
    assert TokenBudgetCalculator().count_messages_tokens([message], "gpt-4o") == 3 + 4 + 1


def test_a_missing_role_is_no_token() -> None:
    count = TokenBudgetCalculator().count_messages_tokens([{"content": "Hello world"}], "gpt-4o")
    assert count == 3 + 4 + 2


def test_content_in_parts_counts_their_text() -> None:
    calculator = TokenBudgetCalculator()
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hello world"}]}]
    assert calculator.count_messages_tokens(parts, "gpt-4o") == 3 + 4 + 1 + 2
    more = [{"role": "user", "content": [{"type": "text", "text": "Hello world"}] * 2}]
    assert 3 + 4 + 1 + 4 <= calculator.count_messages_tokens(more, "gpt-4o") <= 3 + 4 + 1 + 8


@pytest.mark.parametrize(
    "message", [None, 5, "text", [], {}, {"role": 5, "content": {"a": [1]}}, object(), b"bytes"]
)
def test_no_message_raises(message: object) -> None:
    assert TokenBudgetCalculator().count_messages_tokens([message], "gpt-4o") >= 3


@pytest.mark.parametrize("messages", [5, None, {"role": "user", "content": "x"}, b"bytes"])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(InputError):
        TokenBudgetCalculator().calculate("gpt-4o", messages)


def test_text_in_text_is_counted_without_special_tokens_and_surrogates() -> None:
    calculator = TokenBudgetCalculator()
    assert calculator.count_tokens("<|endoftext|>", "gpt-4o") > 1
    assert calculator.count_tokens("\ud800", "gpt-4o") > 0


# Extensions


def test_max_output_takes_the_place_of_the_reserve() -> None:
    calculator = TokenBudgetCalculator()
    assert (
        calculator.calculate("gpt-4o", [], max_output=16_384).memory_tokens
        == 128_000 - 6_400 - 3 - 16_384
    )
    assert calculator.calculate("gpt-4o", [], max_output=0).response_reserve == 0


def test_tools_take_their_tokens_from_memory() -> None:
    tool = {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Search the documentation.",
            "parameters": {"type": "object"},
        },
    }
    calculator = TokenBudgetCalculator()
    without, one = (
        calculator.calculate("gpt-4o", CHAT),
        calculator.calculate("gpt-4o", CHAT, tools=[tool]),
    )
    two = calculator.calculate("gpt-4o", CHAT, tools=[tool, tool])
    assert without.tools_tokens == 0
    assert 0 < one.tools_tokens < two.tools_tokens
    assert one.memory_tokens == without.memory_tokens - one.tools_tokens
    assert one.messages_tokens == without.messages_tokens
    assert calculator.calculate("gpt-4o", CHAT, tools=[]) == without


@pytest.mark.parametrize(
    "option", [{"max_output": -1}, {"context_window": 0}, {"context_window": -5}]
)
def test_a_number_out_of_range_is_refused(option: dict[str, int]) -> None:
    with pytest.raises(InputError, match=next(iter(option))):
        TokenBudgetCalculator().calculate("gpt-4o", [], **option)  # type: ignore[arg-type]


def test_a_reported_window_outranks_the_table() -> None:
    calculator = TokenBudgetCalculator()
    report_window("gpt-4o", 64_000)
    assert calculator.calculate("gpt-4o", []).context_window == 64_000


def test_a_configured_model_is_divided() -> None:
    use({"house-model": {"like": "gpt-4o", "context_window": 300_000}})
    budget = TokenBudgetCalculator().calculate("house-model", CHAT)
    assert budget.context_window == 300_000
    assert budget.messages_tokens == TokenBudgetCalculator().count_messages_tokens(CHAT, "gpt-4o")


def test_a_name_of_a_known_family_gets_the_familys_window() -> None:
    assert TokenBudgetCalculator().calculate("gpt-4o-2099-12-31", []).context_window == 128_000


def test_what_fits_is_decided_by_the_upper_end_of_the_interval() -> None:
    calculator = TokenBudgetCalculator()
    messages = [{"role": "user", "content": "word\n" * 10_000}]
    count = calculator.count_messages_tokens(messages, "claude-sonnet-4-5")
    assert count < count.high
    tight = calculator.calculate(
        "claude-sonnet-4-5", messages, max_output=0, context_window=int(count)
    )
    roomy = calculator.calculate(
        "claude-sonnet-4-5", messages, max_output=0, context_window=count.high
    )
    assert (tight.fits, roomy.fits) == (False, True)


# Properties


@given(
    messages=MESSAGES,
    directive=st.text(max_size=200),
    window=st.integers(1, 20_000),
    max_output=st.none() | st.integers(0, 20_000),
    model=st.sampled_from(["gpt-4o", "claude-sonnet-4-5", "nobody-knows-me"]),
)
@settings(deadline=None)
def test_the_parts_are_the_window_unless_it_is_over_full(
    messages: list[dict[str, Any]], directive: str, window: int, max_output: int | None, model: str
) -> None:
    budget = TokenBudgetCalculator().calculate(
        model, messages, directive, max_output=max_output, context_window=window
    )
    taken = (
        int(budget.messages_tokens)
        + int(budget.directive_tokens)
        + budget.response_reserve
        + budget.safety_buffer
    )
    assert budget.memory_tokens == max(0, window - taken)
    assert budget.memory_tokens >= 0
    assert budget.is_constrained == (budget.memory_tokens < 1_000)
    if taken <= window:
        assert taken + budget.memory_tokens == window


@given(messages=MESSAGES, model=st.sampled_from(["gpt-4o", "claude-sonnet-4-5", "nobody-knows-me"]))
@settings(deadline=None)
def test_one_more_message_never_leaves_more_memory(
    messages: list[dict[str, Any]], model: str
) -> None:
    calculator = TokenBudgetCalculator()
    free = [
        calculator.calculate(model, messages[:n]).memory_tokens for n in range(len(messages) + 1)
    ]
    assert free == sorted(free, reverse=True)


def test_the_same_calculator_gives_the_same_budget_again() -> None:
    calculator = TokenBudgetCalculator()
    assert calculator.calculate("gpt-4o", CHAT) == calculator.calculate("gpt-4o", CHAT)
    assert calculator.calculate("gpt-4o", CHAT) == TokenBudgetCalculator().calculate("gpt-4o", CHAT)


def test_a_window_that_is_set_takes_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    calculator = TokenBudgetCalculator()
    monkeypatch.setitem(MODEL_CONTEXT_WINDOWS, "my-model", 50_000)
    assert calculator.calculate("my-model", CHAT).context_window == 50_000
    assert Reserves().room("my-model") == 50_000 - 4_096 - 2_500
    monkeypatch.setitem(MODEL_CONTEXT_WINDOWS, "gpt-4o", 64_000)
    assert calculator.calculate("gpt-4o", CHAT).context_window == 64_000
