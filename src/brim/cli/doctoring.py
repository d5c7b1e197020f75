"""What ``brim doctor`` looks at: each check says what it found in words, and what to do if that is wrong."""

from __future__ import annotations

import os

from brim.agents.install.entries import launcher_path, status_path
from brim.agents.install.launchers import interpreter_of
from brim.agents.install.targets import NAMES
from brim.cli.agent_findings import agent_findings
from brim.cli.finding import FIX, OFF, OK, WRONG, Finding
from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brim.cli.installing import Installation

LOG_LINES = 3


def findings(installation: Installation) -> Iterator[Finding]:
    """Give everything that was found, the agents first."""
    found = list(agent_findings(installation))
    yield from found
    agents = [each.facts["agent"] for each in found if each.facts.get("hooks")]
    if agents:
        yield from _hook(installation, agents[0])
    yield from _switched_off(installation)
    yield from _settings()
    yield from _stores(installation, installed=bool(agents))
    yield from _trust(installation)
    yield from _tokens()
    yield from _server(installation)
    yield from _log(installation)


def _hook(installation: Installation, agent: str) -> Iterator[Finding]:
    """Run the launcher, and say how long it takes."""
    launcher, status = launcher_path(installation.home), status_path(installation.home)
    if not os.access(status, os.X_OK):
        yield Finding(WRONG, "launcher", f"{status}: is not there, so no status line is shown", FIX)
    if not os.access(launcher, os.X_OK):
        yield Finding(WRONG, "launcher", f"{launcher}: is not there, so no hook runs", FIX)
        return
    python = interpreter_of(launcher)
    if not os.access(python, os.X_OK):
        yield Finding(WRONG, "launcher", f"{launcher}: its Python {python or '?'} is gone, so no hook runs", FIX)
        return
    from brim.cli.probing import RUNS, probe

    found = probe(launcher, python, agent, installation.environ)
    facts: dict[str, Any] = {"answers": found.answers, "seconds": found.seconds, "python_seconds": found.python_seconds}
    if not found.answers or found.seconds is None or found.python_seconds is None:
        yield Finding(WRONG, "hook", f"does not answer: {found.reason}", FIX, **facts)
        return
    took, alone = round(found.seconds * 1000), round(found.python_seconds * 1000)
    yield Finding(OK, "hook", f"answers in {took} ms (median of {RUNS}; Python alone takes {alone})", **facts)


def _switched_off(installation: Installation) -> Iterator[Finding]:
    if os.path.lexists(os.path.join(installation.home, "paused")):
        yield Finding(OFF, "paused", "no hook says anything: brim pause --off", paused=True)
    from brim.hooks.process import is_off

    said = installation.environ.get("BRIM_DISABLE", "")
    if is_off({"BRIM_DISABLE": said, "BRIM_HOME": os.devnull}):  # a home that holds nothing: paused is said above
        yield Finding(OFF, "disabled", "BRIM_DISABLE is set here, so hooks that inherit it say nothing", disabled=True)


def _settings() -> Iterator[Finding]:
    from brim.cli.options import settings

    try:
        config = settings()
    except BrimError as error:
        yield Finding(WRONG, "settings", f"{error}; until then hooks say nothing")
        return
    budget, origin = config.values["token_budget.default"]
    shown = "unlimited" if budget is None else f"{budget:,}"
    yield Finding(OK, "settings", f"token_budget.default is {shown} (set by {origin})", token_budget=budget)


