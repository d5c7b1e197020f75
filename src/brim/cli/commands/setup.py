"""``brim init``, ``uninstall``, ``pause``, ``doctor`` and ``rules trust``: brim in the agents
here."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from difflib import unified_diff

from brim.agents import agent_at_work
from brim.cli.commands.config import show_setting
from brim.cli.options import (
    add_json,
    add_yes,
    command,
    need_person,
    one_of,
    option,
    says_yes,
    scope_option,
    token_budget,
    whole_number,
    working_folder,
)
from brim.cli.output import (
    block,
    counted,
    day,
    emit,
    facts,
    heading,
    home_path,
    lines,
    note,
    paint,
    printable,
    say_paged,
    table,
    whole,
)
from brim.config.places import project_folder, user_folder
from brim.errors import InputError
from brim.install import installation
from brim.install.agents import ALL, HOOKS, NAMES
from brim.install.changes import SettingsChange
from brim.install.doctor import FIX, OFF, OK, WRONG, Diagnosis, diagnose
from brim.install.git_exclude import exclude_file
from brim.install.installation import Installed, Uninstalled
from brim.install.rule_files import shared_news
from brim.memory.entries import MemoryEntry
from brim.store.consent import Consent
from brim.store.trust import is_trusted, trusted_projects, untrust
from brim.workspace import Workspace


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
    done = installation.install(
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
    if done.trusted is False and not options.as_json and not agent_at_work(os.environ):
        asked = Namespace(
            folder=None, as_list=False, remove=False, yes=options.yes, dry_run=False, as_json=False
        )
        if trust.run(asked):
            note(
                "until you trust it, agents hear only your own rules: 'brim rules trust' asks again"
            )
    left = [done.reason] if done.reason else done.skipped.values()
    return emit(done, _show, options.as_json, *done.problems, *left, code=done.exit_code)


def _show(done: Installed) -> None:
    rows = []
    for each in done.agents:
        more = [", status line"] * each["status_line"] + [f", {each['command']}"] * bool(
            each["command"]
        )
        extra = f"{len(each['hooks']) or 'its plugin has the'} hooks{''.join(more)}"
        state = (
            "unchanged" if not each["changed"] else "would change" if done.dry_run else "installed"
        )
        rows.append([NAMES[each["agent"]], state, extra, home_path(each["file"])])
    if done.dry_run:
        show_differences([*done.changes, *done.commands])
    if rows:
        print(table(rows))
    for backup in done.backups.values():
        print(home_path(f"backup: {backup}"))
    if done.hidden:
        print(home_path(f"hidden from git in {exclude_file(done.hidden[0])}"))
    if done.budget is not None:
        show_setting(done.budget, quiet=done.budget.hidden_by in os.environ)
    note(*(["nothing was changed"] if done.dry_run else done.next_steps))


def agents_of(given: list[str] | None) -> list[str]:
    """Return the agents that ``--agent`` was *given*."""
    return [name for name in NAMES if given and (name in given or "all" in given)]


def show_differences(changes: list[SettingsChange]) -> None:
    """Print what would change in each file, as ``diff -u`` does."""

    for change in changes:
        path, before, after = change.target.path, change.before, change.after
        names = ("(no file)" if before is None else path, "(no file)" if after is None else path)
        for line in unified_diff(
            (before or "").splitlines(), (after or "").splitlines(), *names, n=2, lineterm=""
        ):
            colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
            print(paint(printable(line), colour) if colour else printable(line))


# Out again ----------------------------------------------------------------------------------------

_DONE = {
    (False, False): ("not installed", "not installed"),
    (True, False): ("taken out", "would change"),
    (True, True): ("removed the file", "would be removed"),
}
"""What is said of a file that was (changed, removed): when it is done, and before."""


@command(
    agent_option("all of them"),
    option("--dry-run", action="store_true", help="only show what would be done"),
    add_json,
)
def uninstall(options: Namespace) -> int:
    """Remove brim from your agents.

    Takes out everything that 'brim init' put into their settings, in every project, and nothing
    else. A file that you haven't changed since is restored exactly. Your rules and brim's own
    settings stay, so 'brim init' brings it all back.

    Examples:
      brim uninstall --dry-run
      brim uninstall
      brim uninstall --agent codex
    """
    if not options.dry_run:
        need_person("uninstalls brim")
    done = installation.uninstall(
        os.environ, working_folder(), agents=agents_of(options.agent), dry_run=options.dry_run
    )
    mcp = "{} still starts 'brim mcp': '{agent} mcp list' names it, '{agent} mcp remove' ends that"
    notes = [mcp.format(NAMES[agent], agent=agent) for agent in done.served] + done.broken
    notes += [f"brim's plugin is still there: '{each}' removes it" for each in done.plugins]
    return emit(done, _show_uninstalled, options.as_json, *notes, code=done.exit_code)


def _show_uninstalled(done: Uninstalled) -> None:
    if not done.changes and not done.broken:
        note("brim isn't installed in any agent; nothing was changed")
        return
    if done.dry_run:
        show_differences([*done.changes, *done.commands])
    rows = [
        [
            NAMES[each["agent"]],
            _DONE[each["changed"], each["removed"]][done.dry_run],
            home_path(each["file"]),
        ]
        for each in done.agents
    ]
    if rows:
        print(table(rows))
    for backup in done.backups.values():
        print(home_path(f"backup with brim: {backup}"))
    if done.dry_run:
        note("nothing was changed")
    elif done.is_complete and os.path.isdir(done.home):
        note(f"your rules stay in {done.home}")


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
        ended = installation.resume(os.environ)
        text = "brim is back: hooks answer again" if ended["changed"] else "brim isn't paused"
        return emit(ended, text, options.as_json)
    need_person("pauses brim")
    seconds = None if options.time is None else installation.duration(options.time)
    done = installation.pause(os.environ, seconds=seconds)
    until = (
        time.strftime(" until %Y-%m-%d %H:%M", time.localtime(done["until"]))
        if "until" in done
        else ""
    )
    already = "" if done["changed"] or until else " already"
    return emit(done, f"brim is paused{until}{already}: 'brim pause off' ends it", options.as_json)


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
    found = diagnose(os.environ, working_folder(), fix=options.fix, tool_tokens=_tool_tokens)
    note(*found.problems)
    return emit(found, _show_diagnosis, options.as_json, code=found.exit_code)


def _show_diagnosis(found: Diagnosis) -> None:
    rows = [("Fixed", home_path(text)) for text in found.fixed]
    for each in found.findings:
        missing = each.text == "not found"
        state = paint(f"{'not found' if missing else each.state:<9}", _COLOURS[each.state])
        text = "\n".join([home_path(each.text), *each.facts.get("lines", ())])
        what = each.what if "agent" in each.facts else each.what[:1].upper() + each.what[1:]
        rows.append((f"{what:<11}  {state}", " " if missing else text))
    print(facts(rows))
    if found.wrong:
        fix = (
            " ('brim doctor --fix' fixes what it can)"
            if any(each.fix == FIX for each in found.wrong)
            else ""
        )
        note(f"{counted(len(found.wrong), 'problem')} to fix{fix}")


def _tool_tokens(model: str | None) -> int | None:
    """Return what the tools and instructions of the MCP server take for *model*; None if it isn't
    installed."""
    try:
        from brim.mcp.server import INSTRUCTIONS
        from brim.mcp.tools import tool_costs
    except ImportError:
        return None
    from brim.tokens.counters import counter_for

    counter = counter_for(model)
    return sum(cost.tokens for cost in tool_costs(counter)) + int(counter.count(INSTRUCTIONS))


# Trust --------------------------------------------------------------------------------------------


@command(
    option(
        "folder", nargs="?", metavar="DIR", help="a project's folder (default: the current project)"
    ),
    one_of(
        option("--list", action="store_true", dest="as_list", help="list the trusted projects"),
        option("--remove", action="store_true", help="stop trusting it"),
    ),
    add_yes,
    add_json,
)
def trust(options: Namespace) -> int:
    """Let agents use this project's rules and settings.

    Anyone may have written the .brim/ folder of a project that you cloned, so hooks and servers
    ignore it until you trust it. brim first shows everything that agents would get, including
    memory in .context/ that wasn't made on this machine. If something changes later without brim,
    as with a pull, agents don't get the change until you run this again; then it shows only what
    changed. A project never overrides your own constraints. Commands that you type yourself always
    use the project.

    Examples:
      brim rules trust
      brim rules trust ~/shop --yes
      brim rules trust --list
      brim rules trust --remove
    """
    user = user_folder(os.environ)
    if options.as_list:
        if options.folder is not None:
            raise InputError(f"--list lists every trusted project, so it takes no {options.folder}")
        return _list_trusted(user, as_json=options.as_json)
    return _remove_trust(options, user) if options.remove else _trust(options)


def _list_trusted(user: str, *, as_json: bool) -> int:
    rows, projects = [["since", "project", ""]], []
    for path, at in trusted_projects(user).items():
        valid = is_trusted(path, user)
        projects.append({"project": path, "since": day(at), "valid": valid})
        gone = "" if valid else "is gone, or another folder is in its place: not trusted"
        rows.append([day(at), home_path(path), gone])
    if not projects:
        note("no trusted projects yet: run 'brim rules trust' in one")
    return emit({"projects": projects}, heading(table(rows)) if projects else "", as_json)


def _remove_trust(options: Namespace, user: str) -> int:
    path = os.path.realpath(
        options.folder if options.folder is not None else working_folder() or "/"
    )
    if path not in trusted_projects(user):
        path = (project_folder(os.environ, path) if os.path.isdir(path) else None) or path
    was = path in trusted_projects(user)
    if was and not options.dry_run:
        untrust(path, user, now=time.time())
    said = (
        f"{home_path(path)} {'would no longer be' if options.dry_run else 'is no longer'} trusted"
        if was
        else ""
    )
    found = {
        "project": path,
        "trusted": was and options.dry_run,
        "changed": was and not options.dry_run,
    }
    empty = f"{path} wasn't trusted; nothing was changed"
    return emit(found, said, options.as_json, empty=empty, code=0 if was else 1)


def _trust(options: Namespace) -> int:
    if not options.dry_run:
        need_person("trusts a project")
    folder = options.folder if options.folder is not None else working_folder()
    if folder is None or not os.path.isdir(folder):
        raise InputError(f"{options.folder or 'the working folder'}: no such folder")
    workspace = Workspace(os.environ, folder, who="person", now=time.time())
    found = workspace.consent()
    if found is None:
        raise InputError(f"{folder}: not a project: no .brim/ or .git in it or above it")
    if not options.as_json:
        with workspace.open(create=False) as scopes:
            news = shared_news(workspace, scopes)
        say_paged(_view(found, news))
    done = found.trusted and not found.is_new
    if not done and not options.dry_run:
        refusal = "agents are not told this" if found.trusted else "the project is not trusted"
        done = says_yes(
            "Let agents be told this, and what you store here later?", yes=options.yes, no=refusal
        )
        if done:
            found.accept(now=workspace.now)
    changed = done and (found.is_new or not found.trusted)
    said = "trusted now; 'brim rules trust --remove' undoes this" if changed else "already trusted"
    told = {
        "project": found.project,
        "trusted": found.trusted or done,
        "changed": changed,
        **found.to_dict(),
    }
    return emit(
        told, said if done else "", options.as_json, code=0 if done or options.dry_run else 1
    )


def _view(found: Consent, news: str) -> str:
    """Return all of it for a person: whole, and with everything visible."""
    counts = Counter(each.kind.value for each in found.rules)
    kinds = ", ".join(
        f"{n:,} {kind}" if kind == "episodic" else counted(n, kind) for kind, n in counts.items()
    )
    since = ", new or changed since you trusted it" if found.trusted and found.is_new else ""
    sets = [f"  {key}: {value}" for key, value in found.settings.items()]
    parts = [
        f"{home_path(found.project)}: {counted(len(found.rules), 'rule')}{f' ({kinds})' if kinds else ''}{since}",
        *map(whole, found.rules),
        lines("it sets in .brim/config.yaml", *map(printable, sets)) if sets else "",
        *(
            f"{home_path(path)}: memory that wasn't made here\n{_entries(each)}"
            for path, each in found.memory.items()
        ),
        lines(*(printable(f"not followed: {text}") for text in found.refused)),
        f"{news}: agents don't hear that before 'brim rules import'" if news else "",
    ]
    return "\n\n".join(filter(None, parts))


def _entries(entries: list[MemoryEntry]) -> str:
    shown = []
    for each in entries:
        refs = [f"  {key}: {value}" for key, value in each.refs.items()]
        shown.append(
            lines(printable(f"#{each.number} {each.kind}"), block(each.text), *map(printable, refs))
        )
    return "\n".join(shown)
