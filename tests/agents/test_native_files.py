"""Which files with rules each agent loads by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brim.agents import agent_named, unloaded_rule_files
from brim.rules.native import nested_files, root_files

USER_FILES = (".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md")


def write(folder: Path, path: str, text: str = "- Use uv.\n") -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def loaded(
    folder: Path, agent: str, *, cwd: str = "", touched: tuple[str, ...] = (), **environ: str
) -> list[str]:
    """Return the files of the project in *folder* that *agent* loads."""
    project = folder / "shop"
    environ = {"HOME": str(folder / "home"), **environ}
    loading = agent_named(agent).file_loading(environ, str(project), str(project / cwd))
    files = [*root_files(str(project)), *nested_files(str(project), touched)]
    paths = [file.path for file in files if file.is_loaded_by(loading)]
    return [str(Path(path).relative_to(project)) for path in paths]


@pytest.mark.parametrize(
    ("name", "agents"),
    [
        ("CLAUDE.md", "claude opencode"),
        (".claude/CLAUDE.md", "claude"),
        ("CLAUDE.local.md", "claude"),
        (".claude/rules/deep/git.md", "claude"),
        ("AGENTS.md", "claude codex opencode"),
        ("AGENTS.override.md", "codex"),
        ("GEMINI.md", "gemini"),
        ("QWEN.md", ""),
        (".cursorrules", ""),
        (".github/copilot-instructions.md", ""),
    ],
)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
def test_each_agent_loads_its_own_files(tmp_path: Path, name: str, agents: str, agent: str) -> None:
    write(tmp_path / "shop", name)
    expected = [name] if agent in agents.split() else []
    assert loaded(tmp_path, agent) == expected


def test_a_file_can_hide_another_one(tmp_path: Path) -> None:
    write(tmp_path / "shop", "AGENTS.md")
    write(tmp_path / "shop", ".claude/CLAUDE.md")
    assert loaded(tmp_path, "claude") == [".claude/CLAUDE.md"]
    write(tmp_path / "shop", "AGENTS.override.md")
    assert loaded(tmp_path, "codex") == ["AGENTS.override.md"]
    write(tmp_path / "shop", "CLAUDE.md")
    assert loaded(tmp_path, "opencode") == ["AGENTS.md"]


def test_codex_cuts_off_a_long_file(tmp_path: Path) -> None:
    write(tmp_path / "shop", "AGENTS.md", "- Use uv.\n" * 4_000)
    assert loaded(tmp_path, "codex") == []
    assert loaded(tmp_path, "claude") == ["AGENTS.md"]


def test_codex_loads_nested_files_above_its_working_folder_only(tmp_path: Path) -> None:
    for path in ("api/AGENTS.md", "web/AGENTS.md"):
        write(tmp_path / "shop", path)
    touched = ("api/v1/x.py", "web/x.ts")
    assert loaded(tmp_path, "codex", touched=touched) == []
    (tmp_path / "shop" / "api" / "v1").mkdir()
    assert loaded(tmp_path, "codex", cwd="api/v1", touched=touched) == ["api/AGENTS.md"]
    assert loaded(tmp_path, "claude", touched=touched) == ["api/AGENTS.md", "web/AGENTS.md"]


@pytest.mark.parametrize("place", ["home/.gemini/settings.json", "shop/.gemini/settings.json"])
@pytest.mark.parametrize("names", ["AGENTS.md", ["AGENTS.md", "X.md"]])
def test_gemini_cli_may_call_its_files_otherwise(tmp_path: Path, place: str, names: object) -> None:
    write(tmp_path, place, json.dumps({"context": {"fileName": names}}))
    write(tmp_path / "shop", "AGENTS.md")
    assert loaded(tmp_path, "gemini") == ["AGENTS.md"]


@pytest.mark.parametrize("settings", ["", "{", "[]", "null", '{"context": 3}'])
def test_settings_that_cannot_be_read_change_nothing(tmp_path: Path, settings: str) -> None:
    write(tmp_path, "home/.gemini/settings.json", settings)
    write(tmp_path, "home/.claude/settings.json", settings)
    for name in ("GEMINI.md", "CLAUDE.md"):
        write(tmp_path / "shop", name)
    assert loaded(tmp_path, "gemini") == ["GEMINI.md"]
    assert loaded(tmp_path, "claude") == ["CLAUDE.md"]


def test_claude_code_may_be_told_to_leave_files_out(tmp_path: Path) -> None:
    write(tmp_path, "home/.claude/settings.json", '{"claudeMdExcludes": ["**/CLAUDE.md"]}')
    write(tmp_path / "shop", "CLAUDE.md")
    assert loaded(tmp_path, "claude") == []


def test_each_agent_loads_its_users_file_and_not_those_of_others(tmp_path: Path) -> None:
    paths = [str(write(tmp_path, path)) for path in USER_FILES]
    environ = {"HOME": str(tmp_path)}
    for agent, own in zip(("claude", "codex", "gemini"), paths, strict=True):
        others = [path for path in paths if path != own]
        assert unloaded_rule_files(agent_named(agent), environ) == others
    # opencode takes Claude Code's file while it has none of its own.
    assert unloaded_rule_files(agent_named("opencode"), environ) == paths[1:]
    write(tmp_path, ".config/opencode/AGENTS.md")
    assert unloaded_rule_files(agent_named("opencode"), environ) == paths


def test_a_users_file_can_be_elsewhere_or_a_link(tmp_path: Path) -> None:
    own = write(tmp_path, "elsewhere/CLAUDE.md")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "AGENTS.md").symlink_to(own)
    environ = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert unloaded_rule_files(agent_named("claude"), environ) == []
    assert unloaded_rule_files(agent_named("codex"), environ) == []
