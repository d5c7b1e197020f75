"""Where things stand in a project and on this machine, and what needs a person's attention."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brim.behaviors.behavior import LIVE, Status
from brim.figures import counted
from brim.hooks.process import is_paused
from brim.install.agents import NAMES, has_plugin, is_present
from brim.install.changes import read_records
from brim.install.rule_files import shared_news
from brim.money.book import LimitBook
from brim.money.periods import DAY, begin_of
from brim.money.standing import LimitStanding
from brim.sessions.requests import project_scope
from brim.store.backup import lost_rules
from brim.store.suggestions import Suggestions
from brim.tracking.plan_windows import PlanWindow, current_plan_windows
from brim.workspace import DATABASE, Workspace


@dataclass(frozen=True)
class HomeStatus:
    """How things stand for one person in one project."""

    project: str | None
    trusted: bool
    rules: Mapping[str, int]
    """How many there are of the ``project`` and of the ``user``, and how many notes and corrections
    wait."""
    spent_today: int
    """What this project cost today, in micro-dollars."""
    limits: tuple[LimitStanding, ...]
    """Where the limits stand that hold in this project, those that stopped somebody first."""
    plan_windows: tuple[PlanWindow, ...]
    paused: bool
    installed: bool
    attention: tuple[tuple[str, str], ...]
    """What needs attention, each with the command that helps."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            **vars(self),
            "rules": dict(self.rules),
            "limits": [standing.to_dict() for standing in self.limits],
            "plan_windows": [each.to_dict() for each in self.plan_windows],
            "attention": [{"text": text, "fix": fix} for text, fix in self.attention],
        }


def home_status(workspace: Workspace, *, almost_full: bool = False) -> HomeStatus:
    """Return how things stand; *almost_full* is whether the window of the current session is.

    A *workspace* that goes on says so if a project can't be read.
    """
    installed, paused = is_installed(workspace), is_paused(workspace.home)
    with workspace.open() as scopes:
        live = [(each.scope, each.status) for each in scopes.behaviors(LIVE)]
        changes = workspace.changes_of(scopes)
        news = shared_news(workspace, scopes)
    rules = {
        "project": sum(scope == "project" for scope, _ in live),
        "user": sum(scope == "user" for scope, _ in live),
        "pending": sum(state is Status.PENDING for _, state in live),
        "corrections": len(Suggestions(workspace.home).waiting(workspace.project)),
    }
    spent_today, limits = _money(workspace)
    stopped = [standing for standing in limits if standing.is_stopped]
    used = [name for name in NAMES if is_present(name, workspace.environ)]
    wants = [
        (not installed and bool(used), "brim is not installed in your agents", "brim init"),
        (
            not (installed or used),
            "brim found no agent: name the one that you use",
            "brim init --agent NAME",
        ),
        (paused, "hooks are paused", "brim pause off"),
        *_about_project(workspace, rules["project"], changes),
        (bool(news), news, "brim rules import"),
        (
            rules["pending"] > 0,
            f"{counted(rules['pending'], 'note')} of agents to review",
            "brim rules review",
        ),
        (
            rules["corrections"] > 0,
            f"{counted(rules['corrections'], 'correction')} to review",
            "brim rules review",
        ),
        (
            bool(stopped),
            "agents are stopped by a limit",
            "brim limit",
        ),
        (almost_full, "the window is almost full: compact soon", "brim context"),
    ]
    attention = tuple((text, fix) for wanted, text, fix in wants if wanted)
    plan = tuple(current_plan_windows(workspace.environ, workspace.now))
    return HomeStatus(
        workspace.project,
        workspace.trusted,
        rules,
        spent_today,
        limits,
        plan,
        paused,
        installed,
        attention,
    )


def is_installed(workspace: Workspace) -> bool:
    """Whether brim is in an agent of this person, by ``brim init`` or as a plugin."""
    return bool(read_records(workspace.home)) or any(
        has_plugin(agent, workspace.environ) for agent in NAMES
    )


def _money(workspace: Workspace) -> tuple[int, tuple[LimitStanding, ...]]:
    """Return what the project cost today, and where its limits stand."""
    project = workspace.limits_project
    with workspace.open_index() as index:
        book = LimitBook.of_user(workspace.limit_settings, index, workspace.environ, workspace.now)
        today = index.spent(project_scope(project), begin_of(DAY, workspace.now))
        return today.cost, tuple(book.standings(project))


def _about_project(workspace: Workspace, rules: int, changes: str) -> list[tuple[bool, str, str]]:
    """Return what can be wrong with the project and its memory, and whether it is."""
    folder, memory = workspace.scope_folders.get("project"), workspace.memory_problem
    lost = lost_rules(os.path.join(folder, DATABASE), workspace.home) if folder else None
    is_foreign = memory is not None and memory.reason == "foreign"
    is_untrusted = bool(rules) and not workspace.trusted
    return [
        (
            is_untrusted,
            "this project isn't trusted, so agents don't hear its rules",
            "brim rules trust",
        ),
        (
            lost is not None,
            "this project's store has lost rules, and brim kept a copy",
            "brim rules restore",
        ),
        (
            "project" in workspace.problems,
            "this project's rules can't be read, so agents go without",
            "brim doctor",
        ),
        (bool(changes), changes.partition(":")[0], "brim rules trust"),
        (is_foreign, "agents don't use the memory in .context/", "brim rules trust"),
        (
            not is_foreign and memory is not None,
            "agents don't use the memory in .context/",
            "brim doctor",
        ),
    ]
