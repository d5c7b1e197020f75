"""Copies of settings: one of what was there before, another if somebody changed it since, and none
too many."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.conftest import COMMAND, Brim
from tests.install.installed import THEIRS, alone, events, file_of, tree, use

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")

TEXT = json.dumps(THEIRS, indent=2)


def backups(brim: Brim) -> dict[str, bytes | None]:
    return {name: data for name, data in tree(brim.home).items() if ".bak" in name}


def test_installing_in_another_way_needs_no_second_copy(brim: Brim) -> None:
    use(brim, "claude", text=TEXT)
    for hooks in ("all", "injection-only", "all"):
        alone(brim, "init", "--hooks", hooks)
    assert backups(brim) == {".claude/settings.json.bak": TEXT.encode()}


def test_the_copy_goes_when_the_file_is_as_it_was(brim: Brim) -> None:
    use(brim, "claude", text=TEXT)
    alone(brim, "init")
    assert alone(brim, "uninstall", "--json").json["agents"][0]["backup"] is None
    assert file_of(brim).read_text() == TEXT
    assert backups(brim) == {}


def test_what_was_changed_since_is_copied_and_the_first_copy_stays(brim: Brim) -> None:
    use(brim, "claude", text=TEXT)
    alone(brim, "init")
    changed = file_of(brim).read_text().replace("opus", "sonnet")
    file_of(brim).write_text(changed)
    alone(brim, "uninstall")
    assert file_of(brim).read_text() == TEXT.replace("opus", "sonnet")
    assert list(backups(brim).values()) == [TEXT.encode(), changed.encode()]


def test_a_file_that_brim_made_is_never_copied(brim: Brim) -> None:
    for hooks in ("all", "injection-only"):
        alone(brim, "init", "--agent", "all", "--hooks", hooks)
    assert backups(brim) == {}
    alone(brim, "uninstall")
    assert {name.split("/")[0] for name in tree(brim.home)} == {".brim"}


def test_a_copy_that_somebody_made_is_not_brims(brim: Brim) -> None:
    use(brim, "claude", text=TEXT)
    (brim.home / ".claude/settings.json.bak").write_text(TEXT)
    alone(brim, "init")
    alone(brim, "uninstall")
    assert backups(brim) == {".claude/settings.json.bak": TEXT.encode()}


def test_inits_at_the_same_time_all_come_about(brim: Brim) -> None:
    use(brim, "claude", text=TEXT)
    projects = [brim.home / f"project-{number}" for number in range(3)]
    for project in projects:
        (project / ".git").mkdir(parents=True)
    command = [COMMAND, "init", "--agent", "gemini"]
    running = [
        subprocess.Popen(
            [*command, "--project"], env=brim.environ, cwd=project, stderr=subprocess.DEVNULL
        )
        for project in projects
    ]
    running += [
        brim.start("init", "--agent", "claude", fork=True, stderr=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [each.wait() for each in running] == [0] * 5
    records = json.loads((brim.home / ".brim/installed.json").read_text())["files"]
    assert len(records) == 5  # with Claude Code's /learn
    assert len(events(file_of(brim))["SessionStart"]) == 1
    assert list(backups(brim)) == [".claude/settings.json.bak"]
    alone(brim, "uninstall")
    assert file_of(brim).read_text() == TEXT
    assert not any((project / ".gemini").exists() for project in projects)


def test_what_a_killed_process_left_behind_goes_with_the_next_change(brim: Brim) -> None:
    use(brim, "claude", text=TEXT)
    (brim.home / ".claude/.brim-0123456789abcdef.tmp").write_text("{")
    alone(brim, "init")
    found = {path.name for path in (brim.home / ".claude").iterdir()}
    assert found == {"commands", "settings.json", "settings.json.bak"}
