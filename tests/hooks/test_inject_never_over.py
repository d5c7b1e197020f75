"""Whatever happens in a session, it is never told more than its budgets allow, by one hook or by
many at once."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brim
from brim.agents.call import Answer
from tests.hooks.injected import SESSION, Agent, Learned

WHENS = ("", "python", "task tests", "src/**")


def some_rule(number: int) -> Learned:
    """Return one of many rules: every eighth is a must, and three of four wait."""
    reasons = "and why it is to be done so, " * (number % 4)
    text = f"Rule {number} says what is to be done, {reasons}whatever happens."
    fields: dict[str, Any] = {"text": text, "must": number % 8 == 0}
    if WHENS[number % 4]:
        fields["when"] = WHENS[number % 4]
    return Learned(f"r{number:02}", fields)


RULES = [some_rule(number) for number in range(40)]
HEADING = "Left out:\n"
LOST = HEADING + "".join(f"- src/mödule_{n}.py\n" for n in range(30))


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learned")
    agent = Agent(folder)
    agent.learn(*RULES[::2])
    agent.learn(*RULES[1::2], scope="project")
    agent.compile()
    return folder


def copied(learned: Path, folder: Path) -> Agent:
    """Return an agent with everything that was learned, and a session that has not begun."""
    shutil.copytree(learned, folder, dirs_exist_ok=True)
    agent = Agent(folder)
    agent.trust()
    return agent


def working(agent: Agent, step: str) -> Answer:
    """Let one thing happen during the work."""
    if step == "edit":
        return agent.edit()
    if step == "pytest":
        return agent.tool("Bash", command="uv run pytest")
    if step == "sub":
        return agent.tool_of("a1", "Edit", file_path="src/x.py")
    if step == "machine":
        return agent.prompt("<task-notification/>", human=False)
    return agent.prompt("run the tests" if step == "tests" else "go on")


steps = st.lists(
    st.sampled_from(
        [
            "start",
            "clear",
            "compact",
            "resume",
            "prompt",
            "tests",
            "machine",
            "edit",
            "pytest",
            "sub",
            "lose",
        ]
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None)
@given(
    steps=steps,
    total=st.integers(0, 700),
    dynamic=st.integers(0, 400),
    start=st.integers(0, 600),
)
def test_in_any_order(
    learned: Path,
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[str],
    total: int,
    dynamic: int,
    start: int,
) -> None:
    agent = copied(learned, tmp_path_factory.mktemp("agent"))
    agent.environ |= {
        "BRIM_SESSION_MAX_TOKENS": str(total),
        "BRIM_TOKEN_BUDGET_DYNAMIC": str(dynamic),
        "BRIM_TOKEN_BUDGET": str(start),
    }
    taken = 0
    for step in steps:
        if step in ("start", "clear", "compact", "resume"):
            answer = agent.start({"start": "startup"}.get(step, step))
            assert brim.count(answer.text, model="gpt-5") <= start
            taken = taken if step == "resume" else 0
            continue
        if step == "lose":
            agent.lose(LOST)
            continue
        answer = working(agent, step)
        # The reason of a stop is told whatever is left.
        tokens = int(brim.count(answer.text, model="gpt-5"))
        assert tokens <= dynamic
        taken += tokens
        assert taken <= agent.session().used <= total
    assert "Error" not in agent.log()


def hook(agent: Agent, event: str, **data: object) -> subprocess.Popen[str]:
    """Start the process of a hook, as an agent does."""
    code = "from brim.hooks.process import main; main()"
    sent = json.dumps(
        {
            "session_id": SESSION,
            "cwd": str(agent.project),
            "hook_event_name": event,
            "model": "gpt-5",
            **data,
        }
    )
    started = subprocess.Popen(
        [sys.executable, "-I", "-c", code, event, "claude"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=agent.environ,
        cwd=agent.project,
    )
    assert started.stdin is not None
    started.stdin.write(sent)
    started.stdin.close()
    return started


def answers(started: list[subprocess.Popen[str]]) -> list[str]:
    """Return the texts for the model that each of the processes has given."""
    texts = []
    for each in started:
        assert each.stdout is not None
        assert each.stderr is not None
        out, errors = each.stdout.read(), each.stderr.read()
        assert (each.wait(300), errors) == (0, "")
        each.stdout.close()
        each.stderr.close()
        texts.append(json.loads(out)["hookSpecificOutput"]["additionalContext"] if out else "")
    return texts


def test_by_several_processes_at_once(learned: Path, tmp_path: Path) -> None:
    agent = copied(learned, tmp_path)
    agent.environ |= {
        "BRIM_SESSION_MAX_TOKENS": "300",
        "BRIM_TOKEN_BUDGET_DYNAMIC": "120",
        "BRIM_SESSION_BACKOFF": "0",
    }
    agent.begin()
    agent.lose(LOST)
    started = []
    for n in range(4):
        started.append(hook(agent, "UserPromptSubmit", prompt="run the tests"))
        edit = {
            "tool_name": "Edit",
            "tool_input": {"file_path": "src/app.py"},
            "tool_use_id": f"toolu_{n}",
        }
        started.append(hook(agent, "PreToolUse", **edit))
    texts = answers(started)
    tokens = [int(brim.count(text, model="gpt-5")) for text in texts]
    assert (
        any(tokens) or agent.log()
    )  # on a machine that is too busy for any of them, the log says so
    assert max(tokens) <= 120
    assert sum(tokens) <= agent.session().used <= 300
    given = [line for text in texts for line in text.splitlines() if "src/mödule_" in line]
    assert len(given) == len(set(given))  # each once, whoever asks


def test_a_late_start_is_told_once_by_several_processes_at_once(
    learned: Path, tmp_path: Path
) -> None:
    agent = copied(learned, tmp_path)
    agent.environ["BRIM_TOKEN_BUDGET_DYNAMIC"] = "0"
    texts = answers([hook(agent, "UserPromptSubmit", prompt=f"step {n}") for n in range(4)])
    assert len([text for text in texts if text]) <= 1


def test_every_prompt_is_counted_by_several_processes_at_once(
    learned: Path, tmp_path: Path
) -> None:
    agent = copied(learned, tmp_path)
    agent.environ["BRIM_SESSION_MAX_TOKENS"] = "0"
    answers([hook(agent, "UserPromptSubmit", prompt=f"step {n}") for n in range(6)])
    assert 6 - agent.log().count("\n") <= agent.session().prompts <= 6
