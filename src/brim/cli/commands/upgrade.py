"""``brim upgrade``: brings what was installed up to this version."""

from __future__ import annotations

import os
import sys

from brim.agents.install.launchers import install_launchers
from brim.cli.budget_setting import BudgetSetting, add_token_budget
from brim.cli.installing import Installation, installed_events
from brim.cli.output import note, printable, say, say_json
from brim.cli.settings import add_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HELP = """\
Bring what was installed up to this version of brim: the launcher that your agents call, and the files in which brim
keeps what it learned (hooks never change those). The settings of your agents stay as they are, so no agent asks for
trust again; if this version would install other hooks, you are told so.

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
    stores = migrate_stores(installation)
    if budget is not None:
        budget.write()
    other = [target.path for target in targets if _differs(installation, target.path)]
    if options.as_json:
        say_json(
            {
                "files": [target.path for target in targets],
                "launchers": launchers,
                "stores": stores,
                "differ": other,
                "token_budget": None if budget is None else budget.as_object(),
            }
        )
    else:
        for path in launchers:
            say(printable(f"written anew: {path}"))
        if targets and not launchers:
            say("the launcher is up to date")
        for path in stores:
            say(printable(f"up to date: {path}"))
        if budget is not None:
            budget.tell()
    for path in other:
        note(f"{path}: this version would install other hooks: 'brim init' changes them")
    if not targets:
        note("brim is in none of your agents: 'brim init' installs it")
    return 0 if targets else 1


def migrate_stores(installation: Installation) -> list[str]:
    """Open each file of brim's own, which brings it up to date; return their paths."""
    from brim.store.folder import FILE
    from brim.store.store import open_store
    from brim.store.trust import is_trusted, trusted_projects

    folders = [installation.home]
    projects = [*trusted_projects(installation.home), *([installation.project] if installation.project else [])]
    folders += [os.path.join(each, ".brim") for each in projects if is_trusted(each, installation.home)]
    paths = [os.path.join(folder, FILE) for folder in dict.fromkeys(folders)]
    found = [path for path in paths if os.path.exists(path)]
    for path in found:
        open_store(path).close()
    return found


def _differs(installation: Installation, path: str) -> bool:
    record = installation.records.get(path)
    target = next(each for each in installation.targets() if each.path == path)
    change = installation.again(target, record) if record is not None else installation.planned(target, status=False)
    return change.changes
