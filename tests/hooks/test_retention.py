"""Once a day, the end of a session removes what is past its time, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from brim.config.retention import DAY, JOURNALS, SESSIONS
from brim.config.trust import user_secret
from brim.hooks.process import answer_to
from brim.hooks.state import SessionState
from brim.memory import ScratchWriter
from brim.rules.state import RulesState
from tests.cli.conftest import Brim, brim

__all__ = ["brim"]


@pytest.fixture
def used(brim: Brim) -> Brim:
    """A home and a trusted project that were used a while ago."""
    (brim.cwd / ".git").mkdir()
    assert brim("learn", "Use uv, not pip.", "--project").code == 0
    assert brim("learn", "Use tabs.", "--user").code == 0
    note(brim, "new", DAY)
    return brim


def home(brim: Brim) -> Path:
    return brim.home / ".brim"


def note(brim: Brim, session: str, age: float) -> None:
    """Let the hooks have noted something about *session*, so long ago."""
    state = SessionState.load(str(home(brim)), session)
    state.keep("model", "m")
    state.save()
    for path in (home(brim) / "state").glob(f"{session}.*"):
        set_age(path, age)


def set_age(path: Path, age: float) -> None:
    os.utime(path, (time.time() - age, time.time() - age))


def memory(brim: Brim, session: str, age: float) -> Path:
    """Let *session* have memory that it last used so long ago; return its journal."""
    at = time.time() - age
    writer = ScratchWriter(
        brim.cwd, session=session, clock=lambda: at, secret=user_secret(str(home(brim)))
    )
    writer.append_human_input(f"said in {session}")
    journal = Path(writer.folder) / "journal.jsonl"
    set_age(journal, age)
    return journal


def end_session(
    brim: Brim, *, agent: str = "claude", event: str = "SessionEnd", after: float = 0
) -> str:
    """Let a session end, so many seconds from now; return what the hook answers."""
    sent = {
        "session_id": "ending",
        "cwd": str(brim.cwd),
        "hook_event_name": event,
        "transcript_path": "",
    }
    return answer_to(event, agent, sent, brim.environ, now=time.time() + after)


def notes(brim: Brim) -> set[str]:
    return {path.name for path in (home(brim) / "state").glob("*.json")}


def test_a_sessions_end_removes_notes_about_sessions_and_says_nothing(used: Brim) -> None:
    note(used, "old", SESSIONS + DAY)
    assert end_session(used) == ""
    assert "old.json" not in notes(used)
    assert "new.json" in notes(used)


def test_a_second_one_on_the_same_day_removes_nothing(used: Brim) -> None:
    end_session(used)
    note(used, "old", SESSIONS + DAY)
    end_session(used, after=DAY - 60)
    assert "old.json" in notes(used)
    end_session(used, after=DAY + 60)
    assert "old.json" not in notes(used)


def test_a_clock_that_went_back_does_not_end_it(used: Brim) -> None:
    note(used, "old", SESSIONS + DAY)
    end_session(used, after=9 * DAY)
    note(used, "old", SESSIONS + DAY)
    end_session(used)
    assert "old.json" not in notes(used)


def test_opencode_which_reports_no_end_of_a_session_does_it_at_the_end_of_a_turn(
    used: Brim,
) -> None:
    note(used, "old", SESSIONS + DAY)
    end_session(used, event="Stop")
    assert "old.json" in notes(used)
    end_session(used, agent="opencode", event="Stop")
    assert "old.json" not in notes(used)


def test_memory_of_ended_sessions_goes_to_the_users_folder_first_and_that_of_a_live_session_stays(
    used: Brim,
) -> None:
    memory(used, "first", 100 * DAY)
    old = memory(used, "old", 100 * DAY)
    live = memory(used, "live-session", 0)
    set_age(live, 100 * DAY)  # it says nothing for long, and is at work
    end_session(used)
    kept = "".join(path.read_text() for path in (home(used) / "scratch").glob("*.jsonl"))
    assert "said in first" in kept or "said in old" in kept
    assert live.exists()
    assert not old.exists() or "said in live" in old.read_text()


@pytest.mark.parametrize(("days", "stays"), [("forever", True), ("200", True), ("99", False)])
def test_memory_stays_as_long_as_the_setting_says(used: Brim, days: str, stays: bool) -> None:
    journal = memory(used, "old", 100 * DAY)
    assert used("config", "set", "keep.memory", days, "--user").code == 0
    end_session(used)
    assert journal.exists() is stays


def test_journals_of_removed_memory_go_after_a_month(used: Brim) -> None:
    folder = home(used) / "scratch"
    folder.mkdir()
    now = time.time()
    old, new = (
        folder / f"{int(now - JOURNALS - DAY)}-shop.jsonl",
        folder / f"{int(now - DAY)}-shop.jsonl",
    )
    for path in (old, new):
        path.touch()
    end_session(used)
    assert (old.exists(), new.exists()) == (False, True)


def test_permissions_of_old_sessions_go(used: Brim) -> None:
    now = time.time()
    RulesState(str(home(used)), now=now - SESSIONS - DAY).allow("rule", "user", "old")
    RulesState(str(home(used)), now=now - DAY).allow("rule", "user", "new")
    end_session(used)
    state = RulesState(str(home(used)), now=now)
    assert not state.permission("rule", "user", "old")
    assert state.permission("rule", "user", "new")


def test_unfinished_files_go_and_others_stay(used: Brim) -> None:
    old = home(used) / "x.json.0123.tmp"
    old.touch()
    set_age(old, DAY)
    young = home(used) / "y.tmp"
    young.touch()
    end_session(used)
    assert not old.exists()
    assert young.exists()
    assert (home(used) / "rules.toml").exists()


def test_a_broken_state_is_made_anew_and_the_rest_goes(used: Brim) -> None:
    (home(used) / "state.db").write_bytes(b"no database" * 99)
    note(used, "old", SESSIONS + DAY)
    end_session(used)
    assert "old.json" not in notes(used)


def test_a_project_that_is_not_trusted_is_left_alone(used: Brim) -> None:
    journal = memory(used, "old", 100 * DAY)
    assert used("rules", "trust", "--remove").code == 0
    end_session(used)
    assert journal.exists()


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write everywhere"
)
def test_a_read_only_home_fails_nothing(used: Brim) -> None:
    note(used, "old", SESSIONS + DAY)
    folder = home(used) / "state"
    folder.chmod(0o500)
    try:
        assert end_session(used) == ""
    finally:
        folder.chmod(0o700)
    assert "old.json" in notes(used)


def test_where_the_mark_cannot_be_written_nothing_is_removed_and_nothing_fails(used: Brim) -> None:
    note(used, "old", SESSIONS + DAY)
    (home(used) / "state" / "tidied").symlink_to(home(used) / "gone" / "mark")
    assert end_session(used) == ""
    assert "old.json" in notes(used)


def test_a_session_that_only_gets_rules_removes_nothing(used: Brim) -> None:
    note(used, "old", SESSIONS + DAY)
    used.environ["BRIM_HOOKS"] = "injection-only"
    end_session(used)
    assert "old.json" in notes(used)
