"""``brim uninstall``: takes brim out of the agents again."""

from __future__ import annotations

import os

from brim.agents.install.launchers import remove_launchers
from brim.agents.install.targets import NAMES, check_writable
from brim.cli.installing import Installation, add_agent, agents_of, say_difference
from brim.cli.options import add_json
from brim.cli.output import note, printable, say, say_json, table
from brim.cli.serving import remove_server, served_agents
from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.agents.install.planning import Change

HELP = """\
Take brim out of your agents: everything that 'brim init' put into their settings, in every project, and nothing else. A
file that holds nothing more of yours since then is as it was before. What you have learned and your settings of brim
stay; 'brim init' brings the rest back.

Examples:
  brim uninstall --dry-run
  brim uninstall
  brim uninstall --agent codex
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_agent(parser, "all of them")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")
    add_json(parser)


def run(options: Namespace) -> int:
    """Take it out, and return the exit code."""
    installation = Installation(os.environ)
    agents = agents_of(options.agent) or list(NAMES)
    changes, broken = _planned(installation, agents)
    server = False
    backups: dict[str, str] = {}
    if not options.dry_run:
        backups = installation.apply(changes, installing=False)
        if "claude" in agents:
            server = remove_server(installation)
        if not installation.records:
            remove_launchers(installation.home)
    found: list[dict[str, object]] = [
        {
            "agent": change.target.agent,
            "scope": change.target.scope,
            "file": change.target.path,
            "changed": change.changes,
            "removed": change.changes and change.after is None,
            "backup": backups.get(change.target.path),
        }
        for change in changes
    ]
    if options.as_json:
        say_json({"agents": found, "server": server, "broken": broken, "dry_run": options.dry_run})
    elif not found and not server and not broken:
        note("brim is in none of your agents; nothing was changed")
    else:
        if options.dry_run:
            for change in changes:
                say_difference(change)
        _say(found, installation, dry_run=options.dry_run)
    for agent in served_agents(installation) if not options.dry_run else ():
        if agent in agents:
            note(f"{NAMES[agent]} still starts 'brim mcp': '{agent} mcp list' names it, '{agent} mcp remove' ends that")
    for reason in broken:
        note(reason)
    return 2 if broken else 0


def _planned(installation: Installation, agents: list[str]) -> tuple[list[Change], list[str]]:
    """Return how files become without brim, and why some cannot: a broken one must not keep brim in the others."""
    changes, broken = [], []
    for target in installation.targets(agents):
        known = target.path in installation.records
        try:
            change = installation.removed(target)
            if change.changes:
                check_writable(target.path)
            if change.changes or known:
                changes.append(change)
        except BrimError as error:
            if known or target.scope == "user":
                broken.append(str(error))
    return changes, broken


def _say(found: list[dict[str, object]], installation: Installation, *, dry_run: bool) -> None:
    rows = [[NAMES[str(each["agent"])], _done(each, dry_run=dry_run), str(each["file"])] for each in found]
    if rows:
        say(table(rows))
    for each in found:
        if each["backup"]:
            say(printable(f"with brim it was: {each['backup']}"))
    if dry_run:
        note("nothing was changed")
    elif not installation.records and os.path.isdir(installation.home):
        note(f"what you have learned stays in {installation.home}")


def _done(each: dict[str, object], *, dry_run: bool) -> str:
    if not each["changed"]:
        return "was out already"
    if dry_run:
        return "would be removed" if each["removed"] else "would change"
    return "removed the file" if each["removed"] else "taken out"
