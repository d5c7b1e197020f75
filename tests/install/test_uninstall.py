"""``brim uninstall`` gives every file back as it was."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.conftest import Brim
from tests.install.installed import THEIRS, alone, commands, file_of, tree, use

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")


def kept(brim: Brim) -> dict[str, bytes | None]:
    """Return what is in the home, without brim's own folder and without backups."""
    return {
        name: data
        for name, data in tree(brim.home).items()
        if not name.startswith(".brim") and ".bak" not in name
    }


def test_every_file_is_as_it_was(brim: Brim) -> None:
    use(brim, "claude", text=json.dumps(THEIRS, indent=4))
    use(brim, "codex")
    use(brim, "gemini", text='{\n\t// mine\n\t"ui": {}\n}\n')
    before = kept(brim)
    assert alone(brim, "init").code == 0
    assert kept(brim) != before
    ran = alone(brim, "uninstall")
    assert ran.code == 0
    assert kept(brim) == before
    assert not (brim.home / ".brim/bin").exists()
    assert not (brim.home / ".brim/installed.json").exists()


def test_folders_that_were_made_for_it_go_too(brim: Brim) -> None:
    alone(brim, "init", "--agent", "all")
    alone(brim, "uninstall")
    assert kept(brim) == {}


def test_what_was_learned_stays(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    brim("learn", "Use uv", "--user")
    alone(brim, "uninstall")
    assert "Use uv" in brim("rules", "list").out


def test_it_finds_projects_from_anywhere(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    alone(brim, "init", "--project", "--agent", "claude")
    assert (brim.cwd / ".claude/settings.local.json").exists()
    assert alone(brim, "uninstall", cwd=brim.home).code == 0
    assert not (brim.cwd / ".claude").exists()


def test_one_agent_alone_can_be_left(brim: Brim) -> None:
    alone(brim, "init", "--agent", "all")
    alone(brim, "uninstall", "--agent", "codex")
    assert not file_of(brim, "codex").exists()
    assert commands(file_of(brim))
    assert (brim.home / ".brim/bin/hook").exists()


def test_dry_run_changes_nothing(brim: Brim) -> None:
    use(brim, "claude", text=json.dumps(THEIRS, indent=2))
    alone(brim, "init")
    before = tree(brim.home)
    ran = alone(brim, "uninstall", "--dry-run")
    assert ran.code == 0
    assert "-        " in ran.out
    assert tree(brim.home) == before


def test_the_status_line_of_before_comes_back(brim: Brim) -> None:
    text = '{"statusLine": {"type": "command",   "command": "echo mine"}}'
    use(brim, "claude", text=text)
    alone(brim, "init")
    alone(brim, "uninstall")
    assert file_of(brim).read_text() == text
    assert not (brim.home / ".brim/statusline.json").exists()


def test_without_brims_folder_its_hooks_are_found(brim: Brim) -> None:
    import shutil

    use(brim, "claude", text=json.dumps(THEIRS))
    alone(brim, "init")
    shutil.rmtree(brim.home / ".brim")
    ran = alone(brim, "uninstall")
    assert ran.code == 0
    assert "stays" not in ran.err, "nothing is left to stay"
    assert json.loads(file_of(brim).read_text()) == THEIRS
    assert not (brim.home / ".brim").exists()


def test_where_nothing_is_nothing_is_done(brim: Brim) -> None:
    ran = alone(brim, "uninstall")
    assert (ran.code, ran.out) == (0, "")
    answer = alone(brim, "uninstall", "--json").json
    assert (answer["agents"], answer["broken"], answer["dry_run"]) == ([], [], False)
    assert not any(answer["leftovers"].values())
    assert tree(brim.home) == {}


def test_a_file_that_vanished_is_forgotten(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    file_of(brim).unlink()
    assert alone(brim, "uninstall").code == 0
    assert not (brim.home / ".brim/installed.json").exists()


def test_a_broken_file_does_not_keep_brim_in_the_others(brim: Brim) -> None:
    use(brim, "claude", "codex")
    alone(brim, "init")
    broken = file_of(brim).read_text() + "}"
    file_of(brim).write_text(broken)
    ran = alone(brim, "uninstall")
    assert ran.code == 2
    assert "settings.json" in ran.err
    assert file_of(brim).read_text() == broken
    assert not file_of(brim, "codex").exists()
    assert (brim.home / ".brim/bin/hook").exists()


def test_what_made_hooks_faster_goes_too(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    cache = brim.home / ".brim/cache"
    cache.mkdir(exist_ok=True)
    for name in ("startup-cpython-311.bin", "startup-cpython-312.bin"):
        (cache / name).write_bytes(b"")
    alone(brim, "uninstall")
    assert not list((brim.home / ".brim").glob("cache/*.bin"))


def test_a_server_that_somebody_set_is_named(brim: Brim) -> None:
    (brim.home / ".claude.json").write_text(
        '{"mcpServers": {"brim": {"command": "brim", "args": ["mcp"]}}}'
    )
    alone(brim, "init", "--agent", "claude")
    assert "claude mcp remove" in alone(brim, "uninstall").err


def test_a_folder_that_became_a_link_out_of_the_project_is_not_followed(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    alone(brim, "init", "--project", "--agent", "all")
    elsewhere = brim.home / "elsewhere"
    (brim.cwd / ".claude").rename(elsewhere)
    (brim.cwd / ".claude").symlink_to(elsewhere)
    before = tree(elsewhere)
    ran = alone(brim, "uninstall")
    assert ran.code == 2
    assert "outside of the project: remove the link" in ran.err
    assert tree(elsewhere) == before
    assert not (brim.cwd / ".gemini").exists()
    (brim.cwd / ".claude").unlink()
    assert alone(brim, "uninstall").code == 0
    assert not (brim.home / ".brim/installed.json").exists()
