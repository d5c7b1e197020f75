"""``brim backup`` copies the store and puts a copy back; nothing is written over."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Brim
from tests.cli.stored import behavior, events_in, file_of, recalled, remember
from tests.store.test_damaged_writes import sound


def created(brim: Brim, *arguments: str) -> Path:
    return Path(brim("backup", "create", *arguments, "--json").json["file"])


def test_a_backup_goes_beside_the_store_under_a_name_of_its_own(brim: Brim) -> None:
    remember(brim, behavior("a"), behavior("b"))
    ran = brim("backup", "create")
    assert ran.code == 0
    assert re.fullmatch(r"(.*): 2 rules, [\d.]+ kB\n", ran.out)
    second, third = created(brim), created(brim)
    assert len({second, third, Path(ran.out.partition(": ")[0])}) == 3
    assert second.parent == brim.home / ".brim" / "backups"
    assert re.fullmatch(r"brim-\d{8}-\d{6}(-\d+)?\.db", second.name)
    assert second.stat().st_mode & 0o777 == 0o600


def test_a_restored_backup_is_what_was_there_and_what_it_replaced_is_kept(brim: Brim) -> None:
    remember(brim, behavior("a"))
    backup = created(brim)
    remember(brim, behavior("a", text="Changed."), behavior("b"))
    changed = recalled(brim)
    ran = brim("backup", "restore", backup.name, "--yes")
    assert ran.code == 0
    assert "1 rule, would take the place of" in ran.out
    kept = Path(ran.out.rpartition(" kept in ")[2].strip().replace("~", str(brim.home), 1))
    assert list(recalled(brim)) == ["a"]
    assert [event.detail["backup"] for event in events_in(brim, "restored")] == [backup.name]
    assert brim("backup", "restore", kept, "--yes").code == 0
    assert recalled(brim) == changed


def test_a_damaged_store_is_restored_and_kept(brim: Brim) -> None:
    remember(brim, behavior("a"))
    backup = created(brim)
    file_of(brim).write_bytes(b"garbage" * 500)
    assert brim("list").code == 2
    ran = brim("backup", "restore", backup, "--yes")
    assert (ran.code, "it is damaged" in ran.out) == (0, True)
    assert list(recalled(brim)) == ["a"]
    assert (brim.home / ".brim" / "brim.db.bak").read_bytes() == b"garbage" * 500


def test_nothing_is_restored_unasked(brim: Brim) -> None:
    remember(brim, behavior("a"))
    backup = created(brim)
    remember(brim, behavior("b"))
    ran = brim("backup", "restore", backup)
    assert (ran.code, "--yes" in ran.err) == (1, True)
    dry = brim("backup", "restore", backup, "--dry-run", "--json")
    assert (dry.code, dry.json["restored"], dry.json["behaviors"]) == (0, False, 1)
    assert sorted(recalled(brim)) == ["a", "b"]


def test_backups_of_both_scopes_are_listed_newest_first(brim: Brim) -> None:
    remember(brim, behavior("a"))
    remember(brim, behavior("p"), scope="project")
    mine, theirs = created(brim, "--user"), created(brim)
    (mine.parent / "broken.db").write_bytes(b"x" * 4096)
    ran = brim("backup")
    assert (ran.code, len(ran.lines)) == (0, 4)
    assert "damaged" in ran.out
    found = brim("backup", "list", "--project", "--json").json["backups"]
    assert [(each["file"], each["behaviors"], each["problem"]) for each in found] == [(str(theirs), 1, None)]
    times = [each["at"] for each in brim("backup", "--json").json["backups"]]
    assert times == sorted(times, reverse=True)


def test_an_existing_file_is_never_written_over(brim: Brim) -> None:
    remember(brim, behavior("a"))
    path = brim.write("mine.db", "precious")
    ran = brim("backup", "create", "mine.db")
    assert (ran.code, path.read_text()) == (2, "precious")


@pytest.mark.parametrize("content", [b"", b"no database" * 400], ids=["empty", "garbage"])
def test_what_is_no_backup_is_refused(brim: Brim, content: bytes) -> None:
    remember(brim, behavior("a"))
    brim.write("x.db", content)
    ran = brim("backup", "restore", "x.db", "--yes")
    assert ran.code == 2
    assert list(recalled(brim)) == ["a"]


def test_a_backup_of_a_newer_brim_or_of_another_program_is_refused(brim: Brim) -> None:
    remember(brim, behavior("a"))
    newer = created(brim, "newer.db")
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 99")
    other = brim.cwd / "other.db"
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (x)")
    for path, word in ((newer, "another version of brim"), (other, "another program")):
        ran = brim("backup", "restore", path, "--yes")
        assert (ran.code, word in ran.err) == (2, True)
    assert list(recalled(brim)) == ["a"]


def test_what_is_missing_is_said(brim: Brim) -> None:
    assert "doesn't exist yet" in brim("backup", "create").err
    assert "no backup yet" in brim("backup").err
    assert "which backup" in brim("backup", "restore").err
    assert "no such backup" in brim("backup", "restore", "gone.db").err
    assert "not in a project" in brim("backup", "create", "--project").err
    assert brim("backup", "create", "--yes").code == 2
    assert brim("backup", "list", "x.db").code == 2


def test_what_a_newer_brim_wrote_is_not_copied_half_understood(brim: Brim) -> None:
    remember(brim, behavior("a"))
    with closing(sqlite3.connect(file_of(brim))) as database:
        database.execute("PRAGMA user_version = 999")
    ran = brim("backup", "create")
    assert (ran.code, ran.out) == (2, "")
    assert f"{str(file_of(brim)).replace(str(brim.home), '~')}: is of another version of brim" in ran.err
    assert not (brim.home / ".brim" / "backups").exists()


def test_doctor_and_learn_say_that_a_store_is_damaged(brim: Brim) -> None:
    remember(brim, *[behavior(f"b-{i}", text=f"Mind the gap {i}. " * 20) for i in range(80)])
    path = file_of(brim)
    content = bytearray(path.read_bytes())
    found = 0
    for page in range(1, len(content) // 4096):
        broken = bytearray(content)
        broken[page * 4096 : (page + 1) * 4096] = bytes(4096)
        path.write_bytes(broken)
        if page % 8 or sound(path):
            continue
        found += 1
        doctor = brim("doctor")
        assert (doctor.code, "brim backup" in doctor.out) == (1, True), page
        learned = brim("learn", "Never do it.", "--user")
        assert (learned.code, "brim backup" in learned.err) == (2, True), page
        assert path.read_bytes() == broken, page
    assert found > 1
