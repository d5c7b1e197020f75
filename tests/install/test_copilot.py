"""GitHub Copilot CLI refuses every call whose hook fails: no hook of brim's can."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from brim.files import WINDOWS
from brim.install import diagnose, install, uninstall
from tests.hooks.hook_world import World

pytestmark = pytest.mark.skipif(WINDOWS, reason="what runs the line there isn't known")


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    install(world.environ, str(world.project), agents=["copilot"])
    return world


def hook_file(world: World) -> Path:
    return Path(world.environ["HOME"]) / ".copilot" / "hooks" / "brim.json"


def commands(world: World) -> list[str]:
    events = json.loads(hook_file(world).read_text())["hooks"]
    return [hook["command"] for groups in events.values() for hook in groups[0]["hooks"]]


def codes(world: World) -> set[int]:
    """Return the exit codes of all hooks, as a shell runs them."""
    return {
        subprocess.run(
            ["sh", "-c", command], input=b"{", env=world.environ, capture_output=True, check=False
        ).returncode
        for command in commands(world)
    }


def test_no_hook_fails_whatever_becomes_of_its_program(world: World) -> None:
    launcher = world.home / "bin" / "hook"
    assert codes(world) == {0}
    launcher.write_text("#!/bin/sh\nexit 3\n")
    assert codes(world) == {0}
    launcher.write_text("#!/no/such/interpreter\n")
    assert codes(world) == {0}
    launcher.chmod(0o600)
    assert codes(world) == {0}
    shutil.rmtree(world.home)
    assert codes(world) == {0}


def test_doctor_says_that_a_hook_may_fail_and_fixes_it(world: World) -> None:
    path = hook_file(world)
    installed = path.read_text()
    path.write_text(installed.replace(" || true", ""))
    findings = diagnose(world.environ, str(world.project)).findings
    (finding,) = [finding for finding in findings if finding.what == "Copilot CLI"]
    assert finding.state == "wrong"
    diagnose(world.environ, str(world.project), fix=True)
    assert path.read_text() == installed


def test_uninstalling_removes_the_file_and_nothing_else(world: World) -> None:
    own = hook_file(world).with_name("own.json")
    own.write_text("{}\n")
    assert uninstall(world.environ, str(world.project), agents=["copilot"]).exit_code == 0
    assert [path.name for path in own.parent.iterdir()] == ["own.json"]
    assert not (own.parent.parent / "skills" / "learn").exists()


def test_the_hooks_are_gone_before_their_program_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("brim.install.setup.remove_launchers", stop)
    with pytest.raises(KeyboardInterrupt):
        uninstall(world.environ, str(world.project), agents=["copilot"])
    assert not hook_file(world).exists()
    assert (world.home / "bin" / "hook").exists()
