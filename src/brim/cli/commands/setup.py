"""``brim init``, ``uninstall``, ``pause``, ``doctor`` and ``rules trust``: brim in the agents
here."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from difflib import unified_diff
from typing import Any

from brim.agents import agent_at_work
from brim.cli.asking import add_yes, need_person, says_yes
from brim.cli.commands.config import show_setting
from brim.cli.commands.trust import trust as trust_command
from brim.cli.options import add_json, command, option, token_budget, whole_number
from brim.cli.output import (
    counted,
    emit,
    home_path,
    note,
    paint,
    printable,
)
from brim.cli.rule_options import scope_option
from brim.cli.tables import facts, table
from brim.errors import InputError
from brim.install import pausing, setup
from brim.install.agents import ALL, HOOKS, NAMES
from brim.install.changes import SettingsChange
from brim.install.doctor import diagnose
from brim.install.findings import FIX, OFF, OK, WRONG, Diagnosis, Finding
from brim.install.git_exclude import exclude_file
from brim.install.leftovers import Leftovers
from brim.install.setup import Installed, Uninstalled
from brim.tokens.counters import counter_for
from brim.workspace import working_folder


def agent_option(default: str) -> Callable[[ArgumentParser], object]:
    """Return what adds ``--agent``; *default* says who is meant without it."""
    text = f"{', '.join(NAMES)} or all; may be repeated (default: {default})"
    return option("--agent", action="append", choices=(*NAMES, "all"), metavar="NAME", help=text)


@command(
    option(
        "--project",
        **scope_option("project"),
        default="user",
        help="only for this project (default: for all)",
    ),
    agent_option("all that are found"),
    option(
        "--hooks",
        choices=HOOKS,
        help="all, or rules only: no memory, no limits (default: as before, or all)",
    ),
    token_budget(
        "most tokens of rules at a session's start, saved as a setting; 0 is off",
        type=whole_number(0),
    ),
    option("--no-statusline", action="store_true", help="leave the status line as it is"),
    add_yes,
    add_json,
)
def init(options: Namespace) -> int:
    """Add brim to your agents, or bring it up to date.

    Adds hooks to your agents' settings, a /learn command ($learn in Codex) that teaches rules
    inside a session, and a status line to Claude Code. Your own entries stay. Before its first
    change to a file, brim writes a backup next to it; 'brim uninstall' restores the file. Run it
    again to update brim's own entries; if they are current, nothing changes.

    With --project, brim is added only to this project, in files that git ignores (through
    .git/info/exclude), and asks whether agents may use the project's rules.

    Examples:
      brim init
      brim init --agent claude --token-budget 1500
      brim init --project --hooks injection-only --dry-run
    """
    if not options.dry_run:
        if options.hooks not in (None, ALL):
            need_person("installs rules without memory and limits")
        if options.token_budget is not None:
            need_person("changes settings")
        if options.yes and options.scope == "project":
            need_person("trusts a project")
    result = setup.install(
        os.environ,
        working_folder(),
        agents=agents_of(options.agent),
        scope=options.scope,
        hooks=options.hooks,
        status_line=not options.no_statusline,
        token_budget=options.token_budget,
        trusting=options.yes and options.as_json,
        dry_run=options.dry_run,
    )
    if result.trusted is False and not options.as_json and not agent_at_work(os.environ):
        _ask_for_trust(options)
    reasons = list(result.skipped.values())
    if result.reason:
        reasons = [result.reason]
    return emit(result, _show, options.as_json, *reasons, code=result.exit_code)


def _ask_for_trust(options: Namespace) -> None:
    """Ask whether agents may use the project, as ``brim rules trust`` does."""
    own_options = {"folder": None, "as_list": False, "remove": False, "dry_run": False}
    if trust_command.run(Namespace(**own_options, yes=options.yes, as_json=False)):
        note("until you trust it, agents hear only your own rules: 'brim rules trust' asks again")


def _show(result: Installed) -> None:
    if result.dry_run:
        show_differences([*result.changes, *result.further])
    rows = [_agent_row(agent, dry_run=result.dry_run) for agent in result.agents]
    _print_agents(rows, "backup", result.backups)
    if result.hidden:
        print(home_path(f"hidden from git in {exclude_file(result.hidden[0])}"))
    if result.budget is not None:
        show_setting(result.budget, quiet=result.budget.hidden_by in os.environ)
    if result.dry_run:
        note("nothing was changed")
    else:
        note(*result.next_steps)


def _agent_row(agent: Mapping[str, Any], *, dry_run: bool) -> list[str]:
    """Return what is installed in one agent."""
    parts = [f"{len(agent['hooks']) or 'its plugin has the'} hooks"]
    if agent["status_line"]:
        parts.append("status line")
    if agent["command"]:
        parts.append(agent["command"])
    state = "installed"
    if not agent["changed"]:
        state = "unchanged"
    elif dry_run:
        state = "would change"
    return [NAMES[agent["agent"]], state, ", ".join(parts), home_path(agent["file"])]


def agents_of(names: list[str] | None) -> list[str]:
    """Return the agents that ``--agent`` was given."""
    if not names:
        return []
    return [agent for agent in NAMES if agent in names or "all" in names]


def show_differences(changes: list[SettingsChange]) -> None:
    """Print what would change in each file, as ``diff -u`` does."""
    for change in changes:
        for line in _difference(change):
            colour = _DIFF_COLOURS.get(line[:1])
            text = printable(line)
            if colour is not None:
                text = paint(text, colour)
            print(text)


_DIFF_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_NO_FILE = "(no file)"


def _difference(change: SettingsChange) -> Iterator[str]:
    old_name = change.target.path
    new_name = change.target.path
    if change.before is None:
        old_name = _NO_FILE
    if change.after is None:
        new_name = _NO_FILE
    before = (change.before or "").splitlines()
    after = (change.after or "").splitlines()
    return unified_diff(before, after, old_name, new_name, n=2, lineterm="")


# Out again ----------------------------------------------------------------------------------------

_STATES = {
    (False, False): ("not installed", "not installed"),
    (True, False): ("taken out", "would change"),
    (True, True): ("removed the file", "would be removed"),
}
"""The state of a file that was (changed, removed): afterwards, and in a dry run."""


@command(
    agent_option("all of them"),
    option(
        "--purge",
        action="store_true",
        help="also remove your rules, limits and records, and the memory of projects",
    ),
    add_yes,
    add_json,
)
def uninstall(options: Namespace) -> int:
    """Remove brim from your agents.

    Takes out everything that 'brim init' put into their settings, in every project, and nothing
    else. A file that you haven't changed since is restored exactly. Your rules and brim's own
    settings stay, so 'brim init' brings it all back.

    With --purge, brim lists what else it wrote, asks, and removes that too: ~/.brim, the .brim and
    .context of projects, and backups of settings. What git tracks stays.

    Examples:
      brim uninstall --dry-run
      brim uninstall
      brim uninstall --agent codex
      brim uninstall --purge
    """
    if not options.dry_run:
        need_person("uninstalls brim")
    if options.purge and options.agent:
        raise InputError("--purge removes everything, so it takes no --agent")
    if options.purge and not options.dry_run and not _agrees_to_purge(options):
        return 1
    result = setup.uninstall(
        os.environ,
        working_folder(),
        agents=agents_of(options.agent),
        purge=options.purge,
        dry_run=options.dry_run,
    )
    notes = [_served_note(agent) for agent in result.served]
    notes += result.broken
    notes += [f"brim's plugin is still there: '{command}' removes it" for command in result.plugins]
    return emit(result, _show_uninstalled, options.as_json, *notes, code=result.exit_code)


def _agrees_to_purge(options: Namespace) -> bool:
    """List what would be removed, and ask."""
    planned = setup.uninstall(os.environ, working_folder(), dry_run=True)
    if not planned.leftovers.paths:
        return True
    if not options.as_json:
        _show_leftovers(planned.leftovers, "to be removed")
    question = "Remove brim from your agents, and all of that for good?"
    return says_yes(question, yes=options.yes)


def _show_leftovers(leftovers: Leftovers, heading_text: str) -> None:
    for path in leftovers.paths:
        print(f"{heading_text}: {home_path(path)}")
    for folder in leftovers.shared:
        print(f"stays: {home_path(folder)}: git tracks files in it")
    if leftovers.foreign_home:
        print(f"stays: {home_path(leftovers.foreign_home)}: remove it yourself (BRIM_HOME)")


def _served_note(agent: str) -> str:
    listing = f"'{agent} mcp list' names it, '{agent} mcp remove' ends that"
    return f"{NAMES[agent]} still starts 'brim mcp': {listing}"


def _show_uninstalled(result: Uninstalled) -> None:
    if result.purged:
        _show_purged(result)
        return
    if result.dry_run and result.purge:
        _show_leftovers(result.leftovers, "would be removed")
    if not result.changes and not result.broken:
        note("brim isn't installed in any agent; nothing was changed")
        if not result.purge:
            _note_leftovers(result.leftovers)
        return
    if result.dry_run:
        show_differences([*result.changes, *result.further])
    rows = [_uninstalled_row(agent, dry_run=result.dry_run) for agent in result.agents]
    _print_agents(rows, "backup with brim", result.backups)
    if result.dry_run:
        note("nothing was changed")
    elif result.is_complete:
        _note_leftovers(result.leftovers)


def _show_purged(result: Uninstalled) -> None:
    rows = [_uninstalled_row(agent, dry_run=False) for agent in result.agents]
    if rows:
        print(table(rows))
    _show_leftovers(result.leftovers, "removed")
    note("the program itself is still there: pip uninstall brim")


def _note_leftovers(leftovers: Leftovers) -> None:
    """Say what stays, and what removes it."""
    if leftovers.home:
        note(f"your rules, limits and records stay in {leftovers.home}")
    if leftovers.projects:
        places = counted(len(leftovers.projects), "place")
        note(f"rules and memory of projects stay in {places} (.brim, .context)")
    if leftovers.backups:
        note(f"{counted(len(leftovers.backups), 'backup')} of your settings stay")
    if leftovers.paths:
        note("'brim uninstall --purge' lists and removes all of that")


def _uninstalled_row(agent: Mapping[str, Any], *, dry_run: bool) -> list[str]:
    """Return what was removed from one agent."""
    state = _STATES[agent["changed"], agent["removed"]][dry_run]
    return [NAMES[agent["agent"]], state, home_path(agent["file"])]


def _print_agents(rows: list[list[str]], backup: str, backups: Mapping[str, str]) -> None:
    """Print a row for each agent, and where the copies of its files are."""
    if rows:
        print(table(rows))
    for path in backups.values():
        print(home_path(f"{backup}: {path}"))


# A pause ------------------------------------------------------------------------------------------


@command(
    option(
        "time",
        nargs="?",
        metavar="TIME",
        help="how long, such as 30m, 2h or 1d; 'off' ends the pause",
    ),
    add_json,
)
def pause(options: Namespace) -> int:
    """Silence every hook in every agent, for a while or until 'brim pause off'.

    Nothing is uninstalled, and nothing is recorded during the pause. For one process alone, set
    BRIM_DISABLE=1 in its environment.

    Examples:
      brim pause
      brim pause 30m
      brim pause off
    """
    if options.time == "off":
        ended = pausing.resume(os.environ)
        view = "brim isn't paused"
        if ended["changed"]:
            view = "brim is back: hooks answer again"
        return emit(ended, view, options.as_json)
    need_person("pauses brim")
    seconds = None
    if options.time is not None:
        seconds = pausing.duration(options.time)
    result = pausing.pause(os.environ, seconds=seconds)
    view = "brim is paused"
    if "until" in result:
        view += time.strftime(" until %Y-%m-%d %H:%M", time.localtime(result["until"]))
    elif not result["changed"]:
        view += " already"
    return emit(result, f"{view}: 'brim pause off' ends it", options.as_json)


# Whether it works ---------------------------------------------------------------------------------

_COLOURS = {OK: "green", OFF: "faint", WRONG: "red"}


@command(option("--fix", action="store_true", help="fix what needs no decision"), add_json)
def doctor(options: Namespace) -> int:
    """Check what is installed where, and whether it works.

    Runs a hook to see whether it answers and how long it takes (in a temporary home, so nothing is
    recorded), counts the tokens that brim itself adds, and says what to correct. With --fix, it
    corrects what doesn't need your decision: the launcher and hooks in the settings. Exits with 1
    if something is wrong.

    Examples:
      brim doctor
      brim doctor --fix
      brim doctor --json
    """
    diagnosis = diagnose(os.environ, working_folder(), fix=options.fix, tool_tokens=_tool_tokens)
    note(*diagnosis.problems)
    return emit(diagnosis, _show_diagnosis, options.as_json, code=diagnosis.exit_code)


def _show_diagnosis(diagnosis: Diagnosis) -> None:
    rows = [("Fixed", home_path(text)) for text in diagnosis.fixed]
    rows += [_finding_row(finding) for finding in diagnosis.findings]
    print(facts(rows))
    if not diagnosis.wrong:
        return
    hint = ""
    if any(finding.fix == FIX for finding in diagnosis.wrong):
        hint = " ('brim doctor --fix' fixes what it can)"
    note(f"{counted(len(diagnosis.wrong), 'problem')} to fix{hint}")


def _finding_row(finding: Finding) -> tuple[str, str]:
    name = finding.what
    if "agent" not in finding.facts:
        name = name[:1].upper() + name[1:]
    state = str(finding.state)
    text = "\n".join([home_path(finding.text), *finding.facts.get("lines", ())])
    if finding.text == "not found":
        state = finding.text
        text = " "
    return f"{name:<11}  {paint(f'{state:<9}', _COLOURS[finding.state])}", text


def _tool_tokens(model: str | None) -> int | None:
    """Return what the tools and instructions of the MCP server take for *model*.

    It's None if the server isn't installed.
    """
    try:
        from brim.mcp.tools import INSTRUCTIONS, tool_costs
    except ImportError:
        return None
    counter = counter_for(model)
    return sum(cost.tokens for cost in tool_costs(counter)) + int(counter.count(INSTRUCTIONS))
