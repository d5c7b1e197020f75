"""``brim run`` and the supervised SDK with the real programs: turns, compactions, limits, pipes and
Ctrl-C."""

from __future__ import annotations

import asyncio
import importlib
import json
import signal
import subprocess
import time
from collections.abc import Mapping
from typing import Any

import pytest

from brim.errors import LimitReached
from brim.money import Raise
from brim.run import supervised
from tests.e2e.agents import Agent, Codex
from tests.e2e.conftest import agent_in
from tests.e2e.programs import FOLDER
from tests.e2e.script import Say
from tests.e2e.world import BRIM, Ran, World

ALWAYS = "Never commit the files under dist/."
PROMPT = "Please fix the login in src/app.py."
SCRATCH = ".context/scratch.md"
BUDGETS = {"claude": "0.52", "codex": "0.52", "gemini": "0.0305"}
"""Dollars that 100,000 tokens bring into what is held back for the wrap-up, by what each model
charges."""


def streamless(agent: Agent, prompt: str) -> list[str]:
    """Return the command as a person types it: brim brings the options of the stream itself."""
    return [
        word
        for word in agent.command(prompt)
        if word not in ("--output-format", "stream-json", "--verbose")
    ]


def supervise(agent: Agent, *options: str) -> Ran:
    """Run the program under supervision, without a terminal."""
    command = [BRIM, "run", "--agent", agent.name, *options, "--", *streamless(agent, PROMPT)]
    return agent.world.run(command, environ=agent.environ())


def test_a_run_without_trouble_takes_every_turn_and_ends_with_0(agent: Agent) -> None:
    agent.world.api.will(
        agent.shell("echo one"), Say("The login works."), Say("It is written down.")
    )
    ran = supervise(agent, "--then", "Now write it down.")
    assert ran.code == 0, ran.told
    last = agent.world.api.turns[-1]
    first, second = last.holding(PROMPT)[0], last.holding("Now write it down.")[0]
    assert first.place < second.place, last.told()
    assert PROMPT in (agent.world.project / SCRATCH).read_text()


def test_a_full_window_is_compacted_between_two_turns(claude: Agent) -> None:
    claude.world.learn(ALWAYS, "--kind", "constraint")
    claude.install()
    claude.world.api.will(claude.shell("echo one"), Say("The login works.", tokens=800_000), Say())
    ran = supervise(claude, "--then", "Now write it down.")
    assert ran.code == 0, ran.told
    assert [asked.kind for asked in claude.world.api.asked if asked.kind != "side"] == [
        "turn",
        "turn",
        "compaction",
        "turn",
    ]
    after = claude.world.api.turns[-1]
    assert after.holding("Now write it down.")
    assert after.times(ALWAYS) == 1
    assert SCRATCH in "".join(told.text for told in claude.told(after))
    assert PROMPT in (claude.world.project / SCRATCH).read_text()


def test_a_budget_that_is_spent_ends_the_run_with_1_and_no_further_turn(agent: Agent) -> None:
    agent.world.api.will(Say("Half of it is done.", tokens=100_000), Say("More."))
    ran = supervise(
        agent, "--budget-usd", "0.02", "--on-limit", "stop", "--then", "Now write it down."
    )
    assert ran.code == 1, ran.told
    assert len(agent.world.api.turns) == 1
    assert not any(asked.holding("Now write it down.") for asked in agent.world.api.turns)
    assert "$0.02" in ran.err + ran.out


@pytest.mark.parametrize("name", BUDGETS)
def test_at_the_limit_the_agent_is_asked_to_wrap_up_in_a_turn_of_its_own(
    name: str, world: World
) -> None:
    agent = agent_in(world, name)
    world.api.will(Say("Half of it is done.", tokens=100_000), Say("Wrapped up.", tokens=1_000))
    ran = supervise(
        agent,
        "--budget-usd",
        BUDGETS[name],
        "--on-limit",
        "wrap_up",
        "--then",
        "Now write it down.",
    )
    assert ran.code == 1, ran.told
    last = world.api.turns[-1]
    assert (
        "Wrap up now"
        in [part for part in last.parts if part.role == "user" and part.kind == "text"][-1].text
    )
    assert last.times("Now write it down.") == 0
    assert "not sent Now write it down." in ran.err + ran.out
    assert "Wrapped up." in ran.out


def test_what_a_program_says_about_its_failure_is_not_lost(claude: Agent) -> None:
    ran = supervise(claude, "--then", "Now write it down.")
    assert ran.code == 0, ran.told
    broken = claude.world.run([BRIM, "run", "--", claude.program, "-p", "hi", "--no-such-option"])
    assert broken.code == 1, broken.told


