"""``brim init``: installs brim into the agents that are used here."""

from __future__ import annotations

import os
import sys

from brim.agents.install.entries import ALL, HOOKS, entries_for, launcher_path
from brim.agents.install.launchers import install_launchers
from brim.agents.install.targets import NAMES, check_writable, is_present, why_not
from brim.cli.hiding import exclude_file, hide, not_ignored
from brim.cli.installing import Installation, add_agent, agents_of, installed_events, say_difference
from brim.cli.options import add_json, add_yes
from brim.cli.output import note, printable, say, say_json, table
from brim.cli.serving import ServerEntry, need_the_extra, remove_server, served_agents, server_command
from brim.cli.setting_edit import BudgetSetting, add_token_budget
from brim.errors import BrimError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.agents.install.planning import Change
    from brim.agents.install.targets import Target

HELP = """\
Install brim into your agents: hooks in their own settings files, and for Claude Code the status line. Your entries stay
as they are, a backup is written beside a file before its first change, and 'brim uninstall' gives it back as it was.
Doing it twice changes nothing.

With --project it is for the project around here only, in files that git does not track and, by .git/info/exclude, does
not show. You are asked whether agents may use what the project has learned.

Examples:
  brim init
  brim init --agent claude --token-budget 1500
  brim init --project --hooks injection-only --dry-run
"""

