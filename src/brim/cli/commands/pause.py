"""``brim pause``: lets every hook say nothing, until it is taken back."""

from __future__ import annotations

import os

from brim.cli.options import add_json
from brim.cli.output import say, say_json
from brim.config.places import user_folder
from brim.errors import InputError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

HELP = """\
Let every hook say nothing, in every agent, until 'brim pause --off'. Nothing is uninstalled, and nothing is recorded
meanwhile. For one process alone, set BRIM_DISABLE=1 in its environment.

Examples:
  brim pause
  brim pause --off
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("action", nargs="?", choices=("resume",), help="the same as --off")
    parser.add_argument("--off", action="store_true", help="go on")
    add_json(parser)


def run(options: Namespace) -> int:
    """Pause or go on, and return the exit code."""
    from brim.hooks.process import PAUSED
    from brim.store.project import make_folder

    home = user_folder(os.environ)
    path = os.path.join(home, PAUSED)
    was, paused = os.path.lexists(path), not (options.off or options.action)
    try:
        if paused and not was:
            make_folder(home)
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        elif was and not paused:
            os.unlink(path)
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, so it is not brim's: move it away") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}; nothing was changed") from None
    if options.as_json:
        say_json({"paused": paused, "changed": paused != was, "file": path})
    else:
        already = "" if paused != was else " already"
        say(f"brim is paused{already}: 'brim pause --off' goes on" if paused else f"brim is not paused{already}")
    return 0
