"""Stops: a call that breaks a rule is denied once with the rule as the reason, and the same call
again passes. Nothing else is ever stopped."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from shlex import quote
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brim.rules.rulebook import Rulebook
from brim.rules.state import RulesState
from tests.hooks.hook_world import World
from tests.hooks.injected import SESSION, Agent, rule

PNPM = rule("pnpm", "Use pnpm, not npm.")
PUSH = rule("push", "Never force-push.")
GENERATED = rule("gen", "Never edit files in gen/ by hand.")
PASSES = "the same call again passes"


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    agent = Agent(tmp_path)
    agent.learn(PNPM, PUSH, GENERATED)
    return agent


def bash(agent: Agent, command: str) -> str:
    return agent.tool("Bash", command=command).deny


# Once for each rule and window --------------------------------------------------------------------


def test_it_is_stopped_once_with_the_rule_and_then_passes(agent: Agent) -> None:
    first = agent.tool("Bash", command="cd web && npm i left-pad")
    assert '"npm i left-pad" breaks your user\'s rule: Use pnpm, not npm.\n' in first.deny
    assert PASSES in first.deny
    assert first.note == (
        "brim: stopped npm i left-pad (rule pnpm); allow it: brim rules allow pnpm"
    )
    assert "brim rules allow" not in first.deny
    again = agent.tool("Bash", command="cd web && npm i left-pad")
    assert not again.deny
    assert not again.note
    assert not bash(agent, "npm ci"), "the agent has decided, for this rule and window"
    assert "Never force-push." in bash(agent, "git push -f")


def test_calls_made_at_once_are_each_stopped(agent: Agent) -> None:
    assert bash(agent, "npm install left-pad")
    assert bash(agent, "npm install right-pad")
    assert agent.edit("gen/a.py").deny
    assert agent.edit("gen/b.py").deny
    assert not bash(agent, "npm  install right-pad"), "the same call again"
    assert not bash(agent, "npm install center-pad")
    assert not agent.edit("gen/a.py").deny
    assert agent.state.counts()["pnpm", "user"] == {"stopped": 2, "repeated": 1}


def test_a_call_that_breaks_two_rules_decides_about_none(agent: Agent) -> None:
    both = "npm install && git push --force"
    assert bash(agent, both)
    assert not bash(agent, both)
    assert bash(agent, "npm install")


def test_what_breaks_no_rule_is_never_stopped(agent: Agent) -> None:
    for command in (
        "pnpm install",
        "npm view left-pad",
        "npm --version",
        "git push origin main",
        "git commit -m 'npm install -f'",
        "echo npm install",
        "grep -rn 'git push --force' docs",
        "cat gen/api.py",
    ):
        assert not bash(agent, command), command
    assert not agent.edit("src/app.py").deny
    assert not agent.tool("Read", file_path="gen/api.py").deny


def test_many_rules_that_were_written_by_hand_are_kept_at_the_next_call(agent: Agent) -> None:
    agent.prompt("hello")
    with agent.rules_file("user").open("a", encoding="utf-8") as file:
        for number in range(20):
            file.write(f'\n[deploy-{number}]\ntext = "Never run `deploy{number} --now`."\n')
    assert "deploy7" in agent.prompt("then run `deploy7 --now`").context
    assert "Never run `deploy7 --now`." in bash(agent, "deploy7 --now")
    assert "Use pnpm, not npm." in bash(agent, "npm ci")


def test_edits_are_stopped_by_path(agent: Agent) -> None:
    assert "Never edit files in gen/" in agent.edit("gen/api.py").deny
    assert not agent.edit("gen/api.py").deny
    assert not agent.edit("gen/other.py").deny


def test_two_rules_are_told_in_one_reason(agent: Agent) -> None:
    answer = agent.tool("Bash", command="npm install && git push --force")
    assert "Use pnpm, not npm." in answer.deny
    assert "Never force-push." in answer.deny
    assert "(rules pnpm, push)" in answer.note
    assert not bash(agent, "npm install && git push --force")


def test_a_new_window_stops_again_and_a_resumed_one_does_not(agent: Agent) -> None:
    agent.start()
    first = agent.tool("Bash", command="npm install")
    assert first.deny
    agent.start("resume")
    assert not bash(agent, "npm install")
    agent.start("compact")
    again = agent.tool("Bash", command="npm install")
    assert again.deny
    assert not again.note, "the line isn't repeated for the same call"
    agent.start("clear")
    assert agent.tool("Bash", command="npm ci").note


def test_a_sub_agent_has_a_window_of_its_own(agent: Agent) -> None:
    assert bash(agent, "npm install")
    assert agent.tool_of("agent-1", "Bash", command="npm install").deny
    assert not agent.tool_of("agent-1", "Bash", command="npm install").deny


def test_without_notes_it_is_stopped_and_no_line_is_shown(agent: Agent) -> None:
    agent.configure("hooks:\n  notes: false\n")
    answer = agent.tool("Bash", command="npm install")
    assert answer.deny
    assert not answer.note


def test_a_rule_that_is_told_is_no_reason_to_stop(agent: Agent) -> None:
    agent.learn(rule("tests", "Tests need a database.", when="run pytest"))
    answer = agent.tool("Bash", command="pytest -q")
    assert not answer.deny
    assert "Tests need a database." in answer.text


def test_the_reason_counts_as_told_and_is_charged(agent: Agent) -> None:
    deny = bash(agent, "npm install")
    session = agent.session()
    assert session.used == len(deny.encode())
    assert len(session.shown) == 1


def test_it_is_stopped_though_the_budget_is_spent(agent: Agent) -> None:
    agent.configure("session: {max_tokens: 5}\n")
    assert bash(agent, "npm install")
    assert agent.session().used == 5


def test_what_cannot_be_remembered_is_not_stopped(agent: Agent) -> None:
    agent.begin()
    call = agent.call("before_tool", tool=tool("npm install"), session="")
    from brim.hooks import handlers

    with agent.place() as place:
        assert not handlers.before_tool(call, place).deny
    with sqlite3.connect(agent.home / ".brim" / "state.db") as busy:
        busy.execute("BEGIN IMMEDIATE")
        assert not bash(agent, "npm install")
        busy.rollback()
    assert bash(agent, "npm install")


def tool(command: str) -> Any:
    from tests.hooks.injected import tool_call

    return tool_call("Bash", {"command": command})


def test_a_command_of_many_words_is_read(agent: Agent) -> None:
    words = " ".join([f"word{number}" for number in range(40_000)])
    assert not bash(agent, f"cat <<'EOF'\n{words}\nEOF")
    assert not agent.log()
    assert bash(agent, "npm install x")


def test_a_damaged_index_stops_as_before(agent: Agent) -> None:
    agent.compile()
    index = agent.home / ".brim" / "rules.db"
    with sqlite3.connect(index) as database:
        database.execute("DELETE FROM check_keys")
    database.close()
    assert bash(agent, "npm install")


# A person decides ---------------------------------------------------------------------------------


def test_what_a_person_allows_is_not_stopped(agent: Agent) -> None:
    state = RulesState(str(agent.home / ".brim"), now=agent.now)
    state.allow("pnpm", "user", SESSION)
    assert not bash(agent, "npm install")
    state.allow("push", "user")
    assert not bash(agent, "git push -f")
    assert bash(agent, "git push -f"), "once is one call"
    counts = agent.state.counts()
    assert counts["pnpm", "user"] == {"allowed": 1}
    assert counts["push", "user"] == {"allowed": 1, "stopped": 1}


def test_obeyed_and_repeated_are_counted(agent: Agent) -> None:
    for command in ("npm install", "npm install", "npm ci", "git push -f", "git push"):
        bash(agent, command)
    counts = agent.state.counts()
    assert counts["pnpm", "user"] == {"stopped": 1, "repeated": 1}
    assert counts["push", "user"] == {"stopped": 1}


def test_a_check_can_be_narrowed_and_switched_off(agent: Agent) -> None:
    agent.learn(PNPM.but(passes=["npm install -g"]), PUSH.but(checks="off"))
    assert not bash(agent, "npm install -g pnpm")
    assert not bash(agent, "git push -f")
    assert bash(agent, "npm install left-pad")
    agent.learn(GENERATED.but(passes=["edit gen/keep/**"]))
    assert not agent.edit("gen/keep/a.py").deny
    assert agent.edit("gen/a.py").deny


def test_block_true_refuses_every_call_that_breaks_the_rule(agent: Agent) -> None:
    agent.learn(PNPM.but(block=True))
    for _ in range(3):
        assert bash(agent, "npm i x").startswith(
            'Your user doesn\'t allow "npm i x" here: Use pnpm'
        )
    assert not bash(agent, "npm view x")
    RulesState(str(agent.home / ".brim"), now=agent.now).allow("pnpm", "user")
    assert not bash(agent, "npm i x")
    assert bash(agent, "npm i x")


# Where rules come from ----------------------------------------------------------------------------


def test_a_projects_rule_stops_once_it_is_accepted(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    agent.learn(PNPM, scope="project")
    assert not bash(agent, "npm install")
    agent.trust()
    answer = agent.tool("Bash", command="npm install")
    assert answer.deny
    assert answer.note.endswith(
        f"allow it: cd {quote(str(agent.project))} && brim rules allow pnpm"
    )


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode"])
@pytest.mark.parametrize("name", ["CLAUDE.md", "AGENTS.md", "GEMINI.md"])
def test_a_native_file_stops_calls_after_a_person_agreed(
    tmp_path: Path, client: str, name: str
) -> None:
    agent = Agent(tmp_path, agent=client)
    (agent.project / name).write_text("# Git\n\n- Never force-push.\n- Be kind.\n")
    agent.trust()
    shell = "run_shell_command" if client == "gemini" else "Bash"
    assert not agent.tool(shell, command="git push -f").deny
    book = Rulebook(str(agent.home / ".brim"), str(agent.project))
    (entry,) = [entry for entry in book.entries() if entry.is_proposed]
    book.decide_check(entry, yes=True)
    assert "Never force-push." in agent.tool(shell, command="git push -f").deny
    assert not agent.tool(shell, command="git push -f").deny
    book.decide_check(entry, yes=False)
    agent.start("clear")
    assert not agent.tool(shell, command="git push -f").deny


def test_a_changed_native_rule_waits_again(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    file = agent.project / "CLAUDE.md"
    file.write_text("- Never force-push.\n")
    agent.trust()
    book = Rulebook(str(agent.home / ".brim"), str(agent.project))
    for entry in book.entries():
        book.decide_check(entry, yes=True)
    file.write_text("- Never force-push.\n- Use pnpm, not npm.\n")
    assert not bash(agent, "npm install")
    assert bash(agent, "git push -f")


def test_a_file_that_the_agent_loads_is_checked_and_not_told_again(tmp_path: Path) -> None:
    agent = Agent(tmp_path)
    (agent.project / "CLAUDE.md").write_text("- Never force-push.\n- Be kind to penguins.\n")
    agent.trust()
    book = Rulebook(str(agent.home / ".brim"), str(agent.project))
    for entry in book.entries():
        book.decide_check(entry, yes=True)
    assert "penguins" not in agent.start().text
    assert "penguins" not in agent.prompt("kind penguins").text
    assert bash(agent, "git push -f")


def test_a_declared_place_is_kept_to(agent: Agent) -> None:
    agent.learn(
        PNPM.but(when="web/**"), PUSH.but(when="branch release/*"), GENERATED.but(when="*.py")
    )
    assert not bash(agent, "npm install")
    assert bash(agent, "cd web/ && npm install")
    assert not bash(agent, "git push -f")
    (agent.project / ".git" / "HEAD").write_text("ref: refs/heads/release/1\n")
    assert bash(agent, "git push -f")
    assert not agent.edit("gen/api.js").deny
    assert agent.edit("gen/api.py").deny


# What must run before -----------------------------------------------------------------------------


def test_a_command_waits_for_what_must_run_before_it(tmp_path: Path) -> None:
    from tests.hooks.sittings import Sitting

    sitting = Sitting(tmp_path)
    (sitting.home / "rules.toml").write_text("[t]\ntext = 'Run make test before you commit.'\n")

    def commits(command: str = "git commit -m x") -> str:
        answer = sitting.hook("PreToolUse", tool_name="Bash", tool_input={"command": command})
        return str(answer.get("hookSpecificOutput", {}).get("permissionDecisionReason", ""))

    edit = {"file_path": str(sitting.project / "a.py"), "old_string": "a", "new_string": "b"}
    sitting.prompt("Change it")
    assert not commits(), "nothing has changed"
    sitting.tool("Edit", edit)
    sitting.tool("Bash", {"command": "make test"})
    assert not commits()
    assert not commits("make test && git commit -m x")
    sitting.tool("Edit", edit)
    sitting.tool("Bash", {"command": "make test"}, fails="Exit code 2")
    assert "this has to run first: make test" in commits()
    assert not commits()


# Real processes, in each agent's own words --------------------------------------------------------


def recorded_calls() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return for each agent its event before a shell command, as it was recorded."""
    path = Path(__file__).parents[1] / "recorded" / "data" / "hooks.jsonl"
    calls: dict[str, tuple[str, dict[str, Any]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        has_command = "command" in message["data"].get("tool_input", {})
        if has_command and message["event"] in ("PreToolUse", "BeforeTool"):
            calls.setdefault(message["agent"], (message["event"], message["data"]))
    event, data = calls["claude"]  # opencode's plugin sends what Claude Code does
    calls["opencode"] = (event, {**data, "tool_name": "bash"})
    return calls


@pytest.mark.skipif(os.name == "nt", reason="the launcher is for a POSIX shell")
@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode"])
def test_the_process_of_a_hook_denies_the_first_call_and_not_the_second(
    tmp_path: Path, client: str
) -> None:
    world = World(tmp_path)
    event, data = recorded_calls()[client]
    data = {**data, "cwd": str(world.project), "transcript_path": str(world.transcript)}
    data["tool_input"] = {**data["tool_input"], "command": "cd . && pip install left-pad"}
    first = world.launch(event, data, client)
    assert first.returncode == 0
    assert b"Use uv and never pip." in first.stdout
    assert b"deny" in first.stdout
    assert b"brim: stopped pip install left-pad (rule use-uv)" in first.stdout
    second = world.launch(event, data, client)
    assert b"deny" not in second.stdout
    assert not world.log()


# Properties ---------------------------------------------------------------------------------------

BREAKING = ("npm install", "npm i x", "git push -f", "git push --force origin x", "npm ci")
ORDINARY = ("pnpm i", "ls -la", "git push", "git status", "npm view x", "cat gen/a.py", "make -j2")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    agent = Agent(tmp_path_factory.mktemp("kept"))
    agent.learn(PNPM, PUSH, GENERATED)
    agent.compile()
    return agent


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    prefix=st.sampled_from(["", "cd web && ", "FOO=1 ", "sudo ", "true; "]),
    breaking=st.sampled_from(BREAKING),
    ordinary=st.lists(st.sampled_from(ORDINARY), max_size=4),
    number=st.integers(0, 10**9),
)
def test_a_breaking_call_runs_the_second_time_and_an_ordinary_one_always(
    kept: Agent, prefix: str, breaking: str, ordinary: list[str], number: int
) -> None:
    session = f"session-{number}-{breaking}-{len(ordinary)}"

    def denied(command: str) -> bool:
        call = kept.call("before_tool", tool=tool(prefix + command), session=session)
        from brim.hooks import handlers

        with kept.place() as place:
            return bool(handlers.before_tool(call, place).deny)

    for command in ordinary:
        assert not denied(command)
    was_stopped = denied(breaking)
    assert not denied(breaking)
    for command in ordinary:
        assert not denied(command)
    assert was_stopped or session in _seen
    _seen.add(session)


_seen: set[str] = set()


@settings(max_examples=20, deadline=None)
@given(times=st.integers(1, 6), breaking=st.sampled_from(BREAKING[:2]))
def test_a_refused_call_never_runs(
    tmp_path_factory: pytest.TempPathFactory, times: int, breaking: str
) -> None:
    agent = Agent(tmp_path_factory.mktemp("refused"))
    agent.learn(PNPM.but(block=True))
    for _ in range(times):
        assert bash(agent, breaking)
