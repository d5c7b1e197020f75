"""What an agent does is written down while it works, and is there again after a compaction."""

from __future__ import annotations

import json
from typing import Any

import brim
from tests.e2e.agents import Agent, Codex
from tests.e2e.script import Asked, Overflow, Say

PROMPT = "Please fix the login in src/app.py."


def journal(agent: Agent) -> list[dict[str, Any]]:
    """Return the entries of the journal, without those that say that two are one."""
    lines = (agent.world.project / ".context" / "journal.jsonl").read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if entry["kind"] != "same"]


def test_what_was_asked_and_which_command_failed_is_written_down_once(agent: Agent) -> None:
    agent.install()
    agent.world.api.will(
        agent.shell("echo it works"), agent.shell("echo no such login >&2; exit 3"), Say()
    )
    agent.ask(PROMPT)
    entries = journal(agent)
    assert [(entry["kind"], entry["text"]) for entry in entries] == [
        ("human", PROMPT),
        ("command", "echo no such login >&2; exit 3"),
    ]
    assert entries[1]["refs"]["outcome"] == "ended with 3"
    assert "no such login" in entries[1]["refs"]["output"]


def test_a_file_that_was_written_is_written_down_and_one_that_was_not_is_not(claude: Agent) -> None:
    claude.install()
    good, bad = (
        claude.world.project / "src" / "app.py",
        claude.world.project / "README.md" / "no.py",
    )
    claude.world.api.will(claude.write(good, "login = 1"), claude.write(bad, "no"), Say())
    claude.ask(PROMPT)
    memory = (claude.world.project / ".context" / "artifacts.md").read_text()
    assert str(good) in memory
    assert str(bad) not in memory


def test_what_fails_in_the_same_way_again_and_again_is_noticed(agent: Agent) -> None:
    agent.install()
    fails = agent.shell("echo no such login >&2; exit 3")
    agent.world.api.will(fails, fails, fails, Say())
    agent.ask(PROMPT)
    kinds = [entry["kind"] for entry in journal(agent)]
    assert kinds.count("dead-end") == 1, kinds


def test_whoever_wants_only_the_rules_gets_no_journal(agent: Agent) -> None:
    agent.world.learn("Never commit the files under dist/.", "--kind", "constraint")
    agent.install("--hooks", "injection-only")
    agent.world.api.will(agent.shell("echo one"), Say())
    agent.ask(PROMPT)
    assert agent.world.api.turns[-1].times("Never commit the files under dist/.") == 1
    assert not (agent.world.project / ".context").exists()


ALWAYS = "Never commit the files under dist/."
TASK = "Please fix the login in src/app.py, and keep the timeout at 45 seconds."
UNNAMED = "src/session.py"
"""A file that is written, and that the prompt doesn't name."""
SCRATCH = ".context/scratch.md"


def compacted(agent: Agent, *options: str) -> Asked:
    """Run a session that has to be compacted; return the first request after that."""
    api, path = agent.world.api, agent.world.project / "src" / "app.py"
    unnamed = agent.write(agent.world.project / UNNAMED, "session = 1")
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install(*options)
    if agent.name == "claude":
        api.will(
            agent.write(path, "login = 1"),
            unnamed,
            agent.shell("echo two"),
            Overflow(),
            agent.shell("echo three"),
            Say(),
        )
        ran = agent.ask(TASK)
    elif isinstance(agent, Codex):
        agent.configure("model_auto_compact_token_limit = 100000")
        full = agent.shell("echo two", tokens=150_000)
        api.will(
            agent.write(path, "login = 1"),
            unnamed,
            full,
            agent.shell("echo three", tokens=9_000),
            Say(tokens=9_000),
        )
        ran = agent.ask(TASK)
    else:  # nothing is compressed that does not end with a text, so the second prompt is the first chance
        settings = agent.world.home / ".gemini" / "settings.json"
        changed = {**json.loads(settings.read_text()), "model": {"compressionThreshold": 0.00005}}
        settings.write_text(json.dumps(changed))
        said = " ".join(f"Step {n} is done in part_{n}." for n in range(300))
        api.will(agent.write(path, "login = 1"), unnamed, Say(said, tokens=700_000))
        agent.ask(TASK)
        api.will(agent.shell("echo three", tokens=20_000), Say(tokens=20_000))
        ran = agent.ask_again("Please go on.")
    assert ran.code == 0, ran.told
    assert api.compactions, ran.told
    last = max(number for number, asked in enumerate(api.asked) if asked.kind == "compaction")
    return api.asked[last + 1]


