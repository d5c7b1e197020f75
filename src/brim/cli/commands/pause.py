"""``brim pause`` and ``brim resume``: silence every hook for a while."""

from __future__ import annotations

import os
import time
from argparse import Namespace

from brim.cli.options import add_json, command, need_person, option
from brim.cli.output import emit
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
        return resume.run(options)
    need_person("pauses brim")
    seconds = None if options.time is None else installation.duration(options.time)
    done = installation.pause(os.environ, seconds=seconds)
    until = time.strftime(" until %Y-%m-%d %H:%M", time.localtime(done["until"])) if "until" in done else ""
    already = "" if done["changed"] or until else " already"
    return emit(done, f"brim is paused{until}{already}: 'brim resume' ends it", options.as_json)


@command(add_json)
def resume(options: Namespace) -> int:
    """End the pause: hooks answer again.

    Example:
      brim resume
    """
    done = installation.resume(os.environ)
    return emit(done, f"brim is not paused{'' if done['changed'] else ' already'}", options.as_json)
