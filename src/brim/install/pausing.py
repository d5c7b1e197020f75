"""Silencing every hook for a while: ``brim pause``.

The pause is a file in the user's folder, which says until when; hooks look at it first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from brim.config.own_folder import make_folder
from brim.config.places import user_folder
from brim.errors import InputError, StoreError
from brim.files import replace_file
from brim.hooks.process import PAUSED, paused_until

LONGEST_PAUSE = 366 * 86_400
"""Seconds."""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
FOREVER = float("inf")


def pause(environ: Mapping[str, str], *, seconds: float | None = None) -> dict[str, Any]:
    """Silence every hook, for *seconds* or until ``resume``; return what changed."""
    home = user_folder(environ)
    now = time.time()
    until = FOREVER
    content = b""
    if seconds is not None:
        until = now + seconds
        content = f"{until:.0f}\n".encode()
    ends_at = paused_until(home)
    changed = now >= ends_at or ends_at != until
    if changed:
        _write(home, content)
    result = {"paused": True, "changed": changed, "file": os.path.join(home, PAUSED)}
    if seconds is not None:
        result["until"] = round(until)
    return result


def resume(environ: Mapping[str, str]) -> dict[str, Any]:
    """End the pause; return what changed."""
    home = user_folder(environ)
    path = os.path.join(home, PAUSED)
    ends_at = paused_until(home)
    if ends_at:  # or was until a moment ago
        try:
            os.unlink(path)
        except OSError as error:
            raise _problem(path, error) from None
    return {"paused": False, "changed": time.time() < ends_at, "file": path}


def duration(text: str) -> float:
    """Return the seconds that *text* means, such as ``90s``, ``30m``, ``2h`` or ``1d``."""
    number = text[:-1]
    seconds = 0
    if number.isascii() and number.isdigit():
        seconds = int(number) * UNITS.get(text[-1:], 0)
    if not 0 < seconds <= LONGEST_PAUSE:
        raise InputError(f"{text[:40]!r} isn't a time: write 30m, 2h or 1d")
    return float(seconds)


def _write(home: str, content: bytes) -> None:
    """Write the file of the pause."""
    path = os.path.join(home, PAUSED)
    try:
        make_folder(home)
        replace_file(path, content)
    except OSError as error:
        raise _problem(path, error) from None


def _problem(path: str, error: OSError) -> InputError | StoreError:
    """Return what to tell a person about *error*."""
    if isinstance(error, IsADirectoryError):
        return InputError(f"{path}: is a folder, so it is not brim's: move it away")
    why = error.strerror or error
    return StoreError(f"{path}: cannot be written: {why}; nothing was changed")
