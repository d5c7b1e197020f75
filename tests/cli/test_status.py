"""Bare ``brim``, ``context``, ``lost``, ``limit`` and ``resume``: where things stand."""

from __future__ import annotations

import json
import re
import time
from contextlib import closing
from pathlib import Path

import pytest

from brim.rules.state import STOPPED, RulesState
from brim.sessions.plan_windows import PlanWindow, keep_plan_windows
from tests.cli.conftest import Brim
from tests.cli.written import write_rule


def test_brim_alone_shows_where_things_stand(brim: Brim) -> None:
    write_rule(brim, "uv", "Use uv.", "user")
    ran = brim()
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.lines[:4]] == ["project", "session", "rules", "money"]
    assert "brim init --agent NAME" in ran.out, "no agent is here"
    assert brim("--json").json == brim("--json").json


def test_a_new_user_without_sessions_reads_where_brim_looked_and_what_to_type(brim: Brim) -> None:
    ran = brim()
    assert (ran.code, ran.err) == (0, "")
    for name in ("Claude Code", "Codex", "Gemini CLI", "opencode", "Copilot CLI"):
        assert name in ran.lines[0]
    assert [line.split("  ")[0] for line in ran.lines[2:]] == [
        "brim init",
        'brim learn "Use pnpm, not npm"',
        "brim limit 5/day",
    ]
    assert not (brim.home / ".brim").exists(), "only looking writes nothing"


def test_a_new_user_with_sessions_reads_four_lines(brim: Brim) -> None:
    folder = brim.home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(brim.cwd))
    folder.mkdir(parents=True)
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    usage = {"input_tokens": 10_000, "output_tokens": 500, "cache_read_input_tokens": 40_000}
    call = {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "npm install x"}}
    message = {"role": "assistant", "model": "claude-sonnet-4-5", "id": "m1", "usage": usage}
    where = {"sessionId": "s1", "cwd": str(brim.cwd), "timestamp": now, "isSidechain": False}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "added 1 package"}
    lines = [
        {**where, "type": "assistant", "uuid": "u1", "requestId": "r1"}
        | {"message": {**message, "content": [call]}},
        {**where, "type": "user", "uuid": "u2", "message": {"role": "user", "content": [result]}},
    ]
    (folder / "s1.jsonl").write_text("".join([json.dumps(line) + "\n" for line in lines]))
    (brim.cwd / ".git").mkdir()
    brim.write("CLAUDE.md", "- Use pnpm, not npm.\n- Prefer small functions.\n")
    ran = brim()
    assert (ran.code, ran.err) == (0, "")
    words = [line.split() for line in ran.lines[:4]]
    assert [line[0] for line in words] == ["spent", "forgotten", "rules", "wasted"]
    assert [line[-2:] for line in words] == [
        ["brim", "usage"],
        ["memory", "lost"],
        ["rules", "audit"],
        ["brim", "report"],
    ]
    assert "$0.05 in the last 30 days, 1 session" in ran.lines[0]
    assert "1 broken (1 checkable of 2 rules)" in ran.lines[2]


def test_what_needs_attention_names_the_command_that_helps(brim: Brim) -> None:
    write_rule(brim, "uv", "Use uv.", "project")
    brim("learn", "The build needs make.", env={"CLAUDECODE": "1"})
    (brim.home / ".claude").mkdir()
    brim("pause")
    brim("limit", "5")
    found = brim("--json").json
    assert found["rules"] == {"project": 1, "user": 0, "pending": 1, "corrections": 0}
    assert (found["limits"][0]["amount"], found["paused"], found["trusted"]) == (
        5_000_000,
        True,
        False,
    )
    fixes = ["brim init", "brim pause off", "brim rules trust", "brim rules review"]
    assert [each["fix"] for each in found["attention"]] == fixes
    ran = brim()
    assert "$0.00 of $5.00 spent" in ran.out
    assert "1 note of agents to review" in ran.out
    assert brim("pause", "off").code == 0
    assert brim("--json").json["paused"] is False


