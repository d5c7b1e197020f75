"""How things stand for a session: its window, its money, its rules, what is kept of it. For tools
and commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from brim.agents import AGENTS, agent_named, every_agent
from brim.agents.call import HookCall
from brim.agents.stream import subagent_of
from brim.behaviors.behavior import LIVE, Status
from brim.figures import DOLLAR
from brim.hooks.limits import session_files_of
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import stat_of, usage_now
from brim.money.limits import Spender
from brim.money.periods import DAY, begin_of
from brim.money.plans import plan_readings
from brim.money.spending import Spending
from brim.sessions.requests import project_scope
from brim.store.planner import START_KEY
from brim.tracking.sessions import AGENTS as WRITING
from brim.tracking.sessions import own_files
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
    named = session
    for variable in _session_variables():
        named = named or workspace.environ.get(variable, "")
    found = _session(workspace, named, agent)
    with workspace.open(create=True) as scopes:
        live = [each.status for each in scopes.behaviors(LIVE)]
    return Standing(
        found.id,
        _window(workspace, found),
        _spent(workspace, found),
        sum(status is not Status.PENDING for status in live),
        sum(status is Status.PENDING for status in live),
        kept(found.id),
        os.path.basename(workspace.project or ""),
        workspace.trusted,
        workspace.config.yours[START_KEY],
    )


@dataclass(frozen=True)
class _StandingSession:
    """A session, and where its agent writes it down; any of these may be unknown."""

    id: str = ""
    agent: str = AGENTS[0]
    transcript: str = ""


def _session(workspace: Workspace, named: str, agent: str) -> _StandingSession:
    """Return the session *named*; without one, the newest that *agent* has in this project.

    Codex says in its calls which session it is, and does not keep them by project. An agent that
    does not say who it is is taken for the first in the table: the window of another agent's
    session is not told to one that has said who it is.
    """
    agent = agent or AGENTS[0]
    if named:
        for writer, path, _ in _transcripts(workspace):
            if os.path.basename(path).endswith(f"{named}.jsonl"):
                return _StandingSession(named, writer, path)
        return _StandingSession(named, agent)
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
    files = [(agent, each) for agent in WRITING for each in own_files(workspace.environ, (agent,))]
    for agent, each in sorted(files, key=lambda pair: (-pair[1].stamp.modified, pair[1].path)):
        if not subagent_of(each.path):
            yield agent, each.path, each.slug


def _window(workspace: Workspace, found: _StandingSession) -> StandingWindow | None:
    if not found.id:
        return None
    call = HookCall(
        agent=agent_named(found.agent), event="other", session=found.id, transcript=found.transcript
    )
    with HookWorkspace(workspace.environ, workspace.cwd or "", now=workspace.now) as place:
        seen = usage_now(call, place)
    if seen is None or not seen.window:
        return None
    share = seen.tokens / seen.window
    config = workspace.config
    state = (
        "compact"
        if share >= config["context.compact"]
        else "warn"
        if share >= config["context.warn"]
        else "ok"
    )
    written = stat_of(found.transcript) if seen.source == "transcript" else None
    ago = max(0, int(workspace.now - (seen.time if written is None else written.st_mtime)))
    return StandingWindow(
        seen.tokens, seen.window, round(share, 4), state, seen.model, seen.source, ago
    )


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
            return Spent(nearest.spent / DOLLAR, nearest.amount / DOLLAR, state)
        today = index.spent(project_scope(spender.project), begin_of(DAY, workspace.now))
    if nearest is None and not today.cost:
        return None
    state = "open"
    if nearest is not None and nearest.is_stopped:
        state = "stopped"
    return Spent(today.cost / DOLLAR, None, state)
