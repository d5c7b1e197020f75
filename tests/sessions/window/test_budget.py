"""``ContextBudget``: the last call of the main thread is what is in the window, and the flags stay
until cleared."""

from __future__ import annotations

from typing import Any

import pytest

from brim.agents.events import Compaction, Message, ModelSeen, RunTotal, Usage
from brim.errors import InputError
from brim.models.usage import Tokens
from brim.notices import COMPACT_DUE, CONTEXT_WARNING, Notice
from brim.sessions.window.budget import ContextBudget
from tests.sessions.window.lines import MODEL, assistant, result, usage

# Results alone


@pytest.mark.parametrize("nested", [True, False])
def test_counters_of_a_result_are_read_at_the_top_level_and_under_usage(nested: bool) -> None:
    counters = {
        "input_tokens": 1_000,
        "cache_creation_input_tokens": 20_000,
        "cache_read_input_tokens": 79_000,
    }
    budget = ContextBudget()
    budget.update({"type": "result", **({"usage": counters} if nested else counters)})
    assert (budget.input_tokens, budget.cache_creation_input_tokens) == (1_000, 20_000)
    assert budget.cache_read_input_tokens == 79_000
    assert (budget.used_tokens, budget.utilization, budget.context_window) == (
        100_000,
        0.5,
        200_000,
    )
    assert not budget.should_warn
    assert not budget.should_compact


def test_thresholds_are_inclusive_and_compaction_sets_both() -> None:
    budget = ContextBudget()
    budget.update(result(139_999))
    assert (budget.should_warn, budget.should_compact) == (False, False)
    budget.update(result(140_000))
    assert (budget.should_warn, budget.should_compact) == (True, False)
    direct = ContextBudget()
    direct.update(result(156_000))
    assert (direct.should_warn, direct.should_compact) == (True, True)


def test_flags_stay_set_until_they_are_cleared() -> None:
    budget = ContextBudget()
    budget.update(result(160_000))
    budget.update(result(1_000))
    assert budget.should_warn
    assert budget.should_compact
    budget.clear_warning()
    assert not budget.should_warn
    assert budget.should_compact
    budget.clear_compact()
    assert not budget.should_warn
    assert not budget.should_compact
    budget.update(result(160_000))
    assert budget.should_warn
    assert budget.should_compact


def test_clearing_compaction_clears_the_warning_too() -> None:
    budget = ContextBudget()
    budget.update(result(160_000))
    budget.clear_compact()
    assert (budget.should_warn, budget.should_compact) == (False, False)


def test_utilization_may_exceed_one_and_a_window_of_no_size_gives_zero() -> None:
    budget = ContextBudget(100)
    budget.update(result(250))
    assert budget.utilization == 2.5
    for window in (0, -5):
        empty = ContextBudget(window, pinned=True)
        empty.update(result(250))
        assert (empty.utilization, empty.should_warn, empty.should_compact) == (0.0, False, False)


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"type": "result"},
        {"type": "result", "usage": None},
        {"type": "result", "usage": {"input_tokens": 0, "cache_read_input_tokens": 0}},
        {"type": "result", "is_error": True, "result": "API Error"},
        {"type": "result", "usage": {"input_tokens": -7}},
        {"type": "result", "usage": {"input_tokens": "many"}},
        {"type": "user", "message": {"content": "hello"}},
        {"type": "nothing that we know"},
        None,
        [],
        "text",
        7,
    ],
)
def test_what_says_nothing_leaves_the_occupancy_as_it_is(line: Any) -> None:
    budget = ContextBudget()
    budget.update(result(50_000))
    assert budget.update(line) == []
    assert budget.used_tokens == 50_000


# Calls of the main thread


def test_the_last_call_is_the_occupancy_and_a_result_is_not() -> None:
    budget = ContextBudget()
    budget.update(assistant("m1", 30_000))
    budget.update(assistant("m2", 40_000))
    budget.update(result(70_000))
    assert (budget.used_tokens, budget.basis) == (40_000, "call")


