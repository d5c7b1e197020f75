"""How things stand for a session: its window, its money, its rules, what is kept of it. For tools
and commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from brim.agents import AGENTS, agent_named, every_agent
from brim.agents.agent import subagent_of
from brim.agents.call import HookCall
from brim.figures import DOLLAR
from brim.hooks.limits import session_files_of
from brim.hooks.room import AT_START
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import stat_of, usage_now
from brim.money.limits import Spender
from brim.money.periods import DAY, begin_of
from brim.money.plans import plan_readings
from brim.money.spending import Spending
from brim.rules.compiled import ask_index
from brim.rules.inbox import Inbox
from brim.rules.source import sources_for
from brim.rules.stored import StoredRules
from brim.sessions.requests import project_scope
from brim.sessions.session_files import AGENTS as WRITING
from brim.sessions.session_files import SessionFile, own_files
from brim.sessions.window.windows import UsageSeen
from brim.workspace import Workspace


@dataclass(frozen=True)
class StandingWindow:
    """How full the window is: ``state`` is ``ok``, ``warn`` or ``compact``."""

    tokens: int
    context_window: int
    share: float
    state: str
    model: str
    source: str
    seconds_ago: int


@dataclass(frozen=True)
class Spent:
    """What the project has spent, of which limit."""

    usd: float
    limit_usd: float | None
    state: str


@dataclass(frozen=True)
class Standing:
    """How things stand here. ``window`` is null if no session of this project can be found."""

    session: str
    window: StandingWindow | None
    spent: Spent | None
    rules: int
    unconfirmed: int
    scratch_entries: int
    project: str
    trusted: bool
    token_budget: int | None


def standing(
    workspace: Workspace, session: str = "", agent: str = "", *, kept: Callable[[str], int]
) -> Standing:
    """Return how things stand; *session* is the one that asks, and *agent* whose it is, if that is
    known."""
    for variable in _session_variables():
        session = session or workspace.environ.get(variable, "")
    asking = _session(workspace, session, agent)
    sources = sources_for(workspace.home, workspace.project)
    return Standing(
        session=asking.id,
        window=_window(workspace, asking),
        spent=_spent(workspace, asking),
        rules=ask_index(workspace.home, sources, lambda index: StoredRules(index).count),
        unconfirmed=len(Inbox(workspace.home).notes()),
        scratch_entries=kept(asking.id),
        project=os.path.basename(workspace.project or ""),
        trusted=workspace.trusted,
        token_budget=workspace.config.yours[AT_START],
    )


@dataclass(frozen=True)
class _StandingSession:
    """A session, and where its agent writes it down; any of these may be unknown."""

    id: str = ""
    agent: str = AGENTS[0]
    transcript: str = ""


def _session(workspace: Workspace, id: str, agent: str) -> _StandingSession:
    """Return the session *id*; without one, the newest that *agent* has in this project.

    Codex says in its calls which session it is, and does not keep them by project. An agent that
    does not say who it is is taken for the first in the table: the window of another agent's
    session is not told to one that has said who it is.
    """
    agent = agent or AGENTS[0]
    if not id:
        return _newest_session(workspace, agent)
    for writer, path, _ in _transcripts(workspace):
        is_named = os.path.basename(path).endswith(f"{id}.jsonl")
        if is_named or agent_named(writer).session_in(path) == id:
            return _StandingSession(id, writer, path)
    return _StandingSession(id, agent)


def _newest_session(workspace: Workspace, agent: str) -> _StandingSession:
    value = agent_named(agent)
    projects = tuple(filter(None, (workspace.project, workspace.cwd)))
    slugs = value.project_folders(workspace.environ, projects)
    for writer, path, slug in _transcripts(workspace):
        if writer == agent and slug in slugs:
            return _StandingSession(value.session_in(path), agent, path)
    return _StandingSession()


def _session_variables() -> list[str]:
    """Return the variables in which an agent may tell what it starts which session it is."""
    variables: list[str] = []
    for agent in every_agent():
        variables += [*agent.thread_variables, agent.session_variable]
    return list(filter(None, variables))


def _transcripts(workspace: Workspace) -> Iterator[tuple[str, str, str]]:
    """Give the agent, the path and the folder of each main thread that was written down, the newest
    first."""
    files: list[tuple[str, SessionFile]] = []
    for agent in WRITING:
        files += [(agent, file) for file in own_files(workspace.environ, (agent,))]
    files.sort(key=_newest_first)
    for agent, file in files:
        if not subagent_of(file.path):
            yield agent, file.path, file.slug


def _newest_first(agent_and_file: tuple[str, SessionFile]) -> tuple[float, str]:
    file = agent_and_file[1]
    return (-file.stamp.modified, file.path)


def _window(workspace: Workspace, session: _StandingSession) -> StandingWindow | None:
    if not session.id:
        return None
    agent = agent_named(session.agent)
    call = HookCall(agent, "other", session=session.id, transcript=session.transcript)
    with HookWorkspace(workspace.environ, workspace.cwd or "", now=workspace.now) as place:
        usage = usage_now(call, place)
    if usage is None or not usage.window:
        return None
    share = usage.tokens / usage.window
    return StandingWindow(
        tokens=usage.tokens,
        context_window=usage.window,
        share=round(share, 4),
        state=_state(workspace, share),
        model=usage.model,
        source=usage.source,
        seconds_ago=max(0, int(workspace.now - _time_of(usage, session.transcript))),
    )


def _state(workspace: Workspace, share: float) -> str:
    if share >= workspace.config["context.compact"]:
        return "compact"
    if share >= workspace.config["context.warn"]:
        return "warn"
    return "ok"


def _time_of(usage: UsageSeen, transcript: str) -> float:
    """Return when the agent reported *usage*."""
    status = None
    if usage.source == "transcript":
        status = stat_of(transcript)
    if status is None:
        return usage.time
    return status.st_mtime


def _spent(workspace: Workspace, session: _StandingSession) -> Spent | None:
    """Return what counts for the nearest limit on *session*, or what the project cost today."""
    project = workspace.limits_project
    if not project:
        return None
    with workspace.open_index() as index:
        spending = Spending(
            workspace.limit_settings,
            index,
            files=session_files_of(session.agent, session.transcript, workspace.cwd),
            plans=plan_readings(workspace.environ, workspace.now, session.agent),
        )
        spending.read()
        spender = Spender(index.project_of_session(session.id) or project, session.id)
        nearest = spending.answer(spender, workspace.now).nearest
        if nearest is not None and nearest.counts_money:
            state = "stopped" if nearest.is_stopped else "open"
            return Spent(int(nearest.spent) / DOLLAR, int(nearest.amount) / DOLLAR, state)
        today = index.spent(project_scope(spender.project), begin_of(DAY, workspace.now))
    if nearest is None and not today.cost:
        return None
    state = "open"
    if nearest is not None and nearest.is_stopped:
        state = "stopped"
    return Spent(int(today.cost) / DOLLAR, None, state)
