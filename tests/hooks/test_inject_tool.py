"""What an agent is told about a call. It arrives with the result of the call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brim.hooks.rules import tell_now
from brim.hooks.situations import files_of
from brim.hooks.transcript import model_of
from brim.rules.delivery import CALL
from tests.hooks.injected import Agent, rule, told, tool_call

PYTHON = rule(
    "python",
    "Use uv, not pip, in every Python project.",
    when="python",
)
PATCH = "*** Begin Patch\n*** Update File: src/app.py\n@@\n-a\n+b\n*** Add File: web/card.ts\n+x\n*** End Patch"


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def test_a_rule_for_the_file_of_the_call_is_told_once(agent: Agent) -> None:
    agent.learn(PYTHON)
    assert not agent.tool("Read", file_path="README.md")
    assert agent.tool("Read", file_path="src/app.py").text == told(PYTHON)
    assert not agent.edit("src/app.py")


def test_a_rule_for_the_command_of_the_call_is_told(agent: Agent) -> None:
    tests = rule("tests", "Run the tests with -q.", when="run pytest")
    agent.learn(tests)
    assert not agent.tool("Bash", command="ls")
    assert not agent.tool("Bash", command="echo 'run pytest'")
    assert agent.tool("Bash", command="cd x && uv run pytest").text == told(tests)


def test_what_holds_anywhere_is_not_told_with_a_call(agent: Agent) -> None:
    agent.learn(rule("always", "Answer in English."))
    assert not agent.edit()


def test_a_path_outside_of_the_project_says_nothing_by_its_folders(agent: Agent) -> None:
    agent.learn(
        rule("home", "Nobody may tidy the home of others."), rule("src", "Use tabs.", when="src/**")
    )
    assert not agent.edit("app.py")
    assert "Use tabs." in agent.edit("src/app.py").text


def test_what_is_written_says_which_rule_matters(agent: Agent) -> None:
    agent.learn(
        rule("float", "Amounts are Decimal, never float."),
        *(rule(f"r{n}", f"Other thing {n}.") for n in range(9)),
    )
    assert not agent.tool("Edit", file_path="a.py", new_string="total = price + tax")
    text = "amounts = [float(each) for each in row]"
    answer = agent.tool("Edit", file_path="a.py", new_string=text)
    assert "- Amounts are Decimal, never float.\n" in answer.text + answer.deny


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
        assert PYTHON.text in tell_now(call, place, moment=CALL).text
        assert not tell_now(call, place, moment=CALL)
