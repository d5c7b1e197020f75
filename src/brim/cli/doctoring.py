"""What ``brim doctor`` looks at: each check says what it found in words, and what to do if that is wrong."""

from __future__ import annotations

import os

from brim._frozen import Frozen
from brim.agents.install.entries import Ours, launcher_path, status_path, words_of
from brim.agents.install.launchers import interpreter_of
from brim.agents.install.merging import hooks_of
from brim.agents.install.planning import STATUS
from brim.agents.install.targets import NAMES, is_present
from brim.cli.installing import installed_events, settings_of
from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brim.agents.install.targets import Target
    from brim.cli.installing import Installation

OK, OFF, WRONG = "ok", "-", "wrong"
"""It works; it is not used, or is worth knowing; it has to be corrected."""

LOG_LINES = 3
INIT, FIX = "brim init", "brim doctor --fix"


class Finding(Frozen):
    """What one look found."""

    __slots__ = ("state", "what", "text", "fix", "facts")

    state: str
    what: str
    text: str
    fix: str
    """The command that corrects it; empty if there is nothing to correct, or only a person can."""
    facts: dict[str, Any]

    def __init__(self, state: str, what: str, text: str, fix: str = "", **facts: Any) -> None:
        self._fill(state=state, what=what, text=text, fix=fix, facts=facts)


def findings(installation: Installation) -> Iterator[Finding]:
    """Give everything that was found, the agents first."""
    installed = []
    for target in installation.targets():
        found = list(_agent(installation, target))
        yield from found
        if any(each.facts.get("hooks") for each in found):
            installed.append(target)
    yield from _twice(installed)
    if installed:
        yield from _hook(installation, installed[0].agent)
    yield from _switched_off(installation)
    yield from _settings()
    yield from _stores(installation)
    yield from _trust(installation)
    yield from _tokens()
    yield from _server(installation)
    yield from _log(installation)


def _agent(installation: Installation, target: Target) -> Iterator[Finding]:
    """Say what is in one settings file."""
    name, ours = NAMES[target.agent], Ours(installation.home)
    facts: dict[str, Any] = {"agent": target.agent, "scope": target.scope, "file": target.path}
    try:
        change = installation.removed(target)  # reads it strictly, as the agent does
    except BrimError as error:
        yield Finding(WRONG, name, str(error), **facts)
        return
    settings = settings_of(target.path)
    hooks = list(hooks_of(settings, ours.hook))
    record = installation.records.get(target.path)
    if not hooks:
        if record is not None and record.agent == target.agent:
            yield Finding(WRONG, name, f"{target.path}: brim's hooks are gone", FIX, **facts, hooks=[])
        elif target.scope == "user":
            yield Finding(OFF, name, _absent(installation, target), **facts, hooks=[])
        return
    events = list(dict.fromkeys(event for event, _ in hooks))
    status = ours.status(settings.get(STATUS))
    facts |= {"hooks": events, "status_line": status}
    text = f"{target.path}: {len(events)} hooks{', status line' if status else ''}"
    old = {words[0] for _, hook in hooks if (words := words_of(hook)) and not _is_current(words[0], installation.home)}
    if old:
        yield Finding(WRONG, name, f"{text}; calls {min(old)}, which is not the launcher of this home", FIX, **facts)
    elif record is None:
        yield Finding(OFF, name, f"{text}; there is no record of what was there before: brim init makes one", **facts)
    elif installation.again(target, record).changes:
        yield Finding(WRONG, name, f"{text}; they differ from what this version installs", FIX, **facts)
    elif switch := _off_switch(target.agent, settings):
        yield Finding(OFF, name, f"{text}; {switch} there, so none of them runs", **facts)
    else:
        yield Finding(OK, name, text, **facts)
    if record is not None and record.status is not None and not status and change.changes:
        yield Finding(OFF, name, "another status line is in brim's place: brim init calls it from brim's", **facts)


