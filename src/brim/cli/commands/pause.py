"""``brim pause`` and ``brim resume``: silence every hook for a while."""

from __future__ import annotations

import os
import time
from argparse import Namespace

from brim.cli.options import add_json, command, option
from brim.cli.output import say, say_json
from brim.install import installation


@command(
    option("time", nargs="?", metavar="TIME", help="how long, such as 30m, 2h or 1d (default: until 'brim resume')"),
    option("--off", action="store_true", help="the same as 'brim resume'"),
    add_json,
)
def pause(options: Namespace) -> int:
    """Silence every hook in every agent, for a while or until 'brim resume'.

    Nothing is uninstalled, and nothing is recorded meanwhile. For one process alone, set BRIM_DISABLE=1 in its
    environment.

    Examples:
      brim pause
      brim pause 30m
    """
    if options.off or options.time == "resume":
        done = installation.resume(os.environ)
    else:
        seconds = None if options.time is None else installation.duration(options.time)
        done = installation.pause(os.environ, seconds=seconds)
    already = "" if done["changed"] else " already"
    if options.as_json:
        say_json(done)
    elif not done["paused"]:
        say(f"brim is not paused{already}")
    elif "until" in done:
        clock = time.strftime("%Y-%m-%d %H:%M", time.localtime(done["until"]))
        say(f"brim is paused until {clock}: 'brim resume' ends it")
    else:
        say(f"brim is paused{already}: 'brim resume' ends it")
    return 0
