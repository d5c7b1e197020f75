"""Limits per period in hooks: a project is its place, and each limit holds the next call until it resets."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from brim.spend import read_ceiling
from brim.store import open_ledger
from brim.store.database import APPLICATION, MIGRATIONS, statements
from tests.hooks.sittings import NOW, Sitting
from tests.hooks.test_spend_gate import before, reason
from tests.store.making import raw

DAY = 86_400.0


@pytest.fixture
def sitting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sitting:
    monkeypatch.setenv("TZ", "UTC")
    return Sitting(tmp_path)


def allow(sitting: Sitting, text: str, scope: str = "shop", *, subagent: bool = False) -> None:
    with open_ledger(str(sitting.home / "brim.db"), clock=lambda: sitting.now) as ledger:
        ledger.allow(scope, read_ceiling(text, subagent=subagent))


def test_a_call_is_held_until_the_day_is_over(sitting: Sitting) -> None:
    allow(sitting, "0.01/day")
    sitting.used("m1", 2_700)
    assert "of $0.01 is spent today (81%)" in sitting.tool("Read", {"file_path": "a"})["systemMessage"]
    assert before(sitting) == {}
    sitting.used("m2", 2_700)
    told = sitting.tool("Read", {"file_path": "a"})["systemMessage"].split("\n")
    assert told[0] == "brim: shop: $0.0162 of $0.01 is spent today; it resets at midnight. Tools are held. To go on:"
    assert told[1:3] == ["brim limit continue shop", "brim limit raise shop 5/day"]
    assert "$0.0162 of $0.01 is spent today; it resets at midnight." in reason(before(sitting))
    sitting.now = NOW + DAY
    assert before(sitting) == {}


def test_what_was_asked_before_midnight_and_settled_after_it_belongs_to_yesterday(sitting: Sitting) -> None:
    allow(sitting, "0.01/day")
    sitting.used("m1", 4_000)
    sitting.now = NOW + DAY
    assert sitting.tool("Read", {"file_path": "a"}) == {}
    assert before(sitting) == {}


@pytest.mark.parametrize(("text", "scope"), [("0.01/session", "shop"), ("4k tokens/day", "*"), ("0.01", "shop")])
def test_other_limits_hold_too(sitting: Sitting, tmp_path: Path, text: str, scope: str) -> None:
    allow(sitting, text, scope)
    sitting.used("m1", 4_100, cache=90_000)
    sitting.hook("Stop")
    assert reason(before(sitting))
    other = Sitting(tmp_path, "0b0c0439-b0c0-4396-a084-8ec7e7627d5b")
    assert bool(reason(before(other))) == ("session" not in text)


def test_tokens_that_were_read_from_the_cache_do_not_count(sitting: Sitting) -> None:
    allow(sitting, "10k tokens/day")
    sitting.used("m1", 4_000, 1_000, cache=500_000)
    sitting.hook("Stop")
    assert before(sitting) == {}
    with sitting.ledger() as ledger:
        assert [each.spent for each in ledger.allowances()] == [5_000]


def test_a_sub_agent_that_runs_away_is_held_and_the_main_thread_goes_on(sitting: Sitting) -> None:
    allow(sitting, "200k tokens", subagent=True)
    folder = sitting.transcript.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    own, sitting.transcript = sitting.transcript, folder / "agent-a1.jsonl"
    sitting.used("m1", 250_000)
    sitting.transcript = own
    sitting.tool("Read", {"file_path": "a"}, agent="a1")
    given: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
    held = sitting.hook("PreToolUse", agent_id="a1", **given)
    assert "250k of 200k tokens is spent by this sub-agent" in reason(held)
    assert before(sitting) == {}
    assert sitting.hook("PreToolUse", agent_id="a2", **given) == {}


def test_a_limit_of_nothing_per_session_holds_the_first_call(sitting: Sitting) -> None:
    allow(sitting, "0/session")
    assert "$0.00 of $0.00 is spent in this session" in reason(before(sitting))


def test_two_projects_of_one_name_do_not_share_a_limit(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    for folder in (here, there):
        folder.mkdir()
    one = Sitting(here)
    two = Sitting(there, "0b0c0439-b0c0-4396-a084-8ec7e7627d5b")
    two.environ["BRIM_HOME"], two.home = str(one.home), one.home
    allow(one, "0.01/day")
    one.used("m1", 4_000)
    one.hook("Stop")
    assert reason(before(one))
    assert before(two) == {}
    two.used("m2", 1_000)
    two.hook("Stop")
    with one.ledger() as ledger:
        assert set(ledger.projects().values()) == {str(one.project), str(two.project)}
        assert ledger.status("shop").spent == 12_000


def test_worktrees_of_one_repository_are_one_project(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C"]
    one = Sitting(tmp_path)
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", "../fix"]):
        subprocess.run([*git, str(one.project), *words], check=True, capture_output=True)
    two = Sitting(tmp_path, "0b0c0439-b0c0-4396-a084-8ec7e7627d5b", project="fix")
    allow(one, "0.01/day")
    two.used("m1", 4_000)
    two.hook("Stop")
    assert "shop: $0.012 of $0.01" in reason(before(one))
    link = tmp_path / "link"
    os.symlink(one.project, link)
    one.environ["CLAUDE_PROJECT_DIR"] = str(link)
    assert reason(before(one))


def test_a_limit_that_an_older_version_set_by_name_still_holds(sitting: Sitting) -> None:
    (sitting.home / "brim.db").unlink()
    connection = raw(sitting.home / "brim.db")
    for number in ("0001", "0002"):
        for statement in statements(os.path.join(MIGRATIONS, f"{number}.sql")):
            connection.execute(statement)
    connection.execute("INSERT INTO spend_scopes VALUES ('shop', 10000, 10000, 10000, 0, 'open', 0, 12000, 0)")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    assert "$0.012 of $0.01" in reason(before(sitting))
    sitting.used("m1", 1_000)
    sitting.hook("Stop")  # which brings the file up to date
    assert sitting.spent("shop") == 15_000
    with sitting.ledger() as ledger:
        assert ledger.projects() == {"shop": str(sitting.project)}
    assert sitting.log() == ""


def test_twenty_limits_are_one_look(sitting: Sitting) -> None:
    for number in range(10):
        allow(sitting, f"{number + 1}M tokens/day", f"other-{number}")
    for text in ("5/day", "20/week", "100/month", "2/session", "50", "9M tokens/day", "9M tokens/week"):
        allow(sitting, text)
    sitting.used("m1", 1_000)
    sitting.hook("Stop")
    assert before(sitting) == {}
    with sitting.ledger() as ledger:
        assert {each.spent for each in ledger.allowances("shop") if each.unit == "usd"} == {0, 3_000}
    assert json.loads((sitting.home / "state" / f"{sitting.session}.json").read_text())["limited"] is True
