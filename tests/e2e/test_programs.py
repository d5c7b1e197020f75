"""Nobody has to have the real programs: what is not there is left out, and one line says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e import programs


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(programs, "INSTALLED", {name: tmp_path / name for name in programs.INSTALLED})


@pytest.mark.usefixtures("nothing_installed")
def test_what_is_left_out_is_said_in_one_line_with_the_command_that_brings_it() -> None:
    said = programs.left_out({"PATH": "/nonexistent", "BRIM_E2E_CODEX": "/opt/codex"})
    assert said == "Left out: the end-to-end tests with Claude Code, Gemini CLI. `make e2e` installs and runs them."


@pytest.mark.usefixtures("nothing_installed")
def test_nothing_is_said_when_all_are_there() -> None:
    assert programs.left_out({"PATH": "", **{f"BRIM_E2E_{name.upper()}": name for name in programs.INSTALLED}}) == ""


def test_the_pinned_program_is_preferred(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "codex").touch()
    monkeypatch.setattr(programs, "INSTALLED", {"codex": tmp_path / "codex"})
    assert programs.program("codex", {"PATH": "", "BRIM_E2E_CODEX": "/opt/codex"}) == str(tmp_path / "codex")
