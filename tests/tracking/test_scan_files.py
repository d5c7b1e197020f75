"""Which files are found: the agents' own, or those that somebody names, each once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brim.errors import InputError
from brim.tracking.readers.scan_files import named_files, own_files
from tests.tracking.transcripts import answer, write


def names(root: Path, files: list[object]) -> list[str]:
    return [os.path.relpath(str(file.path), root) for file in files]  # type: ignore[attr-defined]


def home(root: Path) -> dict[str, str]:
    for name in (
        ".claude/projects/-home-user-shop/s-1.jsonl",
        ".claude/projects/-home-user-shop/s-1/subagents/agent-a.jsonl",
        ".claude/projects/-home-user-shop/s-1/notes.txt",
        ".config/claude/projects/-home-user-shop/s-2.jsonl",
        ".codex/sessions/2026/01/05/rollout-x.jsonl",
        ".codex/sessions/2026/01/05/other.jsonl",
        ".gemini/tmp/shop/chats/session-1.jsonl",
        ".gemini/tmp/shop/logs.jsonl",
    ):
        write(root / name, answer())
    return {"HOME": str(root)}


def test_the_folders_of_all_agents_are_searched(tmp_path: Path) -> None:
    assert names(tmp_path, [*own_files(home(tmp_path))]) == [
        ".claude/projects/-home-user-shop/s-1.jsonl",
        ".claude/projects/-home-user-shop/s-1/subagents/agent-a.jsonl",
        ".codex/sessions/2026/01/05/rollout-x.jsonl",
        ".config/claude/projects/-home-user-shop/s-2.jsonl",
        ".gemini/tmp/shop/chats/session-1.jsonl",
    ]


def test_variables_name_other_folders(tmp_path: Path) -> None:
    home(tmp_path)
    environ = {
        "HOME": str(tmp_path / "elsewhere"),
        "CLAUDE_CONFIG_DIR": f"{tmp_path / '.claude'}, {tmp_path / '.config' / 'claude'},",
        "CODEX_HOME": str(tmp_path / ".codex"),
    }
    found = own_files(environ)
    assert len(found) == 4
    assert {file.slug for file in found if file.format == "claude-transcript"} == {"-home-user-shop"}
    assert len(own_files(environ, ["codex"])) == 1


def test_a_named_session_comes_with_its_sub_agents(tmp_path: Path) -> None:
    home(tmp_path)
    found = named_files([str(tmp_path / ".claude" / "projects" / "-home-user-shop" / "s-1.jsonl")])
    assert [Path(file.path).name for file in found] == ["s-1.jsonl", "agent-a.jsonl"]
    assert {file.slug for file in found} == {"-home-user-shop"}


def test_a_file_is_found_once_whatever_leads_to_it(tmp_path: Path) -> None:
    home(tmp_path)
    folder = tmp_path / ".claude"
    (folder / "projects" / "again").symlink_to(folder / "projects" / "-home-user-shop")
    (folder / "projects" / "round").symlink_to(folder / "projects")
    assert len(named_files([str(folder), str(folder / "projects"), str(folder)])) == 2


@pytest.mark.parametrize("name", ["missing", "zero\0byte", "/dev/null"])
def test_what_is_named_and_is_no_file_is_an_error(name: str) -> None:
    with pytest.raises(InputError, match="give a session's file"):
        named_files([name])
