"""What holds for every request that is assembled, whatever goes into it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import (
    PROVIDERS,
    Assembly,
    FifoPruner,
    MemoryConfig,
    Provider,
    SlidingWindowPruner,
    SummarizePruner,
    ToolResultCap,
    WatermarkPruner,
    WorkingMemory,
    validate,
)
from brim.tokens import ApproximateTokenCounter, TokenCounter, counter_for
from tests.messages.histories import any_histories, valid_histories
from tests.messages.requests import Words, request_of

SIZES = st.integers(0, 400)
TEXTS = st.text(st.sampled_from("ab é上<>/\n.knowledge"), max_size=120)
ITEMS = st.lists(
    st.one_of(
        TEXTS, st.fixed_dictionaries({"text": TEXTS, "score": st.integers(0, 3), "title": TEXTS})
    ),
    max_size=5,
)
CONFIGS = st.builds(
    MemoryConfig,
    max_working_memory_tokens=SIZES,
    output_reserve=st.integers(0, 60),
    min_history_tokens=st.integers(0, 200),
    max_knowledge_tokens=st.integers(0, 60),
    max_episode_tokens=st.integers(0, 60),
)
WINDOWS = st.one_of(st.none(), st.integers(1, 500))
PRUNERS = st.sampled_from(
    (FifoPruner, SlidingWindowPruner, SummarizePruner, WatermarkPruner, ToolResultCap)
)
TOOL = {
    "type": "function",
    "function": {"name": "read", "parameters": {"type": "object", "properties": {}}},
}
MODELS: dict[Provider, str] = {
    "openai": "gpt-4o",
    "responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
}


def sections() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "system_prompt": TEXTS,
            "procedure": TEXTS,
            "knowledge": ITEMS,
            "episodes": ITEMS,
            "current_message": TEXTS,
            "tools": st.sampled_from((None, [TOOL])),
            "context_window": WINDOWS,
        }
    )


def counters(provider: Provider) -> st.SearchStrategy[TokenCounter]:
    return st.sampled_from((counter_for(MODELS[provider]), ApproximateTokenCounter()))


def most(assembly: Assembly, config: MemoryConfig) -> int | None:
    return (
        None if assembly.context_window is None else assembly.context_window - config.output_reserve
    )


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_request_is_within_its_limits_or_says_truly_why_not(
    provider: Provider, data: st.DataObject
) -> None:
    history = data.draw(valid_histories(provider))
    config, counter, options = (
        data.draw(CONFIGS),
        data.draw(counters(provider)),
        data.draw(sections()),
    )
    wm = WorkingMemory(config, counter=counter)
    found = wm.assemble(history=history, provider=provider, pruner=data.draw(PRUNERS)(), **options)
    request, limit = request_of(found), most(found, config)
    assert found.tokens == counter.count_messages(request, options["tools"])
    assert found.fits == (limit is None or found.tokens.high <= limit)
    assert found.over_budget == (int(found.tokens) > found.budget)
    assert found.budget <= max(0, config.max_working_memory_tokens - config.output_reserve)
    if not found.fits:
        largest = max(found.sections, key=lambda section: section.tokens)
        assert f"largest part is {largest.name}" in found.reason
        assert found.section("episodes").items == found.section("procedure").items == 0
    elif found.over_budget:
        assert f"{found.over_by:,} tokens over the budget" in found.reason
        assert found.section("episodes").items == found.section("procedure").items == 0
        if int(found.tokens) - int(found.section("history").tokens) > found.budget:
            assert "largest part is" in found.reason
        else:
            assert "min_history_tokens" in found.reason or "nothing else can leave" in found.reason
    elif found.reason:
        assert "no room for min_history_tokens" in found.reason


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_what_does_not_fit_would_not_fit_without_history_either(
    provider: Provider, data: st.DataObject
) -> None:
    history = [
        message
        for message in data.draw(valid_histories(provider, objects=False))
        if _speaks(message)
    ]
    config, options = data.draw(CONFIGS), data.draw(sections())
    assume(options["current_message"].strip())
    wm = WorkingMemory(config, model=MODELS[provider])
    found = wm.assemble(history=history, provider=provider, **options)
    if not found.fits:
        bare = wm.assemble(provider=provider, **{**options, "procedure": "", "episodes": ()})
        assert not bare.fits
        assert found.section("history").items == 0


def _speaks(message: Any) -> bool:
    return isinstance(message, str) or message.get("role") not in ("system", "developer")


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_every_token_belongs_to_a_section(provider: Provider, data: st.DataObject) -> None:
    wm = WorkingMemory(data.draw(CONFIGS), counter=data.draw(counters(provider)))
    options = data.draw(sections())
    found = wm.assemble(history=data.draw(any_chat(provider)), provider=provider, **options)
    assert sum(int(section.tokens) for section in found.sections) == int(found.tokens)
    assert all(section.tokens >= 0 for section in found.sections)
    assert found.section("knowledge").tokens <= wm.config.max_knowledge_tokens
    assert found.section("episodes").tokens <= wm.config.max_episode_tokens
    for name in ("knowledge", "episodes"):
        section = found.section(name)
        assert section.items + len(section.dropped) == len(options[name])
        assert all(gone.reason for gone in section.dropped)


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_the_messages_are_valid_and_the_callers_own(
    provider: Provider, data: st.DataObject
) -> None:
    history = data.draw(any_chat(provider))
    wm = WorkingMemory(data.draw(CONFIGS), model=MODELS[provider])
    found = wm.assemble(history=history, provider=provider, **data.draw(sections()))
    assert [
        problem for problem in validate(found.messages, provider=provider) if found.messages
    ] == []
    places = iter(history)
    own = [message for message in found.messages if any(message is given for given in history)]
    assert all(any(message is given for given in places) for message in own)
    assert len(found.messages) - len(own) <= 3
    gone = sum(len(unit.indices) for unit in found.receipt.dropped)
    assert found.section("history").items == len(own) == len(history) - gone


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_the_same_input_gives_the_same_request(provider: Provider, data: st.DataObject) -> None:
    history, options, config = (
        data.draw(any_chat(provider)),
        data.draw(sections()),
        data.draw(CONFIGS),
    )
    before = repr(history)
    one, two = (
        WorkingMemory(config, model=MODELS[provider]).assemble(
            history=history, provider=provider, **options
        )
        for _ in range(2)
    )
    assert (one, repr(history)) == (two, before)


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_the_newest_history_is_spared_while_the_window_allows(data: st.DataObject) -> None:
    history = data.draw(
        valid_histories("openai", objects=False).filter(lambda found: all(map(_speaks, found)))
    )
    config = data.draw(CONFIGS)
    wm = WorkingMemory(config, counter=Words())
    found = wm.assemble(
        history=history, provider="openai", current_message="Why?", system_prompt="a b c"
    )
    own = found.section("history")
    total = sum(int(Words().count_messages([message])) - 3 for message in history)
    assert int(own.tokens) >= min(config.min_history_tokens, total)


def any_chat(provider: Provider) -> st.SearchStrategy[list[Any]]:
    """Histories that may be broken, without messages that are refused."""

    def is_read(history: list[Any]) -> bool:
        try:
            WorkingMemory().assemble(history=history, provider=provider)
        except InputError:
            return False
        return True

    def read(history: list[Any]) -> list[Any]:
        return (
            history if is_read(history) else [message for message in history if is_read([message])]
        )

    return any_histories(provider).map(read).filter(is_read)
