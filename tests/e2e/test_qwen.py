"""Qwen Code itself: what every agent does, and what only it does."""

from __future__ import annotations

import json

import pytest

from tests.e2e import test_hooks
from tests.e2e.agents import Qwen
from tests.e2e.programs import program
from tests.e2e.script import Asked, Say
from tests.e2e.shared import ALWAYS, EVERYTHING, SCRATCH, TASK, UNNAMED, AgentTest, name_of
from tests.e2e.world import Terminal, World


@pytest.fixture
def qwen(world: World) -> Qwen:
    found = program("qwen")
    if found is None:
        pytest.skip("Qwen Code is not here: make e2e installs it")
    return Qwen(found, world)


@pytest.mark.parametrize("test", EVERYTHING, ids=name_of)
def test_it_does_what_every_agent_does(qwen: Qwen, test: AgentTest) -> None:
    test(qwen)


# A compaction -------------------------------------------------------------------------------------

WINDOW = {"model": {"generationConfig": {"contextWindowSize": 64_000}}}
"""A window that it compacts in these tests; it doesn't send more than 41,000 tokens then."""


def compacted(qwen: Qwen) -> Asked:
    """Run a session that has to be compacted; return its last request."""
    world = qwen.world
    world.api.will(
        qwen.write(world.project / "src" / "app.py", "login = 1"),
        qwen.write(world.project / UNNAMED, "session = 1", tokens=40_000),
        qwen.shell("seq 1 9000 | tr '\\n' ' ' | head -c 19000", tokens=48_000),
        Say("It is written.", tokens=30_000),
    )
    ran = qwen.ask(TASK)
    assert world.api.compactions, ran.told
    world.api.will(qwen.shell("echo three"), Say())
    ran = qwen.ask_again("Please go on.")
    assert ran.code == 0, ran.told
    return world.api.turns[-1]


def test_rules_memory_and_what_was_lost_are_told_again_after_a_compaction(qwen: Qwen) -> None:
    world = qwen.world
    world.learn(ALWAYS, "--kind", "constraint")
    qwen.configure(**WINDOW)
    qwen.install()
    world.api.summary = "The person wants the login to work."
    last = compacted(qwen)
    told = last.only(ALWAYS)
    assert (told.role, SCRATCH in told.text) == (qwen.start_role, True)
    assert len({told.text for told in qwen.told(last) if UNNAMED in told.text}) == 1, last.told()
    memory = (world.project / SCRATCH).read_text()
    assert memory.count(TASK) == 1
    assert UNNAMED in memory
    assert world.hook_log == ""


def test_the_summarizer_is_told_what_to_keep(qwen: Qwen) -> None:
    world = qwen.world
    qwen.configure(**WINDOW)
    qwen.install()
    compacted(qwen)
    asked = world.api.compactions[0]
    assert asked.only("Keep these in the summary").text.count(TASK) >= 1


def test_usage_is_what_the_provider_billed_with_the_compaction_and_a_sub_agent(qwen: Qwen) -> None:
    world = qwen.world
    qwen.configure(**WINDOW)
    qwen.install()
    compacted(qwen)
    world.api.will(qwen.task("say hi"), Say("It works."), Say("Hi."), Say())
    qwen.ask_again("Ask somebody.")
    total = json.loads(world.brim("usage", "--json", environ=qwen.environ()).out)["total"]
    assert total["requests"] == len(world.api.asked)
    replies = world.api.replies
    billed = {
        "input_tokens": sum(reply.fresh for reply in replies),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": sum(reply.read for reply in replies),
        "output_tokens": sum(reply.written for reply in replies),
    }
    assert {name: total[name] for name in billed} == billed
    lost = json.loads(world.brim("memory", "lost", "--json", environ=qwen.environ()).out)
    assert lost["compactions"], lost


# What the person's files hold ---------------------------------------------------------------------


def test_uninstalling_leaves_every_byte_as_it_was(qwen: Qwen) -> None:
    world = qwen.world
    qwen.settings.write_text(
        '{ // mine\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},\n'
        '  "memory": {"enableManagedAutoMemory": false}, "general": {"enableAutoUpdate": false}\n}\n'
    )
    qwen.ask("Say hello.")  # it writes files of its own, and may write this one anew
    before = qwen.settings.read_bytes()
    world.learn(ALWAYS, "--kind", "constraint")
    qwen.install()
    assert qwen.settings.read_bytes() != before
    qwen.ask("Say hello.")
    assert world.api.turns[-1].times(ALWAYS) == 1
    world.brim("uninstall", environ=qwen.environ())
    assert qwen.settings.read_bytes() == before
    assert not (qwen.settings.parent / "commands").exists()
    test_hooks.says_nothing(qwen)


def test_an_agent_that_goes_in_circles_is_held_before_the_program_ends_its_turn(
    qwen: Qwen,
) -> None:
    qwen.world.brim("config", "set", "--user", "hooks.loops", "3")
    qwen.install()
    qwen.world.api.will(*[qwen.shell("cat missing.txt") for _ in range(6)])
    ran = qwen.ask("Go.")
    assert "Loop detection halted the run" in ran.out
    results = [part.text for part in qwen.world.api.turns[-1].parts if part.kind == "result"]
    assert sum("cat missing.txt" in text and "Exit Code" not in text for text in results) == 1


def test_a_person_reads_why_a_prompt_was_refused(qwen: Qwen) -> None:
    world = qwen.world
    qwen.install()
    world.brim("limit", "0/day")
    environ = {**world.environ, **qwen.environ()}
    with Terminal([qwen.program], world.project, environ) as terminal:
        terminal.wait_for("Type your message")
        terminal.enter("Say hello.")
        terminal.wait_for("Your prompt wasn't sent")
    assert world.api.asked == []


def test_a_limit_ends_the_turn_before_the_next_request(qwen: Qwen) -> None:
    world = qwen.world
    qwen.install()
    world.brim("limit", "100k tokens/day")
    world.api.will(qwen.shell("echo one", tokens=250_000), Say("It never comes."))
    ran = qwen.ask("Say hello.")
    assert (ran.code, len(world.api.asked)) == (0, 1), ran.told


# The status line ----------------------------------------------------------------------------------


def test_the_status_line_shows_how_full_the_window_is(qwen: Qwen) -> None:
    world = qwen.world
    qwen.configure(ui={"statusLine": {"type": "command", "command": "echo line before"}})
    qwen.install()
    world.api.will(Say("It is done."))
    environ = {**world.environ, **qwen.environ()}
    with Terminal([qwen.program], world.project, environ) as terminal:
        terminal.wait_for("Type your message")
        terminal.wait_for("line before")
        terminal.enter("Say hello.")
        terminal.wait_for("of 131,072")
