"""Opening: what is made, what is refused, and what a file of another version says."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from brim.errors import StoreError
from brim.store import open_store
from brim.store.database import APPLICATION, VERSION
from tests.config.test_own_folder import git
from tests.store.making import behavior, raw


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".brim" / "brim.db"


def made(path: Path) -> Path:
    with open_store(str(path)) as store:
        store.put(behavior(), event="learned", now=1.0)
    return path


def refused(path: Path, reason: str, **options: bool) -> str:
    """Open *path*, which must fail for *reason* and change nothing; return the message."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError) as caught:
        open_store(str(path), **options)
    assert caught.value.reason == reason
    assert (path.read_bytes() if path.is_file() else None) == before
    assert str(path) in str(caught.value)
    return str(caught.value)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_for_its_owner_alone_while_it_is_open_too(path: Path) -> None:
    before = os.umask(0)
    try:
        with open_store(str(path)) as store:
            store.put(behavior(), event="learned", now=1.0)
            files = sorted(file.name for file in path.parent.iterdir())
            assert files == [".gitignore", "brim.db", "brim.db-shm", "brim.db-wal"]
            assert {mode(file) for file in path.parent.iterdir()} == {0o600}
            assert mode(path.parent) == 0o700
    finally:
        os.umask(before)


def test_a_folder_that_git_made_is_closed_to_others(path: Path) -> None:
    path.parent.mkdir()
    path.parent.chmod(0o755)
    made(path)
    assert mode(path.parent) == 0o700


def test_git_ignores_all_but_what_is_meant_to_be_shared(path: Path) -> None:
    made(path)
    git(path.parent.parent, "init")
    for name in ("config.yaml", "rules.toml", "other.txt"):
        (path.parent / name).write_text("x")
    seen = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"],
        cwd=path.parent.parent,
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert seen.stdout.split() == [".brim/.gitignore", ".brim/config.yaml", ".brim/rules.toml"]


def test_a_gitignore_that_is_there_stays(path: Path) -> None:
    path.parent.mkdir()
    (path.parent / ".gitignore").write_text("mine\n")
    made(path)
    assert (path.parent / ".gitignore").read_text() == "mine\n"


def test_a_file_says_whose_it_is_and_of_which_version(path: Path) -> None:
    connection = raw(made(path))
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_hook_makes_no_file(path: Path) -> None:
    assert "doesn't exist yet" in refused(path, "missing", create=False)
    assert "doesn't exist yet" in refused(path, "missing", readonly=True)
    assert not path.parent.exists()


def test_an_empty_file_becomes_a_store_but_not_in_a_hook(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    refused(path, "missing", create=False)
    made(path)


@pytest.mark.parametrize(
    "content", [b"hello", b"SQLite format 3\0" + b"\xff" * 5000, os.urandom(9000)]
)
def test_what_is_no_database_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert "brim rules restore" in refused(path, "damaged")
    assert "brim rules restore" in refused(path, "damaged", create=False)


def test_damage_in_the_middle_is_told_when_it_is_met(path: Path) -> None:
    with open_store(str(path)) as store:
        store.put_many(
            [behavior(f"b{n}", canonical="x" * 500) for n in range(200)], event="learned", now=1.0
        )
    content = bytearray(path.read_bytes())
    half = len(content) // 2  # the tables stand before it, what is in them after
    content[half:] = b"\xff" * (len(content) - half)
    path.write_bytes(content)
    store = open_store(str(path), create=False)
    with pytest.raises(StoreError, match="brim rules restore"):
        store.behaviors()
    assert store.check() != []
    store.close()


def test_a_truncated_file_is_refused(path: Path) -> None:
    made(path)
    with path.open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(StoreError) as caught, open_store(str(path)) as store:
        store.behaviors()
    assert caught.value.reason == "damaged"


def test_another_programs_database_is_refused(path: Path) -> None:
    path.parent.mkdir()
    connection = raw(path)
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    assert "another program" in refused(path, "refused")


@pytest.mark.parametrize("version", [2, 4, 99])
def test_a_file_of_another_version_is_left_alone_and_says_what_to_do(
    path: Path, version: int
) -> None:
    connection = raw(made(path))
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    for create in (True, False):
        message = refused(path, "version", create=create)
        assert f"version {version} of the file; this one reads {VERSION}" in message
        assert "move the file away" in message
    assert path.read_bytes() == before


def test_a_file_that_git_tracks_is_refused(path: Path) -> None:
    made(path)
    git(path.parent.parent, "init")
    git(path.parent.parent, "add", "-f", ".brim/brim.db")
    assert "git tracks it" in refused(path, "refused", create=False)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away"
)
def test_another_users_file_is_refused(path: Path) -> None:
    os.chown(made(path), 12345, 12345)
    assert "12345" in refused(path, "refused")


