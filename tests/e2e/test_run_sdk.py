"""The supervised conversation for programs, with the real Agent SDK and the real Claude Code behind it."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping
from typing import Any

import pytest

from brim.agents.supervise import supervised
from brim.errors import LimitReached
from brim.run.sdk import SupervisedClient
from brim.spend.limits import Raise
from tests.e2e.agents import Agent
from tests.e2e.api.script import Say
from tests.e2e.programs import FOLDER

SCRATCH = ".context/scratch.md"


@pytest.fixture
def options(claude: Agent, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, Any]:
    """What the SDK is told: the program, the project, and an environment in which nothing else is seen."""
    monkeypatch.syspath_prepend(str(FOLDER / "python"))
    pytest.importorskip("claude_agent_sdk", reason="the Claude Agent SDK is not here: make e2e installs it")
    environ = {**claude.world.environ, **claude.environ()}
    for name, text in environ.items():
        monkeypatch.setenv(name, text)
    folder = str(claude.world.project)
    return {"cli_path": claude.program, "cwd": folder, "allowed_tools": ["Bash"], "env": environ}


def said_in(turns: list[str], given: Mapping[str, Any], **settings: Any) -> tuple[SupervisedClient, list[list[str]]]:
    """Hold the conversation; return it, and the results of every turn."""
    sdk = importlib.import_module("claude_agent_sdk")

    async def hold() -> tuple[SupervisedClient, list[list[str]]]:
        results: list[list[str]] = []
        async with supervised(sdk.ClaudeAgentOptions(**given), **settings) as run:
            for turn in turns:
                messages = [message async for message in run.turn(turn)]
                ends = [message for message in messages if type(message).__name__ == "ResultMessage"]
                results.append([end.result or end.subtype for end in ends])
            return run, results

    return asyncio.run(hold())


def test_a_full_window_is_compacted_between_two_turns(claude: Agent, options: Mapping[str, Any]) -> None:
    api = claude.world.api
    api.will(Say("The login works.", tokens=800_000), Say("It is written down."))
    run, results = said_in(["Fix the login.", "Write it down."], options)
    assert results == [["The login works."], ["It is written down."]]
    assert [asked.kind for asked in api.asked if asked.kind != "side"] == ["turn", "compaction", "turn"]
    assert api.turns[-1].holding(f"Read {SCRATCH} for preserved context")
    assert run.context.compactions == 1
    assert "Write it down." in (claude.world.project / SCRATCH).read_text()


def test_at_the_limit_the_work_is_wrapped_up_and_nothing_follows(claude: Agent, options: Mapping[str, Any]) -> None:
    api = claude.world.api
    api.will(claude.shell("echo one", tokens=100_000), Say("Wrapped up.", tokens=1_000))
    run, results = said_in(["Fix the login."], options, budget_usd="0.52")
    assert results == [["error_max_budget_usd", "Wrapped up."]]
    assert api.turns[-1].holding("Wrap up now: Fix the login.")
    assert run.spending.state == "wrapping_up"
    with pytest.raises(LimitReached):
        said_in(["Fix the login.", "Write it down."], options, budget_usd=0.02)
    assert not api.turns[-1].holding("Write it down.")


def test_what_was_cut_short_goes_on_when_the_limit_is_raised(claude: Agent, options: Mapping[str, Any]) -> None:
    api = claude.world.api
    api.will(claude.shell("echo one", tokens=100_000), Say("The login works."), Say("It is written down."))
    raised = {"budget_usd": "0.52", "on_limit": lambda _: Raise(5_000_000)}
    run, results = said_in(["Fix the login.", "Write it down."], options, **raised)
    assert results == [["error_max_budget_usd", "The login works."], ["It is written down."]]
    assert api.turns[1].holding(f"You were cut short. First read {SCRATCH}")
    assert run.spending.limit == 5_000_000


def test_what_a_resumed_session_had_cost_before_is_not_this_runs(claude: Agent, options: Mapping[str, Any]) -> None:
    claude.world.api.will(Say("The login works.", tokens=400_000), Say("It is written down."))
    before, _ = said_in(["Fix the login."], options)
    assert before.spending.spent > 1_000_000
    after, results = said_in(["Write it down."], {**options, "resume": before.session}, budget_usd=1)
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
            return [message.result for message in messages if type(message).__name__ == "ResultMessage"]

    assert asyncio.run(hold()) == ["It is written down."]


def test_a_turn_that_was_left_at_its_result_is_over(claude: Agent, options: Mapping[str, Any]) -> None:
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