NO_WINDOWS = "hooks are not there yet on Windows: the commands and the library work, and nothing was changed"


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    scope = parser.add_mutually_exclusive_group()
    text = "for every project (the default)"
    scope.add_argument("--global", dest="scope", action="store_const", const="user", default="user", help=text)
    text = "for the project around here only"
    scope.add_argument("--project", dest="scope", action="store_const", const="project", help=text)
    add_agent(parser, "those that are used here")
    text = "everything, or only what tells the agent something: no journal, no spending, no status line (default: all)"
    parser.add_argument("--hooks", choices=HOOKS, default=ALL, help=text)
    add_token_budget(parser)
    text = "let a running 'brim mcp' answer the hooks that it can (Claude Code, not with --project)"
    parser.add_argument("--resident", action="store_true", help=text)
    parser.add_argument("--no-statusline", action="store_true", help="leave the status line as it is")
    add_yes(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Install it, and return the exit code."""
    if sys.platform == "win32":
        return _refused(NO_WINDOWS, as_json=options.as_json)
    _check(options)
    installation = Installation(os.environ)
    agents = agents_of(options.agent) or [name for name in NAMES if is_present(name, os.environ)]
    if not agents:
        return _refused("no agent is here yet: name one with --agent claude, codex or gemini", as_json=options.as_json)
    targets = [installation.target(agent, options.scope) for agent in agents]
    skipped = {target.agent: reason for target in targets if (reason := _needless(installation, target))}
    tracked = {each.agent: reason for each in targets if each.agent not in skipped and (reason := why_not(each))}
    skipped |= tracked
    changes = [
        installation.planned(target, hooks=options.hooks, resident=options.resident, status=not options.no_statusline)
        for target in targets
        if target.agent not in skipped
    ]
    if tracked and not changes:
        return _refused("; ".join(skipped.values()), as_json=options.as_json, skipped=skipped)
    budget = BudgetSetting(options.token_budget, options.scope) if options.token_budget is not None else None
    server = _server(installation, agents, options)
    for change in [change for change in changes if change.changes]:
        check_writable(change.target.path)
    backups: dict[str, str] = {}
    hidden: list[str] = []
    trusted = None
    if not options.dry_run:
        install_launchers(installation.home)
        trusted = _begin_project(installation, options) if options.scope == "project" else None
        if budget is not None:
            budget.write()
        backups = installation.apply(changes, installing=True)
        hidden = _hide(changes, backups)
        if server is not None:
            server.write()
        elif "claude" in agents and options.scope == "user":
            remove_server(installation)
        _make_store(installation)
    found = [
        {
            **_facts(change, backups, installation.home, options),
            "hidden_from_git": change.target.path in hidden,
        }
        for change in changes
    ]
    if options.as_json:
        say_json(
            {
                "agents": found,
                "skipped": _listed(skipped),
                "launcher": launcher_path(installation.home),
                "token_budget": None if budget is None else budget.as_object(),
                "server": None if server is None else server.as_object(),
                "trusted": trusted,
                "dry_run": options.dry_run,
            }
        )
    else:
        _say(changes, found, budget, server, options)
        if not options.dry_run:
            _tell_next(installation, found)
    for reason in skipped.values():
        note(reason)
    return 1 if tracked else 0


def _check(options: Namespace) -> None:
    """Raise if what was asked cannot be had together."""
    if options.resident and options.scope == "project":
        raise InputError("--resident is for every project, since the server is: leave out --project")
    if options.resident and options.hooks != ALL:
        raise InputError("--resident is for all hooks: leave out --hooks injection-only")


def _needless(installation: Installation, target: Target) -> str:
    """Say why *target* needs nothing; empty if it does."""
    if target.scope == "project":
        above = installation.target(target.agent, "user").path
        if installed_events(above, installation.home):
            return f"{above}: has brim for every project already, so {target.path} needs nothing"
    return ""


def _hide(changes: list[Change], backups: dict[str, str]) -> list[str]:
    inside = [change.target.path for change in changes if change.target.scope == "project"]
    return hide([*inside, *backups.values()]) if inside else []


def _make_store(installation: Installation) -> None:
    try:
        installation.make_store()
    except BrimError as error:
        note(f"{error}; until then hooks say nothing")


def _facts(change: Change, backups: dict[str, str], home: str, options: Namespace) -> dict[str, Any]:
    target = change.target
    record = change.record
    entries = entries_for(target.agent, home, hooks=options.hooks)
    return {
        "agent": target.agent,
        "scope": target.scope,
        "file": target.path,
        "hooks": [entry.event for entry in entries],
        "resident": bool(record is not None and record.resident),
        "status_line": bool(record is not None and record.status is not None),
        "changed": change.changes,
        "backup": backups.get(target.path),
    }


def _say(
    changes: list[Change],
    found: list[dict[str, Any]],
    budget: BudgetSetting | None,
    server: ServerEntry | None,
    options: Namespace,
) -> None:
    rows = []
    for each in found:
        extra = f"{len(each['hooks'])} hooks{', status line' if each['status_line'] else ''}"
        done = "as it was" if not each["changed"] else "would change" if options.dry_run else "installed"
        rows.append([NAMES[each["agent"]], done, extra, each["file"]])
    if options.dry_run:
        for change in changes:
            say_difference(change)
    if rows:
        say(table(rows))
    for each in found:
        if each["backup"]:
            say(printable(f"as it was before: {each['backup']}"))
    if hidden := [each["file"] for each in found if each["hidden_from_git"]]:
        say(printable(f"hidden from git by {exclude_file(hidden[0])}"))
    if budget is not None:
        budget.tell()
    if options.dry_run:
        note("nothing was changed")
        return
    if server is not None:
        server.tell()


def _tell_next(installation: Installation, found: list[dict[str, Any]]) -> None:
    """Say what is left for the person to do."""
    new = [each["agent"] for each in found if each["changed"]]
    if "codex" in new:
        note("Codex asks once, when it starts, whether it may run these hooks: choose to trust them")
    for path in not_ignored([each["file"] for each in found if each["scope"] == "project"]):
        note(f"{path}: git shows it, and it cannot be hidden; it is about this machine: do not commit it")
    for path in _twice(installation, found):
        note(f"{path}: has brim too, so hooks are called twice there: 'brim doctor --fix' takes it out of that one")
    served = served_agents(installation)
    for agent in new:
        if agent not in served:
            note(f"if {NAMES[agent]} should also teach and ask brim: {server_command(agent, installation)}")
    if new:
        note("start your agent anew; 'brim doctor' shows whether it works")


def _twice(installation: Installation, found: list[dict[str, Any]]) -> list[str]:
    """Return the files of projects that hold what is now installed for every project."""
    agents = [each["agent"] for each in found if each["scope"] == "user"]
    inside = [target for target in installation.targets(agents) if target.scope == "project"]
    return [target.path for target in inside if installed_events(target.path, installation.home)]


def _begin_project(installation: Installation, options: Namespace) -> bool:
    """Make the project's ``.brim/`` if it is not there; if it is, ask whether agents may use it. Return if they may."""
    from brim.cli.options import here
    from brim.store.trust import is_trusted, trust

    place = here()
    place.begin_project()
    project = installation.project or ""
    if is_trusted(project, installation.home):
        return True
    if not options.as_json:
        from argparse import Namespace as Options

        from brim.cli.commands.config import trust as ask

        if ask.run(Options(folder=project, as_list=False, remove=False, yes=options.yes, dry_run=False, as_json=False)):
            note("until then agents are told only your own rules: 'brim trust' asks again")
    elif options.yes:
        trust(project, installation.home, now=place.now)
    return is_trusted(project, installation.home)


def _server(installation: Installation, agents: list[str], options: Namespace) -> ServerEntry | None:
    if not options.resident:
        return None
    if "claude" not in agents:
        raise InputError("--resident is for Claude Code: add --agent claude")
    need_the_extra()
    entry = ServerEntry(installation)
    entry.check()
    return entry


def _listed(skipped: dict[str, str]) -> list[dict[str, str]]:
    return [{"agent": agent, "reason": reason} for agent, reason in skipped.items()]


def _refused(reason: str, *, as_json: bool, skipped: dict[str, str] | None = None) -> int:
    if as_json:
        say_json({"agents": [], "skipped": _listed(skipped or {}), "reason": reason})
    note(reason)
    return 1
