"""What the user's own file of rules lost by hand, until a person has heard it once.

Whoever reads the file first notices it: that may be a process that nobody listens to. So it's kept
in ``lost.txt`` until a session has said it.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from brim.files import locked, read_safely, replace_file

NAME = "lost.txt"
_LARGEST = 1 << 20


def losses(home: str) -> list[str]:
    """Return what nobody has heard yet."""
    path = os.path.join(home, NAME)
    if not os.path.exists(path):
        return []
    try:
        return read_safely(path, at_most=_LARGEST).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def note_loss(home: str, line: str) -> None:
    """Keep *line* until it's said."""
    _change(home, [line], ())


def forget_losses(home: str, lines: Collection[str]) -> None:
    """Take out *lines*, which were said."""
    _change(home, (), lines)


def _change(home: str, added: Collection[str], removed: Collection[str]) -> None:
    path = os.path.join(home, NAME)
    with locked(f"{path}.lock"):
        lines = [line for line in [*losses(home), *added] if line not in removed]
        if lines:
            replace_file(path, "".join([f"{line}\n" for line in lines]).encode())
        elif os.path.exists(path):
            os.unlink(path)
