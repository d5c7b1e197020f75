"""What ``brim doctor`` says about settings, rules files, their index, and trust."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from brim.agents.settings import settings_for
from brim.errors import BrimError
from brim.figures import counted
from brim.install.findings import OFF, OK, WRONG, Finding, shown_limit
from brim.install.git_exclude import not_ignored
from brim.install.installation import BUDGET, Installation
from brim.rules.rulebook import ACTIVE
from brim.rules.source import PROJECT


def check_settings(installation: Installation) -> Iterator[Finding]:
    """Say what the token budget is, and where it is set."""
    try:
        budget, origin = installation.config.yours.values[BUDGET]
    except BrimError as error:
        yield Finding(WRONG, "settings", f"{error}; until then agents go on without it")
        return
    text = f"{BUDGET} is {shown_limit(budget)} (set by {origin})"
    yield Finding(OK, "settings", text, token_budget=budget)


def check_rules(installation: Installation) -> Iterator[Finding]:
    """Say whether the rules files can be read, and whether their index can be written."""
    book = installation.rulebook
    for place, file in book.files:
        facts: dict[str, Any] = {"scope": place, "file": file.path}
        text = file.read()
        for mistake in text.mistakes:
            words = f"{file.path}, {mistake}; the rule as it was goes on applying"
            yield Finding(WRONG, "rules", words, **facts)
        if text.mistakes:
            continue
        if os.path.lexists(file.path):
            words = f"{file.path}: {counted(len(text.rules), 'rule')}"
            yield Finding(OK, "rules", words, rules=len(text.rules), **facts)
        elif place != PROJECT:
            yield Finding(OFF, "rules", "no rules for all your projects yet", **facts)
    index = book.open_index()
    news = [line for line in index.news if "index" in line]
    index.close()
    for line in news:
        yield Finding(WRONG, "rules", line)


def check_project(installation: Installation) -> Iterator[Finding]:
    """Say whether agents use this project's rules, and whether git would carry them."""
    yield _trust(installation)
    if installation.project is not None:
        path = installation.rulebook.file(PROJECT).path
        if os.path.exists(path) and not not_ignored([path]):
            text = f"{path}: git ignores it: end .brim/.gitignore with a line '!rules.toml'"
            yield Finding(OFF, "git", text, file=path)
    if installation.memory_problem is not None:
        yield Finding(OFF, "memory", str(installation.memory_problem), project=installation.project)


def _trust(installation: Installation) -> Finding:
    """Say whether the project is trusted, and what was changed in it since then."""
    project = installation.project
    if project is None:
        text = "no project here: agents hear only your own rules"
        return Finding(OFF, "project", text, project=None)
    facts: dict[str, Any] = {"project": project, "trusted": installation.trusted}
    if not os.path.isdir(os.path.join(project, ".brim")):
        return Finding(OFF, "project", f"{project}: no rules of its own yet", **facts)
    if not installation.trusted:
        text = "is not trusted, so agents are told only your own rules: brim rules trust"
        return Finding(OFF, "project", f"{project}: {text}", **facts)
    if installation.changes:
        return Finding(OFF, "project", installation.changes, **facts)
    return Finding(OK, "project", f"{project}: is trusted", **facts)


def check_blocks(installation: Installation, agents: Sequence[str]) -> Iterator[Finding]:
    """Say how many rules refuse calls, and which calls an agent makes without asking."""
    number = _count_blocks(installation)
    if not number:
        return
    text = f"{counted(number, 'rule')} with blocks"
    if not agents:
        text += ", but no agent has hooks, so nothing is refused: brim init"
        yield Finding(OFF, "blocks", text, rules=number)
        return
    gaps = list(filter(None, [settings_for(agent).unasked for agent in agents]))
    if gaps:
        text += f"; not refused: {'; '.join(gaps)}"
    yield Finding(OK, "blocks", text, rules=number, not_refused=gaps)


def _count_blocks(installation: Installation) -> int:
    """Return how many rules in use have blocks; a file that can't be read is a finding of its
    own."""
    try:
        entries = list(installation.rulebook.entries(native=False))
    except BrimError:
        return 0
    return sum(bool(entry.rule.block) for entry in entries if entry.state == ACTIVE)
