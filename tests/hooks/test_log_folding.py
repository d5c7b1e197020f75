"""Hooks end without closing their databases. What they leave in the logs is folded when there is
time; none is lost."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

from brim.workspace import LONG_LOG, LONGEST_LOG
from tests.hooks.hook_world import World, python

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the launcher is for a POSIX shell")

CRASH = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("PRAGMA wal_autocheckpoint = 0")
for number in range(25):
    database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (f"k{number}", "x" * 9000))
    database.commit()
os._exit(0)
"""


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A world whose database has a long log, as hooks leave it."""
    made = World(tmp_path)
    subprocess.run([python(), "-I", "-c", CRASH, str(made.database)], check=True, timeout=300)
    assert LONG_LOG < log_of(made) < LONGEST_LOG
    return made


def log_of(world: World) -> int:
    return os.path.getsize(f"{world.database}-wal")


def kept(world: World) -> int:
    with sqlite3.connect(f"file:{world.database}?mode=ro", uri=True) as database:
        count: int = database.execute("SELECT count(*) FROM meta WHERE key LIKE 'k%'").fetchone()[0]
    database.close()
    return count


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "SessionEnd"])
def test_a_long_log_is_folded_when_nobody_waits_for_a_text(world: World, event: str) -> None:
    assert world.launch(event, world.message(event)).returncode == 0
    assert log_of(world) < LONG_LOG
    assert world.database.stat().st_size > LONG_LOG
    assert (kept(world), world.log()) == (25, "")


def test_a_prompt_does_not_wait_for_it(world: World) -> None:
    before = world.database.stat().st_size
    done = world.launch(
        "UserPromptSubmit", world.message("UserPromptSubmit", prompt="run the tests")
    )
    assert b"uv" in done.stdout
    assert log_of(world) > LONG_LOG
    assert world.database.stat().st_size == before


def test_whoever_works_with_the_file_is_left_alone(world: World) -> None:
    with sqlite3.connect(world.database, isolation_level=None) as database:
        database.execute("BEGIN IMMEDIATE")
        assert world.launch("PostToolUse", world.message("PostToolUse")).returncode == 0
        assert log_of(world) > LONG_LOG
        database.execute("INSERT INTO meta VALUES ('k99', '')")
        database.execute("COMMIT")
    database.close()
    assert (kept(world), world.log()) == (26, "")
