"""Where things stand in a project and on this machine, and what needs a person's attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brim.figures import counted, home_path
from brim.hooks.process import is_paused
from brim.install.agents import agent_names, has_plugin, is_present
from brim.install.changes import read_records
from brim.money.book import LimitBook
from brim.money.periods import DAY, begin_of
from brim.money.standing import LimitStanding
from brim.rules.rulebook import ACTIVE
from brim.sessions.plan_windows import PlanWindow, current_plan_windows
from brim.sessions.requests import project_scope
from brim.workspace import Workspace


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
            "plan_windows": [window.to_dict() for window in self.plan_windows],
            "attention": [{"text": text, "fix": fix} for text, fix in self.attention],
        }


@dataclass
class _Attention:
    """What needs attention, as it is gathered."""

    lines: list[tuple[str, str]] = field(default_factory=list)

    def add(self, text: str, fix: str, *, when: bool = True) -> None:
        """Add *text* and the command that helps, *when* it is so."""
        if when:
            self.lines.append((text, fix))


def home_status(workspace: Workspace, *, almost_full: bool = False) -> HomeStatus:
    """Return how things stand; *almost_full* is whether the window of the current session is.

    A *workspace* that goes on says so if a project can't be read.
    """
    rules = _count_rules(workspace)
    changes = workspace.changes
    news = _news(workspace)
    installed = is_installed(workspace)
    paused = is_paused(workspace.home)
    spent_today, limits = _money(workspace)
    attention = _Attention()
    if not installed:
        _add_install(attention, workspace)
    attention.add("hooks are paused", "brim pause off", when=paused)
    _add_project(attention, workspace, rules["project"], changes)
    for text in news:
        attention.add(text, "brim rules audit")
    _add_reviews(attention, rules)
    is_stopped = any(standing.is_stopped for standing in limits)
    attention.add("agents are stopped by a limit", "brim limit", when=is_stopped)
    text = "the window is almost full: compact soon"
    attention.add(text, "brim context", when=almost_full)
    return HomeStatus(
        workspace.project,
        workspace.trusted,
        rules,
        spent_today,
        limits,
        tuple(current_plan_windows(workspace.environ, workspace.now)),
        paused,
        installed,
        tuple(attention.lines),
    )


def _count_rules(workspace: Workspace) -> dict[str, int]:
    """Return how many rules there are in each place, and how many notes and corrections wait."""
    rules = {"project": 0, "user": 0, "pending": 0, "corrections": 0}
    for entry in workspace.rulebook.entries(native=False):
        if entry.state == ACTIVE or not workspace.trusted:
            rules[entry.place] += 1
    for note in workspace.rulebook.inbox.notes():
        if note.project in ("", workspace.project):
            rules["pending" if note.agent else "corrections"] += 1
    return rules


def _news(workspace: Workspace) -> list[str]:
    """Return the mistakes in the rules files, in a few words."""
    news = []
    for path, text in workspace.rulebook.texts():
        if text.mistakes:
            news.append(f"{counted(len(text.mistakes), 'mistake')} in {home_path(path)}")
    return news


def _add_install(attention: _Attention, workspace: Workspace) -> None:
    """Say that brim is in no agent."""
    if any(is_present(name, workspace.environ) for name in agent_names()):
        attention.add("brim is not installed in your agents", "brim init")
    else:
        text = "brim found no agent: name the one that you use"
        attention.add(text, "brim init --agent NAME")


def _add_reviews(attention: _Attention, rules: Mapping[str, int]) -> None:
    """Say what waits for a person's decision."""
    notes = f"{counted(rules['pending'], 'note')} of agents to review"
    attention.add(notes, "brim rules review", when=rules["pending"] > 0)
    corrections = f"{counted(rules['corrections'], 'correction')} to review"
    attention.add(corrections, "brim rules review", when=rules["corrections"] > 0)


def _add_project(
    attention: _Attention, workspace: Workspace, number_of_rules: int, changes: str
) -> None:
    """Say what is wrong with the project and its memory."""
    attention.add(
        "this project isn't trusted, so agents don't hear its rules",
        "brim rules trust",
        when=bool(number_of_rules) and not workspace.trusted,
    )
    attention.add(
        "this project's rules can't be read, so agents go without",
        "brim doctor",
        when="project" in workspace.problems,
    )
    attention.add(changes.partition(":")[0], "brim rules trust", when=bool(changes))
    memory = workspace.memory_problem
    if memory is not None:
        fix = "brim rules trust" if memory.reason == "foreign" else "brim doctor"
        attention.add("agents don't use the memory in .context/", fix)


def is_installed(workspace: Workspace) -> bool:
    """Whether brim is in an agent of this person, by ``brim init`` or as a plugin."""
    if read_records(workspace.home):
        return True
    return any(has_plugin(agent, workspace.environ) for agent in agent_names())


def _money(workspace: Workspace) -> tuple[int, tuple[LimitStanding, ...]]:
    """Return what the project cost today, and where its limits stand."""
    project = workspace.limits_project
    with workspace.open_index() as index:
        book = LimitBook.of_user(workspace.limit_settings, index, workspace.environ, workspace.now)
        today = index.spent(project_scope(project), begin_of(DAY, workspace.now))
        return today.cost, tuple(book.standings(project))
