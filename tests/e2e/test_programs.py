"""Nobody has to have the real programs: what is not there is left out, and one line says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e import programs


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "is_installed", lambda: False)


@pytest.mark.usefixtures("nothing_installed")
def test_what_is_left_out_is_said_in_one_line_with_the_command_that_brings_it() -> None:
    said = programs.left_out({"BRIM_E2E_CODEX": "/opt/codex"})
    assert said == "Left out: the end-to-end tests with Claude Code, Gemini CLI. `make e2e` installs and runs them."


@pytest.mark.usefixtures("nothing_installed")
def test_nothing_is_said_when_all_are_there() -> None:
    assert programs.left_out({f"BRIM_E2E_{name.upper()}": name for name in programs.INSTALLED}) == ""


@pytest.mark.usefixtures("nothing_installed")
def test_a_program_of_any_version_on_the_path_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "codex").touch(0o755)
    assert programs.program("codex", {"PATH": str(tmp_path)}) is None


def test_a_program_that_somebody_names_is_preferred() -> None:
    assert programs.program("codex", {"BRIM_E2E_CODEX": "/opt/codex"}) == "/opt/codex"


def test_what_was_installed_half_or_at_other_versions_is_not_there(tmp_path: Path) -> None:
    wanted, folder = tmp_path / "wanted", tmp_path / "folder"
    for each in (wanted, folder):
        each.mkdir()
    (wanted / "b.txt").write_text("two==2\n")
    (wanted / "a.json").write_text("one==1\n")
    assert not programs.is_installed(folder, wanted)
    (folder / ".installed").write_text("one==1\ntwo==2\n")
    assert programs.is_installed(folder, wanted)
    (wanted / "a.json").write_text("one==1.1\n")
    assert not programs.is_installed(folder, wanted)
