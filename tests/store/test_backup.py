"""Backups: consistent while others write, checked, and put back without losing what was there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from brim.config.retention import NEWEST_COPIES, OTHER_COPIES
from brim.errors import BrimError, InputError, StoreError
from brim.store import open_store
from brim.store.backup import create, keep_copy, kept_copies, restore, rule_ids
from tests.store.making import behavior, raw


@pytest.fixture
def path(tmp_path: Path) -> str:
    path = str(tmp_path / ".brim" / "brim.db")
    with open_store(path) as store:
        store.put(behavior("first"), event="learned", now=1.0)
    return path


def held(path: str) -> list[str]:
    with open_store(path) as store:
        assert store.check() == []
        return [each.id for each in store.behaviors()]


def test_a_backup_holds_what_the_file_held_and_comes_back(path: str, tmp_path: Path) -> None:
    backup = create(path, str(tmp_path / "backups" / "monday.db"))
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o600
    assert os.listdir(tmp_path / "backups") == ["monday.db"]
    with open_store(path) as store:
        store.put(behavior("second"), event="learned", now=2.0)
    kept = restore(backup, path)
    assert held(path) == ["first"]
    assert kept == path + ".bak"
    assert held(kept) == ["first", "second"]
    assert restore(backup, path) == path + ".bak.1"


def test_a_backup_is_never_written_over(path: str, tmp_path: Path) -> None:
    backup = create(path, str(tmp_path / "monday.db"))
    before = Path(backup).read_bytes()
    with pytest.raises(InputError, match="exists already"):
        create(path, backup)
    assert Path(backup).read_bytes() == before


def test_who_has_the_file_open_sees_what_was_restored(path: str, tmp_path: Path) -> None:
    backup = create(path, str(tmp_path / "monday.db"))
    with open_store(path) as reader:
        reader.put(behavior("second"), event="learned", now=2.0)
        assert len(reader.behaviors()) == 2
        restore(backup, path)
        assert [each.id for each in reader.behaviors()] == ["first"]
        reader.put(behavior("third"), event="learned", now=3.0)
    assert held(path) == ["first", "third"]


@pytest.mark.parametrize("damage", [b"hello", b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_damaged_file_is_replaced_and_kept(path: str, tmp_path: Path, damage: bytes) -> None:
    backup = create(path, str(tmp_path / "monday.db"))
    Path(path).write_bytes(damage)
    Path(path + "-wal").write_bytes(b"an old log")
    kept = restore(backup, path)
    assert held(path) == ["first"]
    assert kept is not None
    assert Path(kept).read_bytes() == damage
    assert Path(kept + "-wal").read_bytes() == b"an old log"


def test_the_log_of_a_damaged_file_is_not_read_into_the_restored_one(
    path: str, tmp_path: Path
) -> None:
    backup = create(path, str(tmp_path / "monday.db"))
    with open_store(path) as store:
        store.put(behavior("second"), event="learned", now=2.0)
        log = Path(path + "-wal").read_bytes()
    Path(path).write_bytes(b"damaged")
    Path(path + "-wal").write_bytes(log)
    restore(backup, path)
    assert held(path) == ["first"]


def test_a_missing_file_is_made(path: str, tmp_path: Path) -> None:
    backup = create(path, str(tmp_path / "monday.db"))
    other = str(tmp_path / "other" / ".brim" / "brim.db")
    assert restore(backup, other) is None
    assert held(other) == ["first"]
    with open_store(other) as store:
        assert store.database.row("PRAGMA journal_mode") == ("wal",)
    assert stat.S_IMODE(os.stat(other).st_mode) == 0o600


def test_what_is_no_sound_backup_is_refused_and_the_file_stays(path: str, tmp_path: Path) -> None:
    newer = create(path, str(tmp_path / "newer.db"))
    connection = raw(newer)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    foreign = raw(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE theirs (a)")
    foreign.close()
    (tmp_path / "text.db").write_text("not a database")
    (tmp_path / "empty.db").touch()
    damaged = Path(create(path, str(tmp_path / "damaged.db")))
    content = bytearray(damaged.read_bytes())
    content[4096 : 4096 + 200] = b"\xff" * 200
    damaged.write_bytes(content)
    for name, words in (
        ("newer.db", "another version of brim"),
        ("foreign.db", "another program"),
        ("text.db", "damaged or not a database"),
        ("empty.db", "empty"),
        ("damaged.db", "damaged"),
        ("nowhere.db", "no such backup"),
    ):
        with pytest.raises(BrimError, match=words):
            restore(str(tmp_path / name), path)
    assert held(path) == ["first"]
    assert not os.path.exists(path + ".bak")


def test_a_file_of_another_version_is_not_replaced(path: str, tmp_path: Path) -> None:
    backup = create(path, str(tmp_path / "monday.db"))
    connection = raw(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="another version of brim"):
        restore(backup, path)


def test_there_is_no_backup_of_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="doesn't exist yet"):
        create(str(tmp_path / "brim.db"), str(tmp_path / "backup.db"))
    assert os.listdir(tmp_path) == []


WRITE = """
import sys
from brim.behaviors import Rule
from brim.store import open_store
with open_store(sys.argv[1], timeout=300) as store:
    print("ready", flush=True)
    for number in range(10_000):
        pair = [Rule(f"{side}{number}", "a", "directive", "A.", summary="A.") for side in "ab"]
        store.put_many(pair, event="learned", now=1.0)
"""


def test_a_backup_under_writers_is_of_one_moment(path: str, tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITE, path], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    try:
        assert writer.stdout.readline() == "ready\n"
        for number in range(3):
            ids = held(create(path, str(tmp_path / f"{number}.db")))
            assert len([id for id in ids if id.startswith("a")]) == len(
                [id for id in ids if id.startswith("b")]
            )
    finally:
        writer.kill()
        writer.communicate(timeout=300)
    assert "first" in held(path)


# Copies of a project's store ----------------------------------------------------------------------


def replaced(path: str, user: str, *ids: str) -> None:
    """Let a store with the rules *ids* take the place of the one at *path*, and keep a copy of
    it."""
    for part in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(path + part)
    with open_store(path) as store:
        for id in ids:
            store.put(behavior(id), event="learned", now=1.0)
        keep_copy(store.database, user, now=1.0)


def copied(path: str, user: str) -> set[str]:
    return {id for copy in kept_copies(path, user) for id in rule_ids(copy)}


def test_a_copy_with_many_lost_rules_outlives_those_with_few(path: str, tmp_path: Path) -> None:
    user = str(tmp_path / "user")
    many = [f"r{number}" for number in range(20)]
    replaced(path, user, *many)
    for number in range(30):
        replaced(path, user, f"s{number}")
    assert copied(path, user) >= {*many, "s29"}
    assert len(kept_copies(path, user)) == NEWEST_COPIES + OTHER_COPIES


def test_copies_made_while_rules_are_put_back_take_no_lost_rules_away(
    path: str, tmp_path: Path
) -> None:
    user = str(tmp_path / "user")
    ids = [f"r{number}" for number in range(8)]
    for id in ids:
        replaced(path, user, id)
    for number in range(7, -1, -1):
        replaced(path, user, *ids[number:])
        assert copied(path, user) == set(ids)
    assert len(kept_copies(path, user)) == NEWEST_COPIES