def test_every_limit_that_holds_here_is_shown(brim: Brim) -> None:
    brim("limit", "2/session")
    shown = "$0.00 of $2.00 spent in this session"
    assert brim().lines[3].split(None, 1) == ["money", shown]
    brim("limit", "5/day")
    brim("limit", "--all", "100/month", "90%/5h")
    shown += ", $0.00 of $5.00 spent today, $0.00 of $100.00 spent this month in all projects"
    assert brim().lines[3].split(None, 1) == ["money", shown]
    assert [each["limit"] for each in brim("--json").json["limits"]] == [
        "2/session",
        "5/day",
        "100/month",
    ]


@pytest.fixture
def session(brim: Brim) -> Path:
    folder = brim.home / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(brim.cwd))
    folder.mkdir(parents=True)
    usage = {"input_tokens": 10_000, "output_tokens": 500, "cache_read_input_tokens": 40_000}
    message = {
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "id": "m1",
        "content": [],
        "usage": usage,
    }
    line = {
        "type": "assistant",
        "message": message,
        "sessionId": "s1",
        "isSidechain": False,
        "uuid": "u1",
    }
    path = folder / "s1.jsonl"
    path.write_text(
        json.dumps({**line, "timestamp": "2026-01-01T00:00:00.000Z", "requestId": "r1"}) + "\n"
    )
    return path


def test_the_context_is_that_of_the_newest_session_here(brim: Brim, session: Path) -> None:
    found = brim("context", "--json").json
    assert (found["path"], found["model"], found["used_tokens"]) == (
        str(session),
        "claude-sonnet-4-5",
        50_000,
    )
    assert brim("context", str(session), "--json").json == found
    assert brim("context", session.stem[:4], "--json").json == found
    assert "50,000 of 200,000 tokens" in brim("context").out
    assert "claude-sonnet-4-5, 25% of 200,000 tokens" in brim().out


def test_without_a_session_here_the_context_is_of_the_newest_of_all(
    brim: Brim, session: Path, tmp_path: Path
) -> None:
    ran = brim("context", "--json", cwd=tmp_path)
    assert ran.json["path"] == str(session)
    assert "no session of this project; the newest of all" in ran.err
    ran = brim("context", "nosuchid")
    assert (ran.code, ran.out) == (2, "")
    assert "nosuchid: no such file, and no session's id begins with it" in ran.err


def test_without_a_session_there_is_no_context(brim: Brim) -> None:
    ran = brim("context")
    assert (ran.code, ran.out) == (1, "")
    assert "no session" in ran.err


def test_a_part_of_a_name_or_text_is_enough(brim: Brim) -> None:
    write_rule(brim, "run-ruff-before-done", "Run ruff before you are done.")
    write_rule(brim, "short", "Keep it brief.")
    assert brim("rules", "why", "ruff", "--json").json["name"] == "run-ruff-before-done"
    assert brim("rules", "why", "brief", "--json").json["name"] == "short"
    assert "Did you mean run-ruff-before-done" in brim("rules", "why", "run-rff-before-don").err
    assert "could be" in brim("rules", "why", "e").err


def test_it_says_how_much_of_the_plans_windows_is_used(brim: Brim) -> None:
    (brim.home / ".brim").mkdir()
    now = time.time()
    five, over = (
        PlanWindow("claude", 300, 0.91, now + 7_200, now - 1_800),
        PlanWindow("claude", 10_080, 0.4, now - 1),
    )
    keep_plan_windows(
        str(brim.home / ".brim"), [five, over, PlanWindow("codex", 10_080, 0.5, None, now)]
    )
    rows = [line for line in brim().lines if line.startswith("plan")]
    assert [re.sub(r"resets (?:\w{3} )?\d\d:\d\d", "resets TIME", row) for row in rows] == [
        "plan     Claude Code: 5h 91%, resets TIME (30 min ago)",
        "plan     Codex: 7d 50%",
    ]
    assert brim("--json").json["plan_windows"][0] == five.to_dict()


def test_the_week_counts_stopped_calls_and_not_those_of_the_week_before(brim: Brim) -> None:
    home = brim.home / ".brim"
    home.mkdir(exist_ok=True)
    for age in (1, 2, 8):
        with closing(RulesState(str(home), now=time.time() - age * 86_400)) as state:
            state.note(STOPPED, "pnpm", "user", session="s", call="npm install")
    assert brim("--json").json["week"]["stopped"] == 2
    assert "2 calls stopped" in brim().out
