"""``brim context --watch``: how full the window is, live."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator

from brim.cli.gauge import GaugeView
from brim.cli.options import own_prices, settings
from brim.cli.output import note, printable
from brim.cli.progress import Progress, file_progress
from brim.config import user_folder
from brim.errors import InputError
from brim.run.watch import Watch
from brim.sessions.session_files import newest
from brim.sessions.window.live import Counts, Tick, follow, ignore, is_pipe, listen
from brim.sessions.window.remembered import Memory
from brim.workspace import working_folder

INTERVAL = 0.5
"""Seconds between two looks at a file: soon enough for a person, and nothing for a machine."""


def watch(options: Namespace) -> int:
    """Show how full the window of a session is, until it ends or Ctrl-C is pressed."""
    config = settings()
    own_prices(config)
    path = options.path or _newest()
    progress = file_progress(path)
    counts, ticks = _source(path, progress)
    memory = Memory(user_folder(os.environ))
    watch = Watch(config, memory, environ=os.environ)
    view = GaugeView(as_json=options.as_json)
    try:
        with view:
            for reading in watch.follow(path, counts, ticks, live=True):
                if counts.taken == progress.advance:
                    progress.clear()
                    counts.taken = ignore
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


def _source(path: str, progress: Progress) -> tuple[Counts, Iterator[Tick]]:
    if path == "-" or is_pipe(path):
        return listen(_handle(path), interval=INTERVAL)
    return follow(path, interval=INTERVAL, taken=progress.advance)


def _handle(path: str) -> int:
    if path != "-":
        try:
            return os.open(path, os.O_RDONLY)
        except OSError as error:
            raise InputError(
                f"{printable(path)}: cannot be opened: {error.strerror or error}"
            ) from None
    if sys.stdin is None:
        raise InputError("standard input is closed: name a file")
    return sys.stdin.fileno()


def _newest() -> str:
    newest_file = newest(os.environ, working_folder())
    which = "no session of this project; the newest of all"
    if newest_file.here:
        which = "the newest session of this project"
    note(f"{which}: {printable(newest_file.path)}")
    return newest_file.path
