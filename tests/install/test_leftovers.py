"""``brim uninstall`` says what stays, and with ``--purge`` leaves nothing of brim behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from brim.memory.folder import make_folder
from tests.cli.conftest import Brim
from tests.install.installed import THEIRS, alone, file_of, tree, use

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def install_everything(brim: Brim) -> None:
    """Install brim, and let it write rules, a limit and memory in a project."""
    git(brim.cwd, "init", "-q")
    use(brim, "claude", text=json.dumps(THEIRS, indent=4))
    alone(brim, "init")
    brim("learn", "Use uv, not pip", "--project")
    brim("learn", "Write short sentences", "--user")
    brim("limit", "5/day")
    secret = (brim.home / ".brim/secret").read_text().strip()
    make_folder(str(brim.cwd / ".context"), secret)


def everything(brim: Brim) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
    in_project = {
        name: data for name, data in tree(brim.cwd).items() if not name.startswith(".git")
    }
    return tree(brim.home), in_project


def test_purging_leaves_both_folders_as_they_were(brim: Brim) -> None:
    use(brim, "claude", text=json.dumps(THEIRS, indent=4))
    before = everything(brim)
    install_everything(brim)
    ran = alone(brim, "uninstall", "--purge", "--yes")
    assert ran.code == 0, ran.err
    assert everything(brim) == before
    for name in ("~/.brim", ".brim", ".context"):
        assert f"removed: {name}" in ran.out or f"/{name}\n" in ran.out


def test_purging_removes_the_copies_of_settings_that_were_changed_since(brim: Brim) -> None:
    install_everything(brim)
    changed = file_of(brim).read_text().replace("opus", "sonnet")
    file_of(brim).write_text(changed)
    (brim.home / ".claude/mine.bak").write_text("mine")
    assert alone(brim, "uninstall", "--purge", "--yes").code == 0
    assert json.loads(file_of(brim).read_text()) == {**THEIRS, "model": "sonnet"}
    assert sorted(tree(brim.home)) == [".claude", ".claude/mine.bak", ".claude/settings.json"]


def test_purging_asks_first(brim: Brim) -> None:
    install_everything(brim)
    before = everything(brim)
    ran = alone(brim, "uninstall", "--purge")
    assert ran.code == 1
    assert "to be removed: ~/.brim\n" in ran.out
    assert "nothing was changed" in ran.err
    assert everything(brim) == before


def test_a_dry_run_lists_what_purging_would_remove(brim: Brim) -> None:
    install_everything(brim)
    before = everything(brim)
    ran = alone(brim, "uninstall", "--purge", "--dry-run")
    assert "would be removed: ~/.brim\n" in ran.out
    assert everything(brim) == before


def test_rules_that_git_tracks_stay(brim: Brim) -> None:
    install_everything(brim)
    git(brim.cwd, "add", ".brim")
    ran = alone(brim, "uninstall", "--purge", "--yes")
    assert ran.code == 0
    assert set(tree(brim.cwd / ".brim")) == {".gitignore", "rules.toml"}
    assert "git tracks files in it" in ran.out


def test_memory_that_brim_did_not_make_stays(brim: Brim) -> None:
    install_everything(brim)
    other = brim.cwd / ".context"
    (other / ".brim-scratch").unlink()
    (other / "notes.md").write_text("mine")
    alone(brim, "uninstall", "--purge", "--yes")
    assert (other / "notes.md").read_text() == "mine"


def test_a_link_is_not_followed(brim: Brim) -> None:
    install_everything(brim)
    elsewhere = brim.home.parent / "elsewhere"
    (brim.cwd / ".brim").rename(elsewhere)
    (brim.cwd / ".brim").symlink_to(elsewhere)
    alone(brim, "uninstall", "--purge", "--yes")
    assert (elsewhere / "rules.toml").exists()


def test_a_mistake_in_the_settings_hides_no_leftovers(brim: Brim) -> None:
    install_everything(brim)
    (brim.home / ".brim/config.yaml").write_text("limits: [")
    assert alone(brim, "uninstall", "--purge", "--yes", cwd=brim.home).code == 0
    assert not (brim.cwd / ".brim").exists()
    assert not (brim.home / ".brim").exists()


def test_purging_takes_no_agent(brim: Brim) -> None:
    install_everything(brim)
    assert alone(brim, "uninstall", "--purge", "--yes", "--agent", "claude").code == 2
    assert (brim.home / ".brim/bin/hook").exists()


def test_settings_that_cannot_be_read_keep_everything(brim: Brim) -> None:
    install_everything(brim)
    file_of(brim).write_text("{ broken")
    assert alone(brim, "uninstall", "--purge", "--yes").code == 2
    assert (brim.home / ".brim/rules.toml").exists()


def test_uninstalling_says_what_stays(brim: Brim) -> None:
    install_everything(brim)
    ran = alone(brim, "uninstall")
    assert "your rules, limits and records stay in ~/.brim" in ran.err
    assert "stay in 2 places" in ran.err
    assert "brim uninstall --purge" in ran.err
