"""Hooks in the real programs: rules reach the model, a limit holds, and brim is never in the
way."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

import brim
from tests.e2e.agents import Agent
from tests.e2e.conftest import agent_in
from tests.e2e.script import Say
from tests.e2e.world import BRIM, World

ALWAYS = "Never commit the files under dist/."
TESTING = "Run the tests with 'uv run pytest -x', never with plain pytest."
HANDLERS = "Every handler checks the session before it reads the body."


COMMITS = "Write short messages with 'git commit -m'."
WITH_TESTS = ("--when", "task test", "--when", "run pytest")

PLACES = {
    "claude": ["prompt", "start, with the prompt", "call", "result", "with the call"],
    "claude claude-sonnet-4-5": ["start, with the prompt, prompt", "call", "result, with the call"],
    "codex": ["start", "prompt", "with the prompt", "call", "with the call", "result"],
    "gemini": ["prompt, start, with the prompt", "call", "result, with the call"],
}
"""In which order the model reads what brim tells, message by message: what docs/agents.md says of
each program."""


@pytest.mark.parametrize("name", PLACES)
def test_what_is_told_stands_where_the_documentation_says(name: str, world: World) -> None:
    agent = agent_in(world, name.partition(" ")[0])
    agent.model = name.partition(" ")[2] or agent.model
    agent.world.crowd()
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.world.learn(TESTING, *WITH_TESTS)
    agent.world.learn(COMMITS, "--when", "run git status")
    agent.install()
    agent.world.api.will(agent.shell("git status --short; printf 'it was %s' run"), Say())
    agent.ask("Please run the tests and fix what fails.")
    words = {
        "prompt": "fix what fails",
        "start": ALWAYS,
        "with the prompt": TESTING,
        "call": "it was %s",
        "result": "it was run",
        "with the call": COMMITS,
    }
    messages: dict[int, str] = {}
    for part in agent.world.api.turns[-1].parts:
        messages[part.place] = messages.get(part.place, "") + part.text
    found = [
        sorted((text.find(each), what) for what, each in words.items() if each in text)
        for text in messages.values()
    ]
    assert [", ".join(what for _, what in message) for message in found if message] == PLACES[name]
    for told in (ALWAYS, TESTING, COMMITS):
        assert agent.world.api.turns[-1].times(told) == 1


def test_a_rule_that_always_holds_is_there_from_the_start_and_once(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install()
    agent.world.api.will(agent.shell("echo one"), agent.shell("echo two"), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    first, *_, last = agent.world.api.turns
    assert first.only(ALWAYS).role == (agent.start_role or agent.role)
    assert last.only(ALWAYS) == first.only(ALWAYS), (
        "what was told stays where it was: the cache is kept"
    )


def test_a_rule_comes_with_the_prompt_that_it_is_about(agent: Agent) -> None:
    agent.world.crowd()
    agent.world.learn(TESTING, *WITH_TESTS)
    agent.install()
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(TESTING) == 0
    agent.world.api.will(agent.shell("echo one"), Say())
    agent.ask("Please run the tests and fix what fails.")
    told = agent.world.api.turns[-1].only(TESTING)
    prompt = agent.world.api.turns[-1].holding("fix what fails")[0]
    assert told.role == agent.role
    assert told.place - prompt.place in (0, 1)


def test_a_rule_comes_with_the_command_that_it_is_about(agent: Agent) -> None:
    agent.world.crowd()
    agent.world.learn(TESTING, *WITH_TESTS)
    agent.install()
    agent.world.api.will(
        agent.shell("pytest --version || true"), agent.shell("pytest --version || true"), Say()
    )
    agent.ask("Say hello.")
    before, after, last = agent.world.api.turns
    assert before.times(TESTING) == 0
    assert after.only(TESTING).place >= after.holding("pytest --version")[-1].place
    assert last.times(TESTING) == 1


@pytest.mark.parametrize(
    "name", ["claude", "gemini"]
)  # Codex writes files by commands, in which no path is looked for
def test_a_rule_comes_with_the_file_that_it_is_about(name: str, world: World) -> None:
    agent = agent_in(world, name)
    world.crowd()
    world.learn(HANDLERS, "--when", "src/handlers/**")
    agent.install()
    path = world.project / "src" / "handlers" / "logout.py"
    world.api.will(agent.write(path, "def logout(): ..."), Say())
    agent.ask("Say hello.")
    before, after = world.api.turns
    assert before.times(HANDLERS) == 0
    assert after.only(HANDLERS).place == after.parts[-1].place, (
        "it comes with the result, at the end"
    )
    assert path.read_text() == "def logout(): ..."


def test_what_is_told_keeps_to_the_budget_that_init_wrote(agent: Agent) -> None:
    agent.world.write_rules(
        f"Check rule number {n} before you change module_{n}, and say so." for n in range(80)
    )
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.world.brim("config", "set", "--user", "token_budget.dynamic_context", "100")
    agent.install("--token-budget", "300")
    agent.ask("Say hello.")
    told = agent.told(agent.world.api.turns[0])[0]
    assert ALWAYS in told.text
    # Gemini CLI is told with the prompt, together with what the prompt itself brings up.
    most = 400 if agent.name == "gemini" else 300
    assert most - 150 < brim.count(told.text, model=agent.model) <= most


def test_what_is_told_during_the_work_keeps_to_the_budgets_of_one_text_and_of_the_session(
    agent: Agent,
) -> None:
    rules = (
        f"Run test number {n} with 'make check_{n}' before you change module_{n}."
        for n in range(80)
    )
    agent.world.write_rules(rules, when=["task test", "run pytest"])
    for setting, tokens in (("token_budget.dynamic_context", "200"), ("session.max_tokens", "300")):
        agent.world.brim("config", "set", "--user", setting, tokens)
    agent.install("--token-budget", "200")
    test = agent.shell("pytest --version || true")
    agent.world.api.will(test, test, test, Say())
    agent.ask("Please run the tests.")
    first, *later = (
        int(brim.count(told.text, model=agent.model))
        for told in agent.told(agent.world.api.turns[-1])
    )
    assert 100 < first <= 200
    assert later
    assert max(later) <= 200
    assert 200 < first + sum(later) <= 300


def test_nothing_is_told_twice_when_a_session_goes_on(agent: Agent) -> None:
    agent.world.crowd()
    agent.world.learn(TESTING, *WITH_TESTS)
    agent.install()
    agent.ask("Please run the tests.")
    agent.ask_again("Please run the tests again.")
    assert agent.world.api.turns[-1].times(TESTING) == 1


def test_a_project_is_not_listened_to_before_it_is_trusted(agent: Agent) -> None:
    agent.world.brim("learn", "--project", ALWAYS, "--kind", "constraint")
    agent.world.brim("rules", "trust", "--remove", "--yes")  # as if somebody else had learned it
    agent.install()
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(ALWAYS) == 0
    agent.world.brim("rules", "trust", "--yes")
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(ALWAYS) == 1


def test_a_call_that_breaks_a_rule_not_yet_shown_is_held_back_once(agent: Agent) -> None:
    agent.world.crowd()
    agent.world.learn("Never force-push with 'git push --force'.", "--when", "run git push")
    agent.install()
    push = agent.shell("git push --force 2>/dev/null; echo pushed >> pushed.txt")
    agent.world.api.will(push, push, Say())
    agent.ask("Say hello.")
    result = [part for part in agent.world.api.turns[1].parts if part.kind == "result"]
    assert "Never force-push" in result[-1].text
    assert (agent.world.project / "pushed.txt").read_text() == "pushed\n"


def test_an_agent_that_goes_in_circles_is_held_once(agent: Agent) -> None:
    agent.world.brim("config", "set", "--user", "hooks.loops", "3")
    agent.install()
    calls = (
        4 if agent.name == "gemini" else 6
    )  # Gemini CLI ends a turn at the fifth of the same calls itself
    agent.world.api.will(*[agent.shell("echo run >> runs.txt; cat missing.txt")] * calls, Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    results = [part.text for part in agent.world.api.turns[-1].parts if part.kind == "result"]
    held = [number for number, text in enumerate(results) if "failed the same way 3 times" in text]
    # Claude Code writes a result into its transcript up to 0.2 s later, so the next call may not
    # see it yet.
    assert held in ([3], [4] if agent.name == "claude" else [3])
    assert (agent.world.project / "runs.txt").read_text() == "run\n" * (calls - 1)


def spent(agent: Agent) -> int:
    """Return what the limit says was spent, in micro-dollars."""
    (limit,) = json.loads(agent.world.brim("limit", "--json", environ=agent.environ()).out)[
        "limits"
    ]
    return int(limit["spent"])


def test_a_spent_budget_holds_the_next_call_and_tells_the_agent_no_command(agent: Agent) -> None:
    agent.install()
    agent.world.brim("limit", "0.02")
    agent.world.api.will(
        agent.shell("echo one >> calls.txt", tokens=100_000),
        agent.shell("echo two >> calls.txt", tokens=110_000),
        agent.shell("echo three >> calls.txt", tokens=120_000),
        Say("Wrapped up."),
    )
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert spent(agent) > 20_000
    made = agent.world.project / "calls.txt"
    calls = made.read_text().split() if made.exists() else []
    assert calls in ([], ["one"]), (
        "the first may run before the client has written down what the answer cost"
    )
    turns = agent.world.api.turns
    heard = [part.text for turn in turns for part in turn.parts]
    assert not any("brim limit" in text for text in heard)
    if agent.name != "codex":
        assert len(turns) == 1  # the turn ends before its second request
        return
    # No answer of a hook ends Codex's turn: each further call is refused, and says why.
    results = [part.text for part in turns[-1].parts if part.kind == "result"]
    refused = [text for text in results if "Stopped by your user's limit" in text]
    assert len(refused) == len(results) - len(calls) >= 2
    assert all("of $0.02 spent" in text for text in refused)


def test_an_agent_that_asks_on_and_on_is_never_let_through(agent: Agent) -> None:
    agent.install()
    agent.world.brim("limit", "0")
    agent.world.api.will(
        *[agent.shell(f"echo {at} >> calls.txt") for at in range(6)], Say("Wrapped up.")
    )
    ran = agent.ask("Say hello.")
    assert not (agent.world.project / "calls.txt").exists(), ran.told


def test_a_budget_that_was_raised_lets_the_next_call_pass(claude: Agent) -> None:
    claude.install()
    claude.world.brim("limit", "0.02")
    claude.world.api.will(Say(tokens=100_000))
    claude.ask("Say hello.")
    claude.world.api.will(claude.shell("echo two >> calls.txt"), Say())
    claude.ask_again("Say hello.")
    assert not (claude.world.project / "calls.txt").exists()
    claude.world.brim("limit", "raise", "50")
    claude.world.api.will(claude.shell("echo three >> calls.txt"), Say())
    claude.ask_again("Say hello.")
    assert (claude.world.project / "calls.txt").read_text() == "three\n"


def test_limit_and_program_agree_on_what_a_session_cost(claude: Agent) -> None:
    claude.install()
    claude.world.brim("limit", "100")
    claude.world.api.will(
        claude.shell("echo one", tokens=100_000), Say(tokens=110_000, output_tokens=2_000)
    )
    ran = claude.ask("Say hello.")
    said = ran.of("result")[-1]["total_cost_usd"]
    assert spent(claude) == pytest.approx(said * 1_000_000, abs=2)
    assert said > 0.5


def test_what_a_session_cost_counts_for_the_limit_when_it_is_over(agent: Agent) -> None:
    agent.install()
    agent.world.brim("limit", "100")
    agent.world.api.will(agent.shell("echo one", tokens=100_000), Say(tokens=110_000))
    agent.ask("Say hello.")
    assert spent(agent) > 30_000


def says_nothing(agent: Agent) -> None:
    """Run a session with a call; it works, and the model hears nothing of brim."""
    agent.world.api.will(agent.shell("echo hello > made.txt"), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert (agent.world.project / "made.txt").exists()
    assert agent.told(agent.world.api.turns[-1]) == []


def files_of(agent: Agent) -> dict[Path, str]:
    """Return the settings of the program, as they stand."""
    folder = agent.world.home / f".{agent.name}"
    return {path: path.read_text() for path in folder.glob("*.json") if path.is_file()}


def test_the_settings_are_as_before_when_brim_is_taken_out(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    before = files_of(agent)
    agent.install()
    assert files_of(agent) != before
    agent.world.brim("uninstall", environ=agent.environ())
    assert {
        path: text for path, text in files_of(agent).items() if ".brim" not in path.name
    } == before
    says_nothing(agent)


def test_a_pause_is_a_pause(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install()
    agent.world.brim("pause")
    says_nothing(agent)


def test_databases_that_are_broken_are_made_again_and_the_rules_are_told(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install()
    for name in ("rules.db", "state.db", "index.db"):
        (agent.world.home / ".brim" / name).write_bytes(b"this is not a database" * 100)
    agent.world.api.will(agent.shell("echo hello > made.txt"), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert (agent.world.project / "made.txt").exists()
    assert agent.world.api.turns[-1].times(ALWAYS) == 1


def test_a_brim_that_is_gone_stops_nobody(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install()
    agent.edit_launcher(r"from brim\S* import", "from brim_that_is_gone import")
    says_nothing(agent)
    shutil.rmtree(agent.world.home / ".brim")
    says_nothing(agent)


def test_other_hooks_of_the_person_go_on_working(claude: Agent) -> None:
    claude.world.learn(ALWAYS, "--kind", "constraint")
    own = {"hooks": [{"type": "command", "command": "echo '{}' > started.json"}]}
    folder = claude.world.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"hooks": {"SessionStart": [own]}}))
    claude.install()
    claude.ask("Say hello.")
    assert (claude.world.project / "started.json").exists()
    assert claude.world.api.turns[0].times(ALWAYS) == 1


def test_what_is_installed_for_one_project_works_there_and_nowhere_else(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install("--project", "--yes")
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(ALWAYS) == 1
    shutil.rmtree(
        agent.world.project / f".{agent.name}"
    )  # as in a project that it was not installed for
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(ALWAYS) == 0


def test_an_agent_cannot_loosen_what_holds_it_and_can_tighten_it(agent: Agent) -> None:
    agent.world.brim("limit", "10/day")
    brim = shlex.quote(str(BRIM))
    agent.world.api.will(
        agent.shell(
            f"{brim} pause; echo a=$?; {brim} limit remove; echo b=$?; {brim} limit 2/session; echo c=$?"
        ),
        Say(),
    )
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    said = agent.world.api.turns[-1].told()
    assert all(each in said for each in ("a=1", "b=1", "c=0", "only a person pauses brim")), said
    assert not (agent.world.home / ".brim" / "paused").exists()
    limits = json.loads(agent.world.brim("limit", "--json").out)["limits"]
    assert sorted(limit["limit"] for limit in limits) == ["10/day", "2/session"]


def test_codex_cuts_no_text_of_brims(codex: Agent) -> None:
    """Without a word in the hook's entry it cuts what is longer than 10,000 bytes."""
    world = codex.world
    world.write_rules(
        f"Правило {n}: не меняй модуль {n} без нужды и скажи об этом." for n in range(140)
    )
    codex.install("--token-budget", "20000")
    codex.ask("Say hello.")
    told = "".join(told.text for told in codex.told(world.api.turns[0]))
    assert len(told.encode()) > 12_000
    assert "truncated" not in told
    assert all(f"Правило {n}:" in told for n in range(100))
