"""Tables on a terminal: as wide as it is, and no wider. In a pipe they are whole."""

from __future__ import annotations

import sys

from brim.cli.output import table, width_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = 12
"""Columns that each of the two texts gets at least: less says nothing."""


def room_beside(rows: Sequence[Sequence[str]]) -> int | None:
    """Return how many columns the terminal has beside *rows*; None if there is none, and nothing has to be cut."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    import shutil

    taken = max(width_of(line) for line in table([[*row, "."] for row in rows]).split("\n"))
    return shutil.get_terminal_size((80, 24)).columns - taken + 1


def fitted(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> str:
    """Return a table whose last two columns, a name and a text, are cut where the terminal ends.

    The name gives way only as far as the text needs room, and keeps half of it.
    """
    room = room_beside([row[:-2] for row in rows])
    if room is None:
        return table(rows, right=right)
    from brim.cli.behaviors import cut

    room = max(2 * LEAST, room - 2)
    names, texts = (max(width_of(row[at]) for row in rows) for at in (-2, -1))
    name = min(names, max(room - texts, room // 2))
    return table([[*row[:-2], cut(row[-2], name), cut(row[-1], room - name)] for row in rows], right=right)
