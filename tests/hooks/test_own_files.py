"""What an agent reads on its own isn't told again when its session starts."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from brim.install.rule_files import read_rule_files

from brim.store.imports import RulesReader
from brim.workspace import Workspace
from tests.hooks.injected import FRAME, NOW, Agent, rule

CLAUDE = "- Never force-push.\n- Run the tests with make check.\n"


def import_rules(agent: Agent, *paths: str, scope: str = "user") -> None:
    """Import the files *paths*, or all that are found, as ``brim rules import`` does."""
    workspace = Workspace(agent.environ, str(agent.project), who="person", now=NOW)
    reader = RulesReader(scope, NOW)
    read_rule_files(workspace, [str(agent.project / path) for path in paths], reader)
    with workspace.open() as scopes:
        if scope == "project":
            workspace.begin_project()
        with scopes.writing("user", scope):
            reader.plan(scopes).store(scopes, now=NOW, source="", event="learned")


def write(agent: Agent, name: str, text: str) -> Path:
    path = agent.project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def told(agent: Agent, how: str = "startup") -> bool:
    return "force-push" in agent.start(how).text


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("how", ["startup", "clear", "compact", "resume"])
def test_what_stands_in_a_file_that_is_loaded_is_left_out_at_every_beginning(
    tmp_path: Path, scope: str, how: str
) -> None:
    agent = Agent(tmp_path)
    write(agent, "CLAUDE.md", CLAUDE)
    import_rules(agent, "CLAUDE.md", scope=scope)
    agent.learn(rule("other", "Answer in English."))
    assert agent.start(how).text == f"{FRAME}## Directives\n- Answer in English.\n"


@pytest.mark.parametrize(
    ("name", "agents"),
    [
        ("CLAUDE.md", "claude"),
        (".claude/CLAUDE.md", "claude"),
        ("CLAUDE.local.md", "claude"),
        (".claude/rules/deep/git.md", "claude"),
        ("AGENTS.md", "claude codex"),
        ("AGENTS.override.md", "codex"),
        ("GEMINI.md", "gemini"),
        (".cursorrules", ""),
        (".github/copilot-instructions.md", ""),
        ("notes.md", ""),
    ],
)
@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])
def test_each_agent_loads_its_own_files(
    tmp_path: Path, name: str, agents: str, client: str
) -> None:
    agent = Agent(tmp_path, agent=client)
    write(agent, name, CLAUDE)
    import_rules(agent, name)
    heard = "force-push" in (
        agent.start().text + agent.prompt("Hello").text
    )  # Gemini CLI hears it with the prompt
    assert heard is (client not in agents.split())


def test_claude_code_leaves_agents_md_alone_if_it_has_a_file_of_its_own(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    write(agent, "AGENTS.md", CLAUDE)
    import_rules(agent, "AGENTS.md")
    assert not told(agent)
    write(agent, "CLAUDE.md", "- Something else.\n")
    assert told(agent)


def test_codex_cuts_off_a_long_file_and_prefers_its_override(tmp_path: Path) -> None:
    agent = Agent(tmp_path, agent="codex")
    write(agent, "AGENTS.md", CLAUDE + "filler\n" * 5_000)
    import_rules(agent, "AGENTS.md")
    assert told(agent)
    write(agent, "AGENTS.md", CLAUDE)
    import_rules(agent, "AGENTS.md")
    assert not told(agent)
    write(agent, "AGENTS.override.md", "- Something else.\n")
    assert told(agent)


def test_gemini_cli_may_call_its_files_otherwise(tmp_path: Path) -> None:
    agent = Agent(tmp_path, agent="gemini")
    write(agent, ".gemini/settings.json", json.dumps({"context": {"fileName": ["AGENTS.md"]}}))
    write(agent, "AGENTS.md", CLAUDE)
    import_rules(agent, "AGENTS.md")
    assert "force-push" not in agent.start().text + agent.prompt("Hello").text


def test_the_users_own_files_are_loaded_in_every_project(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    path = agent.home / ".claude" / "CLAUDE.md"
    path.parent.mkdir()
    path.write_text(CLAUDE)
    import_rules(agent)
    assert not told(agent)


def test_what_is_imported_counts_where_the_session_began_in_the_files_folder(
    tmp_path: Path,
) -> None:
    agent = Agent(tmp_path)
    write(agent, "CLAUDE.md", "@docs/git.md\n")
    write(agent, "docs/git.md", CLAUDE)
    import_rules(agent, "CLAUDE.md", scope="project")
    assert not told(agent)
    assert "force-push" in agent.start(cwd=str(agent.project / "docs")).text


def test_rules_for_a_folder_or_some_files_are_told(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    write(agent, "api/CLAUDE.md", "- Check the session in every handler.\n")
    write(
        agent,
        ".claude/rules/sql.md",
        "---\npaths: ['**/*.sql']\n---\n- Write keywords in capitals.\n",
    )
    import_rules(agent, scope="project")
    agent.start()
    assert (
        "Check the session"
        in agent.tool("Edit", file_path=str(agent.project / "api" / "app.py")).text
    )
    assert "in capitals" in agent.tool("Edit", file_path=str(agent.project / "db" / "x.sql")).text


def test_a_file_that_changed_still_has_some_of_its_rules(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    path = write(agent, "CLAUDE.md", CLAUDE)
    import_rules(agent, "CLAUDE.md")
    path.write_text("- Something new.\n- Run the tests with make check.\n")
    assert agent.start().text == f"{FRAME}## Constraints\n- Never force-push.\n"
    os.utime(path.parent)
    path.unlink()
    assert told(agent)


def test_they_are_told_when_they_match_and_only_then(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    write(agent, "CLAUDE.md", CLAUDE)
    import_rules(agent, "CLAUDE.md")
    agent.start()
    assert agent.prompt("Please write a poem").text == ""
    assert "make check" in agent.prompt("Please run the tests").text


def test_a_project_cannot_hide_a_rule_of_the_users(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    write(agent, "CLAUDE.md", CLAUDE)
    import_rules(agent, "CLAUDE.md", scope="project")
    assert not told(agent)
    other = Agent(tmp_path / "other")
    write(other, "NOTES.md", CLAUDE)
    import_rules(other, "NOTES.md")  # the same rule, of the user's own
    os.rename(agent.project / "CLAUDE.md", other.project / "CLAUDE.md")
    import_rules(other, "CLAUDE.md", scope="project")
    assert told(other)


@pytest.mark.parametrize(
    "value", ["", "{}", "[1]", "[[1, 2, 3, 4]]", '[["x", [1, 2], [["claude"]], ["a"]]]']
)
def test_a_note_that_brim_did_not_write_hides_nothing(tmp_path: Path, value: str) -> None:
    import sqlite3

    agent = Agent(tmp_path)
    write(agent, "CLAUDE.md", CLAUDE)
    import_rules(agent, "CLAUDE.md")
    with sqlite3.connect(agent.home / ".brim" / "brim.db") as database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'rule_files'", (value,))
    database.close()
    assert told(agent)
