"""``brim upgrade``: brings what was installed up to this version."""

from __future__ import annotations

import os
import sys

from brim.agents.install.launchers import install_launchers
from brim.cli.installing import Installation, installed_events
from brim.cli.options import add_json
from brim.cli.output import note, printable, say, say_json
from brim.cli.setting_edit import BudgetSetting, add_token_budget
from brim.errors import BrimError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HELP = """\
Bring what was installed up to this version of brim: the launcher that your agents call, and the files in which brim
keeps what it learned (hooks never change those). The hooks in the settings of your agents stay as they are, so no agent
asks for trust again; if this version would install others, you are told so.

Examples:
  brim upgrade
  brim upgrade --token-budget 1500
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    add_token_budget(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Do it, and return the exit code."""
    from brim.cli.commands.init import NO_WINDOWS

    if sys.platform == "win32":
        note(NO_WINDOWS)
        return 1
    installation = Installation(os.environ)
    targets = [each for each in installation.targets() if installed_events(each.path, installation.home)]
    scope = "user" if not targets or any(each.scope == "user" for each in targets) else "project"
    budget = BudgetSetting(options.token_budget, scope) if options.token_budget is not None else None
    launchers = install_launchers(installation.home) if targets else []
    server = upgrade_server(installation)
    stores, broken = migrate_stores(installation)
    if budget is not None:
        budget.write()
    other = [target.path for target in targets if _differs(installation, target.path)]
    if options.as_json:
        say_json(
            {
                "files": [target.path for target in targets],
                "launchers": launchers,
                "stores": list(stores),
                "migrated": [path for path, migrated in stores.items() if migrated],
                "broken": broken,
                "server": server,
                "differ": other,
                "token_budget": None if budget is None else budget.as_object(),
            }
        )
    else:
        for path in launchers:
            say(printable(f"written anew: {path}"))
        if targets and not launchers:
            say("the launcher is up to date")
        if server:
            say(printable(f"written anew: {server}"))
        for path, migrated in stores.items():
            say(printable(f"{'brought up to date' if migrated else 'up to date'}: {path}"))
        if budget is not None:
            budget.tell()
    for path in other:
        note(f"{path}: this version would install other hooks: 'brim init' changes them")
    for reason in broken:
        note(reason)
    if not targets:
        note("brim is in none of your agents: 'brim init' installs it")
    return 2 if broken else 0 if targets or stores else 1


def migrate_stores(installation: Installation) -> tuple[dict[str, bool], list[str]]:
    """Open each file of brim's own, which brings it up to date; return whether each was older, and what is broken.

    Those are the user's, this project's, and those of every project that is trusted.
    """
    from brim.store.project import FILE
    from brim.store.store import open_store
    from brim.store.trust import is_trusted, trusted_projects

    projects = [each for each in trusted_projects(installation.home) if is_trusted(each, installation.home)]
    projects += [installation.project] if installation.project else []
    folders = [installation.home, *(os.path.join(each, ".brim") for each in projects)]
    found, broken = {}, []
    for path in dict.fromkeys(os.path.join(folder, FILE) for folder in folders):
        if not os.path.exists(path):
            continue
        try:
            found[path] = _is_older(path)
            open_store(path).close()
        except BrimError as error:
            found.pop(path, None)
            broken.append(str(error))
    return found, broken


def _is_older(path: str) -> bool:
    from brim.store.store import open_store

    try:
        open_store(path, migrate=False).close()
    except StoreError as error:
        if error.reason != "older":
            raise
        return True
    return False


def upgrade_server(installation: Installation) -> str:
    """Let Claude Code start this brim for resident hooks, if it starts one; return the file if it changed.

    A server that was put in from another home answers for that one, and stays.
    """
    from brim.cli.serving import ServerEntry

    if ServerEntry.file(installation.environ) not in installation.records or not ServerEntry.program(installation):
        return ""
    entry = ServerEntry(installation)
    return entry.path if entry.write() else ""


def _differs(installation: Installation, path: str) -> bool:
    record = installation.records.get(path)
    target = next(each for each in installation.targets() if each.path == path)
    change = installation.again(target, record) if record is not None else installation.planned(target, status=False)
    return change.changes
