"""GitHub Copilot CLI itself: what every agent does, and what only it does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from brim.money.words import STOPPED_BY
from tests.e2e import test_hooks, test_memory, test_plugins
from tests.e2e.agents import Copilot
from tests.e2e.programs import program
from tests.e2e.script import Asked, Call, Say
from tests.e2e.shared import ALWAYS, EVERYTHING, SCRATCH, TASK, UNNAMED, AgentTest, name_of
from tests.e2e.world import Terminal, World

SHARED: tuple[AgentTest, ...] = (
    *EVERYTHING,
    test_hooks.test_an_agent_that_goes_in_circles_is_held_once,
    test_plugins.test_the_plugin_tells_once_with_and_without_init_and_is_gone_after_it_is_removed,
)


@pytest.fixture
def copilot(world: World) -> Copilot:
    found = program("copilot")
    if found is None:
        pytest.skip("GitHub Copilot CLI is not here: make e2e installs it")
    return Copilot(found, world)


@pytest.mark.parametrize("test", SHARED, ids=name_of)
def test_it_does_what_every_agent_does(copilot: Copilot, test: AgentTest) -> None:
    test(copilot)


# A compaction -------------------------------------------------------------------------------------

UNCACHED = 8
"""Input tokens of every request that no cache has."""
COMPACTS_AT = "23000"
"""Tokens of a prompt at which it compacts: its own system prompt and tools take 12,000."""


def compacted(copilot: Copilot) -> Asked:
    """Run a session that has to be compacted; return its last request."""
    world = copilot.world
    copilot.most_tokens = COMPACTS_AT
    long_output = copilot.shell("seq 1 9000 | tr '\\n' ' ' | head -c 19000")
    world.api.will(
        copilot.write(world.project / "src" / "app.py", "login = 1"),
        copilot.write(world.project / UNNAMED, "session = 1"),
        long_output,
        long_output,
        Say("It is written."),
    )
    ran = copilot.ask(TASK)
    assert world.api.compactions, ran.told
    world.api.will(copilot.shell("echo three"), Say())
    ran = copilot.ask_again("Please go on.")
    assert ran.code == 0, ran.told
    return world.api.turns[-1]


def after_first_compaction(copilot: Copilot) -> Asked:
    """Return the first request whose window was compacted."""
    summarized = "conversation history has been summarized"
    return next(turn for turn in copilot.world.api.turns if turn.holding(summarized))


def test_rules_memory_and_what_was_lost_are_told_again_after_a_compaction(
    copilot: Copilot,
) -> None:
    world = copilot.world
    world.learn(ALWAYS, "--kind", "constraint")
    copilot.install()
    world.api.summary = "The person wants the login to work."
    last = compacted(copilot)
    assert last.only(ALWAYS) == last.only(SCRATCH)
    assert last.only(ALWAYS).role == copilot.role
    after = world.api.turns[world.api.turns.index(after_first_compaction(copilot)) :]
    lost = {told.text for turn in after for told in copilot.told(turn) if UNNAMED in told.text}
    assert len(lost) == 1, last.told()
    assert "Rules your user set" not in lost.pop().partition(UNNAMED)[0]
    memory = (world.project / SCRATCH).read_text()
    assert memory.count(TASK) == 1
    assert UNNAMED in memory
    assert world.hook_log == ""


def test_usage_is_what_the_provider_billed_with_the_compaction_and_a_sub_agent(
    copilot: Copilot,
) -> None:
    world = copilot.world
    copilot.install()
    compacted(copilot)
    world.api.will(copilot.task("say hi"), Say("Hi."), Say())
    copilot.ask_again("Ask somebody.")
    total = json.loads(world.brim("usage", "--json", environ=copilot.environ()).out)["total"]
    assert total["requests"] == len(world.api.asked)
    replies = world.api.replies
    billed = {
        "input_tokens": UNCACHED * len(replies),
        "cache_creation_input_tokens": sum(reply.fresh for reply in replies),
        "cache_read_input_tokens": sum(reply.read for reply in replies),
        "output_tokens": sum(reply.written for reply in replies),
    }
    assert {name: total[name] for name in billed} == billed
    assert total["unpriced_requests"] == 0
    lost = json.loads(world.brim("memory", "lost", "--json", environ=copilot.environ()).out)
    assert lost["compactions"], lost


# What the person's files hold ---------------------------------------------------------------------


def files_of(world: World) -> dict[str, str]:
    """Return the settings of the program, as they stand."""
    folder = world.home / ".copilot"
    settings = [path for path in folder.rglob("*") if path.suffix in (".json", ".md")]
    return {str(path): path.read_text() for path in settings if "session" not in str(path)}


def test_uninstalling_leaves_every_byte_as_it_was(copilot: Copilot) -> None:
    world = copilot.world
    own = world.home / ".copilot" / "hooks" / "own.json"
    own.parent.mkdir(parents=True)
    own.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}')
    (world.home / ".copilot" / "settings.json").write_text('{ // mine\n  "theme": "dark" }\n')
    copilot.ask("Say hello.")  # it writes a file of its own
    before = files_of(world)
    world.learn(ALWAYS, "--kind", "constraint")
    copilot.install()
    assert files_of(world) != before
    copilot.ask("Say hello.")
    assert world.api.turns[-1].times(ALWAYS) == 1
    world.brim("uninstall", environ=copilot.environ())
    assert files_of(world) == before
    test_hooks.says_nothing(copilot)


def test_an_environment_that_is_deleted_stops_no_call(copilot: Copilot, tmp_path: Path) -> None:
    """It refuses every call whose hook fails, so a hook never may."""
    world = copilot.world
    copilot.install()
    python = tmp_path / "gone" / "bin" / "python"
    copilot.edit_launcher(r"'[^']*/python[^']*'", f"'{python}'")
    test_hooks.says_nothing(copilot)
    shutil.rmtree(world.home / ".brim" / "bin")
    (world.project / "made.txt").unlink()
    test_hooks.says_nothing(copilot)


def test_a_refused_prompt_says_why_and_makes_no_request(copilot: Copilot) -> None:
    world = copilot.world
    copilot.install()
    world.brim("limit", "0/day")
    ran = world.run([copilot.program, "-p", "Say hello."], environ=copilot.environ())
    assert world.api.asked == []
    assert "Your prompt wasn't sent" in ran.err


def test_a_limit_refuses_calls_that_no_permission_is_asked_for(copilot: Copilot) -> None:
    world = copilot.world
    copilot.install()
    world.brim("limit", "15k tokens/day")
    look = Call("view", {"path": str(world.project / "README.md")}, tokens=20_000)
    world.api.will(look, look, look, Say())
    copilot.ask("Say hello.")
    results = [part.text for part in world.api.turns[-1].parts if part.kind == "result"]
    assert all(STOPPED_BY in text for text in results[1:])


# Hooks that are meant for Claude Code -------------------------------------------------------------


def with_hooks_for_claude(copilot: Copilot) -> None:
    """Install brim for Claude Code in the project, in a file that this program reads too."""
    world = copilot.world
    world.brim("init", "--agent", "claude", "--project", "--yes")
    copilot.wait_for_hooks()


def test_hooks_for_claude_code_answer_in_its_form(copilot: Copilot) -> None:
    world = copilot.world
    world.learn(ALWAYS, "--kind", "constraint")
    world.brim("learn", "--user", "--block", "npm install", "Use pnpm")
    with_hooks_for_claude(copilot)
    world.api.will(copilot.shell("npm install x"), Say())
    copilot.ask("Say hello.", "--trust-folder")
    assert world.api.turns[0].only(ALWAYS).role == copilot.role
    (refused,) = [part for part in world.api.turns[-1].parts if part.kind == "result"]
    assert "Use pnpm" in refused.text
    assert world.hook_log == ""


def test_hooks_of_both_count_once(copilot: Copilot) -> None:
    world = copilot.world
    world.learn(ALWAYS, "--kind", "constraint")
    copilot.install()
    with_hooks_for_claude(copilot)
    world.api.will(copilot.shell("exit 3"), Say())
    copilot.ask("Say hello.", "--trust-folder")
    assert world.api.turns[-1].times(ALWAYS) == 1
    assert [entry["kind"] for entry in test_memory.journal(copilot)] == ["human", "command"]


# The status line ----------------------------------------------------------------------------------


def test_the_status_line_shows_how_full_the_window_is(copilot: Copilot) -> None:
    world = copilot.world
    folder = world.home / ".copilot"
    folder.mkdir()
    own = {"type": "command", "command": "echo line before"}
    (folder / "settings.json").write_text(json.dumps({"statusLine": own}))
    copilot.install()
    (folder / "config.json").write_text(json.dumps({"trustedFolders": [str(world.project)]}))
    world.api.will(Say("It is done."))
    environ = {**world.environ, **copilot.environ()}
    with Terminal([copilot.program], world.project, environ) as terminal:
        terminal.wait_for("line before")
        terminal.wait_for("window 936,000")
        terminal.enter("Say hello.")
        terminal.wait_for("of 936,000")
