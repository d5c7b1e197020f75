"""``brim doctor --prune`` removes what is past its time, and nothing else."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from brim.config.retention import COPIES, DAY, REQUEST_DAYS, SESSIONS, USE_DAYS
from brim.hooks.settlement import load_account, save_account
from brim.hooks.state import SessionState
from brim.install.retention import prune
from brim.scratch import ScratchWriter
from brim.spend.account import Account
from brim.store import open_ledger, open_store
from brim.store.backup import create
from brim.store.events import RECENT, Event
from brim.store.store import Store
from brim.store.trust import allow, is_allowed, user_secret
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, file_of, remember

DOCS = Path(__file__).parents[2] / "docs" / "retention.md"


@pytest.fixture
def used(brim: Brim) -> Brim:
    """A trusted project and a home in which everything that has a time is past it, and as much is not."""
    (brim.cwd / ".git").mkdir()
    remember(brim, behavior("user"), scope="user")
    assert brim("learn", "Use uv, not pip.", "--project").code == 0
    now, home = time.time(), brim.home / ".brim"
    for name, age in (("old", SESSIONS + DAY), ("new", DAY)):
        state = SessionState.load(str(home), name)
        state.keep("model", "m")
        state.save()
        for path in (home / "state").glob(f"{name}.*"):
            os.utime(path, (now - age, now - age))
        with open_store(str(file_of(brim))) as store:
            with Store(store.database, clock=lambda age=age: now - age).session(name) as session:  # type: ignore[misc]
                session.next_prompt()
            with store.writing() as database:
                save_account(database, name, Account(), now=now - age)
            allow(store, "rule", "user", session=name, now=now - age)
    for name, age in (("first", 100), ("old", 100), ("new", 1)):  # the last takes the folder of the first
        memory(brim, name, now - age * DAY)
    return brim


def memory(brim: Brim, session: str, at: float) -> Path:
    """Let *session* have a memory of its own, which it last used *at* this time."""
    writer = ScratchWriter(brim.cwd, session=session, clock=lambda: at, secret=user_secret(str(brim.home / ".brim")))
    writer.append_human_input(f"said in {session}")
    folder = Path(writer.folder)
    os.utime(folder / "journal.jsonl", (at, at))
    return folder


def told(brim: Brim, *times: float) -> None:
    with open_store(str(file_of(brim))) as store, store.writing():
        for at in times:
            store.used(["user"], now=at, session="s")


def kinds(brim: Brim, *words: str) -> dict[str, int]:
    ran = brim("doctor", "--prune", *words, "--json")
    assert ran.code == 0, ran.err
    found: dict[str, int] = {}
    for each in ran.json["items"]:
        found[each["what"]] = found.get(each["what"], 0) + each["number"]
    return found


def test_it_says_first_what_would_go_and_then_removes_exactly_that(used: Brim) -> None:
    wanted = {
        "hooks' notes about sessions": 2,  # the file and its lock
        "what sessions have heard": 1,
        "how far sessions were counted": 1,
        "calls that you allowed": 1,
        "memory of ended sessions": 1,
    }
    # The store removes sessions and accounts on its own when new ones are written, so these are written again.
    now = time.time()
    with open_store(str(file_of(used))) as store, store.writing() as database:
        state = database.row("SELECT state FROM sessions LIMIT 1")[0]
        database.run("INSERT OR REPLACE INTO sessions VALUES ('old', '', ?, ?)", (state, now - SESSIONS - DAY))
        text = f"{int(now - SESSIONS - DAY):012d} {Account().dumps()}"
        database.run("INSERT OR REPLACE INTO meta VALUES ('account:old', ?)", (text,))
    assert kinds(used, "--dry-run") == wanted
    assert kinds(used, "--dry-run") == wanted
    assert kinds(used, "--yes") == wanted
    assert kinds(used, "--dry-run") == {}
    with open_store(str(file_of(used))) as store:
        assert [row[0] for row in store.database.rows("SELECT session FROM sessions")] == ["new"]
        assert load_account(store.database, "new").dumps() == Account().dumps()
        assert is_allowed(store.database, "rule", "user", session="new", now=now)
        assert not is_allowed(store.database, "rule", "user", session="old", now=now)
        assert [each.id for each in store.behaviors()] == ["user"]
    assert sorted(path.name for path in (used.home / ".brim" / "state").iterdir()) == ["new.json", "new.lock"]


def test_it_asks_first_and_an_agent_may_not(used: Brim) -> None:
    ran = used("doctor", "--prune")
    assert (ran.code, "--yes" in ran.err) == (1, True)
    assert re.search(r"hooks' notes about sessions +2 .* 30 days +~/\.brim/state", ran.out)
    assert used("doctor", "--prune", "--yes", env={"CLAUDECODE": "1"}).code == 1
    assert kinds(used, "--dry-run")["hooks' notes about sessions"] == 2
    assert "brim doctor --prune" in used("doctor", "--yes").err


def test_doctor_says_that_there_is_something_to_remove(used: Brim) -> None:
    (found,) = [each for each in used("doctor", "--json").json["findings"] if each["what"] == "kept"]
    assert (found["state"], "brim doctor --prune" in found["text"]) == ("off", True)
    kinds(used, "--yes")
    assert [each for each in used("doctor", "--json").json["findings"] if each["what"] == "kept"] == []


def test_memory_goes_to_the_users_folder_first_and_that_of_a_live_session_stays(used: Brim) -> None:
    root = used.cwd / ".context"
    live = memory(used, "live-session", time.time())
    journal = live / "journal.jsonl"
    os.utime(journal, (1, 1))  # it says nothing for long, and is at work
    kinds(used, "--yes")
    (kept,) = (used.home / ".brim" / "scratch").glob("*.jsonl")
    assert "said in old" in kept.read_text()
    assert journal.exists()
    assert "said in new" in "".join(path.read_text() for path in root.rglob("journal.jsonl"))


def test_memory_stays_if_the_setting_says_so(used: Brim) -> None:
    for value, number in (("forever", 0), ("200", 0), ("99", 1)):
        assert used("config", "set", "keep.memory", value, "--user").code == 0
        assert kinds(used, "--dry-run").get("memory of ended sessions", 0) == number


def test_when_rules_were_told_goes_and_how_often_stays(used: Brim) -> None:
    now = time.time()
    told(used, *[now - (USE_DAYS + 9) * DAY] * 5, *[now - DAY] * RECENT)
    assert kinds(used, "--yes")["when agents heard rules"] == 5
    with open_store(str(file_of(used))) as store:
        assert len(store.events(kind="injected")) == RECENT
        (rule,) = store.behaviors()
        assert rule.usage.injected == RECENT + 5
        assert [event.kind for event in store.events()].count("learned") == 1


def test_the_newest_uses_stay_however_old_they_are(used: Brim) -> None:
    told(used, *[1000.0] * RECENT)
    assert "when agents heard rules" not in kinds(used, "--dry-run")


def test_requests_become_sums_and_limits_and_open_reservations_stay(used: Brim) -> None:
    now, path = time.time(), str(file_of(used))
    with open_ledger(path) as ledger:
        ledger.limit("shop", 10_000_000)
        for number, age in enumerate((REQUEST_DAYS + 5, REQUEST_DAYS + 5, 2)):
            ledger.record("shop/s", f"r{number}", 1_000, at=now - age * DAY)
        ledger.reserve("shop/s", 500, request_id="open", lease=600)
        before = ledger.status("shop")
    assert kinds(used, "--dry-run")["single requests (sums stay)"] == 2
    assert kinds(used, "--yes")["single requests (sums stay)"] == 2
    with open_ledger(path) as ledger:
        assert ledger.status("shop") == before
        assert sum(each.amount for each in ledger.days()) == 3_000


def test_unfinished_files_and_replaced_stores_go_and_backups_stay(used: Brim) -> None:
    home, old = used.home / ".brim", time.time() - COPIES - DAY
    backup = Path(create(str(home / "brim.db"), str(home / "backups" / "mine.db")))
    for path in (home / "brim.db.bak", home / "x.json.0123.tmp", backup):
        path.touch()
        os.utime(path, (old, old))
    for name in ("brim.db.bak.1", "y.tmp"):
        (home / name).touch()
    found = kinds(used, "--yes")
    assert (found["unfinished files"], found["replaced databases"]) == (1, 1)
    assert backup.exists()
    assert (home / "brim.db.bak.1").exists()


def test_a_broken_store_is_said_and_left_and_the_rest_goes(used: Brim) -> None:
    path = used.cwd / ".brim" / "brim.db"
    path.write_bytes(b"no database" * 99)
    ran = used("doctor", "--prune", "--yes", "--json")
    assert ran.code == 0
    assert "is damaged" in ran.err
    assert path.read_bytes() == b"no database" * 99
    assert any(each["what"] == "hooks' notes about sessions" for each in ran.json["items"])


def test_where_nothing_is_past_its_time_it_says_so(brim: Brim) -> None:
    ran = brim("doctor", "--prune")
    assert (ran.code, ran.out) == (0, "nothing to remove\n")
    assert brim("doctor", "--prune", "--json").json["items"] == []


def test_the_documentation_has_every_kind_with_its_time(used: Brim) -> None:
    rows = {cells[1]: cells for line in DOCS.read_text(encoding="utf-8").splitlines() if (cells := _cells(line))}
    now = time.time()
    told(used, *[now - (USE_DAYS + 9) * DAY] * 5, *[now - DAY] * RECENT)
    for each in prune({"HOME": str(used.home)}, str(used.cwd), dry_run=True).items:
        assert f"{each.days} days" in rows[each.what][2]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")] if line.startswith("| ") else []


def test_a_program_may_only_remove_when_rules_were_told(used: Brim) -> None:
    with open_store(str(file_of(used))) as store:
        store.record(Event("blocked", 1.0, "user"))
        for kind in ("blocked", "learned"):
            with pytest.raises(Exception, match="cannot be removed"), store.writing() as database:
                database.run("DELETE FROM events WHERE kind = ?", (kind,))
