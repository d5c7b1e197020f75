"""A supervised run, put together: its limits, its money, its notes and its files."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass

from brim.errors import InputError
from brim.run.command import ClientCommand
from brim.run.conversation import Face
from brim.run.limits import RunLimits
from brim.run.purse import Purse, scope_of
from brim.run.session import Notes, SessionFiles, Tracked
from brim.run.supervisor import Supervisor
from brim.run.watch import budget_of
from brim.sessions.window.live import Counts
from brim.usd import micro_dollars
from brim.workspace import Workspace


@dataclass(frozen=True)
class RunRequest:
    """What a person asked ``brim run`` for."""

    command: ClientCommand
    prompt: str
    piped: str
    """What came on standard input with the prompt."""
    then: tuple[str, ...]
    task: str
    on_limit: str
    budget_usd: str | None
    scope: str


def open_run_limits(workspace: Workspace, agent: str, face: Face) -> RunLimits:
    """Open the limits that a run of *agent* is under, and say so if they can't be kept."""
    limits = RunLimits(workspace, agent)
    if limits.problem:
        face.tell(f"spending is counted but not saved: {limits.problem}")
    return limits


def supervisor_of(
    request: RunRequest, workspace: Workspace, limits: RunLimits, face: Face, counts: Counts
) -> Supervisor:
    """Return the supervisor of a run that is about to start."""
    if not workspace.cwd:
        raise InputError("the current folder was deleted: go to another")
    run_id = secrets.token_hex(6)
    notes = Notes(
        workspace.project or workspace.cwd,
        workspace.cwd,
        job=request.task or request.prompt,
        clock=time.time,
        tell=face.tell,
        environ=os.environ,
    )
    tracked = Tracked(
        budget_of(workspace.config),
        _purse(request, workspace, limits, face, run_id),
        notes,
        SessionFiles(request.command.agent, os.environ, since=time.time()),
        feed=counts.feed(),
    )
    return Supervisor(
        request.command,
        request.prompt,
        tracked,
        face,
        environ=os.environ,
        cwd=workspace.cwd,
        run=run_id,
        piped=request.piped,
        then=request.then,
        task=request.task,
        on_limit=request.on_limit,
    )


def _purse(
    request: RunRequest, workspace: Workspace, limits: RunLimits, face: Face, run_id: str
) -> Purse:
    """Return the money of the run.

    Its limit is the lower one of that given here and that given to the agent.
    """
    config = workspace.config
    command = request.command
    scope = request.scope or scope_of(workspace.place, run_id)
    amounts = [request.budget_usd, command.own_cap or None]
    caps = [micro_dollars(text, up=False) for text in amounts if text is not None]
    return Purse(
        min(caps, default=None),
        scope=scope,
        limits=limits,
        warn=config["spend.warn"],
        resumed=command.resumed,
        tell=face.tell,
    )
