"""The human is told once that the window fills up, and once that it is time to compact; the agent
is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim.hooks.transcript import GROWN, GROWN_TURN
from tests.hooks.sittings import Sitting

WINDOW = 200_000


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path)


def stop(sitting: Sitting, tokens: int) -> str:
    sitting.used(f"m{sitting.now}", tokens)
    answer = sitting.hook("Stop")
    assert set(answer) <= {"systemMessage"}
    return str(answer.get("systemMessage", ""))


def test_nothing_is_said_below_the_mark(sitting: Sitting) -> None:
    assert stop(sitting, 139_999) == ""


def test_the_mark_itself_warns_once(sitting: Sitting) -> None:
    assert (
        stop(sitting, 140_000)
        == "brim: The context window is filling up: 140,000 of 200,000 tokens, 70%."
    )
    assert stop(sitting, 145_000) == ""


def test_the_second_mark_says_what_to_type_once(sitting: Sitting) -> None:
    stop(sitting, 140_000)
    assert (
        stop(sitting, 156_000)
        == "brim: It is time to compact: 156,000 of 200,000 tokens, 78%. Type /compact."
    )
    assert stop(sitting, 170_000) == ""


def test_who_jumps_over_both_marks_is_told_of_the_second_alone(sitting: Sitting) -> None:
    assert "time to compact" in stop(sitting, 160_000)
    assert stop(sitting, 145_000) == ""


def test_a_compaction_opens_the_latches(sitting: Sitting) -> None:
    stop(sitting, 160_000)
    sitting.hook("PostCompact", trigger="manual", compact_summary="short")
    assert stop(sitting, 20_000) == ""
    assert "filling up" in stop(sitting, 141_000)


def test_a_compaction_that_did_not_help_is_said_once_instead_of_asking_again(
    sitting: Sitting,
) -> None:
    stop(sitting, 160_000)
    sitting.hook("PostCompact", trigger="manual", compact_summary="short")
    assert "Compacting does not help" in stop(sitting, 165_000)
    assert stop(sitting, 170_000) == ""


def test_the_marks_are_settings(sitting: Sitting) -> None:
    (sitting.home / "config.yaml").write_text(
        "context:\n  warn: 0.1\n  compact: 0.5\n  window: 1000\n"
    )
    assert "100 of 1,000 tokens, 10%" in stop(sitting, 100)
    assert "time to compact" in stop(sitting, 500)


def test_within_a_turn_the_window_is_looked_at_when_much_was_written(sitting: Sitting) -> None:
    sitting.used("m1", 160_000)
    assert sitting.tool("Read", {"file_path": "a"}) == {}
    sitting.line(
        "user", message={"role": "user", "content": [{"type": "text", "text": "x" * GROWN}]}
    )
    assert "time to compact" in sitting.tool("Read", {"file_path": "a"})["systemMessage"]
    assert sitting.tool("Read", {"file_path": "a"}) == {}


def test_a_transcript_that_says_nothing_is_not_looked_at_again_until_it_has_grown(
    sitting: Sitting,
) -> None:
    sitting.line(
        "user", message={"role": "user", "content": [{"type": "text", "text": "x" * GROWN}]}
    )
    sitting.tool("Read", {"file_path": "a"})
    assert sitting.state()["looked"] >= GROWN


def test_after_a_turn_that_a_person_stopped_the_next_prompt_tells(sitting: Sitting) -> None:
    stop(sitting, 100_000)
    sitting.line(
        "user", message={"role": "user", "content": [{"type": "text", "text": "x" * GROWN_TURN}]}
    )
    sitting.used("m2", 160_000)
    assert "time to compact" in sitting.prompt("no, do it so")["systemMessage"]
    assert sitting.prompt("go on") == {}
    assert stop(sitting, 161_000) == ""


def test_a_sub_agents_window_is_not_the_sessions(sitting: Sitting) -> None:
    sitting.used("m1", 160_000)
    sitting.line(
        "user", message={"role": "user", "content": [{"type": "text", "text": "x" * GROWN}]}
    )
    assert sitting.tool("Read", {"file_path": "a"}, agent="a1") == {}


def test_gemini_is_warned_again_after_its_window_has_shrunk(sitting: Sitting) -> None:
    def stop_gemini(tokens: int) -> str:
        sitting.hook("PreCompress", "gemini", trigger="auto")
        usage = {
            "promptTokenCount": tokens,
            "candidatesTokenCount": 1,
            "totalTokenCount": tokens + 1,
        }
        data = {
            "llm_request": {"model": "gemini-2.5-flash"},
            "llm_response": {"usageMetadata": usage},
        }
        sitting.hook("AfterModel", "gemini", **data)
        return str(sitting.hook("AfterAgent", "gemini", prompt="x").get("systemMessage", ""))

    assert "/compress" in stop_gemini(900_000)
    assert stop_gemini(910_000) == ""
    assert stop_gemini(560_000) == ""
    assert stop_gemini(920_000) == ""  # a little less is no compression
    assert stop_gemini(540_000) == ""
    assert "/compress" in stop_gemini(900_000)
