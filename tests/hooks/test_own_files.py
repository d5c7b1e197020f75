"""What an agent reads on its own isn't told again; what it doesn't read is told from the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hooks.injected import Agent, rule, told

CLAUDE = "- Never force-push.\n- Run the tests with make check.\n"
ENGLISH = rule("english", "Answer in English.")


@pytest.fixture(params=["claude", "codex", "gemini", "opencode"])
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def trusting(tmp_path: Path, agent: str = "claude") -> Agent:
    """Return an agent in a project that its user trusts."""
    at_work = Agent(tmp_path, agent=agent)
    at_work.trust()
    return at_work


def write(agent: Agent, name: str, text: str = CLAUDE) -> Path:
    path = agent.project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def hears(agent: Agent, text: str = "force-push") -> bool:
    """Whether a new session is told *text*: Gemini CLI with its first prompt."""
    return text in agent.start().text + agent.prompt("Hello").text


@pytest.mark.parametrize("how", ["startup", "clear", "compact", "resume"])
def test_what_stands_in_a_file_that_is_loaded_is_left_out_at_every_beginning(
    tmp_path: Path, how: str
) -> None:
    agent = trusting(tmp_path)
    write(agent, "CLAUDE.md")
    agent.learn(ENGLISH)
    assert agent.start(how).text == told(ENGLISH)


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
        (".cursorrules", ""),
        (".github/copilot-instructions.md", ""),
    ],
)
def test_agents_that_do_not_load_a_file_are_told_its_rules(
    tmp_path: Path, name: str, agents: str, client: str
) -> None:
    agent = trusting(tmp_path, client)
    write(agent, name)
    assert hears(agent) is (client not in agents.split())


def test_the_files_of_a_project_that_nobody_trusts_are_not_told(
    tmp_path: Path, client: str
) -> None:
    agent = Agent(tmp_path, agent=client)
    for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md"):
        write(agent, name)
    assert not hears(agent)


@pytest.mark.parametrize(
    ("path", "loaded_by"),
    [
        (".claude/CLAUDE.md", "claude opencode"),
        (".codex/AGENTS.md", "codex"),
        (".gemini/GEMINI.md", "gemini"),
        (".config/opencode/AGENTS.md", "opencode"),
    ],
)
def test_the_users_own_files_are_told_to_other_agents_in_every_project(
    tmp_path: Path, path: str, loaded_by: str, client: str
) -> None:
    agent = Agent(tmp_path, agent=client)
    file = agent.home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CLAUDE)
    assert hears(agent) is (client not in loaded_by.split())


def test_gemini_cli_may_call_its_files_otherwise(tmp_path: Path) -> None:
    agent = trusting(tmp_path, "gemini")
    write(agent, "AGENTS.md")
    assert hears(agent)
    other = trusting(tmp_path / "other", "gemini")
    write(other, ".gemini/settings.json", json.dumps({"context": {"fileName": ["AGENTS.md"]}}))
    write(other, "AGENTS.md")
    assert not hears(other)


def test_rules_of_a_folder_and_for_some_files_are_told_where_they_apply(tmp_path: Path) -> None:
    agent = trusting(tmp_path)
    agent.configure("token_budget: {default: 0}\n")
    write(agent, "api/AGENTS.md", "- Check the session in every handler.\n")
    write(agent, "web/AGENTS.md", "- Check the colors in every page.\n")
    write(agent, "api/CLAUDE.md", "- Claude Code reads this itself.\n")
    write(agent, ".cursor/rules/sql.mdc", "---\nglobs: '**/*.sql'\n---\n- Use capital keywords.\n")
    api = agent.edit("api/app.py").text
    assert api == told(rule("session", "Check the session in every handler."))
    assert agent.edit("db/x.sql").text == told(rule("sql", "Use capital keywords."))
    assert not agent.edit("src/app.py")


def test_a_nested_file_is_told_at_the_start_of_a_session_in_its_folder(tmp_path: Path) -> None:
    agent = trusting(tmp_path)
    write(agent, "api/AGENTS.md", "- Check the session in every handler.\n")
    assert not agent.start().text
    in_folder = agent.start(cwd=str(agent.project / "api"))
    assert not in_folder.text, "Claude Code loads it: there is no CLAUDE.md beside it"
    write(agent, "api/CLAUDE.md", "- Something else.\n")
    in_folder = agent.start(cwd=str(agent.project / "api"))
    assert in_folder.text == told(rule("session", "Check the session in every handler."))


def test_a_file_that_changed_is_told_as_it_is_now(tmp_path: Path) -> None:
    agent = trusting(tmp_path)
    path = write(agent, "GEMINI.md", "- Never force-push.\n")
    assert agent.start().text == told(rule("push", "Never force-push."))
    path.write_text("- Never amend.\n")
    assert agent.start().text == told(rule("amend", "Never amend."))
    path.unlink()
    assert not agent.start().text


def test_a_link_to_a_loaded_file_is_not_told(tmp_path: Path) -> None:
    agent = trusting(tmp_path, "codex")
    write(agent, "AGENTS.md")
    (agent.project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert not hears(agent)
