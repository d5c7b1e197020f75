"""Requests that are put together: what goes in, what leaves, and the account."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

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
)
from brim.messages.assembly import SECTIONS
from brim.models import report_window
from brim.tokens import (
    AnchoredTokenCounter,
    ApproximateTokenCounter,
    Count,
    ExactTokenCounter,
    counter_for,
)
from tests.messages.requests import Words, memory, request_of, said, talk, words

# The seed's arithmetic


@pytest.mark.parametrize("counter", [Words(), ExactTokenCounter()])
def test_the_example_comes_out_to_the_token(counter: Any) -> None:
    config = MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192)
    wm = WorkingMemory(config, model="claude-sonnet-4-5", counter=counter)
    found = wm.assemble(
        system_prompt=words(1_200),
        procedure=words(300),
        knowledge=[words(1_500)],
        episodes=[words(400)],
        current_message=words(100),
    )
    assert found.history_budget == 138_308
    sizes = {section.name: section.tokens for section in found.sections}
    assert {name: sizes[name] for name in SECTIONS[:-1]} == {
        "system_prompt": 1_200,
        "procedure": 300,
        "knowledge": 1_500,
        "episodes": 400,
        "history": 0,
        "current_message": 100,
    }
    assert (found.budget, found.fits, found.over_budget, found.reason) == (141_808, True, False, "")


def test_framing_is_taken_from_what_history_gets() -> None:
    bare = memory(1_000).assemble(
        system_prompt=words(10), history=talk(100), current_message=words(5)
    )
    assert bare.history_budget == 985
    assert bare.section("framing").tokens == 3 + 4 + 4
    assert bare.section("history").tokens == 970  # 97 messages of 10 fit into the 974 that are left
    assert bare.tokens == 996


def test_what_a_capped_section_leaves_flows_to_history() -> None:
    history = talk(200)
    without = memory(1_000).assemble(history=history, current_message="go")
    little = memory(1_000).assemble(history=history, current_message="go", knowledge=[words(100)])
    assert without.history_budget - little.history_budget == 100
    assert little.section("history").tokens + 100 < without.section("history").tokens <= 1_000


def test_the_window_limits_as_well_as_the_working_memory() -> None:
    wm = WorkingMemory(
        MemoryConfig(max_working_memory_tokens=150_000, output_reserve=8_192), model="gpt-4o"
    )
    assert wm.assemble(current_message="Why?").budget == 128_000 - 8_192
    assert wm.assemble(current_message="Why?", context_window=20_000).budget == 20_000 - 8_192
    small = WorkingMemory(model="gpt-5").assemble(current_message="Why?", context_window=50_000)
    assert (small.budget, small.context_window) == (50_000 - 4_096, 50_000)


def test_a_prompt_is_never_more_than_the_models_input() -> None:
    wm = WorkingMemory(MemoryConfig(max_working_memory_tokens=10**6), model="gpt-5")
    assert wm.assemble(current_message="Why?").budget == 272_000


def test_a_window_that_nobody_knows_limits_nothing() -> None:
    for model in (None, "nobody-knows-me"):
        found = WorkingMemory(model=model).assemble(current_message="Why?")
        assert (found.budget, found.context_window) == (95_904, None)


def test_a_window_that_was_reported_limits() -> None:
    report_window("nobody-knows-me", 9_000)
    found = WorkingMemory(model="nobody-knows-me").assemble(current_message="Why?")
    assert (found.budget, found.context_window) == (9_000 - 4_096, 9_000)


# Where everything stands


@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_openai_gets_system_messages_before_the_history(provider: Provider) -> None:
    history = talk(1)
    found = memory().assemble(
        system_prompt="Be brief.",
        procedure="Look first.",
        knowledge=["Water boils."],
        episodes=["It rained."],
        history=history,
        current_message="Why?",
        provider=provider,
    )
    block = "<knowledge>\n<item>\nWater boils.\n</item>\n</knowledge>\n<episodes>\n<item>\nIt rained.\n</item>\n</episodes>"
    assert found.system == "Be brief.\n\nLook first."
    assert found.messages == [
        {"role": "system", "content": "Be brief.\n\nLook first."},
        {"role": "system", "content": block},
        *history,
        {"role": "user", "content": "Why?"},
    ]


def test_anthropic_gets_the_system_text_beside_and_the_block_from_the_user() -> None:
    found = memory().assemble(
        system_prompt="Be brief.",
        knowledge=["Water boils."],
        current_message="Why?",
        provider="anthropic",
    )
    assert found.system == "Be brief."
    assert [message["role"] for message in found.messages] == ["user", "user"]
    assert found.messages[0]["content"].startswith("<knowledge>")


def test_gemini_gets_parts() -> None:
    found = memory().assemble(
        system_prompt="Be brief.", episodes="It rained.", current_message="Why?", provider="gemini"
    )
    assert [message["role"] for message in found.messages] == ["user", "user"]
    assert found.messages[0]["parts"][0]["text"].startswith("<episodes>")
    assert found.messages[1] == {"role": "user", "parts": [{"text": "Why?"}]}


def test_nothing_given_is_an_empty_request() -> None:
    found = memory().assemble()
    assert (found.messages, found.system, found.fits, found.reason) == ([], "", True, "")
    assert [section.name for section in found.sections] == list(SECTIONS)


@pytest.mark.parametrize(
    ("model", "history", "current", "expected"),
    [
        (None, [], "Why?", "openai"),
        ("claude-sonnet-4-5", [], "Why?", "anthropic"),
        ("gemini-2.5-pro", [], "Why?", "gemini"),
        ("gemini-2.5-pro", talk(1), "Why?", "openai"),
        ("gpt-4o", talk(1, provider="gemini"), "Why?", "gemini"),
        (
            "gpt-4o",
            [],
            {"role": "user", "content": [{"type": "input_text", "text": "Why?"}]},
            "responses",
        ),
    ],
)
def test_the_provider_is_found(
    model: str | None, history: list[Any], current: Any, expected: str
) -> None:
    assert (
        WorkingMemory(model=model).assemble(history=history, current_message=current).provider
        == expected
    )


def test_a_current_message_is_passed_on_as_it_is() -> None:
    message = {
        "role": "user",
        "content": [{"type": "text", "text": "What is this?"}],
        "name": "anna",
    }
    found = WorkingMemory(model="gpt-4o").assemble(history=talk(2), current_message=message)
    assert found.messages[-1] is message
    assert found.section("current_message").tokens > 3


def test_a_message_may_be_an_object() -> None:
    history = [SimpleNamespace(role="user", content=words(6)) for _ in range(50)]
    current = SimpleNamespace(role="user", content="Why?")
    found = memory(100).assemble(history=history, current_message=current)
    assert found.messages[-1] is current
    assert all(any(kept is given for given in history) for kept in found.messages[:-1])
    assert found.section("current_message").tokens == 1


def test_a_current_message_that_answers_a_call_keeps_the_call() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    history = [*talk(20), {"role": "assistant", "content": None, "tool_calls": [call]}]
    result = {"role": "tool", "tool_call_id": "c1", "content": words(20)}
    wm = WorkingMemory(
        MemoryConfig(max_working_memory_tokens=100, output_reserve=0, min_history_tokens=0)
    )
    found = wm.assemble(history=history, current_message=result, provider="openai")
    assert found.messages[-2:] == [history[-1], result]
    assert found.fits
    assert not found.over_budget


@pytest.mark.parametrize("pruner", [FifoPruner(), ToolResultCap(limit=50)])
def test_a_current_message_stays_whole_whatever_the_pruner_does(pruner: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    history = [*talk(20), {"role": "assistant", "content": None, "tool_calls": [call]}]
    result = {"role": "tool", "tool_call_id": "c1", "content": words(400)}
    wm = WorkingMemory(
        MemoryConfig(max_working_memory_tokens=300, output_reserve=0, min_history_tokens=0)
    )
    found = wm.assemble(history=history, current_message=result, pruner=pruner)
    assert found.messages[-1] is result
    assert sum(message is result for message in found.messages) == 1
    assert found.over_budget


def test_a_broken_current_message_stays_and_is_named() -> None:
    result = {"role": "tool", "tool_call_id": "nobody", "content": "42"}
    found = WorkingMemory(model="gpt-4o").assemble(history=talk(2), current_message=result)
    assert found.messages[-1] is result
    assert "current_message" in found.reason


def test_system_messages_in_the_history_stay() -> None:
    history = [{"role": "system", "content": words(20)}, *talk(50)]
    found = memory(100).assemble(system_prompt=words(5), history=history, current_message="Why?")
    assert found.messages[1] is history[0]
    assert len(found.messages) < 12


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_a_system_message_that_belongs_beside_the_messages_is_refused(provider: Provider) -> None:
    history = [{"role": "system", "content": "Be brief."}, *talk(1)]
    with pytest.raises(InputError, match="system_prompt"):
        memory().assemble(history=history, provider=provider)


# What leaves


def test_history_loses_its_oldest() -> None:
    history = talk(50)
    found = memory(100).assemble(history=history, current_message="Why?")
    count = len(found.messages) - 1
    assert 0 < count < 100
    assert all(one is two for one, two in zip(found.messages, history[-count:], strict=False))
    assert found.section("history").dropped[0].index == 0
    assert found.receipt.pruner == "fifo"
    assert found.tokens <= 100


def test_episodes_and_then_the_procedure_make_way_for_the_minimum_history() -> None:
    given: dict[str, Any] = {
        "system_prompt": words(10),
        "procedure": words(20),
        "knowledge": [words(10)],
        "episodes": [words(10, "better"), words(10, "worse")],
        "history": talk(50),
        "current_message": words(5),
    }

    def left(most: int) -> tuple[int, int, int]:
        found = memory(most, least=60).assemble(**given)
        return tuple(found.section(name).items for name in ("episodes", "procedure", "knowledge"))  # type: ignore[return-value]

    whole = (
        3 + (10 + 20 + 4) + (10 + 20 + 10 + 4) + 60 + (5 + 4)
    )  # framing, system, block with its tags, history, message
    assert left(whole) == (2, 1, 1)
    assert left(whole - 1) == (1, 1, 1)
    assert left(whole - 12 - 1) == (0, 1, 1)
    assert left(whole - 26 - 1) == (0, 0, 1)
    assert left(1) == (0, 0, 1)


def test_what_made_way_is_listed_with_the_reason() -> None:
    found = memory(100, least=80).assemble(
        procedure=words(30), episodes=[words(5)], history=talk(50)
    )
    for name in ("procedure", "episodes"):
        (gone,) = found.section(name).dropped
        assert "no room" in gone.reason
    assert found.section("procedure").tokens == 0
    assert found.history_budget == 100


def test_the_minimum_history_may_exceed_the_working_memory() -> None:
    history = talk(50)
    found = memory(100, least=195).assemble(
        system_prompt=words(10), history=history, current_message="Why?"
    )
    assert found.section("history").tokens == 200
    assert found.messages[1:-1] == history[-20:]
    assert (found.fits, found.over_budget, found.over_by) == (True, True, int(found.tokens) - 100)
    assert "min_history_tokens" in found.reason
    assert f"{found.over_by:,}" in found.reason


def test_a_short_history_is_its_own_minimum() -> None:
    history = talk(2)
    found = memory(20, least=4_000).assemble(history=history, current_message="Why?")
    assert found.messages[:-1] == history
    assert found.over_budget


def test_the_minimum_history_never_exceeds_the_window() -> None:
    found = memory(100, least=195).assemble(
        history=talk(50), current_message="Why?", context_window=150
    )
    assert found.fits
    assert found.section("history").tokens == 140
    assert found.over_budget
    assert "min_history_tokens" in found.reason
    assert found.tokens <= 150


def test_history_below_its_minimum_is_said_even_if_the_budget_holds() -> None:
    found = memory(1_000, least=195).assemble(
        history=talk(50), current_message="Why?", context_window=150
    )
    assert (found.fits, found.over_budget) == (True, False)
    assert "min_history_tokens" in found.reason


@pytest.mark.parametrize(
    ("largest", "given"),
    [
        ("system_prompt", {"system_prompt": words(500)}),
        ("knowledge", {"knowledge": [words(500)]}),
        ("current_message", {"current_message": words(500)}),
        ("framing", {"tools": [{}] * 50}),
    ],
)
def test_what_alone_is_over_the_window_does_not_fit_and_is_named(
    largest: str, given: dict[str, Any]
) -> None:
    options = {
        "system_prompt": words(5),
        "current_message": "Why?",
        "episodes": ["a"],
        "procedure": "b",
        **given,
    }
    found = memory(1_000, reserve=100, least=50).assemble(
        history=talk(50), context_window=400, **options
    )
    assert not found.fits
    assert f"largest part is {largest} with" in found.reason
    assert [found.section(name).items for name in ("history", "episodes", "procedure")] == [0, 0, 0]
    assert "300" in found.reason


def test_over_the_budget_without_history_names_the_largest_part() -> None:
    found = memory(100).assemble(system_prompt=words(150), history=talk(3), current_message="Why?")
    assert (found.fits, found.over_budget) == (True, True)
    assert "system_prompt with 150" in found.reason


def test_tools_are_counted() -> None:
    without = memory(200).assemble(history=talk(50))
    found = memory(200).assemble(history=talk(50), tools=[{}, {}, {}])
    assert found.section("framing").tokens == without.section("framing").tokens + 30
    assert found.section("history").tokens == without.section("history").tokens - 30
    assert found.section("framing").source.endswith("tools")


def test_the_upper_end_of_a_count_stays_within_the_window() -> None:
    wm = WorkingMemory(
        MemoryConfig(output_reserve=100, min_history_tokens=50), model="claude-sonnet-4-5"
    )
    found = wm.assemble(
        system_prompt="Be brief.", history=talk(500), current_message="Why?", context_window=2_000
    )
    assert found.fits
    assert found.tokens.high <= 1_900 < found.tokens.high + 200
    assert found.section("history").items > 20


# Pruners


@pytest.mark.parametrize(
    "pruner",
    [FifoPruner(), SlidingWindowPruner(2), SummarizePruner(), WatermarkPruner(), ToolResultCap()],
)
def test_any_pruner_will_do(pruner: Any) -> None:
    wm = WorkingMemory(
        MemoryConfig(max_working_memory_tokens=500, output_reserve=0, min_history_tokens=60)
    )
    history = talk(50)
    found = wm.assemble(
        system_prompt="Be brief.", history=history, current_message="Why?", pruner=pruner
    )
    assert found.tokens <= 500
    assert (found.fits, found.reason) == (True, "")
    assert found.receipt.pruner in ("fifo", "sliding", "summarize", "watermark", "cap")
    assert found.messages[-2] is history[-1]
    assert found.section("history").tokens >= 60


def test_the_minimum_outranks_a_pruner_that_keeps_less() -> None:
    found = memory(least=100).assemble(
        history=talk(50), current_message="Why?", pruner=SlidingWindowPruner(1)
    )
    assert found.section("history").tokens == 100
    assert memory(least=0).assemble(
        history=talk(50), current_message="Why?", pruner=SlidingWindowPruner(2)
    ).section("history").tokens == 20  # fmt: skip


def test_a_watermark_keeps_the_beginning_for_many_turns() -> None:
    pruner, history = WatermarkPruner(), talk(3)
    wm = memory(400)
    firsts = []
    for turn in range(20):
        found = wm.assemble(history=history, current_message=f"question {turn}", pruner=pruner)
        assert found.tokens <= 400
        firsts.append(id(found.messages[0]))
        history = [*history, {"role": "user", "content": f"question {turn}"}, talk(1)[1]]
    assert len(set(firsts)) < 6


class Forgetful:
    """A pruner that does not keep what it should."""

    def prune(self, messages: Any, target: int, **options: Any) -> Any:
        return FifoPruner().prune(messages[:-1], target, counter=options["counter"])


def test_a_pruner_that_loses_the_current_message_does_not_lose_it_for_us() -> None:
    found = memory(100).assemble(history=talk(50), current_message="Why?", pruner=Forgetful())
    assert said(found)[-1] == "Why?"
    assert found.tokens <= 100


class Together(Words):
    """A counter whose messages take more together than apart."""

    def count_messages(self, messages: Any, tools: Any = None) -> Count:
        return Count(int(super().count_messages(messages, tools)) + len(messages) // 2)


def test_the_whole_is_within_the_budget_even_if_its_parts_do_not_add_up() -> None:
    found = memory(300, counter=Together()).assemble(history=talk(50), current_message="Why?")
    assert found.tokens <= 300
    assert found.tokens > 270


def test_the_account_prints_itself() -> None:
    found = memory(100).assemble(
        system_prompt=words(10), knowledge=["a", words(5_000)], history=talk(9)
    )
    assert (
        repr(found)
        == f"Assembly({len(found.messages)} messages, {found.tokens} of 100 tokens, fits)"
    )
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
    found = memory().assemble(
        system_prompt=" \n", procedure="\t", current_message="  ", history=talk(1)
    )
    assert len(found.messages) == 2
    assert found.system == ""


def test_an_approximate_count_works_too() -> None:
    wm = WorkingMemory(
        MemoryConfig(max_working_memory_tokens=200, output_reserve=0),
        counter=ApproximateTokenCounter(),
    )
    found = wm.assemble(system_prompt="Be brief.", history=talk(3), current_message="Why?")
    assert found.tokens == ApproximateTokenCounter().count_messages(request_of(found))
    assert found.section("procedure").tokens == 0


def test_what_a_provider_reported_is_accounted_for() -> None:
    for reported in (20, 400):
        counter = AnchoredTokenCounter(counter_for("gpt-4o"))
        wm = WorkingMemory(
            MemoryConfig(max_working_memory_tokens=1_000, output_reserve=0), counter=counter
        )
        first = wm.assemble(system_prompt="Be brief.", history=talk(9), current_message="Why?")
        counter.report(first.messages, reported)
        found = wm.assemble(system_prompt="Be brief.", history=talk(9), current_message="Why?")
        assert (int(found.tokens), found.tokens.basis) == (reported, "anchored")
        assert sum(int(section.tokens) for section in found.sections) == reported


def test_a_report_that_is_over_the_budget_is_heeded() -> None:
    counter = AnchoredTokenCounter(counter_for("gpt-4o"))
    wm = WorkingMemory(
        MemoryConfig(max_working_memory_tokens=300, output_reserve=0, min_history_tokens=20),
        counter=counter,
    )
    first = wm.assemble(history=talk(9), current_message="Why?")
    counter.report(first.messages, 400)
    found = wm.assemble(history=talk(9), current_message="Why?")
    assert found.tokens <= 300
    assert len(found.messages) < len(first.messages)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"system_prompt": 5}, "system_prompt"),
        ({"procedure": ["a"]}, "procedure"),
        ({"knowledge": 5}, "knowledge"),
        ({"knowledge": [5]}, r"knowledge\[0\]"),
        ({"knowledge": ["a", {"title": "no text"}]}, r"knowledge\[1\]"),
        ({"episodes": [None]}, r"episodes\[0\]"),
        ({"episodes": [b"bytes"]}, r"episodes\[0\]"),
        ({"knowledge": [{"text": "a", "score": "high"}]}, r"knowledge\[0\].score"),
        ({"knowledge": [{"text": "a", "score": True}]}, "score"),
        ({"history": "text"}, "history"),
        ({"history": {"messages": []}}, "history"),
        ({"history": 5}, "history"),
        ({"current_message": ["a"]}, "current_message"),
        ({"current_message": 5}, "current_message"),
        ({"provider": "bedrock"}, "bedrock"),
        ({"pruner": "fifo"}, "pruner"),
        ({"pruner": FifoPruner}, "pruner"),
        ({"tools": {"name": "read"}}, "tools"),
        ({"context_window": 0}, "context_window"),
        ({"context_window": True}, "context_window"),
        ({"context_window": "128k"}, "context_window"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(options: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError, match=name):
        memory().assemble(**options)


def test_nothing_is_not_an_error() -> None:
    missing = dict.fromkeys(
        (
            "system_prompt",
            "procedure",
            "knowledge",
            "episodes",
            "history",
            "current_message",
            "tools",
        )
    )
    assert memory().assemble(**missing).messages == []  # type: ignore[arg-type]


def test_any_iterable_is_a_list() -> None:
    found = memory().assemble(
        knowledge=iter(["a", "b"]), history=(message for message in talk(2)), tools=iter([{}])
    )
    assert (found.section("knowledge").items, found.section("history").items) == (2, 4)


@pytest.mark.parametrize(
    "odd", [None, 5, {}, {"role": "user"}, [], {"role": "User", "content": "Hi"}]
)
def test_what_is_no_message_is_refused(odd: Any) -> None:
    for provider in PROVIDERS:
        with pytest.raises(InputError, match=r"messages\[0\]"):
            memory().assemble(history=[odd], current_message="Why?", provider=provider)


def kept(assembly: Assembly, name: str = "knowledge") -> list[str]:
    block = next(text for text in said(assembly) if f"<{name}>" in text)
    inside = block.split(f"<{name}>\n")[1].split(f"\n</{name}>")[0]
    return [
        item.removeprefix("<item>\n").removesuffix("\n</item>")
        for item in inside.split("\n<item>\n")
    ]


@pytest.mark.parametrize(
    ("name", "cap"), [("knowledge", "max_knowledge_tokens"), ("episodes", "max_episode_tokens")]
)
def test_items_go_in_best_first_up_to_the_cap(name: str, cap: str) -> None:
    items: list[Any] = [
        {"text": words(4, "poor"), "score": 0.1},
        {"text": words(9, "huge"), "score": 0.95},
        {"text": words(4, "best"), "score": 0.9},
        {"content": words(2, "good"), "score": 0.8},
        words(2, "unscored"),
    ]
    wm = memory(**{cap: 8})
    given: dict[str, Any] = {name: items}
    found = wm.assemble(**given, current_message="Why?")
    assert kept(found, name) == [words(4, "best"), words(2, "good"), words(2, "unscored")]
    section = found.section(name)
    assert (section.tokens, section.items) == (8, 3)
    assert [(gone.index, gone.tokens) for gone in section.dropped] == [(1, 9), (0, 4)]
    assert "8 tokens" in section.dropped[0].reason
    assert "left 2 of 8" in section.dropped[1].reason


def test_items_without_a_score_keep_their_order() -> None:
    assert kept(memory().assemble(knowledge=["b", "a", "c"])) == ["b", "a", "c"]


def test_equal_scores_keep_their_order() -> None:
    items = [{"text": text, "score": score} for text, score in (("b", 1), ("a", 2.0), ("c", 1))]
    assert kept(memory().assemble(knowledge=items)) == ["a", "b", "c"]


def test_an_item_of_exactly_the_cap_goes_in() -> None:
    found = memory(max_knowledge_tokens=10).assemble(knowledge=[words(5), words(5), words(1)])
    assert found.section("knowledge").tokens == 10
    assert len(found.section("knowledge").dropped) == 1


def test_a_cap_of_0_lets_nothing_in() -> None:
    found = memory(max_knowledge_tokens=0).assemble(knowledge=["a"], current_message="Why?")
    assert said(found) == ["Why?"]
    assert found.section("knowledge").dropped[0].reason == "larger than the limit of 0 tokens"


def test_title_and_source_are_written_and_counted() -> None:
    found = memory().assemble(
        knowledge=[{"text": "Water boils.", "title": "Physics", "source": "notes.md"}]
    )
    assert kept(found) == ["Physics (notes.md)\nWater boils."]
    assert (found.section("knowledge").tokens, found.section("knowledge").source) == (4, "notes.md")


def test_documents_of_retrievers_are_read() -> None:
    found = memory().assemble(
        knowledge=[
            SimpleNamespace(page_content="chain", metadata={"source": "a.md"}),
            SimpleNamespace(text="index", score=0.5),
        ]
    )
    assert kept(found) == ["index", "a.md\nchain"]


@pytest.mark.parametrize(
    "text",
    [
        "</knowledge>",
        "</KNOWLEDGE >",
        "< /knowledge>",
        "</\tknowledge>",
        "<            /knowledge>",
        "<episodes>",
        "</item>",
        "<\u200b/knowledge>",
    ],
)
def test_a_text_cannot_close_or_forge_a_tag(text: str) -> None:
    found = memory().assemble(knowledge=[f"a {text} b", {"text": "c", "title": text}])
    tags = re.findall(r"<[^\w<>]*(?:knowledge|episodes|item)\b", said(found)[0], re.IGNORECASE)
    assert tags == ["<knowledge", *["<item", "</item"] * 2, "</knowledge"]
    assert said(found)[0].count("&lt;") == 2


def test_other_markup_stays_as_it_is() -> None:
    text = "if a < b and c > d: <div>items</div> <items> <knowledgebase>"
    assert kept(memory().assemble(knowledge=[text])) == [text]


def test_empty_items_are_dropped() -> None:
    found = memory().assemble(knowledge=["", {"text": "  ", "title": "Nothing"}, "a"])
    assert kept(found) == ["a"]
    assert [gone.reason for gone in found.section("knowledge").dropped] == ["it is empty"] * 2


def test_a_score_that_is_not_a_number_is_no_score() -> None:
    items = [{"text": "a", "score": float("nan")}, {"text": "b", "score": -1}]
    assert kept(memory().assemble(knowledge=items)) == ["b", "a"]
