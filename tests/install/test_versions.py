"""What ``brim doctor`` says about an agent's version, and about a brim that was replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brim.files import WINDOWS
from brim.install import diagnose, install
from brim.install.findings import Finding
from tests.hooks.hook_world import RULE, World

pytestmark = pytest.mark.skipif(WINDOWS, reason="the program here is a shell script")


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.environ["PATH"] = f"{tmp_path / 'programs'}:/usr/bin:/bin"
    install(world.environ, str(world.project), agents=["codex"])
    return world


def put_program(world: World, name: str, script: str) -> None:
    """Put a program on the PATH."""
    path = world.folder / "programs" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)


def works(world: World) -> Finding:
    findings = diagnose(world.environ, str(world.project)).findings
    (finding,) = [finding for finding in findings if finding.what == "Works"]
    return finding


def test_it_says_the_version_what_works_and_what_happens_instead(world: World) -> None:
    put_program(world, "codex", "echo codex-cli 0.169.0")
    finding = works(world)
    assert (finding.state, finding.facts["version"]) == ("ok", "0.169.0")
    expected = "Codex 0.169.0: add text, refuse a call, refuse a prompt, usage"
    assert finding.text == expected
    assert any(line.startswith("end a turn: no; every further") for line in finding.facts["lines"])


@pytest.mark.parametrize(
    ("version", "words"), [("0.170.0", "newer than 0.169.0"), ("0.9.0", "older than 0.166.0")]
)
def test_a_version_that_brim_was_not_tested_with_is_said(
    world: World, version: str, words: str
) -> None:
    put_program(world, "codex", f"echo codex-cli {version}")
    finding = works(world)
    assert finding.state == "off"
    assert words in finding.text
    message: dict[str, Any] = {"session_id": "s", "prompt": "go on", "cwd": str(world.project)}
    assert RULE in world.call("UserPromptSubmit", message, "codex")


@pytest.mark.parametrize("script", ["exit 1", "echo no number", "kill -9 $$"])
def test_a_program_that_does_not_say_its_version_is_no_fault(world: World, script: str) -> None:
    put_program(world, "codex", script)
    assert works(world).text.startswith("Codex: add text")


def test_a_program_that_is_not_there_is_no_fault(world: World) -> None:
    assert works(world).state == "ok"
