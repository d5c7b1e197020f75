"""Rules that vanished from the user's own file, until a person has read about it once.

The first process that reads the file notices the loss, and that may be one whose output nobody
reads. So one line about it stays in ``lost.txt`` until a session has shown it.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from brim.files import locked, read_safely, replace_file

NAME = "lost.txt"
_LARGEST = 1 << 20


def unreported_losses(home: str) -> list[str]:
    """Return the lines about lost rules that no session has shown yet."""
    path = os.path.join(home, NAME)
    if not os.path.exists(path):
        return []
    try:
        return read_safely(path, at_most=_LARGEST).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def note_loss(home: str, line: str) -> None:
    """Keep *line*, about lost rules, until a session has shown it."""
    _change(home, [line], ())


def forget_losses(home: str, lines: Collection[str]) -> None:
    """Take out *lines*, which a session has shown."""
    _change(home, (), lines)


def _change(home: str, added: Collection[str], removed: Collection[str]) -> None:
    path = os.path.join(home, NAME)
    with locked(f"{path}.lock"):
        lines = [line for line in [*unreported_losses(home), *added] if line not in removed]
        if lines:
            replace_file(path, "".join([f"{line}\n" for line in lines]).encode())
        elif os.path.exists(path):
            os.unlink(path)
