"""What an agent is told about a call: rules that match it rise a tier. It arrives with the result
of the call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brim.hooks.rules import files_of, tell_now
from brim.hooks.transcript import model_of
from tests.hooks.injected import FRAME, Agent, rule, tool_call

PYTHON = rule(
    "python",
    "Use uv, not pip, in every Python project.",
    summary="Use uv.",
    when={"language": "python"},
)
PATCH = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a\n+b\n*** Add File: web/card.ts\n+x\n*** End Patch"


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def test_a_rule_for_the_file_of_the_call_is_told_once(agent: Agent) -> None:
    agent.learn(PYTHON)
    assert not agent.tool("Read", file_path="README.md")
    assert (
        agent.tool("Read", file_path="src/app.py").text
        == FRAME + "## Directives\n- " + PYTHON.canonical + "\n"
    )
    assert not agent.edit("src/app.py")


def test_a_rule_for_the_command_of_the_call_is_told(agent: Agent) -> None:
    agent.learn(rule("tests", "Run pytest with -q.", when={"task": "testing"}))
    assert not agent.tool("Bash", command="ls")
    assert (
        agent.tool("Bash", command="cd x && uv run pytest").text
        == FRAME + "## Directives\n- Run pytest with -q.\n"
    )


def test_what_holds_anywhere_is_not_told_with_a_call(agent: Agent) -> None:
    agent.learn(rule("always", "All of what is to be said of it."))
    assert not agent.edit()


def test_what_is_written_says_which_rule_matters(agent: Agent) -> None:
    agent.learn(
        rule("float", "Amounts are Decimal, never float."),
        *(rule(f"r{n}", f"Other thing {n}.") for n in range(9)),
    )
    assert not agent.tool("Edit", file_path="a.py", new_string="total = price + tax")
    told = agent.tool(
        "Edit", file_path="a.py", new_string="amounts = [float(each) for each in row]"
    ).text
    assert told == FRAME + "## Directives\n- Amounts are Decimal, never float.\n"


def test_a_rule_for_every_change_comes_with_the_first_edit(agent: Agent) -> None:
    agent.learn(rule("format", "Run `make format` after every change."))
    assert not agent.start()
    assert not agent.prompt("where is the parser?")
    assert not agent.tool("Read", file_path="a.py")
    told = agent.tool("Edit", file_path="a.py", new_string="x = 1").text
    assert told == FRAME + "## Directives\n- Run `make format` after every change.\n"


def test_what_was_told_shortly_is_told_whole_when_it_matches_a_call(agent: Agent) -> None:
    agent.environ["BRIM_INJECTION_FILL"] = "false"
    agent.learn(
        rule(
            "never",
            "Never push to main, not even a fix.",
            kind="constraint",
            summary="Never push to main.",
            tags=["push"],
        )
    )
    assert agent.start().text == FRAME + "## Constraints\n- Never push to main.\n"
    assert not agent.tool("Bash", command="ls")
    assert (
        agent.tool("Bash", command="git push").text
        == FRAME + "## Constraints\n- Never push to main, not even a fix.\n"
    )
    assert not agent.tool("Bash", command="git push")


@pytest.mark.parametrize(
    ("tool", "given", "found"),
    [
        ("Read", {"file_path": "a.py"}, ["a.py"]),
        ("Write", {"file_path": "a.py", "content": "x"}, ["a.py"]),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}, ["a.ipynb"]),
        ("read_file", {"absolute_path": "/a.py"}, ["/a.py"]),
        ("read_many_files", {"paths": ["a.py", "b.ts", 3]}, ["a.py", "b.ts"]),
        ("Glob", {"pattern": "src/**/*.py"}, ["src/**/*.py"]),
        ("Grep", {"pattern": "x.py", "path": "src", "glob": "*.ts"}, ["*.ts"]),
        ("Grep", {"pattern": "x", "path": "src"}, []),
        ("Grep", {"pattern": "x", "path": "src/app.py"}, ["src/app.py"]),
        ("apply_patch", {"command": PATCH}, ["src/app.py", "web/card.ts"]),
        ("apply_patch", {"input": PATCH}, ["src/app.py", "web/card.ts"]),
        ("shell", {"command": ["apply_patch", PATCH]}, ["src/app.py", "web/card.ts"]),
        ("Bash", {"command": "cat a.py"}, []),
        ("Read", {"file_path": 7}, []),
        ("Read", {}, []),
        ("mcp__x__y", {"path": "a.py"}, ["a.py"]),
    ],
)
def test_the_files_of_a_call(
    agent: Agent, tool: str, given: dict[str, Any], found: list[str]
) -> None:
    assert files_of(agent.call("before_tool", tool=tool_call(tool, given))) == found


@pytest.mark.parametrize(
    ("tool", "given", "found"),
    [
        ("Bash", {"command": "make test"}, "make test"),
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
        ("exec_command", {"cmd": "make test"}, "make test"),
        ("shell", {"command": ["apply_patch", PATCH]}, ""),
        ("Bash", {"command": {"a": 1}}, ""),
        ("Read", {"command": "make test"}, ""),
    ],
)
def test_the_command_of_a_call(tool: str, given: dict[str, Any], found: str) -> None:
    assert tool_call(tool, given).command == found


def test_the_model_is_the_one_that_was_last_heard_of(agent: Agent) -> None:
    def model(**fields: str) -> str | None:
        with agent.place() as place:
            return model_of(agent.call("prompt", **fields), place)

    assert model(model="gpt-5") == "gpt-5"
    assert model(model="") == "opus"
    agent.configure("model: claude-sonnet-4-5\n")
    assert model(model="") == "claude-sonnet-4-5"
    agent.start(model="claude-opus-5-5")
    assert model(model="") == "claude-opus-5-5"
    assert model(model="", session="another") == "claude-sonnet-4-5"


def test_an_agent_that_hears_nothing_before_a_call_is_told_with_its_result(tmp_path: Path) -> None:
    agent = Agent(tmp_path, agent="gemini")
    agent.learn(PYTHON)
    assert not agent.tool("read_file", absolute_path="/a.py")
    call = agent.call("after_tool", tool=tool_call("read_file", {"absolute_path": "/a.py"}))
    with agent.place() as place:
        assert PYTHON.canonical in tell_now(call, place, of_call=True).text
        assert not tell_now(call, place, of_call=True)