@pytest.mark.parametrize("kind", ["link", "folder", "dangling"])
def test_what_is_no_regular_file_is_refused(path: Path, kind: str, tmp_path: Path) -> None:
    path.parent.mkdir()
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(
            made(tmp_path / "elsewhere" / "brim.db") if kind == "link" else tmp_path / "nowhere"
        )
    with pytest.raises(StoreError, match="not a regular file"):
        open_store(str(path))


def test_a_path_with_signs_of_an_address_is_a_path(tmp_path: Path) -> None:
    odd = tmp_path / "a?mode=memory#b%41 c" / "brim.db"
    made(odd)
    assert odd.is_file()


def test_a_file_in_use_is_busy_after_the_timeout(path: Path) -> None:
    made(path)
    other = raw(path)
    other.execute("BEGIN IMMEDIATE")
    with open_store(str(path), create=False, timeout=0.05) as store:
        assert store.get("b1") is not None  # readers are not in anybody's way
        with pytest.raises(StoreError, match="another process") as caught:
            store.put(behavior(), event="edited", now=2.0)
    assert caught.value.reason == "busy"
    other.close()


def test_a_writer_that_waits_long_comes_to_its_turn_between_two_of_another(path: Path) -> None:
    made(path)
    held, over = threading.Event(), threading.Event()

    def write_again_and_again() -> None:
        with open_store(str(path)) as other:
            while not over.is_set():
                with other.writing():
                    held.set()
                    time.sleep(0.25)
                time.sleep(0.005)

    thread = threading.Thread(target=write_again_and_again)
    thread.start()
    try:
        with open_store(str(path), timeout=300) as store:
            for number in range(5):
                held.clear()
                assert held.wait(300)
                store.put(behavior(), event="edited", now=float(number))
    finally:
        over.set()
        thread.join()


def test_a_full_disk_loses_nothing(path: Path) -> None:
    with open_store(str(path)) as store:
        store.put(behavior(), event="learned", now=1.0)
        pages = store.database.row("PRAGMA page_count")[0]
        store.database.row(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="full") as caught:
            store.put(behavior("large", canonical="x" * 200_000), event="learned", now=2.0)
        assert caught.value.reason == "full"
        assert [each.id for each in store.behaviors()] == ["b1"]
        store.database.row("PRAGMA max_page_count = 1000000")
        store.put(behavior("large", canonical="x" * 200_000), event="learned", now=2.0)
        assert store.check() == []


READ_ONLY = """
import os, sys
from brim.errors import StoreError
from brim.store import open_store
path, create = sys.argv[1], sys.argv[2] == "command"
open_store(path, create=create).get("b1")  # everything is imported before the process becomes somebody else
if os.geteuid() == 0:
    for each in (os.path.dirname(path), path):
        os.chown(each, 65534, 65534)
    os.setuid(65534)
os.chmod(path, 0o400)
os.chmod(os.path.dirname(path), 0o500)
with open_store(path, create=create) as store:
    print(store.readonly, store.get("b1").name)
    try:
        with store.writing():
            pass
    except StoreError as error:
        print(error.reason)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no permissions there")
@pytest.mark.parametrize("how", ["command", "hook"])
def test_a_file_in_a_read_only_folder_can_be_read(how: str) -> None:
    folder = Path(tempfile.mkdtemp())  # not one of pytest's own, which only their owner can enter
    folder.chmod(0o755)
    try:
        path = made(folder / ".brim" / "brim.db")
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path), how],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert (done.stdout, done.stderr) == ("True use-uv\nread-only\n", "")
    finally:
        path.parent.chmod(0o700)
        shutil.rmtree(folder)


OPEN = "import sys; from brim.store import open_store; open_store(sys.argv[1]).close(); print('ok')"


def test_processes_that_make_one_file_at_once_all_succeed(path: Path) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(8)
    ]
    assert [process.communicate(timeout=300) for process in running] == [(b"ok\n", b"")] * 8
    with open_store(str(path)) as store:
        assert store.check() == []
