"""Which files are found: the agents' own, or those that somebody names, each once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brim.errors import InputError
from brim.sessions.session_files import named_files, own_files
from tests.sessions.window.transcripts import answer, write


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
    assert {file.slug for file in found if file.format == "claude-transcript"} == {
        "-home-user-shop"
    }
    assert len(own_files(environ, ["codex"])) == 1


def test_a_named_session_comes_with_its_sub_agents(tmp_path: Path) -> None:
    home(tmp_path)
    found = named_files([str(tmp_path / ".claude" / "projects" / "-home-user-shop" / "s-1.jsonl")])
    assert [Path(file.path).name for file in found] == ["s-1.jsonl", "agent-a.jsonl"]
    assert {file.slug for file in found} == {"-home-user-shop"}


@pytest.mark.parametrize(
    ("path", "slug"),
    [
        ("home/projects/shop/.claude/projects/-home-user-shop/s.jsonl", "-home-user-shop"),
        (
            "home/projects/shop/.claude/projects/-home-user-shop/s/subagents/agent-a.jsonl",
            "-home-user-shop",
        ),
        ("home/projects/logs/stream.jsonl", ""),
        ("home/chats/logs/s.jsonl", ""),
        ("home/chats/.gemini/tmp/shop/chats/session-1.jsonl", "shop"),
    ],
)
def test_a_project_is_named_by_its_folder_only_where_an_agent_keeps_it(
    tmp_path: Path, path: str, slug: str
) -> None:
    (found,) = named_files([str(write(tmp_path / path, answer()))])
    assert found.slug == slug


def test_a_folder_that_a_link_leads_to_has_its_own_name(tmp_path: Path) -> None:
    for name in ("a", "b", "m", "y", "z"):
        (tmp_path / name).symlink_to(tmp_path / "real")
    write(tmp_path / "real" / "s.jsonl", answer())
    assert names(tmp_path, [*named_files([str(tmp_path)])]) == ["real/s.jsonl"]


def test_a_folder_that_cannot_be_looked_into_is_told(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", answer())
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(20):  # deeper than a path can name: root, too, is refused
            os.mkdir("d" * 250, dir_fd=here)
            here, above = os.open("d" * 250, os.O_RDONLY, dir_fd=here), here
            os.close(above)
    finally:
        os.close(here)
    told: list[str] = []
    assert len(named_files([str(tmp_path)], on_problem=told.append)) == 1
    assert len(told) == 1
    assert "cannot be looked into" in told[0]
    assert own_files({"HOME": str(tmp_path / "missing")}, on_problem=told.append) == []
    assert len(told) == 1


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
