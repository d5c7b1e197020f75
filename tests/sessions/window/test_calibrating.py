"""Learning a model's ratio from the difference of two prompts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from brim.agents.call import Event, ToolCall
from brim.agents.events import Compaction, Message, ToolResult
from brim.sessions.window.estimate import Calibrator
from brim.tokens import ApproximateTokenCounter, MemoryCalibrationStore, counter_for
from tests.sessions.window.lines import MODEL, usage

RESULT = ToolResult(id="1", text="y" * 40_000)
"""10,000 local tokens of four characters."""


def learned(events: Sequence[Event], model: str = MODEL) -> float | None:
    store = MemoryCalibrationStore()
    calibrator = Calibrator(ApproximateTokenCounter(), store)
    for event in events:
        calibrator.update(event)
    known = store.get(model)
    return known.ratio if known else None


def test_the_difference_of_two_prompts_is_what_came_between_them() -> None:
    events = [usage("a", 20_000, output=700), RESULT, usage("b", 20_000 + 700 + 13_000)]
    assert learned(events) == pytest.approx(1.3)


def test_a_report_that_comes_again_with_its_output_is_one_report() -> None:
    events = [
        usage("a", 20_000, output=1, final=False),
        RESULT,
        usage("a", 20_000, output=700),
        usage("b", 33_700),
    ]
    assert learned(events) == pytest.approx(1.3)


@pytest.mark.parametrize(
    "between",
    [
        [RESULT, Message(role="user", text="go on", human=True)],
        [RESULT, Message(role="system", text="a reminder")],
        [Compaction(after=100), RESULT],
        [ToolResult(id="1", text="y" * 400)],
        [ToolResult(id="1", text="y" * 40_000, agent="x")],
        [],
    ],
)
def test_what_says_nothing_about_the_ratio_teaches_nothing(between: list[Event]) -> None:
    assert learned([usage("a", 20_000), *between, usage("b", 33_000)]) is None


def test_a_placeholder_another_model_or_another_session_teaches_nothing() -> None:
    assert learned([usage("a", 20_000, final=False), RESULT, usage("b", 33_000)]) is None
    assert (
        learned([usage("a", 20_000, model="claude-opus-4-5"), RESULT, usage("b", 33_000)]) is None
    )
    assert (
        learned([usage("a", 20_000, session="s1"), RESULT, usage("b", 33_000, session="s2")])
        is None
    )


@pytest.mark.parametrize("tokens", [1_000, 90_000])
def test_a_ratio_beyond_all_vocabularies_teaches_nothing(tokens: int) -> None:
    assert learned([usage("a", 20_000), RESULT, usage("b", 20_000 + tokens)]) is None


def test_a_stream_that_reports_after_its_tools_teaches_nothing() -> None:
    call = ToolCall(id="1", name="bash")
    assert learned([call, RESULT, usage("a", 20_000), call, RESULT, usage("b", 33_000)]) is None


def test_a_vocabulary_that_is_here_has_nothing_to_learn() -> None:
    assert (
        learned(
            [usage("a", 20_000, model="gpt-4o"), RESULT, usage("b", 33_000, model="gpt-4o")],
            "gpt-4o",
        )
        is None
    )


def test_the_ratio_of_a_scaling_counter_is_taken_out() -> None:
    counter = counter_for(MODEL)
    text = "The importer reads every line of the file and skips what it cannot parse. " * 200
    local = int(counter_for("gpt-4o").count(text))
    store = MemoryCalibrationStore()
    calibrator = Calibrator(counter, store)
    for event in (usage("a", 20_000), ToolResult(id="1", text=text), usage("b", 20_000 + local)):
        calibrator.update(event)
    known = store.get(MODEL)
    assert known is not None
    assert known.ratio == pytest.approx(1.0, abs=0.01)
