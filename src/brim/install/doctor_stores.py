"""What ``brim doctor`` says about brim's own files: settings, stores, trust, and rules that
refuse."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from brim.agents.settings import settings_for
from brim.behaviors.behavior import LIVE
from brim.errors import BrimError, StoreError
from brim.figures import counted
from brim.install.findings import FIX, OFF, OK, WRONG, Finding, shown_limit
from brim.install.git_exclude import not_ignored
from brim.install.installation import BUDGET, Installation
from brim.install.rule_files import shared_news
from brim.store.backup import lost_rules
from brim.store.checks import shortened, store_problems
from brim.store.project import is_tracked
from brim.store.store import open_store
from brim.workspace import DATABASE


def check_settings(installation: Installation) -> Iterator[Finding]:
    """Say what the token budget is, and where it is set."""
    try:
        budget, origin = installation.config.yours.values[BUDGET]
    except BrimError as error:
        yield Finding(WRONG, "settings", f"{error}; until then agents go on without it")
        return
    text = f"{BUDGET} is {shown_limit(budget)} (set by {origin})"
    yield Finding(OK, "settings", text, token_budget=budget)


def check_stores(installation: Installation, *, installed: bool) -> Iterator[Finding]:
    """Say whether hooks can read what was learned: they never upgrade a file."""
    for scope, folder in installation.scope_folders.items():
        path = os.path.join(folder, DATABASE)
        if scope == "project":
            yield from _lost_rules(installation, path)
        if os.path.lexists(path):
            yield _store(scope, path)
        elif scope == "user":
            yield _missing_store(path, installed=installed)


def _lost_rules(installation: Installation, path: str) -> Iterator[Finding]:
    """Say how many rules a project's store has lost that brim kept elsewhere."""
    lost = lost_rules(path, installation.home)
    if lost:
        kept_copy, number = lost
        text = f"{path}: {counted(number, 'rule')} that brim kept in {kept_copy} are missing"
        state = WRONG if os.path.lexists(path) else OFF
        fix = "brim rules restore"
        yield Finding(state, "lost", text, fix, rules=number, copy=kept_copy)


def _missing_store(path: str, *, installed: bool) -> Finding:
    """Say that the user has no store; with brim *installed* hooks need one."""
    facts: dict[str, Any] = {"scope": "user", "file": path, "version": None}
    if not installed:
        return Finding(OFF, "store", "no rules for all your projects yet", **facts)
    text = f"{path}: is missing, so hooks can't remember sessions or count money"
    return Finding(WRONG, "store", text, FIX, **facts)


def _store(scope: str, path: str) -> Finding:
    """Say whether the store *path* can be read."""
    facts: dict[str, Any] = {"scope": scope, "file": path, "version": None}
    try:
        with open_store(path, create=False, timeout=1.0) as store:
            damage = store_problems(store)
            if damage:
                text = f"{path}: is damaged ({shortened(damage)}): 'brim rules restore'"
                raise StoreError(text, "damaged")
            number = len(store.behaviors(LIVE))
    except BrimError as error:
        text = str(error)
        if scope == "project":
            text += "; until then agents go on without this project"
        return Finding(WRONG, "store", text, **facts)
    return Finding(OK, "store", f"{path}: {counted(number, 'rule')}", **facts, behaviors=number)


def check_project(installation: Installation) -> Iterator[Finding]:
    """Say whether agents use this project's rules, and what of it isn't stored here."""
    changes = ""
    news = ""
    # A store that can't be opened is a finding of its own.
    with suppress(BrimError), installation.open(create=False) as scopes:
        changes = installation.changes_of(scopes)
        news = shared_news(installation, scopes)
    trust = _trust(installation, changes)
    yield trust
    if news:
        yield Finding(OFF, "project", f"{news}: brim rules import", **trust.facts)
    with suppress(StoreError):  # git's index is too large
        store = os.path.join(installation.project or "", ".brim", DATABASE)
        if installation.project is not None and _would_be_committed(store):
            text = f"{store}: git would commit it: end .brim/.gitignore with a line 'brim.db*'"
            yield Finding(OFF, "git", text, file=store)
    if installation.memory_problem is not None:
        yield Finding(OFF, "memory", str(installation.memory_problem), project=installation.project)


def _trust(installation: Installation, changes: str) -> Finding:
    """Say whether the project is trusted; *changes* is what was changed in it since then."""
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
    if changes:
        return Finding(OFF, "project", changes, **facts)
    return Finding(OK, "project", f"{project}: is trusted", **facts)


def _would_be_committed(store: str) -> bool:
    """Whether git shows *store* as a new file."""
    return os.path.exists(store) and not is_tracked(store) and bool(not_ignored([store]))


def check_blocks(installation: Installation, agents: Sequence[str]) -> Iterator[Finding]:
    """Say how many rules refuse calls, and which calls an agent makes without asking."""
    number = 0
    # A store that can't be opened is a finding of its own.
    with suppress(BrimError), installation.open(create=False) as scopes:
        number = sum(bool(rule.blocks) for rule in scopes.behaviors(LIVE))
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
