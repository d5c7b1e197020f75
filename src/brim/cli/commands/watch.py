"""``brim watch``: how full the window is, live."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator

from brim.cli.gauge import View
from brim.cli.options import command, option, own_prices, settings, whole_number, working_folder
from brim.cli.output import Progress, file_progress, note, printable
from brim.config import user_folder
from brim.errors import InputError
from brim.report.watch import Memory, Watch
from brim.tracking.live import Counts, Tick, follow, ignore, is_pipe, listen, replay
from brim.tracking.sessions import newest

INTERVAL = 0.5
"""Seconds between two looks at a file: soon enough for a person, and nothing for a machine."""


def _between(least: float, most: float, name: str) -> Callable[[str], float]:
    """Return the type of an option that takes a number, which errors call *name*."""

    def number(text: str) -> float:
        value = float(text)
        if not least <= value <= most:
            raise ValueError
        return value

    number.__name__ = name  # argparse says: invalid share value
    return number


_seconds, _share = _between(1e-9, 1e6, "number"), _between(0, 100, "share")


@command(
    option("path", nargs="?", metavar="PATH", help="a session's file, or - for standard input"),
    option("--once", action="store_true", help="print the state now and exit"),
    option("--idle", type=_seconds, metavar="SECONDS", help="exit when nothing has been added for this long"),
    option("--interval", type=_seconds, default=INTERVAL, metavar="SECONDS", help="how often to look (default: 0.5)"),
    option("--replay", type=_seconds, metavar="LINES", help="play a finished file, this many lines a second"),
    option("--window", type=whole_number(1), metavar="TOKENS", help="size of the window (default: inferred)"),
    option("--warn", metavar="SHARE", help="warn from this share on (default: the setting 'context.warn')"),
    option("--compact", metavar="SHARE", help="time to compact from this share on (default: 'context.compact')"),
    option("--limit", metavar="USD", help="warn near this cost (default: the setting 'spend.limit')"),
    option("--fail-over", type=_share, metavar="SHARE", help="exit with 1 if the window is this full at the end"),
    option("--json", action="store_true", dest="as_json", help="print one JSON object per line, for each change"),
)
def watch(options: Namespace) -> int:
    """Follow how full the window of an agent's session is, live.

    Shows the tokens used, the size of the window, the cost, the cache, what fills the window, sub-agents and warnings.
    On a terminal, the gauge updates in place until you press Ctrl-C. In a pipe or a file, each change is a line.

    PATH is a transcript or a saved stream of Claude Code, Codex, Gemini or opencode; brim detects the format. Without
    PATH, brim watches this project's newest session, or the newest of all if this project has none. Use - to read from
    a pipe, until it closes.

    Examples:
      brim watch
      brim watch --once --fail-over 0.9
      claude -p "fix the parser" --output-format stream-json --verbose | brim watch -
    """
    if options.path == "":
        raise InputError("PATH is empty: name a session's file, or leave it out for the newest session")
    given = {"context.window": options.window, "context.warn": options.warn, "context.compact": options.compact}
    config = settings({**given, "spend.limit": options.limit})
    own_prices(config)
    path = options.path or _newest()
    progress = file_progress(path)
    counts, ticks = _source(options, path, progress)
    memory = Memory(user_folder(os.environ))
    watch = Watch(config, memory, environ=os.environ)
    view = View(as_json=options.as_json, once=options.once)
    try:
        with view:
            for reading in watch.follow(path, counts, ticks, live=not options.replay):
                if counts.taken == progress.advance:
                    progress.clear()
                    counts.taken = ignore
                if not options.once:
                    view.show(reading)
    except KeyboardInterrupt:
        pass
    finally:
        memory.close()
    reading = watch.reading(path, counts)
    view.end(reading)
    if reading["lines"] and not reading["format"]:
        note(f"{printable(path)}: no line of it is from a session of an agent that brim knows")
        return 1
    return int(options.fail_over is not None and reading["utilization"] >= options.fail_over)


def _source(options: Namespace, path: str, progress: Progress) -> tuple[Counts, Iterator[Tick]]:
    if path == "-" or is_pipe(path):
        if options.replay:
            raise InputError("--replay is for a finished file: a pipe comes at its own speed")
        return listen(_handle(path), interval=options.interval, idle=options.idle)
    if options.replay and options.once:
        raise InputError("--replay shows every line, --once only the end: use one of them")
    if options.replay:
        return replay(path, speed=options.replay)
    return follow(path, interval=options.interval, idle=options.idle, once=options.once, taken=progress.advance)


def _handle(path: str) -> int:
    if path != "-":
        try:
            return os.open(path, os.O_RDONLY)
        except OSError as error:
            raise InputError(f"{printable(path)}: cannot be opened: {error.strerror or error}") from None
    if sys.stdin is None:
        raise InputError("standard input is closed: name a file")
    return sys.stdin.fileno()


def _newest() -> str:
    found = newest(os.environ, working_folder())
    which = "the newest session of this project" if found.here else "no session of this project; the newest of all"
    note(f"{which}: {printable(found.path)}")
    return found.path
