"""Tables: rows in aligned columns, and names with their values.

In a pipe nothing is cut, so that scripts see everything; on a terminal a table is as wide as the
terminal.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

from brim.cli.output import columns_of_terminal, cut, paint, printable, width_of

NARROWEST_CELL = 8
"""Columns that a cell keeps at least when a table has to shrink."""
COMFORTABLE = 40
"""Columns that the text of a row should have; optional columns go before it gets less."""
NARROW = 20
"""Columns that the values of ``facts`` need to stand next to their names."""
GAP = 2
"""Columns between two cells."""
MOST_ROWS = 100
"""Rows of a list that people are shown."""


def table(
    rows: Sequence[Sequence[str]], *, right: Collection[int] = (), optional: Sequence[int] = ()
) -> str:
    """Return *rows* in aligned columns, two spaces apart; the columns in *right* are right-aligned.

    On a terminal that is too narrow, the *optional* columns go first, in their order, as long as
    the last column is uncomfortably narrow; then the widest cells are cut after a word.
    """
    cells = [[_inside(cell, printable) for cell in row] for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    columns = list(range(len(widths)))
    room = columns_of_terminal()
    if room is not None:
        columns = _columns_that_fit(widths, optional, room)
        _shrink(widths, columns, right, room)
    return "\n".join(_row(row, columns, widths, right) for row in cells)


def heading(text: str) -> str:
    """Return a table with its first line faint."""
    first, _, other_lines = text.partition("\n")
    return f"{paint(first, 'faint')}\n{other_lines}"


def listed(rows: list[list[str]], limit: int = MOST_ROWS) -> tuple[list[list[str]], str]:
    """Return the first of *rows*, and a line that says how many more there are.

    The line is empty if there are none.
    """
    hidden = len(rows) - limit
    if hidden <= 0:
        return rows, ""
    return rows[:limit], f"and {hidden:,} more: --json lists all"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values in two columns; empty values are left out.

    On a terminal, long values are wrapped. Where it's too narrow for two columns, a long value
    stands below its name.
    """
    filled = [(name, value) for name, value in rows if value]
    width = max((width_of(name) for name, _ in filled), default=0)
    lines: list[str] = []
    for name, value in filled:
        lines += _fact(name, value, width)
    return "\n".join(lines)


def _fact(name: str, value: str, width: int) -> list[str]:
    """Return the lines of one fact, whose name takes *width* columns."""
    title = name
    if "\x1b" not in name:
        title = paint(name, "faint")
    title += " " * (width - width_of(name))
    columns = columns_of_terminal()
    room = sys.maxsize
    if columns is not None:
        room = columns - width - GAP
        if room < NARROW and width_of(value) > room:
            return [title.rstrip(), *_wrapped(value, columns - GAP, indent=GAP)]
    lines = _wrapped(value, room, indent=width + GAP)
    first = lines[0][width + GAP :]
    return [f"{title}  {first}".rstrip(), *lines[1:]]


def _wrapped(value: str, room: int, *, indent: int) -> list[str]:
    """Return the lines of *value*, each in at most *room* columns after *indent* spaces."""
    lines: list[str] = []
    for line in value.split("\n"):
        if width_of(line) <= room:
            lines.append(printable(line))
        else:
            lines += textwrap.wrap(
                printable(line), room, break_long_words=False, break_on_hyphens=False
            )
    return [f"{' ' * indent}{line}".rstrip() for line in lines]


def _columns_that_fit(widths: Sequence[int], optional: Sequence[int], room: int) -> list[int]:
    """Return the columns that are shown in *room*, which leaves enough to the last one."""
    columns = list(range(len(widths)))
    for column in optional:
        left = room - sum(widths[at] + GAP for at in columns[:-1])
        if left < min(COMFORTABLE, widths[columns[-1]]):
            columns.remove(column)
    return columns


def _shrink(widths: list[int], columns: list[int], right: Collection[int], room: int) -> None:
    """Make the widest of *columns* narrower until all fit; numbers keep their width."""
    while (excess := sum(widths[at] + GAP for at in columns) - GAP - room) > 0:
        texts = [at for at in columns if at not in right and widths[at] > NARROWEST_CELL]
        if not texts:
            return
        texts.sort(key=lambda at: (widths[at], at))
        widest = texts[-1]
        next_width = 0
        if len(texts) > 1:
            next_width = widths[texts[-2]]
        smallest = max(NARROWEST_CELL, min(next_width, widths[widest] - 1))
        widths[widest] = max(smallest, widths[widest] - excess)


def _row(row: Sequence[str], columns: list[int], widths: list[int], right: Collection[int]) -> str:
    cells = []
    for at in columns:
        cell = row[at]
        if width_of(cell) > widths[at]:
            cell = _inside(cell, partial(cut, width=widths[at]))
        padding = " " * (widths[at] - width_of(cell))
        if at in right:
            cells.append(padding + cell)
        else:
            cells.append(cell + padding)
    return "  ".join(cells).rstrip()


def _inside(cell: str, change: Callable[[str], str]) -> str:
    """Return *cell* with *change* made to its text, in its colour if it is painted."""
    colour, separator, inner = cell.partition("m")
    is_painted = colour[:2] == "\x1b[" and colour[2:].isdigit() and cell.endswith("\x1b[0m")
    if separator and is_painted:
        return f"{colour}m{change(inner[:-4])}\x1b[0m"
    return change(cell)
