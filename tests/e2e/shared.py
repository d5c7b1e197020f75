"""What every agent does: tests that the files of the newer agents run with their own program."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e import test_hooks, test_limits, test_memory, test_own_files
from tests.e2e.agents import Agent
from tests.e2e.script import Say

ALWAYS = "Never commit the files under dist/."
TASK = "Please fix the login in src/app.py, and keep the timeout at 45 seconds."
UNNAMED = "src/session.py"
"""A file that is written, and that the prompt doesn't name."""
SCRATCH = ".context/scratch.md"


def test_a_call_that_breaks_a_rule_is_stopped(agent: Agent) -> None:
    world = agent.world
    world.learn("Use uv, never pip.")
    agent.install()
    world.api.will(agent.shell("pip --version > ran.txt; pip install -r gone.txt"), Say())
    agent.ask("Say hello.")
    (stopped,) = [part for part in world.api.turns[-1].parts if part.kind == "result"]
    assert "Use uv, never pip." in stopped.text
    assert not (world.project / "ran.txt").exists()


def test_a_refused_command_and_a_refused_edit_are_not_made(agent: Agent) -> None:
    world = agent.world
    world.brim("learn", "--user", "--block", "make release", "Use the pipeline")
    world.brim("learn", "--user", "--block", "edit dist/**", "dist/ is built")
    agent.install()
    built = world.project / "dist" / "a.txt"
    world.api.will(agent.shell("make release; echo ran > ran.txt"), agent.write(built, "x"), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    results = [part.text for part in world.api.turns[-1].parts if part.kind == "result"]
    assert ["Use the pipeline" in results[0], "dist/ is built" in results[1]] == [True, True]
    assert not built.exists()
    assert not (world.project / "ran.txt").exists()


def test_a_refused_prompt_makes_no_request(agent: Agent) -> None:
    world = agent.world
    agent.install()
    world.brim("limit", "0/day")
    agent.ask("Say hello.")
    assert world.api.asked == []


AgentTest = Callable[[Agent], None]

LIMITS: tuple[AgentTest, ...] = (
    test_limits.test_a_model_that_never_stops_calling_tools_is_stopped,
    test_limits.test_a_model_that_only_talks_is_refused_with_the_next_prompt,
    test_limits.test_a_person_raises_the_limit_and_goes_on,
    test_limits.test_a_loop_of_fresh_runs_ends_at_the_limit,
    test_limits.test_a_limit_for_each_session_starts_over_with_the_next,
    test_a_refused_prompt_makes_no_request,
)
"""At a limit."""

EVERYTHING: tuple[AgentTest, ...] = (
    *LIMITS,
    test_a_call_that_breaks_a_rule_is_stopped,
    test_a_refused_command_and_a_refused_edit_are_not_made,
    test_hooks.test_a_rule_that_always_holds_is_there_from_the_start_and_once,
    test_hooks.test_a_rule_comes_with_the_prompt_that_it_is_about,
    test_hooks.test_a_rule_comes_with_the_command_that_it_is_about,
    test_hooks.test_what_is_told_keeps_to_the_budget_that_init_wrote,
    test_hooks.test_nothing_is_told_twice_when_a_session_goes_on,
    test_hooks.test_a_project_is_not_listened_to_before_it_is_trusted,
    test_hooks.test_a_spent_budget_holds_the_next_call_and_tells_the_agent_no_command,
    test_hooks.test_an_agent_that_asks_on_and_on_is_never_let_through,
    test_hooks.test_what_a_session_cost_counts_for_the_limit_when_it_is_over,
    test_hooks.test_a_pause_is_a_pause,
    test_hooks.test_databases_that_are_broken_are_made_again_and_the_rules_are_told,
    test_hooks.test_a_brim_that_is_gone_stops_nobody,
    test_hooks.test_an_agent_cannot_loosen_what_holds_it_and_can_tighten_it,
    test_memory.test_what_was_asked_and_which_command_failed_is_written_down_once,
    test_memory.test_what_fails_in_the_same_way_again_and_again_is_noticed,
    test_memory.test_whoever_wants_only_the_rules_gets_no_journal,
    test_own_files.test_what_the_program_reads_on_its_own_is_there_once,
)


def name_of(test: AgentTest) -> str:
    """Return what *test* is called in a list of tests."""
    return test.__name__.removeprefix("test_")
