"""Limits per period in hooks: a project is its place, and each limit holds the next call until it
resets."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brim.hooks.statusline import lines_for
from brim.spend import Raise, read_ceiling
from brim.store import open_ledger
from brim.store.trust import trust
from tests.hooks.sittings import NOW, Sitting
from tests.hooks.test_spend_gate import before, reason

DAY = 86_400.0


@pytest.fixture
def sitting(tmp_path: Path) -> Iterator[Sitting]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield Sitting(tmp_path)
    time.tzset()


def allow(sitting: Sitting, text: str, scope: str = "shop", *, subagent: bool = False) -> None:
    with open_ledger(str(sitting.home / "brim.db"), clock=lambda: sitting.now) as ledger:
        ledger.allow(scope, read_ceiling(text, subagent=subagent))


def test_a_call_is_held_until_the_day_is_over(sitting: Sitting) -> None:
    allow(sitting, "0.01/day")
    sitting.used("m1", 2_700)
    assert (
        "of $0.01 is spent today (81%)" in sitting.tool("Read", {"file_path": "a"})["systemMessage"]
    )
    assert before(sitting) == {}
    sitting.used("m2", 2_700)
    told = sitting.tool("Read", {"file_path": "a"})["systemMessage"].split("\n")
    assert (
        told[0]
        == "brim: shop: $0.0162 of $0.01 is spent today; it resets at midnight. Tools are held. To go on:"
    )
    assert told[1:3] == ["brim limit continue shop", "brim limit raise shop 5/day"]
    assert "$0.0162 of $0.01 is spent today; it resets at midnight." in reason(before(sitting))
    sitting.now = NOW + DAY
    assert before(sitting) == {}


def test_what_was_asked_before_midnight_and_settled_after_it_belongs_to_yesterday(
    sitting: Sitting,
) -> None:
    allow(sitting, "0.01/day")
    sitting.used("m1", 4_000)
    sitting.now = NOW + DAY
    assert sitting.tool("Read", {"file_path": "a"}) == {}
    assert before(sitting) == {}


def test_a_clock_that_is_set_back_a_day_opens_nothing(sitting: Sitting) -> None:
    allow(sitting, "0.01/day")
    sitting.used("m1", 4_000)
    sitting.tool("Read", {"file_path": "a"})
    assert reason(before(sitting))
    sitting.now = NOW - DAY
    assert reason(before(sitting))
    sitting.used("m2", 1)
    sitting.tool("Read", {"file_path": "a"})
    assert reason(before(sitting))
    sitting.now = NOW + DAY
    assert before(sitting) == {}


@pytest.mark.parametrize("jump", [-DAY, -10 * DAY, 10 * DAY])
def test_a_clock_that_was_wrong_and_is_put_right_opens_nothing(
    sitting: Sitting, jump: float
) -> None:
    allow(sitting, "0.01/day")
    sitting.used("m1", 4_000)
    sitting.tool("Read", {"file_path": "a"})
    sitting.now = NOW + jump
    with open_ledger(str(sitting.home / "brim.db"), clock=lambda: sitting.now) as ledger:
        ledger.record("shop", "elsewhere", 1)
    sitting.now = NOW
    assert "of $0.01 is spent today" in reason(before(sitting))
    sitting.now = NOW + DAY
    assert before(sitting) == {}


def test_a_project_with_the_name_of_a_deleted_one_has_no_limit(sitting: Sitting) -> None:
    gone = sitting.project.parent / "elsewhere" / sitting.project.name
    with open_ledger(str(sitting.home / "brim.db"), clock=lambda: sitting.now) as ledger:
        ledger.allow(ledger.project(str(gone)), "0/day")
    assert before(sitting) == {}


def test_a_day_ends_in_the_zone_in_which_the_limit_was_set(sitting: Sitting) -> None:
    with open_ledger(str(sitting.home / "brim.db"), clock=lambda: sitting.now) as ledger:
        ledger.allow("*", "0.01/day", zone="Asia/Tokyo")  # 17:00 there, and 8:00 in UTC
        ledger.allow("shop", "0.02/day", zone="America/New_York")  # 3:00
    sitting.used("m1", 7_000)
    sitting.tool("Read", {"file_path": "a"})
    assert "of $0.01" in reason(before(sitting))
    sitting.now = NOW + 8 * 3600
    assert "of $0.02" in reason(before(sitting))
    sitting.now = NOW + 22 * 3600
    assert before(sitting) == {}


def test_a_period_that_ends_between_a_call_and_its_answer_starts_over_for_the_next(
    sitting: Sitting,
) -> None:
    allow(sitting, "0.01/day")
    midnight = NOW - NOW % DAY + DAY
    sitting.now = midnight - 5
    assert before(sitting) == {}
    sitting.now = midnight + 1
    sitting.used("m1", 4_000)  # its line still has yesterday's time
    assert sitting.tool("Read", {"file_path": "a"}) == {}
    assert before(sitting) == {}
    with open_ledger(str(sitting.home / "brim.db"), clock=lambda: sitting.now) as ledger:
        assert ledger.allowances("shop")[0].spent == 0
        assert ledger.status("shop").spent == 12_000


def test_a_limit_holds_in_a_project_that_was_deleted_meanwhile(sitting: Sitting) -> None:
    allow(sitting, "0.01/day")
    sitting.used("m1", 4_000)
    sitting.tool("Read", {"file_path": "a"})
    shutil.rmtree(sitting.project)
    assert reason(before(sitting))
    assert sitting.log() == ""


@pytest.mark.parametrize(
    ("text", "scope"), [("0.01/session", "shop"), ("4k tokens/day", "*"), ("0.01", "shop")]
)
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
    given: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t1",
    }
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
    with open_ledger(str(one.home / "brim.db"), clock=lambda: one.now) as ledger:
        ledger.answer("shop", Raise(13_000, per="day"))
    one.used("m3", 1_000)
    told = one.tool("Read", {"file_path": "a"})["systemMessage"]
    assert f"brim limit continue {one.project}" in told.split(
        "\n"
    )  # the name alone wouldn't say which
    with one.ledger() as ledger:
        assert set(ledger.projects().values()) == {str(one.project), str(two.project)}
        assert ledger.status("shop").spent == 15_000


def test_worktrees_of_one_repository_are_one_project(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C"]
    one = Sitting(tmp_path)
    for words in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", "../fix"],
    ):
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


def test_twenty_limits_are_one_look(sitting: Sitting) -> None:
    for number in range(10):
        allow(sitting, f"{number + 1}M tokens/day", f"other-{number}")
    for text in (
        "5/day",
        "20/week",
        "100/month",
        "2/session",
        "50",
        "9M tokens/day",
        "9M tokens/week",
    ):
        allow(sitting, text)
    sitting.used("m1", 1_000)
    sitting.hook("Stop")
    assert before(sitting) == {}
    with sitting.ledger() as ledger:
        assert {each.spent for each in ledger.allowances("shop") if each.unit == "usd"} == {
            0,
            3_000,
        }
    assert (
        json.loads((sitting.home / "state" / f"{sitting.session}.json").read_text())["limited"]
        is True
    )


# Incidents ----------------------------------------------------------------------------------------


def run_until_held(sitting: Sitting, requests: int, tokens: int, **where: str) -> int:
    """Let an agent make request after request, each with a tool call; return how many it made
    before it was held."""
    given: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, **where}
    for number in range(requests):
        sitting.used(f"m{number}", tokens)
        if reason(sitting.hook("PreToolUse", tool_use_id=f"t{number}", **given)):
            return number + 1
        sitting.hook(
            "PostToolUse",
            tool_use_id=f"t{number}",
            tool_response={"stdout": "", "stderr": ""},
            **given,
        )
    return requests


@pytest.mark.parametrize("text", ["0.12/day", "0.12/session", "40k tokens/week", "0.12"])
def test_a_runaway_loop_goes_over_by_one_answer_at_most(sitting: Sitting, text: str) -> None:
    allow(sitting, text)
    made = run_until_held(sitting, 40, 1_000)
    # What is held back is a twentieth; the last answer is written before its call is seen.
    assert 38 <= made <= 39
    with sitting.ledger() as ledger:
        assert max(each.spent - (each.limit.amount or 0) for each in ledger.allowances()) <= 3_000


def test_ordinary_sessions_are_never_held(tmp_path: Path) -> None:
    first = Sitting(tmp_path)
    for text in ("5/day", "20/week", "100/month", "2/session", "50", "2M tokens/day"):
        allow(first, text)
    allow(first, "200k tokens", "*", subagent=True)
    for number in range(40):
        sitting = Sitting(tmp_path, f"{number:08x}-b0c0-4396-a084-8ec7e7627d5b")
        sitting.now = NOW + number * 60
        assert run_until_held(sitting, 3, 2_000) == 3


# A plan's window ----------------------------------------------------------------------------------


def see_plan(sitting: Sitting, percent: float, *, resets: float = 3600.0) -> None:
    """Let the status line see how much of the five hours is used."""
    window = {"used_percentage": percent, "resets_at": sitting.now + resets}
    sent = {
        "session_id": sitting.session,
        "cwd": str(sitting.project),
        "rate_limits": {"five_hour": window},
    }
    lines_for(json.dumps(sent).encode(), sitting.environ, now=sitting.now)


def test_a_plans_window_holds_while_its_reading_is_fresh_and_not_reset(sitting: Sitting) -> None:
    allow(sitting, "90%/5h")
    assert before(sitting) == {}
    see_plan(sitting, 60)
    assert sitting.tool("Read", {"file_path": "a"}) == {}
    see_plan(sitting, 75)
    told = sitting.tool("Read", {"file_path": "a"})["systemMessage"]
    assert "75% of the plan's 5h window is used, the limit is 90%; it resets at 09:" in told
    assert "brim limit" not in told
    assert sitting.tool("Read", {"file_path": "a"}) == {}
    see_plan(sitting, 91)
    held = before(sitting)
    assert "91% of the plan's 5h window is used, the limit is 90%" in reason(held)
    assert held["systemMessage"].split("\n")[1:] == [
        "brim limit raise shop 95%/5h",
        "brim limit remove shop 90%/5h",
    ]
    codex = sitting.hook(
        "PreToolUse", "codex", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="c1"
    )
    assert codex == {}  # another provider's plan
    sitting.now += 3_700
    assert before(sitting) == {}


def test_the_offered_limit_of_a_plan_leaves_room(sitting: Sitting) -> None:
    allow(sitting, "90%/5h")
    see_plan(sitting, 96)
    raising, removing = before(sitting)["systemMessage"].split("\n")[1:]
    assert (raising, removing) == ("brim limit raise shop 100%/5h", "brim limit remove shop 90%/5h")
    with open_ledger(str(sitting.home / "brim.db")) as ledger:
        ledger.answer("shop", Raise(100, "300m", "percent"))
    assert before(sitting) == {}
    see_plan(sitting, 100)
    assert before(sitting)["systemMessage"].split("\n")[1:] == ["brim limit remove shop 100%/5h"]


def test_an_old_reading_holds_nothing(sitting: Sitting) -> None:
    allow(sitting, "90%/5h")
    see_plan(sitting, 99, resets=5 * 3600)
    assert reason(before(sitting))
    sitting.now += 3_601
    assert before(sitting) == {}


def test_the_other_window_is_another_limit(sitting: Sitting) -> None:
    allow(sitting, "80%/week")
    see_plan(sitting, 99)
    assert before(sitting) == {}


def test_codex_says_its_windows_in_its_own_file(sitting: Sitting, tmp_path: Path) -> None:
    allow(sitting, "90%/5h")
    stamp = "2027-01-15T08:00:01.000Z"
    limits = {
        "primary": {"used_percent": 92.0, "window_minutes": 300, "resets_at": NOW + 7200},
        "secondary": None,
    }
    line = {
        "timestamp": stamp,
        "type": "event_msg",
        "payload": {"type": "token_count", "rate_limits": limits},
    }
    folder = tmp_path / ".codex" / "sessions" / "2027" / "01" / "15"
    folder.mkdir(parents=True)
    (folder / "rollout-2027-01-15T08-00-00-x.jsonl").write_text(json.dumps(line) + "\n")
    given: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "c1",
    }
    assert "92% of the plan's 5h window" in reason(sitting.hook("PreToolUse", "codex", **given))
    assert before(sitting) == {}


# A person's own command ---------------------------------------------------------------------------


def lines_in(path: Path, count: int) -> list[str]:
    """Wait for the command, which nobody waits for, to have written *count* lines."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        found = path.read_text().splitlines() if path.exists() else []
        if len(found) >= count:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{path} has no {count} lines")