def test_codex_goes_on_with_the_same_session(codex: Agent) -> None:
    assert isinstance(codex, Codex)
    codex.world.api.will(Say("The login works."), Say("It is written down."))
    supervise(codex, "--then", "Now write it down.")
    assert len(list(codex.folder.glob("sessions/**/*.jsonl"))) == 1


QUESTION = "Explain this log."
LOG = "a line of the log\n"


def users_text(agent: Agent) -> str:
    """Return the text that holds the prompt, as the model read it."""
    return next(part.text for part in agent.world.api.turns[-1].parts if QUESTION in part.text)


def test_what_is_piped_in_reaches_the_model_as_without_brim(agent: Agent) -> None:
    words = agent.command(QUESTION)
    assert agent.world.run(words, environ=agent.environ(), stdin=LOG).code == 0
    alone = users_text(agent)
    words = streamless(agent, QUESTION)
    ran = agent.world.run(
        [BRIM, "run", "--agent", agent.name, "--", *words], environ=agent.environ(), stdin=LOG
    )
    assert ran.code == 0, ran.told
    assert LOG.strip() in alone
    assert users_text(agent) == alone


def test_a_turn_that_its_limit_cuts_short_goes_on_and_reads_the_scratch_file_first(
    claude: Agent,
) -> None:
    api = claude.world.api
    api.will(claude.shell("echo one", tokens=100_000), claude.shell("echo two"), Say("It is done."))
    options = ("--budget-usd", "0.52", "--on-limit", "continue", "--task", "the log")
    command = [BRIM, "run", *options, "--agent", "claude", "--", *streamless(claude, QUESTION)]
    ran = claude.world.run(command, environ=claude.environ())
    assert api.turns[-1].holding("You were cut short. First read .context/scratch.md"), ran.told
    assert "going on: the limit is $0.57 now" in ran.err
    assert "It is done." in ran.out


