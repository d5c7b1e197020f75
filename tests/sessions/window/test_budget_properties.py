"""Whatever comes, in whatever order and however broken: nothing raises, and the promises hold."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import Event, ToolCall
from brim.agents.events import Compaction, End, Message, ModelSeen, RunTotal, ToolResult, Usage
from brim.models.usage import Tokens
from brim.sessions.window.budget import ContextBudget
from tests.sessions.window.lines import assistant, boundary, result

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
SIZES = st.integers(0, 400_000)
IDS = st.sampled_from(("", "a", "b", "c", "d"))
LINES = st.one_of(
    SIZES.map(result),
    st.builds(
        assistant,
        IDS,
        SIZES,
        parent=st.sampled_from((None, "toolu_1")),
        session=st.sampled_from(("s1", "s2")),
    ),
    st.builds(boundary, SIZES, SIZES),
    st.just(
        {
            "type": "result",
            "modelUsage": {"m": {"contextWindow": 7}},
            "total_cost_usd": 1,
            "usage": {},
        }
    ),
    st.just(
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "x", "content": "ok"}]},
        }
    ),
    st.just({"type": "turn.completed", "usage": {"input_tokens": 5}}),
    st.just(
        {
            "type": "step_finish",
            "part": {"tokens": {"input": 8, "output": 4, "cache": {"read": 9, "write": 1}}},
        }
    ),
    st.just({"usageMetadata": {"promptTokenCount": 7}, "candidates": []}),
)
WRONG: Any = JSON | st.integers(-5, 10**15)
TYPED = st.one_of(
    st.builds(
        Usage,
        tokens=st.builds(Tokens, input=WRONG, cache_read=SIZES),
        request=IDS | WRONG,
        agent=IDS | WRONG,
    ),
    st.builds(Usage, tokens=WRONG, model=WRONG, session=WRONG),
    st.builds(Compaction, before=WRONG, after=WRONG, trigger=WRONG, time=WRONG, agent=IDS),
    st.builds(RunTotal, cost=WRONG, tokens=WRONG, windows=WRONG, usage=WRONG),
    st.builds(ModelSeen, model=WRONG, window=WRONG),
    st.builds(
        Message, role=WRONG | st.sampled_from(("user", "error", "summary")), text=WRONG, human=WRONG
    ),
    st.builds(ToolCall, id=WRONG, name=WRONG, input=WRONG),
    st.builds(ToolResult, id=WRONG, text=WRONG),
    st.builds(End, reason=WRONG, error=st.just(True), text=WRONG),
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A line of which some field, at any depth, is gone or something else."""
    line = copy.deepcopy(draw(LINES))
    at: Any = line
    while isinstance(at, dict) and at:
        key = draw(st.sampled_from(sorted(at)))
        if not isinstance(at[key], dict) or draw(st.booleans()):
            if draw(st.booleans()):
                del at[key]
            else:
                at[key] = draw(JSON)
            break
        at = at[key]
    return line


def holds(budget: ContextBudget) -> None:
    """Everything that can be asked is answered, and nothing is less than nothing."""
    counters = (
        budget.input_tokens,
        budget.cache_creation_input_tokens,
        budget.cache_read_input_tokens,
    )
    assert budget.used_tokens == sum(counters)
    assert min(counters) >= 0
    assert budget.utilization >= 0
    assert budget.output_tokens >= 0
    assert 0 <= budget.cache_hit_share <= 1
    assert budget.overhead >= 0
    assert budget.compactions >= 0
    assert sum(part.tokens for part in budget.filling.parts) == budget.used_tokens
    count = budget.pending("x")
    assert 0 <= count.low <= int(count) <= count.high
    assert str(budget.window)
    assert isinstance(budget.model, str)
    assert isinstance(budget.session, str)
    assert all(
        agent.used_tokens >= 0 and agent.utilization >= 0 for agent in budget.agents.values()
    )
    budget.must_compact()


class _Hostile(str):
    """A text that raises whatever is done with it."""

    def __bool__(self) -> bool:
        raise RuntimeError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError


def test_fields_that_raise_do_not() -> None:
    budget = ContextBudget()
    budget.update(assistant("m1", 9_000))
    for event in (
        Usage(tokens=Tokens(input=5), request=_Hostile()),
        Usage(tokens=Tokens(input=5), agent=_Hostile()),
        Message(role=_Hostile(), text="a"),
        ToolResult(id=_Hostile(), text="a"),
        Compaction(trigger=_Hostile(), after=7),
        End(error=_Hostile()),  # type: ignore[arg-type]
    ):
        assert budget.update(event) == []
    assert budget.used_tokens == 9_000


@given(st.lists(mutated() | JSON | st.dictionaries(st.text(max_size=5), JSON), max_size=12))
def test_mutated_lines_never_raise(lines: list[Any]) -> None:
    budget = ContextBudget()
    for line in lines:
        budget.update(line)
    holds(budget)


@given(st.lists(TYPED, max_size=12))
def test_typed_events_with_anything_in_them_never_raise(events: list[Event]) -> None:
    budget = ContextBudget()
    for event in events:
        budget.update(event)
    holds(budget)


class Hostile(Mapping[str, Any]):
    """A mapping of which every question is answered by an error."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Any:
        raise RuntimeError("iter")

    def __len__(self) -> int:
        raise RuntimeError("len")


def test_a_mapping_that_raises_does_not() -> None:
    budget = ContextBudget()
    assert budget.update(Hostile()) == []
    holds(budget)


@given(st.lists(LINES, max_size=20))
def test_flags_stay_set_until_they_are_cleared(lines: list[dict[str, Any]]) -> None:
    budget = ContextBudget()
    warned = compacted = False
    for line in lines:
        budget.update(line)
        assert budget.should_warn >= warned
        assert budget.should_compact >= compacted
        warned, compacted = budget.should_warn, budget.should_compact
        assert warned or not compacted


@given(st.lists(LINES, max_size=10), SIZES, st.lists(SIZES, min_size=1, max_size=4))
def test_a_result_after_a_call_never_changes_the_occupancy(
    before: list[dict[str, Any]], used: int, totals: list[int]
) -> None:
    budget = ContextBudget()
    for line in [*before, assistant("last", used + 1)]:
        budget.update(line)
    for total in totals:
        budget.update(result(total))
        assert budget.used_tokens == used + 1


@given(st.lists(SIZES.map(lambda size: size + 1), min_size=1, max_size=6), st.data())
def test_repeated_lines_change_nothing_wherever_they_come(
    sizes: list[int], data: st.DataObject
) -> None:
    lines = [assistant(f"m{number}", size) for number, size in enumerate(sizes)]
    once, twice = ContextBudget(), ContextBudget()
    for number, line in enumerate(lines):
        once.update(line)
        twice.update(line)
        for again in data.draw(st.lists(st.integers(0, number), max_size=3)):
            twice.update(lines[again])
        for name in (
            "used_tokens",
            "output_tokens",
            "cache_hit_share",
            "should_warn",
            "should_compact",
            "overhead",
        ):
            assert getattr(once, name) == getattr(twice, name)
