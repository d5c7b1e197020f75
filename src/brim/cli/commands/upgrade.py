"""``brim upgrade``: brings what was installed up to this version."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from brim.cli.commands.init import TOKENS, show_budget
from brim.cli.options import add_json, command, working_folder
from brim.cli.output import home_path, note, say, say_json
from brim.install import installation
from brim.install.installation import NO_WINDOWS


@command(TOKENS, add_json)
def upgrade(options: Namespace) -> int:
    """Bring what was installed up to this version of brim.

    That is the launcher that your agents call, and the files in which brim keeps what it learned (hooks never change
    those). The hooks in the settings of your agents stay as they are, so no agent asks for trust again; if this version
    would install others, you are told so.

    Examples:
      brim upgrade
      brim upgrade --tokens 1500
    """
    if sys.platform == "win32":
        note(NO_WINDOWS)
        return 1
    done = installation.upgrade(os.environ, working_folder(), token_budget=options.token_budget)
    if options.as_json:
        say_json(done.to_dict())
    else:
        for path in done.launchers:
            say(home_path(f"updated: {path}"))
        if done.files and not done.launchers:
            say("the launcher is up to date")
        for path, migrated in done.stores.items():
            say(home_path(f"{'brought up to date' if migrated else 'up to date'}: {path}"))
        show_budget(done.budget)
    for path in done.differ:
        note(f"{path}: its hooks are out of date: 'brim init' updates them")
    for text in done.broken:
        note(text)
    if not done.files:
        note("brim isn't installed in any agent: run 'brim init'")
    return done.exit_code
