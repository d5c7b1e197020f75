"""``brim pause``: lets every hook say nothing, for a while or until it is taken back."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace

from brim.cli.output import say, say_json
from brim.cli.settings import add_json
from brim.install.installation import duration, pause, resume

HELP = """\
Let every hook say nothing, in every agent, for a time such as 30m, 2h or 1d, or until 'brim pause --off'. Nothing is
uninstalled, and nothing is recorded meanwhile. For one process alone, set BRIM_DISABLE=1 in its environment.

Examples:
  brim pause
  brim pause 30m
  brim pause --off
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("time", nargs="?", metavar="TIME", help="how long: 30m, 2h, 1d; 'resume' is the same as --off")
    parser.add_argument("--off", action="store_true", help="go on")
    add_json(parser)


def run(options: Namespace) -> int:
    """Pause or go on, and return the exit code."""
    if options.off or options.time == "resume":
        done = resume(os.environ)
    else:
        done = pause(os.environ, seconds=None if options.time is None else duration(options.time))
    already = "" if done["changed"] else " already"
    if options.as_json:
        say_json(done)
    elif not done["paused"]:
        say(f"brim is not paused{already}")
    elif "until" in done:
        clock = time.strftime("%Y-%m-%d %H:%M", time.localtime(done["until"]))
        say(f"brim is paused until {clock}: 'brim pause --off' goes on")
    else:
        say(f"brim is paused{already}: 'brim pause --off' goes on")
    return 0
