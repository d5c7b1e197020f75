"""Inside an agent, commands refuse what would loosen a limit, a rule or a setting; tightening
works."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from brim.agents import agent_at_work
from tests.cli.conftest import Brim

CLAUDE = {"CLAUDECODE": "1", "AI_AGENT": "claude-code_2-1-325_agent"}
CODEX = {"CODEX_THREAD_ID": "01a1e44f-6d89-7870-be89-3934502060b2"}
GEMINI = {"GEMINI_CLI": "1"}

PUSH = "Never push to main."
State = tuple[object, object, str]
"""Limits, rules and trust."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Brim:
    """A person's home with a rule, a limit and a project that isn't trusted."""
    brim = Brim(tmp_path_factory.mktemp("person"))
    (brim.cwd / ".git").mkdir()
    for words in (
        ("learn", "--user", PUSH),
        ("learn", "--user", "Use uv."),
        ("limit", "5/day"),
        ("limit", "20"),
    ):
        assert brim(*words).code == 0
    brim.write("AGENTS.md", "- Always push.\n")
    return brim


@pytest.fixture
def world(prepared: Brim, tmp_path: Path) -> Iterator[Brim]:
    """What was prepared, in the place where it was, as it was."""
    shutil.copytree(prepared.home.parent, tmp_path / "kept")
    yield prepared
    shutil.rmtree(prepared.home.parent)
    shutil.copytree(tmp_path / "kept", prepared.home.parent)


LOOSENING = [
    "pause",
    "pause 1h",
    "rules trust --yes",
    "config set hooks.loops off",
    "config unset hooks.loops",
    "config set spend.limit 100",
    "uninstall",
    "init --hooks injection-only",
    "init --token-budget 0",
    "upgrade --token-budget 0",
    "init --project --yes",
    "limit 50/day",
    "limit none",
    "limit remove",
    "limit remove 5/day",
    "limit raise 9/day",
    "limit +10%",
    "limit +40%",
    "limit forget key",
    "rules remove push",
    "learn --user --replaces push Push",
    "rules edit push",
    "rules review accept push",
    "rules review dismiss push",
    "rules restore push",
    "rules import AGENTS.md --user --yes",
    "run --on-limit continue -- true",
]


def _files(folder: Path) -> dict[str, bytes]:
    """Return every file that a setting, a rule or a limit could be in, but not what SQLite keeps
    next to one."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".db-wal", ".db-shm", ".db"):
            found[str(path)] = path.read_bytes()
    return found


@pytest.fixture(scope="module")
def state(prepared: Brim) -> State:
    return _state(prepared)


@pytest.mark.parametrize("line", LOOSENING)
def test_what_loosens_is_refused_in_an_agent_and_changes_nothing(
    world: Brim, state: State, line: str
) -> None:
    before = _files(world.home), _files(world.cwd), state
    refused = world(*line.split(), env={**CLAUDE, "EDITOR": "true"})
    assert refused.code == 1, refused
    assert "only a person" in refused.err
    assert "Claude Code" in refused.err
    assert "env -u" not in refused.err
    assert (_files(world.home), _files(world.cwd), _state(world)) == before


def _state(world: Brim) -> State:
    limits = world("limit", "--json").json["limits"]
    return (
        limits,
        world("rules", "--json").json,
        world("rules", "trust", "--list", "--json").out,
    )


@pytest.mark.parametrize(
    "environ", [CLAUDE, CODEX, GEMINI, {"AI_AGENT": "other"}, {"BRIM_RUN_ID": "a1"}]
)
def test_every_agent_is_known_by_its_variable(world: Brim, environ: dict[str, str]) -> None:
    assert world("pause", env=environ).code == 1
    assert not (world.home / ".brim" / "paused").exists()
    assert agent_at_work(environ)


def test_a_person_does_all_of_it_as_before(world: Brim) -> None:
    for line in (
        "pause",
        "pause off",
        "limit 50/day",
        "limit remove",
        "rules remove push",
        "config set tiers.full 0.8",
    ):
        assert world(*line.split()).code == 0, line
    assert agent_at_work({"PATH": "/bin", "CLAUDE_PROJECT_DIR": "/work", "CODEX_HOME": "/c"}) == ""


@pytest.mark.parametrize(
    "line",
    [
        "learn --user --kind constraint Sign",
        "limit 2/session",
        "limit --all 100/month",
        "limit 3/day",
        "limit 5/day",
        "limit stop",
        "limit",
        "rules",
        "rules why push",
        "pause off",
        "rules restore",
        "rules trust --list",
        "config list",
        "config get hooks.loops",
        "uninstall --dry-run",
        "init --agent claude",
        "init --agent claude --hooks injection-only --dry-run",
    ],
)
def test_looking_and_tightening_work_in_an_agent(world: Brim, line: str) -> None:
    done = world(*line.split(), env=CLAUDE)
    assert done.code == 0, done


def test_the_limit_of_the_settings_is_not_given_up_for_another(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.configure(user="spend: {limit: 10}\n")
    assert brim("limit", "100/day", env=GEMINI).code == 1
    assert brim("limit", "50", env=GEMINI).code == 1
    assert brim("limit", "5", env=GEMINI).code == 0


@pytest.mark.parametrize("words", [PUSH, "Always push to main."])
def test_what_an_agent_teaches_changes_no_rule(world: Brim, words: str) -> None:
    before = _state(world)
    taught = world("learn", "--user", words, "--kind", "preference", "--when", "cobol", env=CLAUDE)
    assert taught.code == 0
    assert _state(world) == before
    assert words in world("rules", "review").out
