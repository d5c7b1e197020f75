"""What ``brim doctor`` says of the settings of each agent: whether brim is in there, as it should be, and may run."""

from __future__ import annotations

from brim.agents.install.entries import INJECTION_ONLY, Ours, launcher_path, words_of
from brim.agents.install.merging import hooks_of
from brim.agents.install.planning import STATUS
from brim.agents.install.targets import NAMES, is_present
from brim.cli.finding import FIX, OFF, OK, WRONG, Finding
from brim.cli.installing import installed_events, settings_of
from brim.cli.serving import codex_settings
from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from brim.agents.install.receipt import Record
    from brim.agents.install.targets import Target
    from brim.cli.installing import Installation


def agent_findings(installation: Installation) -> Iterator[Finding]:
    """Give what was found in each settings file, and in several together."""
    installed = []
    for target in installation.targets():
        found = list(_agent(installation, target))
        yield from found
        if any(each.facts.get("hooks") for each in found):
            installed.append(target)
    yield from _twice(installed)


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
        if target.is_orphan:
            text = f"{target.path}: its project is no longer there: brim doctor --fix forgets it"
            yield Finding(OFF, name, text, FIX, **facts, hooks=[])
        elif record is not None and record.agent == target.agent:
            yield Finding(WRONG, name, f"{target.path}: brim's hooks are gone", FIX, **facts, hooks=[])
        elif target.scope == "user":
            yield Finding(OFF, name, _absent(installation, target), **facts, hooks=[])
        return
    events = list(dict.fromkeys(event for event, _ in hooks))
    status = ours.status(settings.get(STATUS))
    facts |= {"hooks": events, "status_line": status}
    only = " that only inject" if record is not None and record.hooks == INJECTION_ONLY else ""
    text = f"{target.path}: {len(events)} hooks{only}{', status line' if status else ''}"
    old = {words[0] for _, hook in hooks if (words := words_of(hook)) and not _is_current(words[0], installation.home)}
    if old:
        yield Finding(WRONG, name, f"{text}; calls {min(old)}, which is not the launcher of this home", FIX, **facts)
    elif record is None:
        yield Finding(OFF, name, f"{text}; there is no record of what was there before: brim init makes one", **facts)
    elif (problem := _difference(installation, target, record)) is not None:
        yield Finding(WRONG, name, f"{text}; {problem}", "" if problem.startswith(target.path) else FIX, **facts)
    elif switch := _off_switch(target.agent, settings, installation):
        yield Finding(OFF, name, f"{text}; {switch}, so none of them runs", **facts)
    else:
        yield Finding(OK, name, text, **facts)
    if target.agent == "codex":
        yield from _unasked(installation, target)
    if record is not None and record.status is not None and not status and change.changes:
        yield Finding(OFF, name, "another status line is in brim's place: brim init calls it from brim's", **facts)


def _absent(installation: Installation, target: Target) -> str:
    """Say of an agent that brim is not installed for every project, and what to do if it is in none."""
    inside = [each for each in installation.targets() if (each.agent, each.scope) == (target.agent, "project")]
    if any(installed_events(each.path, installation.home) for each in inside):
        return "is not installed for every project"
    here = is_present(target.agent, installation.environ)
    return f"not installed: brim init --agent {target.agent}" if here else "is not here"


def _difference(installation: Installation, target: Target, record: Record) -> str | None:
    """Say how *target* differs from what should be there; None if it does not."""
    try:
        changes = installation.again(target, record).changes
    except BrimError as error:
        return str(error)
    return "they differ from what this version installs" if changes else None


def _off_switch(agent: str, settings: dict[str, Any], installation: Installation) -> str:
    """Return what in an agent's own *settings* lets no hook run; empty if nothing does."""
    if agent == "claude" and settings.get("disableAllHooks") is True:
        return "disableAllHooks is true there"
    if agent == "codex":
        features = codex_settings(installation.environ).get("features")
        return "features.hooks is false in config.toml" if _get(features, "hooks") is False else ""
    hooks = settings.get("hooksConfig") if agent == "gemini" else None
    if _get(hooks, "enabled") is False:
        return "hooksConfig.enabled is false there"
    named = _get(hooks, "disabled")
    return "hooksConfig.disabled names brim there" if isinstance(named, list) and "brim" in named else ""


def _get(settings: Any, key: str) -> Any:
    return settings.get(key) if isinstance(settings, dict) else None


def _unasked(installation: Installation, target: Target) -> Iterator[Finding]:
    """Say if Codex has not been told yet to trust the hooks in *target*: it keeps what it was told by file and hook."""
    known = _get(_get(codex_settings(installation.environ), "hooks"), "state")
    if any(str(key).startswith(f"{target.path}:") for key in (known if isinstance(known, dict) else ())):
        return
    text = "has not been asked yet whether it may run these hooks: start it once, and choose to trust them"
    yield Finding(OFF, NAMES["codex"], text, agent="codex", file=target.path)


def _is_current(program: str, home: str) -> bool:
    return program.removesuffix("-unless-resident") == launcher_path(home)


def _twice(installed: list[Target]) -> Iterator[Finding]:
    for agent in NAMES:
        paths = [target.path for target in installed if target.agent == agent and target.scope == "user"]
        inside = [target.path for target in installed if target.agent == agent and target.scope == "project"]
        if paths and inside:
            text = f"is in {paths[0]} and in {inside[0]}: every hook may be called twice"
            yield Finding(WRONG, NAMES[agent], text, FIX, agent=agent)
