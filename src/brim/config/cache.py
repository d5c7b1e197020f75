"""The settings for a hook: what the files say is kept as JSON, and the YAML reader stays away while they are the same.

The cache is one small file per project in the user's folder, for its owner alone. It holds what the *files* set, never
the environment, and the stamp (size, times, number) of every file that was looked for, whether it was there or not. A
file that was changed a moment ago may change again without another stamp, so it is cached only a little later. A
cache that is missing, broken, out of date or not writable costs time, and nothing else.
"""

from __future__ import annotations

import os

from brim.config.loading import Config, Value, from_files, in_force
from brim.config.places import config_paths, user_folder
from brim.config.table import SETTINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FORMAT = 2
"""What is in the file; one of another format is written anew."""

SETTLING = 2.0
"""Seconds: no disk's times are coarser."""

Files = tuple[dict[str, Value], dict[str, str]]


def load_cached(
    environ: Mapping[str, str],
    cwd: str | None,
    flags: Mapping[str, object] | None = None,
    *,
    now: float | None = None,
) -> Config:
    """Return the same as ``load``, and read YAML only if a file has changed since the last time.

    Nothing is written if there is no file of settings, or no user's folder to write to. *now* is in seconds since 1970;
    None asks the clock, if it matters.
    """
    paths = list(config_paths(environ, cwd).values())
    values, lines = _from_files(paths, user_folder(environ), now)
    return in_force(values, lines, environ, flags or {})


def cache_path(folder: str, paths: list[str]) -> str:
    """Return the cache for these *paths* in the user's *folder*; if two share a name, the stamps tell them apart."""
    number = 0x811C9DC5
    for byte in os.fsencode(paths[-1]):  # as FNV-1a does: for one name, importing a checksum takes longer
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return os.path.join(folder, "cache", f"config-{number:08x}.json")


def _from_files(paths: list[str], folder: str, now: float | None) -> Files:
    stamps = _stamps(paths)
    if not any(stamp[1:] for stamp in stamps):
        return {}, {}
    cache = cache_path(folder, paths)
    found = _read(cache, stamps)
    if found is None:
        found = from_files(paths, {})
        if _settled(stamps, now) and stamps == _stamps(paths):  # else nobody knows which text was read
            _write(cache, stamps, found)
    return found


def _settled(stamps: list[list[Any]], now: float | None) -> bool:
    """Whether the clock has gone on since the last change: clocks of disks are coarse."""
    if now is None:
        import time

        now = time.time()
    return all(abs(now - stamp[3] / 1e9) > SETTLING for stamp in stamps if stamp[1:])


def _stamps(paths: list[str]) -> list[list[Any]]:
    """Return path, size, times and number of each file; of one that is not there, the path alone."""
    stamps: list[list[Any]] = []
    for path in paths:
        try:
            found = os.stat(path)
        except OSError:
            stamps.append([path])
        else:
            # Anybody can set back the time of a change to the text, and nobody that of a change to the file.
            stamps.append([path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino])
    return stamps


def _read(cache: str, stamps: list[list[Any]]) -> Files | None:
    """Return what *cache* says the files set; None if it was made of other files, or is no cache."""
    from brim import _json

    try:
        with open(cache, encoding="utf-8") as file:
            kept = _json.loads(file.read())
        if kept["format"] != FORMAT or kept["stamps"] != stamps:
            return None
        # Each value is checked anew: another version of brim may have written it.
        known = {setting.key: setting for setting in SETTINGS}
        values = {key: Value(known[key].checked(value), str(origin)) for key, (value, origin) in kept["values"].items()}
        return values, {str(key): str(line) for key, line in kept["lines"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _write(cache: str, stamps: list[list[Any]], found: Files) -> None:
    """Put what was found into *cache*, all of it or nothing."""
    from brim import _json
    from brim._atomic import replace_file

    values, lines = found
    try:
        text = _json.dumps({"format": FORMAT, "stamps": stamps, "values": values, "lines": lines})
        if not os.path.isdir(os.path.dirname(cache)):
            os.mkdir(os.path.dirname(cache), 0o700)
        replace_file(cache, text.encode(), durable=False)
    except (OSError, ValueError, TypeError):  # no folder, no room, no right to write, or a value that JSON has not
        return