def _absent(installation: Installation, target: Target) -> str:
    """Say of an agent that brim is not installed for every project, and what to do if it is in none."""
    inside = [each for each in installation.targets() if (each.agent, each.scope) == (target.agent, "project")]
    if any(installed_events(each.path, installation.home) for each in inside):
        return "is not installed for every project"
    here = is_present(target.agent, installation.environ)
    return f"not installed: brim init --agent {target.agent}" if here else "is not here"


def _off_switch(agent: str, settings: dict[str, Any]) -> str:
    """Return what in an agent's own *settings* lets no hook run; empty if nothing does."""
    if agent == "claude" and settings.get("disableAllHooks") is True:
        return "disableAllHooks is true"
    hooks = settings.get("hooksConfig")
    if agent == "gemini" and isinstance(hooks, dict) and hooks.get("enabled") is False:
        return "hooksConfig.enabled is false"
    return ""


def _is_current(program: str, home: str) -> bool:
    return program.removesuffix("-unless-resident") == launcher_path(home)


def _twice(installed: list[Target]) -> Iterator[Finding]:
    for agent in NAMES:
        paths = [target.path for target in installed if target.agent == agent and target.scope == "user"]
        inside = [target.path for target in installed if target.agent == agent and target.scope == "project"]
        if paths and inside:
            text = f"is in {paths[0]} and in {inside[0]}: every hook may be called twice; take it out of the second"
            yield Finding(WRONG, NAMES[agent], text, agent=agent)


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
    if installation.environ.get("BRIM_DISABLE"):
        yield Finding(OFF, "disabled", "BRIM_DISABLE is set here, so hooks that inherit it say nothing", disabled=True)


def _settings() -> Iterator[Finding]:
    from brim.cli.settings import settings

    try:
        config = settings()
    except BrimError as error:
        yield Finding(WRONG, "settings", f"{error}; until then hooks say nothing")
        return
    budget, origin = config.values["token_budget.default"]
    shown = "unlimited" if budget is None else f"{budget:,}"
    yield Finding(OK, "settings", f"token_budget.default is {shown} (set by {origin})", token_budget=budget)


def _stores(installation: Installation) -> Iterator[Finding]:
    """Say whether hooks can read what was learned: they never change a file's version."""
    from brim.behaviors.kinds import LIVE
    from brim.store.folder import FILE
    from brim.store.opening import VERSION
    from brim.store.store import open_store

    folders = {"user": installation.home}
    if installation.project is not None:
        folders["project"] = os.path.join(installation.project, ".brim")
    for scope, folder in folders.items():
        path = os.path.join(folder, FILE)
        facts = {"scope": scope, "file": path}
        if not os.path.lexists(path):
            if scope == "user":
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
        start, budget = start_tokens()
    except BrimError as error:
        yield Finding(WRONG, "tokens", f"what a session is told at its start cannot be said: {error}")
        return
    limit = "" if budget is None else f" of {budget:,}"
    text = f"{start:,}{limit} at the start of a session here"
    yield Finding(OK, "tokens", text, start=start, budget=budget)


def _server(installation: Installation) -> Iterator[Finding]:
    """Say what the tools of the MCP server take, where an agent starts it."""
    from brim.cli.own_tokens import schema_tokens
    from brim.cli.serving import is_resident, served_agents

    agents = served_agents(installation)
    if not agents:
        yield Finding(OFF, "server", "no agent starts 'brim mcp', so its tools take no tokens", agents=[], schemas=0)
        return
    names = " and ".join(NAMES[agent] for agent in agents)
    schemas = schema_tokens(resident=is_resident(installation))
    if schemas is None:
        yield Finding(WRONG, "server", f"{names} cannot start 'brim mcp': pip install 'brim[mcp]'", agents=agents)
        return
    start = "starts" if len(agents) == 1 else "start"
    text = f"{names} {start} 'brim mcp', whose tools take {schemas:,} tokens where they are loaded at once"
    yield Finding(OK, "server", text, agents=agents, schemas=schemas)


def _log(installation: Installation) -> Iterator[Finding]:
    from brim.agents.log import log_path

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
