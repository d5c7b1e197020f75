"""``brim pause``: lets every hook say nothing, until it is taken back."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from brim.cli.options import add_json, command
from brim.cli.output import say, say_json
from brim.install import installation


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", nargs="?", choices=("resume",), help="the same as --off")
    parser.add_argument("--off", action="store_true", help="go on")
    add_json(parser)


@command(_arguments)
def pause(options: Namespace) -> int:
    """Silence every hook in every agent, until 'brim resume'.

    Nothing is uninstalled, and nothing is recorded meanwhile. For one process alone, set BRIM_DISABLE=1 in its
    environment.

    Examples:
      brim pause
      brim pause --off
    """
    done = installation.pause(os.environ, paused=not (options.off or options.action))
    if options.as_json:
        say_json(done)
    else:
        already = "" if done["changed"] else " already"
        say(f"brim is paused{already}: 'brim resume' ends it" if done["paused"] else f"brim is not paused{already}")
    return 0
