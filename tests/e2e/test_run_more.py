"""``brim run`` with the real programs, where a run meets a pipe, a limit within a turn, or Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from tests.e2e.agents import Agent
from tests.e2e.api.script import Say
from tests.e2e.world import BRIM

PROMPT = "Explain this log."
LOG = "a line of the log\n"


def streamless(agent: Agent, prompt: str) -> list[str]:
    """Return the command as a person types it: brim brings the options of the stream itself."""
    return [word for word in agent.command(prompt) if word not in ("--output-format", "stream-json", "--verbose")]


def users_text(agent: Agent) -> str:
    """Return the text that holds the prompt, as the model read it."""
    return next(part.text for part in agent.world.api.turns[-1].parts if PROMPT in part.text)


def test_what_is_piped_in_reaches_the_model_as_without_brim(agent: Agent) -> None:
    words = agent.command(PROMPT)
    assert agent.world.run(words, environ=agent.environ(), stdin=LOG).code == 0
    alone = users_text(agent)
    words = streamless(agent, PROMPT)
    ran = agent.world.run([BRIM, "run", "--agent", agent.name, "--", *words], environ=agent.environ(), stdin=LOG)
    assert ran.code == 0, ran.told
    assert LOG.strip() in alone
    assert users_text(agent) == alone


def test_a_turn_that_its_limit_cuts_short_goes_on_and_reads_the_scratch_file_first(claude: Agent) -> None:
    api = claude.world.api
    api.will(claude.shell("echo one", tokens=100_000), claude.shell("echo two"), Say("It is done."))
    options = ("--budget-usd", "0.52", "--on-limit", "continue", "--task", "the log")
    command = [BRIM, "run", *options, "--agent", "claude", "--", *streamless(claude, PROMPT)]
    ran = claude.world.run(command, environ=claude.environ())
    assert api.turns[-1].holding("You were cut short. First read .context/scratch.md"), ran.told
    assert "going on: the limit is $0.572 now" in ran.err
    assert "It is done." in ran.out


def test_an_answer_that_takes_the_last_of_the_money_is_an_answer(claude: Agent) -> None:
    claude.world.api.will(Say("The log is fine.", tokens=100_000))
    command = [BRIM, "run", "--budget-usd", "0.5", "--json", "--agent", "claude", "--", *streamless(claude, PROMPT)]
    ran = claude.world.run(command, environ=claude.environ())
    report = json.loads(ran.out)
    assert (ran.code, report["outcome"], report["answer"]) == (0, "finished", "The log is fine."), ran.told
    assert len(claude.world.api.turns) == 1
    assert report["overshoot"] > 0


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_the_turn_and_what_it_started(claude: Agent, times: int) -> None:
    world = claude.world
    world.api.will(claude.shell("while true; do echo on >> started; sleep 0.2; done"), Say())
    process = subprocess.Popen(
        [BRIM, "run", "--json", "--then", "And now?", "--agent", "claude", "--", *streamless(claude, PROMPT)],
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
    out, err = process.communicate(timeout=120)
    report = json.loads(out)
    assert (process.returncode, report["outcome"], report["unsent"]) == (130, "interrupted", ["And now?"]), err
    assert len(world.api.turns) == 1
    assert PROMPT in (world.project / ".context" / "scratch.md").read_text()
    time.sleep(2)
    before = started.stat().st_size
    time.sleep(2)
    assert started.stat().st_size == before, "what the agent started goes on"
