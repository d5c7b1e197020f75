"""The gauge fits the terminal, whatever it shows."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.cli.gauge import LEAST_WIDTH, colour_of, draw, one_line
from brim.cli.output import width_of
from brim.sessions.plan_windows import PlanWindow

COUNTS = st.integers(0, 10**12)
NAMES = st.text(max_size=30)


def reading(**changed: Any) -> Any:
    """Return a state with everything in it that can be shown."""
    return {
        "schema": 1,
        "path": "session.jsonl",
        "format": "claude-transcript",
        "session": "5e551011-0000",
        "time": 1.0,
        "model": "claude-sonnet-4-5",
        "used_tokens": 158_700,
        "context_window": 200_000,
        "window_source": "reported",
        "window_others": {"table": 1_000_000},
        "utilization": 0.7935,
        "auto_compact": {"usable": 180_000, "at": 167_000, "off": False},
        "plan_windows": [],
        "warn_threshold": 0.7,
        "compact_threshold": 0.78,
        "should_warn": True,
        "should_compact": True,
        "input_tokens": 6,
        "cache_creation_input_tokens": 8_794,
        "cache_read_input_tokens": 149_900,
        "output_tokens": 100,
        "answer_tokens": 100,
        "cache_hit_share": 0.87,
        "overhead": 21_400,
        "filling": {"Bash results": 90_000, "system and tools": 21_400, "your words": 47_300},
        "agents": [
            {
                "id": "a1",
                "model": "m",
                "used_tokens": 14_500,
                "context_window": 200_000,
                "utilization": 0.0725,
            },
        ],
        "compactions": 1,
        "cost": 1_025_539,
        "unattributed": 58_000,
        "unpriced": [],
        "cost_limit": None,
        "cost_warning": "",
        "warning": "It is time to compact.",
        "notices": [],
        "lines": 80,
        "broken_lines": 2,
        "unknown_lines": 0,
        **changed,
    }


def test_it_says_how_full_who_says_so_what_it_costs_and_what_fills_it() -> None:
    assert (
        draw(reading(), 72)
        == [
            "158,700 of 200,000 tokens  79%       claude-sonnet-4-5  session 5e551011",
            "█████████████████████████████████████████████████████████▏░░┃░░░░░░░░░░░",
            "│ brim warns 70%, 78%  ┃ the agent compacts 84%",
            "window     200,000 tokens (reported by the agent; model table…",  # not the beginning of a number
            "headroom   8.2k to auto-compact",
            "cost       $1.03 ($0.06 of it in no single request)",
            "cache      87% of prompt tokens came from the cache",
            "filled by  Bash results      90,000  57%  █████████████████",
            "           your words        47,300  30%  █████████",
            "           system and tools  21,400  13%  ████",
            "sub-agents 14,500     7% of 200,000  m  a1",
            "compacted  once",
            "skipped    2 lines that can't be read",
            "! It is time to compact.",
        ]
    )


def test_it_says_how_much_of_the_plan_is_used_and_how_old_the_reading_is() -> None:
    now = time.time()
    fresh = PlanWindow("claude", 300, 0.912, None, now)
    lines = draw(reading(plan_windows=[fresh.to_dict()]), 72)
    assert "plan       5h 91%" in lines
    old = replace(fresh, read_at=now - 720)
    lines = draw(
        reading(plan_windows=[old.to_dict(), replace(fresh, minutes=10_080).to_dict()]), 72
    )
    assert "plan       5h 91%; 7d 91% (12 min ago)" in lines


def test_two_marks_with_two_names_show_where_brim_warns_and_where_the_agent_compacts() -> None:
    bar, legend = draw(reading(utilization=0.1), 100)[1:3]
    assert [at for at, cell in enumerate(bar) if cell == "│"] == [70, 78]
    assert [at for at, cell in enumerate(bar) if cell == "┃"] == [84]
    assert legend == "│ brim warns 70%, 78%  ┃ the agent compacts 84%"


def test_where_the_agent_compacts_is_only_marked_if_it_is_known() -> None:
    for point in ({}, {"usable": 180_000, "at": None, "off": False}):
        bar, legend = draw(reading(utilization=0.1, auto_compact=point), 100)[1:3]
        assert "┃" not in bar
        assert legend == "│ brim warns 70%, 78%"


@pytest.mark.parametrize(
    ("share", "colour"), [(0.699, "green"), (0.7, "yellow"), (0.78, "red"), (3.0, "red")]
)
def test_the_colour_is_that_of_the_highest_threshold_it_is_over(share: float, colour: str) -> None:
    assert colour_of(reading(utilization=share)) == colour


def test_before_the_first_report_it_says_so() -> None:
    assert draw(reading(used_tokens=0, utilization=0.0), 80)[0].startswith("nothing reported yet")


def test_a_stream_that_reports_only_sums_is_not_waited_for() -> None:
    state = reading(used_tokens=0, utilization=0.0, format="codex-exec")
    assert one_line(state).startswith("this file has only totals: watch the session's own file")


def test_a_price_that_is_not_known_is_said_and_never_nothing() -> None:
    text = "\n".join(draw(reading(cost=0, unattributed=0, unpriced=["house-model"]), 80))
    assert "$0.00 plus house-model: no known price" in text
    assert "plus house-model" in one_line(reading(cost=0, unattributed=0, unpriced=["house-model"]))


def test_what_the_agents_own_total_has_is_not_called_unknown() -> None:
    state = reading(cost=500_000, unattributed=200_000, unpriced=["house-model"])
    told = "$0.50 ($0.20 of it as the agent reports: no known price for house-model)"
    assert told in "\n".join(draw(state, 100))
    assert told in one_line(state)


def test_many_parts_and_many_agents_are_summed_up() -> None:
    agent = {"id": "a", "model": "m", "used_tokens": 1, "context_window": 10, "utilization": 0.1}
    lines = draw(reading(filling={f"tool {n}": 100 + n for n in range(20)}, agents=[agent] * 9), 80)
    assert "15 more" in "\n".join(lines)
    assert "3 earlier ones" in "\n".join(lines)
    assert len(lines) < 24


def test_text_of_a_stream_cannot_steer_the_terminal() -> None:
    text = "\n".join(
        draw(reading(model="\x1b[2Jm\u202e", session="\x07\x07", warning="\x1b]0;x\x07"), 60)
    )
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text


@settings(deadline=None)
@given(
    width=st.integers(1, 130),
    used=COUNTS,
    window=st.integers(0, 10**12),
    share=st.floats(0, 1e6),
    warn=st.floats(0, 1),
    compact=st.floats(0, 1),
    names=st.dictionaries(NAMES, COUNTS, max_size=9),
    agents=st.lists(st.tuples(NAMES, NAMES, COUNTS), max_size=9),
    model=NAMES,
    warning=st.text(max_size=200),
)
def test_no_line_is_wider_than_the_terminal(
    width: int,
    used: int,
    window: int,
    share: float,
    warn: float,
    compact: float,
    names: dict[str, int],
    agents: list[tuple[str, str, int]],
    model: str,
    warning: str,
) -> None:
    state = reading(
        used_tokens=used,
        context_window=window,
        utilization=share,
        warn_threshold=warn,
        compact_threshold=compact,
        filling=names,
        window_others=dict.fromkeys(names, 5),
        unpriced=list(names),
        agents=[
            {
                "id": id,
                "model": name,
                "used_tokens": number,
                "context_window": 9,
                "utilization": number / 9,
            }
            for id, name, number in agents
        ],
        model=model,
        session=model,
        warning=warning,
        cost_limit=used,
        cost_warning=warning,
    )
    lines = draw(state, width)
    assert max(map(width_of, lines)) <= width
    assert len(lines) == 1 or width >= LEAST_WIDTH
    assert not any("\n" in line for line in lines)
    assert "\n" not in one_line(state)
