"""``brim rules remove`` and ``brim rules restore``: nothing is deleted, and what comes back is as
it was."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys

import pytest

from brim.behaviors import Provenance
from tests.cli.conftest import Brim
from tests.cli.seeding import database, events, refused, rule, seed, stored

IS_ROOT = sys.platform != "win32" and os.geteuid() == 0
AS_ANYONE = "setpriv --bounding-set=-dac_override --inh-caps=-dac_override " if IS_ROOT else ""
"""Root may write anywhere; without that power, a command of root's is refused like anybody's."""
unprivileged = pytest.mark.skipif(
    sys.platform == "win32" or (IS_ROOT and shutil.which("setpriv") is None),
    reason="no way to be refused here",
)


def test_a_forgotten_behavior_is_kept_with_the_reason(brim: Brim) -> None:
    seed(brim, rule("b-1"))
    ran = brim("rules", "remove", "b-1", "--reason", "we moved on")
    assert (ran.code, ran.err) == (0, "")
    assert "rules restore b-1" in ran.out
    assert stored(brim, "b-1").status == "forgotten"
    assert events(brim, "b-1")[-1].kind == "forgotten"
    assert events(brim, "b-1")[-1].detail == {"reason": "we moved on", "was": "active"}


@pytest.mark.parametrize("status", ["active", "pending", "superseded"])
def test_unforgetting_gives_back_the_status_it_had(brim: Brim, status: str) -> None:
    seed(brim, rule("b-1", status=status, superseded_by="b-2" if status == "superseded" else None))
    assert brim("rules", "remove", "b-1").code == 0
    ran = brim("rules", "restore", "b-1")
    assert ran.code == 0
    assert stored(brim, "b-1").status == status
    assert ("b-2 has taken its place" in ran.err) == (status == "superseded")


@pytest.mark.parametrize(("source", "status"), [("agent", "pending"), ("human", "active")])
def test_a_note_that_came_in_forgotten_does_not_become_active(
    brim: Brim, source: str, status: str
) -> None:
    seed(brim, rule("b-1", status="forgotten", provenance=Provenance(source)))
    assert brim("rules", "restore", "b-1").code == 0
    assert stored(brim, "b-1").status == status


def test_several_are_forgotten_together_or_not_at_all(brim: Brim) -> None:
    seed(brim, rule("b-1"), rule("b-2"))
    refused(brim("rules", "remove", "b-1", "nothing", "b-2"), "'nothing'")
    assert stored(brim, "b-1").status == "active"
    found = brim("rules", "remove", "b-1", "b-2", "b-1", "--json").json
    assert [each["id"] for each in found["forgotten"]] == ["b-1", "b-2"]
    assert brim("rules", "remove", "b-1", "--json").json == {"forgotten": [], "unchanged": ["b-1"]}


def test_what_is_so_already_is_said_and_is_no_failure(brim: Brim) -> None:
    seed(brim, rule("b-1"))
    assert "not removed" in brim("rules", "restore", "b-1").out
    brim("rules", "remove", "b-1")
    assert "already" in brim("rules", "remove", "b-1").out
    assert [event.kind for event in events(brim, "b-1")] == ["learned", "forgotten"]


def test_a_project_behavior_is_forgotten_in_the_project(brim: Brim) -> None:
    seed(brim, rule("b-1"), scope="project")
    seed(brim, rule("b-2"))
    assert brim("rules", "remove", "b-1").code == 0
    assert stored(brim, "b-1", "project").status == "forgotten"
    assert stored(brim, "b-2").status == "active"


def test_a_damaged_file_is_left_as_it_is(brim: Brim) -> None:
    path = database(brim)
    path.write_bytes(b"no database at all" * 100)
    refused(brim("rules", "remove", "b-1"), str(path), "damaged")
    assert path.read_bytes() == b"no database at all" * 100


def test_a_newer_file_is_left_as_it_is(brim: Brim) -> None:
    seed(brim, rule("b-1"))
    connection = sqlite3.connect(database(brim))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    refused(brim("rules", "remove", "b-1"), "another version of brim")


@unprivileged
def test_a_read_only_file_is_said(brim: Brim) -> None:
    seed(brim, rule("b-1"))
    database(brim).chmod(0o400)
    ran = brim.shell(f'{AS_ANYONE}"$BRIM" rules remove b-1')
    refused(ran, "read-only")
    database(brim).chmod(0o600)
    assert stored(brim, "b-1").status == "active"
