"""The store's files as a person sees them: where each scope's is, and how large."""

from __future__ import annotations

import os

from brim.cli.settings import working_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.cli.learned import Place


def scope_folders(place: Place) -> dict[str, str]:
    """Return the folder of each scope that there is here, whether anything is in it or not."""
    found = {"user": place.user}
    if place.project is not None:
        found["project"] = os.path.join(place.project, ".brim")
    return found


def store_paths(place: Place) -> dict[str, str]:
    """Return the store's file of each scope, whether it is there or not."""
    from brim.store.project import FILE

    return {scope: os.path.join(folder, FILE) for scope, folder in scope_folders(place).items()}


def size_of(path: str) -> int:
    """Return the bytes of a store's file, with the log that SQLite keeps beside it."""
    size = 0
    for part in ("", "-wal"):
        try:
            size += os.path.getsize(path + part)
        except OSError:
            continue
    return size


def readable_size(size: int) -> str:
    """Return *size*, in bytes, in the unit that reads best: thousands, not 1,024s."""
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 1_000)):
        if size >= one:
            return f"{size / one:,.1f} {unit}"
    return f"{size:,} B"


def usual_file(project: str) -> str:
    """Return the file that the behaviors of *project* are committed as, from the working folder if that is shorter."""
    path = os.path.join(project, ".brim", "behaviors.jsonl")
    folder = working_folder()
    return min(path, os.path.relpath(path, os.path.realpath(folder)), key=len) if folder is not None else path
