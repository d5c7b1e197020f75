"""Limits inside an agent: what each event answers, from the real transcript to the agent's words."""

from __future__ import annotations

import itertools
import json
import shlex
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from brim.hooks.statusline import lines_for
from brim.sessions.index import SessionIndex
from tests.hooks.sittings import MODEL, NOW, SESSION, Sitting

DAY = 86_400.0
DEAR = 100_000
"""Tokens of a prompt that costs $0.30."""
IDS = itertools.count(1)


@pytest.fixture
def sitting(tmp_path: Path) -> Iterator[Sitting]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        sitting = Sitting(tmp_path)
        sitting.environ["HOME"] = str(tmp_path)
        yield sitting
    time.tzset()


def allow(sitting: Sitting, *texts: str, project: str = "", notify: str = "") -> None:
    """Write limits into the person's settings."""
    limits = json.dumps({project or str(sitting.project): list(texts)})
    lines = [f"limits: {limits}"]
    if notify:
        lines.append(f"notify: {json.dumps(notify)}")
    (sitting.home / "config.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def spend(sitting: Sitting, cents: int) -> None:
    """Write requests that cost *cents*, the last one small: large prompts have another price."""
    left = cents * 10_000 // 3
    while left:
        tokens = min(left, DEAR)
        sitting.used(f"m{next(IDS)}", tokens)
        left -= tokens


def test_a_long_log_is_moved_into_the_index_at_the_end_of_a_turn(sitting: Sitting) -> None:
    allow(sitting, "5/day")
    sitting.hook("SessionStart", source="startup")
    with closing(sqlite3.connect(sitting.home / "index.db")) as other:
        other.execute("PRAGMA wal_autocheckpoint = 0")
        other.execute("INSERT INTO facts VALUES ('long', ?)", ("x" * 2_000_000,))
        other.commit()
        log = sitting.home / "index.db-wal"
        assert log.stat().st_size > 2_000_000
        sitting.hook("Stop", last_assistant_message="Done.")
        assert log.stat().st_size < 1_000_000
        assert other.execute("SELECT 1 FROM facts WHERE name = 'long'").fetchone()


def prompt(sitting: Sitting, **data: Any) -> dict[str, Any]:
    return sitting.hook("UserPromptSubmit", prompt="Go on.", prompt_id="p-1", **data)


def tool(sitting: Sitting, id: str = "toolu_1", **data: Any) -> str:
    """Ask for a call; return why it's denied, empty if it may be made."""
    answer = sitting.hook(
        "PreToolUse",
        tool_name="Bash",
        tool_input={"command": "ls"},
        tool_use_id=id,
        prompt_id="p-1",
        **data,
    )
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecisionReason", ""))


def batch(sitting: Sitting, **data: Any) -> dict[str, Any]:
    return sitting.hook("PostToolBatch", tool_calls=[], prompt_id="p-1", **data)


def test_a_prompt_is_refused_at_the_limit_and_its_reader_learns_how_to_go_on(
    sitting: Sitting,
) -> None:
    allow(sitting, "1/day")
    assert prompt(sitting) == {}
    spend(sitting, 120)
    answer = prompt(sitting)
    assert answer["decision"] == "block"
    assert answer["reason"] == (
        "$1.20 of $1.00 spent today. Your prompt wasn't sent. "
        "Go on for today: brim limit +10%. For good: brim limit raise 2/day"
    )
    sitting.now = NOW + DAY
    assert prompt(sitting) == {}


def test_a_turn_is_wrapped_up_at_the_soft_limit_and_ended_after_one_request(
    sitting: Sitting,
) -> None:
    allow(sitting, "1/day")
    spend(sitting, 96)
    first = tool(sitting)
    assert first.startswith("Stopped by your user's limit: $0.96 of $1.00 spent today")
    assert "Wrap up now without tools" in first
    assert "brim limit" not in first
    passes = batch(sitting)
    assert "continue" not in passes
    assert "Wrap up now" in passes["hookSpecificOutput"]["additionalContext"]
    assert tool(sitting, "toolu_2")
    ended = batch(sitting)
    assert ended["continue"] is False
    assert "The turn was ended." in ended["stopReason"]
    assert "brim limit +10%" in ended["stopReason"]


def test_a_turn_ends_before_the_request_that_would_go_over(sitting: Sitting) -> None:
    allow(sitting, "0.995/day")
    sitting.used("m1", DEAR, 1_000)
    assert batch(sitting) == {}
    sitting.used("m2", DEAR, 1_000)
    assert batch(sitting) == {}
    sitting.used("m3", DEAR, 1_000)  # $0.945: below the limit
    answer = batch(sitting)
    assert answer["continue"] is False
    assert "The next request would take about" in answer["stopReason"]


def test_a_sub_agent_is_ended_without_the_commands(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    spend(sitting, 120)
    answer = batch(sitting, agent_id="a1")
    assert answer["continue"] is False
    assert "brim limit" not in answer["stopReason"]


def test_a_compaction_is_refused_at_the_limit(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    spend(sitting, 120)
    answer = sitting.hook("PreCompact", trigger="manual", custom_instructions=None)
    assert answer["decision"] == "block"
    assert "wasn't compacted" in answer["reason"]


def test_a_person_is_warned_once_at_80_percent(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    spend(sitting, 84)
    answer = sitting.hook("Stop")
    assert answer["systemMessage"] == (
        "brim: $0.84 of $1.00 spent today (84%); it resets at midnight."
    )
    assert sitting.hook("Stop") == {}


def test_the_persons_own_command_runs_once_for_all_sessions(sitting: Sitting) -> None:
    out = sitting.home / "told"
    allow(sitting, "1/day", notify=f'echo "$BRIM_NOTICE $BRIM_TEXT" >> {shlex.quote(str(out))}')
    spend(sitting, 84)
    for _ in range(3):
        sitting.hook("Stop")
    spend(sitting, 30)
    for _ in range(3):
        prompt(sitting)
    for _ in range(200):
        if out.exists() and len(out.read_text().splitlines()) == 2:
            break
        time.sleep(0.02)
    warned, reached = out.read_text().splitlines()
    assert warned.startswith("warning $0.84 of $1.00")
    assert reached.startswith("limit $1.14 of $1.00")


def test_a_limit_in_tokens_and_one_per_session_hold_too(sitting: Sitting, tmp_path: Path) -> None:
    allow(sitting, "1M tokens/session")
    spend(sitting, 330)
    assert "1.1M of 1M tokens spent in this session" in prompt(sitting)["reason"]
    other = Sitting(tmp_path, "11111111-b0c0-4396-a084-8ec7e7627d5b")
    assert prompt(other) == {}
    allow(sitting, "1M tokens/week")
    assert "this week" in prompt(other)["reason"]


def test_a_limit_for_each_sub_agent_holds_it_alone(sitting: Sitting) -> None:
    (sitting.home / "config.yaml").write_text(
        f'limits: {{"{sitting.project}": ["200k tokens/subagent"]}}\n'
    )
    folder = Path(str(sitting.transcript)[: -len(".jsonl")]) / "subagents"
    folder.mkdir(parents=True)
    own = sitting.transcript
    sitting.transcript = folder / "agent-a1.jsonl"
    sitting.used("m1", 3 * DEAR)
    sitting.transcript = own
    sitting.used("m2", 3 * DEAR)
    assert "300k of 200k tokens spent by this sub-agent" in tool(sitting, agent_id="a1")
    assert tool(sitting, "toolu_2", agent_id="a2") == ""
    assert tool(sitting, "toolu_3") == ""


def test_a_session_stays_under_the_limit_of_the_project_it_began_in(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    inner = sitting.project / "vendored"
    (inner / ".git").mkdir(parents=True)
    prompt(sitting)
    spend(sitting, 120)
    assert prompt(sitting, cwd=str(inner))["decision"] == "block"


def test_a_mistake_in_the_settings_lifts_nothing_and_is_told_once(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    spend(sitting, 120)
    assert prompt(sitting)["decision"] == "block"
    (sitting.home / "config.yaml").write_text("limits: [\n")
    answer = prompt(sitting)
    assert answer["decision"] == "block"
    assert "config.yaml" in answer["systemMessage"]
    allow(sitting, "1/fortnight")
    assert prompt(sitting)["decision"] == "block"


@pytest.mark.parametrize("harm", ["missing", "damaged", "locked", "read-only"])
def test_an_index_in_trouble_lifts_nothing(sitting: Sitting, harm: str) -> None:
    allow(sitting, "1/day")
    spend(sitting, 60)
    assert prompt(sitting) == {}
    spend(sitting, 60)
    index = sitting.home / "index.db"
    other = None
    if harm == "missing":
        for path in sitting.home.glob("index.db*"):
            path.unlink()
    elif harm == "damaged":
        for path in sitting.home.glob("index.db-*"):
            path.unlink()
        index.write_bytes(b"no database" * 1_000)
    elif harm == "locked":
        other = SessionIndex(str(index)).database
        other.execute("BEGIN IMMEDIATE")
    else:
        index.chmod(0o400)
    assert prompt(sitting)["decision"] == "block"
    if other is not None:
        other.execute("ROLLBACK")


def test_a_forged_line_lowers_nothing(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    for _ in range(3):
        sitting.used("m1", DEAR, 50_000)
    assert prompt(sitting)["decision"] == "block"
    sitting.used("m1", 1)
    assert prompt(sitting)["decision"] == "block"
    sitting.transcript.write_text("")
    assert prompt(sitting)["decision"] == "block"


def test_a_clock_that_is_set_back_frees_nothing(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    spend(sitting, 120)
    sitting.now = NOW - 3 * DAY
    assert prompt(sitting)["decision"] == "block"


def test_a_raise_until_the_end_of_the_day_lets_the_next_prompt_go(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    spend(sitting, 120)
    assert prompt(sitting)["decision"] == "block"
    allow(sitting, "3/day")
    answer = prompt(sitting)
    assert list(answer) == ["systemMessage"]
    assert "config.yaml changed since this session's last event" in answer["systemMessage"]
    assert prompt(sitting) == {}


def test_a_limit_of_another_project_does_not_hold(sitting: Sitting) -> None:
    allow(sitting, "0/day", project="/elsewhere")
    sitting.used("m1", DEAR)
    assert prompt(sitting) == {}
    assert batch(sitting) == {}


def test_a_limit_of_the_whole_machine_holds_everywhere(sitting: Sitting) -> None:
    allow(sitting, "1/day", project="*")
    spend(sitting, 120)
    assert "spent today in all projects" in prompt(sitting)["reason"]


def test_a_run_and_injection_only_are_left_alone(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    spend(sitting, 120)
    sitting.environ["BRIM_RUN_ID"] = "r"
    assert prompt(sitting) == {}
    assert tool(sitting) == ""


def test_codex_is_only_refused_and_says_why_itself(sitting: Sitting) -> None:
    allow(sitting, "0/day", project="*")
    sent = {"prompt": "Go on.", "turn_id": "t"}
    answer = sitting.hook("UserPromptSubmit", "codex", **sent)
    assert answer["decision"] == "block"
    assert answer["systemMessage"] == answer["reason"]
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "turn_id": "t"}
    for number in range(3):
        denied = sitting.hook("PreToolUse", "codex", tool_use_id=str(number), **call)
        assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert "continue" not in denied


def test_gemini_stops_before_the_model_is_asked(sitting: Sitting) -> None:
    allow(sitting, "0/day", project="*")
    answer = sitting.hook("BeforeModel", "gemini", llm_request={"model": "gemini-2.5-pro"})
    assert answer.get("continue", True) is True  # a limit of nothing wraps up once, as any other
    answer = sitting.hook("BeforeModel", "gemini", llm_request={"model": "gemini-2.5-pro"})
    assert answer["continue"] is False


def test_the_status_line_says_where_a_limit_stands(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    spend(sitting, 84)
    sitting.hook("Stop")
    sent = {"session_id": SESSION, "cwd": str(sitting.project), "cost": {"total_cost_usd": 0.84}}
    environ = {**sitting.environ, "NO_COLOR": "1", "COLUMNS": "120"}

    def line() -> str:
        return lines_for(json.dumps(sent).encode(), environ, now=sitting.now).decode()

    assert "spending $0.84 of $1.00 today" in line()
    spend(sitting, 30)
    sitting.hook("Stop")
    assert "stopped: $1.14 of $1.00 today" in line()


def test_a_model_without_a_price_is_told_once(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    sitting.used("m1", DEAR, model="unheard-of")
    assert "The price of unheard-of isn't known" in sitting.hook("Stop")["systemMessage"]
    assert sitting.hook("Stop") == {}


def test_what_the_client_says_of_a_compaction_counts_before_a_line_shows_it(
    sitting: Sitting,
) -> None:
    allow(sitting, "1/day")
    spend(sitting, 50)
    cost = {"total_cost_usd": 0.58}  # with a compaction, which is in no line yet
    model = {"id": MODEL, "display_name": "Sonnet"}
    usage = {"input_tokens": 8, "cache_read_input_tokens": 40_000, "output_tokens": 9}
    window = {"context_window_size": 200_000, "current_usage": usage}
    sent = {"session_id": SESSION, "cwd": str(sitting.project), "cost": cost, "model": model}
    sent["context_window"] = window
    environ = {**sitting.environ, "NO_COLOR": "1", "COLUMNS": "120"}

    def line() -> str:
        sitting.now += 1
        return lines_for(json.dumps(sent).encode(), environ, now=sitting.now).decode()

    line()
    sitting.hook("Stop")
    assert sitting.spent() == 580_000
    spend(sitting, 30)  # a request after that is added to it
    sitting.hook("Stop")
    assert sitting.spent() == 880_000
    assert "spending $0.88 of $1.00 today" in line()
    sitting.total(0.9)  # the session's end: the line counts, and nothing twice
    sitting.hook("SessionEnd")
    sitting.hook("Stop")
    assert sitting.spent() == 900_000


def test_a_sum_from_before_the_session_is_not_its_own(sitting: Sitting) -> None:
    allow(sitting, "1/day")
    sent = {"session_id": SESSION, "cwd": str(sitting.project), "cost": {"total_cost_usd": 0.9}}

    def line() -> None:
        sitting.now += 1
        lines_for(json.dumps(sent).encode(), sitting.environ, now=sitting.now)

    line()  # nothing was answered yet: a client that counts on after /clear
    spend(sitting, 30)
    sent["cost"] = {"total_cost_usd": 1.0}
    sent["context_window"] = {"current_usage": {"input_tokens": 8, "output_tokens": 9}}
    line()
    sitting.hook("Stop")
    assert sitting.spent() == 300_000
