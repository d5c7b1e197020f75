"""How things stand for a session: its window, its money, its rules, what is kept of it. For tools
and commands."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from brim.behaviors.behavior import LIVE, Status
from brim.config.places import home_folder
from brim.errors import BrimError
from brim.figures import DOLLAR
from brim.hooks.event import HookCall
from brim.hooks.readings import usage_now
from brim.hooks.state import HookWorkspace
from brim.hooks.transcript import stat_of
from brim.spend.ledger import ScopeStatus
from brim.store.planner import START_KEY
from brim.tracking.readers.stream import subagent_of
from brim.tracking.sessions import AGENTS, own_files
from brim.workspace import Workspace

NAMES = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "GEMINI_SESSION_ID")
"""Variables in which a client may tell what it starts which session it is."""
LARGEST_LIST = 1 << 20


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
    named = session or next(
        (workspace.environ[name] for name in NAMES if workspace.environ.get(name)), ""
    )
    found = _session(workspace, named, agent)
    with workspace.open(create=True) as scopes:
        live = [each.status for each in scopes.behaviors(LIVE)]
    return Standing(
        found.id,
        _window(workspace, found),
        _spent(workspace),
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
    agent: str = "claude"
    transcript: str = ""


def _session(workspace: Workspace, named: str, agent: str) -> _StandingSession:
    """Return the session *named*; without one, the newest that *agent* has in this project.

    Codex says in its calls which session it is, and does not keep them by project. Who does not say
    who asks is taken for Claude Code: the window of another agent's session is not told to one that
    has said who it is.
    """
    if named:
        found = next(
            (
                each
                for each in _transcripts(workspace)
                if os.path.basename(each[1]).endswith(f"{named}.jsonl")
            ),
            None,
        )
        return (
            _StandingSession(named, *found[:2])
            if found is not None
            else _StandingSession(named, agent or "claude")
        )
    slugs = (
        _gemini_slugs(workspace)
        if agent == "gemini"
        else _claude_slugs(workspace)
        if agent != "codex"
        else set()
    )
    for whose, path, slug in _transcripts(workspace):
        if slug in slugs and whose == (agent or "claude"):
            id = (
                _gemini_id(path)
                if whose == "gemini"
                else os.path.basename(path).removesuffix(".jsonl")
            )
            return _StandingSession(id, whose, path)
    return _StandingSession()


def _claude_slugs(workspace: Workspace) -> set[str]:
    """Return how Claude Code calls the folder in which it keeps the sessions of this project."""
    return {
        re.sub(r"[^A-Za-z0-9]", "-", folder)
        for folder in (workspace.project, workspace.cwd)
        if folder
    }


def _gemini_slugs(workspace: Workspace) -> set[str]:
    """Return how Gemini CLI calls that folder: it keeps a list."""
    home = workspace.environ.get("GEMINI_CLI_HOME") or home_folder(workspace.environ)
    try:
        with open(os.path.join(home, ".gemini", "projects.json"), encoding="utf-8") as file:
            known = json.loads(file.read(LARGEST_LIST))["projects"]
        return {
            known[folder]
            for folder in (workspace.project, workspace.cwd)
            if isinstance(known.get(folder), str)
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return set()


def _gemini_id(path: str) -> str:
    """Return the session of a file of Gemini CLI, which its first line names."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = json.loads(file.readline(LARGEST_LIST))["sessionId"]
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


def _transcripts(workspace: Workspace) -> Iterator[tuple[str, str, str]]:
    """Give the agent, the path and the folder of each main thread that was written down, the newest
    first."""
    files = [(agent, each) for agent in AGENTS for each in own_files(workspace.environ, (agent,))]
    for agent, each in sorted(files, key=lambda pair: (-pair[1].stamp.modified, pair[1].path)):
        if not subagent_of(each.path):
            yield agent, each.path, each.slug


def _window(workspace: Workspace, found: _StandingSession) -> StandingWindow | None:
    if not found.id:
        return None
    call = HookCall(agent=found.agent, event="other", session=found.id, transcript=found.transcript)
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


def project_status(workspace: Workspace) -> ScopeStatus | None:
    """Return what the project has spent, of which limit; None if nothing is recorded or it cannot
    be read."""
    if not os.path.exists(workspace.database):
        return None
    try:
        with workspace.open_ledger() as ledger:
            scope = ledger.project(workspace.place, claim=False)
            found = ledger.tightest(scope)
            is_known = found.limit is not None or any(
                each.scope == scope for each in ledger.statuses(scope, most=1)
            )
            return replace(found, scope=scope) if is_known else None
    except BrimError:
        return None


def _spent(workspace: Workspace) -> Spent | None:
    known = project_status(workspace)
    if known is None:
        return None
    return Spent(
        known.spent / DOLLAR, None if known.limit is None else known.limit / DOLLAR, known.state
    )