def test_the_rules_and_the_place_of_the_memory_are_there_after_a_compaction(agent: Agent) -> None:
    agent.world.api.summary = f"{TASK} It is written."  # so that nothing is lost
    after = compacted(agent)
    if agent.name == "gemini":  # that its window has shrunk shows in the answer to that request
        after = agent.world.api.turns[-1]
    assert after.only(ALWAYS).role == agent.role
    assert after.only(SCRATCH).role == agent.role
    assert after.only(SCRATCH) == after.only(ALWAYS), "both come at once"


def test_what_is_told_after_a_compaction_keeps_to_the_budget_of_a_start(agent: Agent) -> None:
    agent.world.write_rules(
        f"Check rule number {n} before you change module_{n}, and say so." for n in range(80)
    )
    agent.world.brim("config", "set", "--user", "token_budget.dynamic_context", "100")
    compacted(agent, "--token-budget", "400")
    told = [
        told.text
        for told in agent.told(agent.world.api.turns[-1])
        if SCRATCH in told.text and ALWAYS in told.text
    ]
    assert len(told) == 1
    # Gemini CLI is told with the result of a call, together with what the call itself may bring up.
    most = 500 if agent.name == "gemini" else 400
    assert 200 < brim.count(told[0], model=agent.model) <= most


def test_the_memory_holds_what_was_asked_and_done(agent: Agent) -> None:
    compacted(agent)
    memory = (agent.world.project / SCRATCH).read_text()
    assert memory.count(TASK) == 1
    assert memory.count("Please go on.") == (agent.name == "gemini")
    assert agent.name == "codex" or "src/app.py" in memory.replace(TASK, ""), (
        "Codex writes files by its shell"
    )


def test_going_on_keeps_what_the_person_asked_first(gemini: Agent) -> None:
    gemini.world.learn(ALWAYS, "--kind", "constraint")
    gemini.install()
    gemini.ask(TASK)
    gemini.ask_again("Please go on.")
    assert gemini.world.api.turns[-1].times(TASK) == 1


def test_a_window_that_fills_up_by_itself_is_compacted_with_the_same_care(claude: Agent) -> None:
    claude.world.learn(ALWAYS, "--kind", "constraint")
    claude.install()
    full = claude.shell("echo two", tokens=190_000)
    claude.world.api.will(claude.shell("echo one", tokens=60_000), full, Say(tokens=20_000))
    ran = claude.ask(TASK, "--autocompact", "100k")
    assert ran.of("system", subtype="compact_boundary"), ran.told
    after = claude.world.api.turns[-1]
    assert after.times(ALWAYS) == 1
    assert after.times(SCRATCH) == 1


def test_the_summariser_is_told_what_the_person_asked_and_which_files_there_are(
    claude: Agent,
) -> None:
    compacted(claude)
    asked = claude.world.api.compactions[0]
    instructions = asked.holding("Additional Instructions")[-1].text.partition(
        "Additional Instructions"
    )[2]
    assert TASK in instructions
    assert "src/app.py" in instructions.replace(TASK, "")


def test_what_the_summary_lost_comes_with_the_next_event_and_once(agent: Agent) -> None:
    api = agent.world.api
    api.summary = "The person wants the login to work."
    compacted(agent)
    after = api.asked[api.asked.index(api.compactions[0]) :]
    first = next(asked for asked in after if asked.kind == "turn")
    assert not [told for told in agent.told(first) if "45 seconds" in told.text], (
        "it is known only after the agent went on"
    )
    # Codex leaves the person's messages in the window, word for word, and no file but those that
    # they name. The others leave the files and not the words.
    words = UNNAMED if agent.name == "codex" else "45 seconds"
    lost = [told.text for told in agent.told(api.turns[-1]) if words in told.text]
    assert len(lost) == 1
    assert lost[0].count(words) == 1
    assert "## " not in lost[0].partition(words)[0], "it is no rule"
    if agent.name == "codex":
        assert TASK not in lost[0]
        assert api.turns[-1].times(TASK) == 1
    else:
        assert lost[0].count("src/app.py") == 1


def test_brim_its_report_and_memory_lost_name_what_the_hook_gave_back(claude: Agent) -> None:
    world = claude.world
    world.api.summary = "The person wants the login to work."
    compacted(claude)
    (lost,) = json.loads(world.brim("memory", "lost", "--json", environ=claude.environ()).out)[
        "compactions"
    ]
    given_back = [item["text"] for item in lost["lost"] if item["given_back"]]
    assert given_back == [TASK]
    assert claude.told(world.api.turns[-1])[-1].text.count(f'  - your user said: "{TASK}"') == 1
    assert "brim gave back 1 thing" in world.brim("report", environ=claude.environ()).out
    assert "1 compaction, 1 thing given back" in world.brim(environ=claude.environ()).out