def test_a_result_before_the_first_call_gives_way_to_it() -> None:
    budget = ContextBudget()
    budget.update(result(150_000))
    assert budget.basis == "total"
    budget.update(assistant("m1", 30_000))
    assert (budget.used_tokens, budget.basis) == (30_000, "call")


def test_a_result_settles_the_output_and_the_window() -> None:
    budget = ContextBudget()
    budget.update(assistant("m1", 30_000, model="claude-opus-4-5"))
    assert budget.output_tokens == 1
    about = {"claude-opus-4-5": {"contextWindow": 500_000, "inputTokens": 1}}
    budget.update(
        result(30_000, modelUsage=about) | {"usage": {"input_tokens": 30_000, "output_tokens": 812}}
    )
    assert (budget.output_tokens, budget.context_window, budget.window.source) == (
        812,
        500_000,
        "reported",
    )
    assert budget.window.others == (("table", 200_000),)


def test_one_message_in_several_lines_is_one_report() -> None:
    budget = ContextBudget()
    for line in (assistant("m1", 160_000), assistant("m1", 160_000)):
        budget.update(line)
    budget.clear_compact()
    budget.update(assistant("m1", 160_000))
    assert not budget.should_compact, "it was dealt with when it was cleared"
    budget.update(assistant("m2", 160_001))
    assert budget.should_compact


def test_a_repeated_older_request_is_not_the_occupancy() -> None:
    budget = ContextBudget()
    for event in (usage("a", 10_000), usage("b", 20_000), usage("a", 10_000)):
        budget.update(event)
    assert budget.used_tokens == 20_000


def test_a_request_that_comes_again_with_its_output_replaces_itself() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000, output=1, final=False))
    budget.update(usage("a", 10_000, output=400))
    assert (budget.used_tokens, budget.output_tokens) == (10_000, 400)
    assert int(budget.pending()) == 10_400


def test_synthetic_lines_and_empty_usage_are_no_reports() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000))
    budget.update(usage("b", 99_000, model="<synthetic>"))
    budget.update(usage("c", 0))
    budget.update(ModelSeen(model="<synthetic>"))
    assert (budget.used_tokens, budget.model) == (10_000, MODEL)


def test_sub_agents_have_windows_of_their_own() -> None:
    budget = ContextBudget()
    budget.update(assistant("m1", 30_000))
    budget.update(assistant("m2", 190_000, parent="toolu_1", model="claude-haiku-4-5"))
    assert budget.used_tokens == 30_000
    assert not budget.should_warn
    (agent,) = budget.agents.values()
    assert (agent.model, agent.used_tokens, agent.utilization) == (
        "claude-haiku-4-5",
        190_000,
        0.95,
    )


def test_sums_of_codex_and_gemini_are_never_the_occupancy() -> None:
    budget = ContextBudget()
    budget.update(
        {
            "type": "turn.completed",
            "usage": {"input_tokens": 900_000, "cached_input_tokens": 800_000},
        }
    )
    budget.update(
        RunTotal(usage=Tokens(input=900_000), tokens={"gemini-2.5-flash": Tokens(input=900_000)})
    )
    assert (budget.used_tokens, budget.should_warn) == (0, False)


def test_a_sum_of_the_session_replaces_what_was_written_before() -> None:
    budget = ContextBudget()
    for output in (100, 250):
        budget.update(RunTotal(usage=Tokens(input=5, output=output, writes_are_input=True)))
    assert budget.output_tokens == 250


def test_the_cache_hit_share_is_over_all_calls() -> None:
    budget = ContextBudget()
    assert budget.cache_hit_share == 0
    budget.update(assistant("m1", 100_000))
    for _ in range(2):
        budget.update(assistant("m2", 100_000, read=100_000))
    assert budget.cache_hit_share == 0.5


# Notices


