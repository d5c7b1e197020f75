"""A supervised run, put together: its limits, its money, its notes and its files."""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass

from brim.errors import BrimError, ConfigError, InputError
from brim.hooks.limit_words import notify
from brim.report.watch import budget_of
from brim.run.command import ClientCommand
from brim.run.conversation import Face
from brim.run.purse import Purse, scope_of
from brim.run.session import Notes, SessionFiles, Tracked
from brim.run.supervisor import Supervisor
from brim.spend.money import micro_dollars
from brim.spend.periods import plan_limits
from brim.store.limits import Limits
from brim.store.project import branch
from brim.tracking.live import Counts
from brim.tracking.notices import COST_LIMIT, COST_WARNING, Notice
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


def open_run_limits(workspace: Workspace, face: Face) -> Limits | None:
    """Open the user's limits for a run; None, and a word about it, if they can't be used."""
    try:
        limits = workspace.open_limits(time.time)  # a run may last beyond midnight
    except ConfigError:
        raise
    except BrimError as error:
        face.tell(f"spending is counted but not saved: {error}")
        return None
    if limits.ledger.database.readonly:
        limits.ledger.close()
        face.tell("spending is counted but not saved: the ledger can only be read")
        return None
    command = workspace.config.yours["notify"]

    def tell_person(notice: Notice) -> None:
        if notice.kind in (COST_WARNING, COST_LIMIT):
            notify(command, str(notice), reached=notice.kind == COST_LIMIT, environ=os.environ)

    limits.ledger.subscribe(tell_person)
    return limits


def supervisor_of(
    request: RunRequest, workspace: Workspace, limits: Limits | None, face: Face, counts: Counts
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
    request: RunRequest, workspace: Workspace, limits: Limits | None, face: Face, run_id: str
) -> Purse:
    """Return the money of the run.

    Its limit is the lower one of that given here and that given to the agent.
    """
    config = workspace.config
    command = request.command
    ledger = None
    if limits is not None:
        ledger = limits.ledger
    scope = request.scope or scope_of(workspace.place, run_id, ledger)
    if limits is not None:
        limits.apply_default(scope)
    amounts = [request.budget_usd, command.own_cap or None]
    caps = [micro_dollars(text, up=False) for text in amounts if text is not None]
    current_branch = None
    if workspace.project:
        current_branch = branch(workspace.project)
    return Purse(
        min(caps, default=None),
        scope=scope,
        ledger=ledger,
        warn=config["spend.warn"],
        resumed=command.resumed,
        plans=lambda limit: plan_limits(
            limit, command.agent, workspace.home, workspace.environ, time.time()
        ),
        branch=current_branch or "",
        tell=face.tell,
    )
