"""A project's file changes neither what the user's own constraints get nor what the user is warned
of."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brim.config import SETTINGS, Setting
from brim.config.trust import trust
from brim.hooks.statusline import facts_of
from tests.hooks.injected import Agent, rule
from tests.hooks.sittings import Sitting
from tests.waiting import wait_until

YOURS = {
    "always": "Never push to main without asking.",
    "file": "Never edit generated Python files by hand.",
    "prompt": "Never skip a failing test.",
    "directive": "Keep answers short and without headings, and leave out everything that the reader knows already.",
}
THEIRS = [f"Project rule {number} about the names of all things." for number in range(6)]


def agent(folder: Path, settings: str = "") -> Agent:
    found = Agent(folder)
    found.learn(
        rule("u1", YOURS["always"]),
        rule("u2", YOURS["file"], when="python"),
        rule("u3", YOURS["prompt"], when="task test"),
    )
    found.learn(rule("u4", YOURS["directive"]))
    found.learn(*(rule(f"p{at}", text) for at, text in enumerate(THEIRS)), scope="project")
    if settings:
        found.configure(settings, "project")
    found.trust()
    return found


def told(found: Agent) -> list[set[str]]:
    """Which of the user's constraints are told at start, prompt and before a tool."""
    answers = [
        found.start(),
        found.prompt("run the tests again"),
        found.edit(),
        found.start("compact"),
        found.edit(),
    ]
    return [
        {key for key, text in YOURS.items() if text in f"{answer.text}{answer.deny}"}
        for answer in answers
    ]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Agent]:
    """Return an agent with nothing but the rules, as often as it's called: making them takes longer
    than a copy."""
    made, kept = (tmp_path_factory.mktemp("set") / name for name in ("made", "kept"))
    found = agent(made)
    shutil.copytree(made, kept)

    def again() -> Agent:
        # A process that compiles rules in the background may still write there.
        wait_until(lambda: removed(made))
        shutil.copytree(kept, made, dirs_exist_ok=True)
        return found

    return again


@pytest.fixture(scope="module")
def without_file(tmp_path_factory: pytest.TempPathFactory) -> list[set[str]]:
    found = told(agent(tmp_path_factory.mktemp("plain")))
    assert set().union(*found) == set(YOURS)
    return found


def values_of(setting: Setting) -> list[Any]:
    """Return the values that could change most: every choice, else the least and the most."""
    if setting.key == "models":
        return [
            {
                name: {"context_window": size, "encoding": "gpt2"}
                for name in ("gpt-5", "opus", "new")
            }
            for size in (1, 10**9)
        ]
    if setting.kind == "words":
        return [list(setting.choices), [setting.choices[-1]]]
    if setting.choices:
        return list(setting.choices)
    if setting.kind == "flag":
        return [False, True]
    if setting.kind == "text":
        return ["llama-3", "unknown-model"]
    least, most = setting.least or 0, 10**9 if setting.most is None else setting.most
    if setting.key == "spend.limit":
        # At a limit of 0 no call is made that a constraint could be about.
        least = 0.01
    return [int(least), int(most)] if setting.kind == "whole" else [float(least), 0.5, float(most)]


def removed(folder: Path) -> bool:
    """Remove *folder*; return whether it's gone."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def tree(setting: Setting, value: Any) -> str:
    section, _, name = setting.key.rpartition(".")
    return json.dumps({section: {name: value}} if section else {name: value})


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_the_users_constraints_are_told_whatever_it_sets(
    fresh: Callable[[], Agent], without_file: list[set[str]], setting: Setting
) -> None:
    for value in values_of(setting):
        found = fresh()
        found.configure(tree(setting, value), "project")
        found.trust()
        assert told(found) == without_file, value


def test_all_of_them_at_once(tmp_path: Path, without_file: list[set[str]]) -> None:
    settings = (
        "token_budget: {default: 0, dynamic_context: 0}\ninjection: {max_chars: 1, format: plain}\n"
        "session: {max_tokens: 0, backoff: 1000}\n"
        "tiers: {full: 1, summary: 1, name_only: 1}\nmodel: unknown-model\n"
    )
    assert told(agent(tmp_path, settings)) == without_file


# The window and the money


@pytest.mark.parametrize(
    "settings",
    [
        "context: {window: 1000000000}",
        "context: {warn: 1, compact: 1}",
        "models: {claude-sonnet-4-5: {context_window: 1000000000}}",
    ],
)
def test_a_project_hides_no_full_window(tmp_path: Path, settings: str) -> None:
    found = agent(tmp_path, settings)
    usage = {
        "input_tokens": 190_000,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    }
    sent = {
        "model": {"id": "claude-sonnet-4-5"},
        "context_window": {"current_usage": usage},
        "cwd": str(found.project),
    }
    facts = facts_of(json.dumps({**sent, "session_id": "s"}).encode(), found.environ, now=0.0)
    assert facts is not None
    assert (facts["context_window"], facts["warning"]) == (200_000, "compact")


def test_a_projects_prices_lift_no_limit(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path)
    (sitting.project / ".brim").mkdir(exist_ok=True)
    (sitting.project / ".brim" / "config.yaml").write_text(
        "models: {claude-sonnet-4-5: {prices: {input: 0, output: 0}}}\nspend: {limit: 1000}\n",
        encoding="utf-8",
    )
    trust(str(sitting.project), str(sitting.home))
    (sitting.home / "config.yaml").write_text(f'limits: {{"{sitting.project}": ["0.01"]}}\n')
    sitting.used("m1", 4_000)
    assert "brim limit +90%" in sitting.prompt("Go on.")["reason"]
