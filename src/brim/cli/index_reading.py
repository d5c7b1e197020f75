"""Brings the index of requests up to date before a command asks it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from brim.cli.options import lenient_workspace, own_prices
from brim.cli.output import note
from brim.cli.progress import ReadingProgress
from brim.config.places import home_folder
from brim.config.values import Config
from brim.models.versions import price_version
from brim.sessions.index import index_path
from brim.sessions.session_files import AGENTS, named_files, own_files
from brim.sessions.up_to_date import SessionsReading, keep_index, read_sessions


def brought_up_to_date(
    paths: list[str],
    agents: Sequence[str] = AGENTS,
    *,
    is_indexed: bool = True,
    config: Config | None = None,
) -> SessionsReading:
    """Read what is new in the own folders of *agents*, with a bar, and return their index.

    Files that *paths* name are read into an index of their own, which ends with the command.
    *config* has the prices; else they are those of the user's settings.
    """
    problems: list[str] = []
    version = price_version(own_prices(config or lenient_workspace().config))
    if paths:
        files = named_files(paths, on_problem=problems.append)
    else:
        files = own_files(os.environ, agents, on_problem=problems.append)
    path = index_path(os.environ) if is_indexed and not paths else None
    home = home_folder(os.environ)
    progress = ReadingProgress()
    with progress:
        reading = read_sessions(
            files, index=path, home=home, price_version=version, on_read=progress
        )
    if path and agents == AGENTS:
        keep_index(reading.index)
    reading.failed[:0] = problems
    note(*reading.notes)
    return reading