def test_an_answer_that_takes_the_last_of_the_money_is_an_answer(claude: Agent) -> None:
    claude.world.api.will(Say("The log is fine.", tokens=100_000))
    command = [
        BRIM,
        "run",
        "--budget-usd",
        "0.5",
        "--json",
        "--agent",
        "claude",
        "--",
        *streamless(claude, QUESTION),
    ]
    ran = claude.world.run(command, environ=claude.environ())
    report = json.loads(ran.out)
    assert (ran.code, report["outcome"], report["answer"]) == (0, "finished", "The log is fine."), (
        ran.told
    )
    assert len(claude.world.api.turns) == 1
    assert report["overshoot"] > 0


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_turn_and_what_it_started(claude: Agent, times: int) -> None:
    world = claude.world
    world.api.will(claude.shell("while true; do echo on >> started; sleep 0.2; done"), Say())
    process = subprocess.Popen(
        [
            BRIM,
            "run",
            "--json",
            "--then",
            "And now?",
            "--agent",
            "claude",
            "--",
            *streamless(claude, QUESTION),
        ],
        cwd=world.project,
        env={**world.environ, **claude.environ()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    started = world.project / "started"
    end = time.monotonic() + 120
    while not (started.exists() and started.read_text().strip()) and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.1)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    out, err = process.communicate(timeout=300)
    report = json.loads(out)
    assert (process.returncode, report["outcome"], report["unsent"]) == (
        130,
        "interrupted",
        ["And now?"],
    ), err
    assert len(world.api.turns) == 1
    assert QUESTION in (world.project / ".context" / "scratch.md").read_text()
    time.sleep(2)
    before = started.stat().st_size
    time.sleep(2)
    assert started.stat().st_size == before, "what the agent started goes on"


@pytest.fixture
def options(claude: Agent, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """What the SDK is told: the program, the project, and an environment in which nothing else is
    seen."""
    monkeypatch.syspath_prepend(str(FOLDER / "python"))
    pytest.importorskip(
        "claude_agent_sdk", reason="the Claude Agent SDK is not here: make e2e installs it"
    )
    environ = {**claude.world.environ, **claude.environ()}
    for name, text in environ.items():
        monkeypatch.setenv(name, text)
    folder = str(claude.world.project)
    return {"cli_path": claude.program, "cwd": folder, "allowed_tools": ["Bash"], "env": environ}


def said_in(
    turns: list[str], given: Mapping[str, Any], **settings: Any
) -> tuple[Any, list[list[str]]]:
    """Hold the conversation; return it, and the results of every turn."""
    sdk = importlib.import_module("claude_agent_sdk")

    async def hold() -> tuple[Any, list[list[str]]]:
        results: list[list[str]] = []
        async with supervised(sdk.ClaudeAgentOptions(**given), **settings) as run:
            for turn in turns:
                messages = [message async for message in run.turn(turn)]
                ends = [
                    message for message in messages if type(message).__name__ == "ResultMessage"
                ]
                results.append([end.result or end.subtype for end in ends])
            return run, results

    return asyncio.run(hold())


def test_a_full_window_is_compacted_between_two_turns_of_the_sdk(
    claude: Agent, options: Mapping[str, Any]
) -> None:
    api = claude.world.api
    api.will(Say("The login works.", tokens=800_000), Say("It is written down."))
    run, results = said_in(["Fix the login.", "Write it down."], options)
    assert results == [["The login works."], ["It is written down."]]
    assert [asked.kind for asked in api.asked if asked.kind != "side"] == [
        "turn",
        "compaction",
        "turn",
    ]
    assert api.turns[-1].holding(f"Read {SCRATCH} for preserved context")
    assert run.context.compactions == 1
    assert "Write it down." in (claude.world.project / SCRATCH).read_text()


def test_at_the_limit_the_work_is_wrapped_up_and_nothing_follows(
    claude: Agent, options: Mapping[str, Any]
) -> None:
    api = claude.world.api
    api.will(claude.shell("echo one", tokens=100_000), Say("Wrapped up.", tokens=1_000))
    run, results = said_in(["Fix the login."], options, budget_usd="0.52")
    assert results == [["error_max_budget_usd", "Wrapped up."]]
    assert api.turns[-1].holding("Wrap up now: Fix the login.")
    assert run.spending.state == "wrapping_up"
    with pytest.raises(LimitReached):
        said_in(["Fix the login.", "Write it down."], options, budget_usd="0.02")
    assert not api.turns[-1].holding("Write it down.")


def test_what_was_cut_short_goes_on_when_the_limit_is_raised(
    claude: Agent, options: Mapping[str, Any]
) -> None:
    api = claude.world.api
    api.will(
        claude.shell("echo one", tokens=100_000),
        Say("The login works."),
        Say("It is written down."),
    )
    raised = {"budget_usd": "0.52", "on_limit": lambda _: Raise(5_000_000)}
    run, results = said_in(["Fix the login.", "Write it down."], options, **raised)
    assert results == [["error_max_budget_usd", "The login works."], ["It is written down."]]
    assert api.turns[1].holding(f"You were cut short. First read {SCRATCH}")
    assert run.spending.limit == 5_000_000


def test_what_a_resumed_session_had_cost_before_is_not_this_runs(
    claude: Agent, options: Mapping[str, Any]
) -> None:
    claude.world.api.will(Say("The login works.", tokens=400_000), Say("It is written down."))
    before, _ = said_in(["Fix the login."], options)
    assert before.spending.spent > 1_000_000
    after, results = said_in(
        ["Write it down."], {**options, "resume": before.session}, budget_usd="1"
    )
    assert results == [["It is written down."]]
    assert 0 < after.spending.spent < 200_000


def test_a_turn_that_nobody_heard_to_its_end_does_not_answer_for_the_next(
    claude: Agent, options: Mapping[str, Any]
) -> None:
    sdk = importlib.import_module("claude_agent_sdk")
    claude.world.api.will(claude.shell("echo one; sleep 100"), Say("It is written down."))

    async def hold() -> list[str]:
        async with supervised(sdk.ClaudeAgentOptions(**options)) as run:
            async for message in run.turn("Fix the login."):
                if type(message).__name__ == "AssistantMessage":
                    break
            messages = [message async for message in run.turn("Write it down.")]
            return [
                message.result for message in messages if type(message).__name__ == "ResultMessage"
            ]

    assert asyncio.run(hold()) == ["It is written down."]


def test_a_turn_that_was_left_at_its_result_is_over(
    claude: Agent, options: Mapping[str, Any]
) -> None:
    sdk = importlib.import_module("claude_agent_sdk")
    claude.world.api.will(Say("The login works."), Say("It is written down."))

    async def hold() -> list[str]:
        results = []
        async with supervised(sdk.ClaudeAgentOptions(**options)) as run, asyncio.timeout(120):
            for turn in ("Fix the login.", "Write it down."):
                async for message in run.turn(turn):
                    if type(message).__name__ == "ResultMessage":
                        results.append(message.result)
                        break
        return results

    assert asyncio.run(hold()) == ["The login works.", "It is written down."]