def _stores(installation: Installation, *, installed: bool) -> Iterator[Finding]:
    """Say whether hooks can read what was learned: they never change a file's version."""
    from brim.behaviors.behavior import LIVE
    from brim.store.database import VERSION
    from brim.store.project import FILE
    from brim.store.store import open_store

    folders = {"user": installation.home}
    if installation.project is not None:
        folders["project"] = os.path.join(installation.project, ".brim")
    for scope, folder in folders.items():
        path = os.path.join(folder, FILE)
        facts = {"scope": scope, "file": path}
        if not os.path.lexists(path):
            if scope == "user" and installed:
                text = f"{path}: is not there, so hooks remember no session and count no money"
                yield Finding(WRONG, "store", text, FIX, **facts, version=None)
            elif scope == "user":
                yield Finding(OFF, "store", "nothing has been learned for every project yet", **facts, version=None)
            continue
        try:
            with open_store(path, migrate=False, timeout=1.0) as store:
                number = len(store.behaviors(LIVE))
        except BrimError as error:
            reason = getattr(error, "reason", "")
            yield Finding(WRONG, "store", str(error), FIX if reason == "older" else "", **facts, version=None)
        else:
            text = f"{path}: {number:,} behavior{'' if number == 1 else 's'}, version {VERSION} of the file"
            yield Finding(OK, "store", text, **facts, version=VERSION, behaviors=number)


def _trust(installation: Installation) -> Iterator[Finding]:
    from brim.store.trust import is_trusted

    project = installation.project
    if project is None:
        yield Finding(OFF, "project", "there is none here: agents are told your own rules", project=None)
    elif not os.path.isdir(os.path.join(project, ".brim")):
        text = f"{project}: has learned nothing of its own yet"
        yield Finding(OFF, "project", text, project=project, trusted=False)
    elif is_trusted(project, installation.home):
        yield Finding(OK, "project", f"{project}: is trusted", project=project, trusted=True)
    else:
        text = f"{project}: is not trusted, so agents are told only your own rules: brim trust"
        yield Finding(OFF, "project", text, project=project, trusted=False)


def _tokens() -> Iterator[Finding]:
    """Say what brim itself adds to a window here."""
    from brim.cli.own_tokens import start_tokens

    try:
        start, limits = start_tokens()
    except BrimError:
        yield Finding(OFF, "tokens", "what a session is told cannot be said before the above is corrected")
        return
    shown = {key: "unlimited" if limit is None else f"{limit:,}" for key, limit in limits.items()}
    text = (
        f"{start:,} of {shown['start']} at the start of a session here; then at most {shown['injection']} "
        f"with a prompt or call, {shown['session']} in all"
    )
    yield Finding(OK, "tokens", text, start=start, budget=limits["start"], limits=limits)


def _server(installation: Installation) -> Iterator[Finding]:
    """Say what the tools of the MCP server take, where an agent starts it."""
    from brim.cli.own_tokens import schema_tokens
    from brim.cli.serving import ServerEntry, served_agents

    agents = served_agents(installation)
    if not agents:
        yield Finding(OFF, "server", "no agent starts 'brim mcp', so its tools take no tokens", agents=[], schemas=0)
        return
    names = " and ".join(NAMES[agent] for agent in agents)
    schemas = schema_tokens()
    if schemas is None:
        yield Finding(WRONG, "server", f"{names} cannot start 'brim mcp': pip install 'brim[mcp]'", agents=agents)
        return
    program = ServerEntry.program(installation)
    if program and not os.access(program, os.X_OK):
        text, fix = f"Claude Code cannot start 'brim mcp': {program} is gone", FIX
        if ServerEntry.file(installation.environ) not in installation.records:  # it was put in from another home
            text, fix = f"{text}: brim init --agent claude --resident", ""
        yield Finding(WRONG, "server", text, fix, agents=agents, schemas=schemas)
        return
    start = "starts" if len(agents) == 1 else "start"
    text = f"{names} {start} 'brim mcp', whose tools take {schemas:,} tokens where they are loaded at once"
    yield Finding(OK, "server", text, agents=agents, schemas=schemas)


def _log(installation: Installation) -> Iterator[Finding]:
    from brim.hooks.session import log_path

    path = log_path(installation.environ)
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 16_384))
            lines = file.read().decode("utf-8", "replace").splitlines()[-LOG_LINES:]
    except OSError:
        lines = []
    if lines:
        yield Finding(OFF, "log", f"{path}: the last lines are", lines=lines, file=path)
    else:
        yield Finding(OK, "log", "no hook has failed", lines=[], file=path)