def test_each_notice_comes_once_per_latch() -> None:
    budget = ContextBudget()
    kinds = [
        [notice.kind for notice in budget.update(result(tokens))]
        for tokens in (140_000, 141_000, 156_000, 157_000)
    ]
    assert kinds == [[CONTEXT_WARNING], [], [COMPACT_DUE], []]
    budget.clear_compact()
    assert [notice.kind for notice in budget.update(result(156_000))] == [
        CONTEXT_WARNING,
        COMPACT_DUE,
    ]


def test_a_notice_says_what_was_measured_and_reads_as_a_sentence() -> None:
    warning, due = ContextBudget().update(assistant("m1", 158_000))
    assert str(warning) == "The context window is filling up: 158,000 of 200,000 tokens, 79%."
    assert str(due) == "It is time to compact: 158,000 of 200,000 tokens, 79%."
    facts: Any = due
    assert (facts.used_tokens, facts.window, facts.utilization, facts.session) == (
        158_000,
        200_000,
        0.79,
        "s1",
    )


def test_subscribers_are_told_and_one_that_fails_stops_nothing() -> None:
    budget = ContextBudget()
    told: list[str] = []

    def fails(notice: Notice) -> None:
        raise OSError("no terminal")

    budget.subscribe(fails)
    end = budget.subscribe(lambda notice: told.append(notice.kind))
    assert len(budget.update(result(160_000))) == 2
    assert told == [CONTEXT_WARNING, COMPACT_DUE]
    assert isinstance(budget.subscriber_error, OSError)
    end()
    budget.clear_compact()
    budget.update(result(160_000))
    assert len(told) == 2


# The caller's mistakes


@pytest.mark.parametrize(
    "fields", [{"context_window": "200k"}, {"context_window": True}, {"context_window": None}]
)
def test_a_window_that_is_no_number_is_refused(fields: Any) -> None:
    with pytest.raises(InputError, match="context_window must be a whole number"):
        ContextBudget(**fields)


@pytest.mark.parametrize("threshold", [-0.1, float("nan"), "70%", True])
def test_a_threshold_that_is_no_share_is_refused(threshold: Any) -> None:
    with pytest.raises(InputError, match="warn_threshold must be a share"):
        ContextBudget(warn_threshold=threshold)


def test_a_typed_event_with_fields_of_another_type_says_nothing() -> None:
    budget = ContextBudget()
    budget.update(usage("a", 10_000))
    broken: list[Any] = [
        Usage(tokens=None),  # type: ignore[arg-type]
        Usage(tokens=Tokens(input="x", cache_read=-3), request="b"),  # type: ignore[arg-type]
        usage(["c"], 5_000),  # type: ignore[arg-type]
        usage("d", 10_000, model=7, session=8),
        Compaction(after=1.5, agent=["x"]),  # type: ignore[arg-type]
        Message(role="user", text=None),  # type: ignore[arg-type]
        RunTotal(windows=[1]),  # type: ignore[arg-type]
    ]
    for event in broken:
        budget.update(event)
    assert (budget.used_tokens, budget.model, budget.session) == (10_000, MODEL, "")


def test_responses_of_the_sdks_are_read() -> None:
    from anthropic.types import Message
    from google.genai.types import GenerateContentResponse
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

    usage = {"input_tokens": 900, "output_tokens": 20, "cache_read_input_tokens": 100}
    claude: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
    }
    chat: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [],
    }
    details = {
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    gemini = {
        "response_id": "r",
        "model_version": "gemini-2.5-pro",
        "usage_metadata": {"prompt_token_count": 1_000},
    }
    responses: list[Any] = [
        Message.model_construct(**claude, usage=usage),
        ChatCompletion.model_construct(
            **chat, usage={"prompt_tokens": 1_000, "completion_tokens": 20}
        ),
        Response.model_construct(
            id="r",
            object="response",
            model="gpt-4o",
            usage={"input_tokens": 1_000, "output_tokens": 20, **details},
        ),
        GenerateContentResponse.model_validate(gemini),
    ]
    for response in responses:
        budget = ContextBudget(context_window=10_000)
        budget.update(response)
        assert budget.used_tokens >= 1_000
