"""``brim uninstall``: takes brim out of the agents again."""

from __future__ import annotations

import os
from argparse import Namespace

from brim.cli.commands.init import agent_option, agents_of, show_differences
from brim.cli.options import add_json, command, need_person, option, working_folder
from brim.cli.output import emit, home_path, note, say, table, tell_all
from brim.install import installation
from brim.install.agents import NAMES
from brim.install.installation import Uninstalled

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

    Takes out everything that 'brim init' put into their settings, in every project, and nothing else. A file that you
    haven't changed since is restored exactly. Your rules and brim's own settings stay, so 'brim init' brings it all
    back.

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
    emit(done, _show, options.as_json)
    for agent in done.served:
        note(f"{NAMES[agent]} still starts 'brim mcp': '{agent} mcp list' names it, '{agent} mcp remove' ends that")
    tell_all(*done.broken, *(f"brim's plugin is still there: '{each}' removes it" for each in done.plugins))
    return done.exit_code


def _show(done: Uninstalled) -> None:
    if not done.changes and not done.server and not done.broken:
        note("brim isn't installed in any agent; nothing was changed")
        return
    if done.dry_run:
        show_differences([*done.changes, *done.commands])
    rows = [
        [NAMES[each["agent"]], _DONE[each["changed"], each["removed"]][done.dry_run], home_path(each["file"])]
        for each in done.agents
    ]
    if rows:
        say(table(rows))
    for backup in done.backups.values():
        say(home_path(f"backup with brim: {backup}"))
    if done.dry_run:
        note("nothing was changed")
    elif done.is_complete and os.path.isdir(done.home):
        note(f"your rules stay in {done.home}")
