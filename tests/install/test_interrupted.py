"""Killed or without room at any of its changes, ``init`` and ``uninstall`` leave settings whole and
a true word."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Brim
from tests.install.faults import litter, run_faulty, run_sound
from tests.install.installed import FILES, tree, use

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")

INIT = ("init", *(word for agent in FILES for word in ("--agent", agent)))
CLAUDE = '{\n  "model": "opus",\n  "statusLine": {"type": "command", "command": "date"}\n}\n'
BRIMS = re.compile(
    r"\.brim(/(\.gitignore|brim\.db(-wal|-shm)?|bin|bin/hook|bin/statusline|installed\.lock|secret(\.lock)?))?"
)


def prepared(root: Path) -> Brim:
    """Return a home with settings of two agents, and a third that has none yet."""
    root.mkdir()
    brim = Brim(root)
    use(brim, "claude", text=CLAUDE)
    use(brim, "gemini", text='{"theme": "dark"}\n')
    use(brim, "codex")
    return brim


def settings(brim: Brim) -> dict[str, str | None]:
    """Return the settings of each agent, with the same home everywhere."""
    files = {agent: brim.home / name for agent, name in FILES.items()}
    home = str(brim.home)
    return {
        agent: path.read_text().replace(home, "~") if path.exists() else None
        for agent, path in files.items()
    }


def strange(brim: Brim, before: dict[str, bytes | None]) -> list[str]:
    """Return what is new in the home and neither settings nor what belongs to brim."""
    return [name for name in tree(brim.home) if name not in before and not BRIMS.fullmatch(name)]


@pytest.mark.parametrize("words", [INIT, ("uninstall",)], ids=["init", "uninstall"])
@pytest.mark.parametrize("how", ["kill", "full", "small"])
def test_whenever_it_ends_settings_are_whole_and_running_it_again_repairs(
    tmp_path: Path, words: tuple[str, ...], how: str
) -> None:
    model = prepared(tmp_path / "model")
    old, empty = settings(model), tree(model.home)
    last = run_faulty(model, "none", 0, *INIT).changes
    new = settings(model)
    if words != INIT:
        last = run_faulty(model, "none", 0, *words).changes
    assert last > 20
    # Some are enough to hit each kind of step: those of three agents are the same.
    places = {"kill": range(1, last + 1, 11), "full": range(2, last + 1, 17), "small": (0, 300)}[
        how
    ]
    for at in places:
        brim = prepared(tmp_path / f"at{at}")
        if words != INIT:
            assert run_sound(brim, *INIT) == 0
        before = tree(brim.home)
        ran = run_faulty(brim, how, at, *words)
        found = settings(brim)
        assert all(text in (old[agent], new[agent]) for agent, text in found.items()), at
        changed = [
            agent for agent, text in found.items() if text != (old if words == INIT else new)[agent]
        ]
        if how != "kill":
            assert litter(brim.home) == [], at
            assert ran.code == 0 or not changed or "nothing was changed" not in ran.err, ran.err
            assert ran.code == 0 or all(FILES[agent] in ran.err for agent in changed), ran.err
            backups = [name for name in strange(brim, before) if name.endswith(".bak")]
            assert {name.removesuffix(".bak") for name in backups} <= {
                FILES[agent] for agent in changed
            }, at
        for path in brim.home.rglob("*.tmp"):  # as if it had been a while
            os.utime(path, (0, 0))
        assert run_sound(brim, *words) == 0, at
        assert settings(brim) == (new if words == INIT else old), at
        assert run_sound(brim, "uninstall") == 0, at
        assert settings(brim) == old
        assert strange(brim, empty) == [], at