@pytest.mark.skipif(os.name != "posix", reason="sh")
def test_a_command_of_the_user_runs_at_80_percent_and_at_the_limit(
    sitting: Sitting, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    (sitting.home / "config.yaml").write_text(
        f"notify: 'echo \"$BRIM_NOTICE $BRIM_TEXT\" >> {said}'\n"
    )
    allow(sitting, "0.01/day")
    sitting.used("m1", 2_700)
    sitting.tool("Read", {"file_path": "a"})
    assert lines_in(said, 1) == ["warning shop: $0.0081 of $0.01 is spent today (81%)"]
    sitting.used("m2", 2_700)
    sitting.hook("Stop")
    before(sitting)
    assert lines_in(said, 2)[1].startswith(
        "limit shop: the cost limit is reached: $0.0162 of $0.01"
    )
    allow(sitting, "50%/5h")
    see_plan(sitting, 45)
    sitting.tool("Read", {"file_path": "a"})
    assert lines_in(said, 3)[2].startswith("warning ")
    see_plan(sitting, 55)
    sitting.tool("Read", {"file_path": "a"})
    assert lines_in(said, 4)[3].startswith("limit ")


@pytest.mark.skipif(os.name != "posix", reason="sh")
def test_the_command_runs_once_for_a_plans_window_whichever_session_sees_it(
    sitting: Sitting, tmp_path: Path
) -> None:
    said = tmp_path / "said"
    (sitting.home / "config.yaml").write_text(f"notify: 'echo $BRIM_NOTICE >> {said}'\n")
    allow(sitting, "50%/5h")
    for session in (
        sitting.session,
        "11111111-b0c0-4396-a084-8ec7e7627d5b",
        "22222222-b0c0-4396-a084-8ec7e7627d5b",
    ):
        sitting.session = session
        see_plan(sitting, 55)  # the end moves by seconds: older clients say how long it takes
        assert "55% of the plan's 5h window" in before(sitting)["systemMessage"]
        sitting.tool("Read", {"file_path": "a"})
    sitting.now += 5 * 3600
    see_plan(sitting, 45)
    sitting.tool("Read", {"file_path": "a"})
    assert lines_in(said, 2) == ["limit", "warning"]


def test_a_project_cannot_name_the_command(sitting: Sitting, tmp_path: Path) -> None:
    said = tmp_path / "said"
    (sitting.project / ".brim").mkdir()
    (sitting.project / ".brim" / "config.yaml").write_text(f"notify: touch {said}\n")
    sitting.environ["BRIM_NOTIFY"] = f"touch {said}"
    trust(str(sitting.project), str(sitting.home), now=NOW)
    allow(sitting, "0.01/day")
    sitting.used("m1", 4_000)
    sitting.hook("Stop")
    assert reason(before(sitting))
    time.sleep(0.2)
    assert not said.exists()
