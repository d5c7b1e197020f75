"""How results look: one ``emit``, one table, and one way to print notes and errors.

In a pipe nothing is cut, so that scripts see everything; on a terminal a table is as wide as the
terminal.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from brim.behaviors.behavior import Behavior
from brim.behaviors.jsonl import iso
from brim.behaviors.sentences import refused
from brim.behaviors.summary import border_at_or_before
from brim.errors import InputError
from brim.figures import age, counted, dollars, home_path, printable, readable_size, rounded, share

Result = TypeVar("Result")

__all__ = [
    "age",
    "counted",
    "dollars",
    "home_path",
    "printable",
    "readable_size",
    "rounded",
    "share",
]

_COLOURS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "faint": 2}
LEAST = 8
"""Columns that a cell keeps at least when a table has to shrink."""
COMFORTABLE = 40
"""Columns that the text of a row should have; optional columns go before it gets less."""
NARROW = 20
"""Columns that the values of ``facts`` need to stand next to their names."""
PROGRESS_FROM = 30_000_000
"""Bytes of sessions to read from which on a terminal shows progress."""
PROGRESS_FILES = 1_000
"""Files to read from which on it does, however small they are."""


def emit(
    result: Result,
    view: str | Callable[[Result], str | None],
    as_json: bool,
    *notes: str,
    empty: str = "",
    code: int = 0,
) -> int:
    """Print *result* as JSON (its ``to_dict()``, or itself) or as *view*, which may be made of it;
    return *code*.

    If there is nothing to show, a person reads *empty* instead. The *notes* follow in either case.
    """
    if as_json:
        say_json(result.to_dict() if hasattr(result, "to_dict") else result)
    elif text := view if isinstance(view, str) else view(result):
        print(text)
    else:
        note(empty)
    note(*notes)
    return code


def say_paged(text: str) -> None:
    """Print *text*; on a terminal that it is too long for, through ``$PAGER`` (default:
    ``less``)."""

    pager = os.environ.get("PAGER", "less")
    long = text.count("\n") + 2 > shutil.get_terminal_size((80, 24)).lines
    if long and pager.strip() and _is_terminal(sys.stdout) and _is_terminal(sys.stdin):
        sys.stdout.flush()
        with suppress(OSError, ValueError):
            environ = {"LESS": "FRX", **os.environ}
            done = subprocess.run(  # noqa: S603
                shlex.split(pager), input=f"{text}\n".encode(), env=environ, check=False
            )
            if done.returncode == 0:
                return
    print(text)


def say_json(value: object) -> None:
    """Print *value* as indented JSON."""
    try:
        say_text(json.dumps(value, indent=2, ensure_ascii=False))
    except RecursionError:
        raise InputError("nested too deeply to be written") from None


def say_text(text: str) -> None:
    """Print JSON; characters that the encoding of standard output lacks are escaped as JSON escapes
    them."""
    if not _can_print("é─█"):
        text = "".join(letter if letter.isascii() else json.dumps(letter)[1:-1] for letter in text)
    print(text)


def note(*texts: str) -> None:
    """Print a line for each of *texts* that isn't empty to standard error, each beginning with
    ``brim:``."""
    for text in filter(None, texts):
        tell(f"brim: {home_path(text)}")


def tell(text: str) -> None:
    """Print to standard error, after everything printed before; do nothing if it's closed."""
    if sys.stdout is not None:
        sys.stdout.flush()
    if sys.stderr is not None:
        print(text, file=sys.stderr)


def prepare_output() -> None:
    """Escape characters that the terminal can't show, so that printing never fails."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def end_with_reader(*, ends: bool = True) -> None:
    """Let ``brim ... | head`` end silently, as ``cat`` does; or, with ``ends=False``, outlive its
    reader."""
    if sys.platform == "win32":  # Windows has no such signal
        return
    handler = signal.SIG_DFL if ends else signal.SIG_IGN
    signal.signal(signal.SIGPIPE, handler)


# Text ---------------------------------------------------------------------------------------------


def day(time: float | None) -> str:
    """Return the date in UTC of *time*; empty if it is None."""
    try:
        return "" if time is None else iso(time)[:10]
    except (OverflowError, ValueError, ArithmeticError):
        return str(time)[:10]


def cut(text: str, width: int) -> str:
    """Return *text* in at most *width* columns, with an ellipsis after a whole word if something
    had to go."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    text = printable(" ".join(text.split()))
    width -= len(indent)
    if width_of(text) <= width:
        return indent + text

    taken = end = 0
    for at, character in enumerate(text):
        taken += (
            0
            if unicodedata.combining(character)
            else 2
            if unicodedata.east_asian_width(character) in "WF"
            else 1
        )
        if taken > width - 1:
            break
        end = at + 1
    space = text.rfind(" ", 0, end + 1)
    ending = text[1 - width :]
    if space <= 0 and text.isascii() and "/" in ending:  # of a path, the last parts say most
        return indent + symbols("…", "~") + ending[ending.index("/") :]
    end = space if space > 0 else border_at_or_before(text, end)
    return indent + text[:end].rstrip(" ,;:.") + symbols("…", "~")


def wrapped(text: str) -> str:
    """Return the sentence *text*, wrapped on a terminal that is too narrow, never inside a word."""

    columns = _columns_of_terminal()
    if columns is None:
        return text
    indent = " " * (len(text) - len(text.lstrip(" ")) + 2)
    wrap = textwrap.TextWrapper(
        columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return wrap.fill(text)


def block(text: str) -> str:
    """Return *text* line by line, indented and printable."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    return "\n".join(f"  {printable(line)}".rstrip() for line in text.split("\n"))


def listed(rows: list[list[str]], most: int = 100) -> tuple[list[list[str]], str]:
    """Return the first of *rows*, and a line that says how many more there are; empty if there are
    none."""
    more = len(rows) - most
    return rows[:most], f"and {more:,} more: --json lists all" if more > 0 else ""


def lines(*parts: str) -> str:
    """Return the non-empty *parts*, one per line."""
    return "\n".join(part for part in parts if part)


# Tables -------------------------------------------------------------------------------------------


def table(
    rows: Sequence[Sequence[str]], *, right: Collection[int] = (), optional: Sequence[int] = ()
) -> str:
    """Return *rows* in aligned columns, two spaces apart; the columns in *right* are right-aligned.

    On a terminal that is too narrow, the *optional* columns go first, in their order, as long as
    the last column is uncomfortably narrow; then the widest cells are cut after a word.
    """
    rows = [[_inside(cell, printable) for cell in row] for row in rows]
    columns = _columns_of_terminal()
    keep = list(range(len(rows[0])))
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    if columns is not None:
        for at in optional:
            rest = columns - sum(widths[each] + 2 for each in keep[:-1])
            if rest < min(COMFORTABLE, widths[keep[-1]]):
                keep.remove(at)
        _shrink(widths, keep, right, columns)
    drawn = []
    for row in rows:
        cells = []
        for at in keep:
            cell = (
                row[at]
                if width_of(row[at]) <= widths[at]
                else _inside(row[at], partial(cut, width=widths[at]))
            )
            padding = " " * (widths[at] - width_of(cell))
            cells.append(padding + cell if at in right else cell + padding)
        drawn.append("  ".join(cells).rstrip())
    return "\n".join(drawn)


def heading(text: str) -> str:
    """Return a table with its first line faint."""
    first, _, rest = text.partition("\n")
    return f"{paint(first, 'faint')}\n{rest}"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values in two columns; empty values are left out, long ones are wrapped on a
    terminal.

    On a terminal that is too narrow for two columns, a long value stands below its name.
    """

    shown = [(name, value) for name, value in rows if value]
    width = max((width_of(name) for name, _ in shown), default=0)
    columns = _columns_of_terminal()
    found = []
    for name, value in shown:
        room = sys.maxsize if columns is None else columns - width - 2
        indent = width + 2
        if room < NARROW and width_of(value) > room:
            room, indent = (columns or 0) - 2, 2
        pieces = (
            textwrap.wrap(printable(line), room, break_long_words=False, break_on_hyphens=False)
            if width_of(line) > room
            else [printable(line)]
            for line in value.split("\n")
        )
        first, *rest = [part for parts in pieces for part in parts]
        painted = name if "\x1b" in name else paint(name, "faint")
        if indent == 2:
            first, rest = "", [first, *rest]
        found.append(f"{painted}{' ' * (width - width_of(name))}  {first}".rstrip())
        found += [f"{'':{indent}}{line}".rstrip() for line in rest]
    return "\n".join(found)


def _shrink(widths: list[int], keep: list[int], right: Collection[int], columns: int) -> None:
    """Make the widest of the columns *keep* narrower until all fit; numbers keep their width."""
    while (excess := sum(widths[at] + 2 for at in keep) - 2 - columns) > 0:
        texts = sorted(
            (at for at in keep if at not in right and widths[at] > LEAST),
            key=lambda at: (widths[at], at),
        )
        if not texts:
            return
        widest, next_widest = texts[-1], widths[texts[-2]] if len(texts) > 1 else 0
        widths[widest] = max(LEAST, widths[widest] - excess, min(next_widest, widths[widest] - 1))


def _inside(cell: str, change: Callable[[str], str]) -> str:
    """Return *cell* with *change* made to its text, in its colour if it is painted."""
    colour, ends, inner = cell.partition("m")
    if ends and cell.endswith("\x1b[0m") and colour[:2] == "\x1b[" and colour[2:].isdigit():
        return f"{colour}m{change(inner[:-4])}\x1b[0m"
    return change(cell)


# The terminal -------------------------------------------------------------------------------------


def width_of(text: str) -> int:
    """Return how many columns *text* takes: colours none, East Asian characters two, combining
    marks none."""
    if text.isascii() and "\x1b" not in text:
        return len(text)

    text = re.sub(r"\x1b\[\d*m", "", text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def terminal_width(most: int = 100) -> int:
    """Return the columns to draw in: the terminal's, from 40 to *most*."""

    return max(40, min(most, shutil.get_terminal_size((80, 24)).columns))


def _columns_of_terminal() -> int | None:
    """Return the columns that a table may take, from 40 to 200; None in a pipe."""
    return terminal_width(200) if _is_terminal(sys.stdout) else None


def paint(text: str, colour: str) -> str:
    """Return *text* in *colour*, or ``faint``, if standard output is a terminal that shows
    colours."""
    wanted = (
        _is_terminal(sys.stdout)
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if text and wanted else text


def symbols(nice: str, plain: str) -> str:
    """Return *nice* if standard output can print it, else *plain*."""
    return nice if _can_print(nice) else plain


def _is_terminal(stream: Any) -> bool:
    """Whether *stream* is a terminal; a stream that was closed before brim began is None."""
    return stream is not None and stream.isatty()


def _can_print(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class Progress:
    """A bar on standard error, if it is a terminal and there is more than a moment's work."""

    def __init__(self, size: int, *, shown_from: int, doing: str = "counting") -> None:
        self._size, self._doing = size, doing
        self._done, self._percent = 0, -1
        self._shown = size >= shown_from and _is_terminal(sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def advance(self, size: int) -> None:
        """Move the bar on by *size*."""
        self._done += size
        percent = min(100, 100 * self._done // self._size) if self._size else 100
        if self._shown and percent != self._percent:
            self._percent = percent
            self._write(f"\r{self._doing} [{'#' * (percent * 3 // 10):-<30}] {percent:>3}%")

    def clear(self) -> None:
        """Remove the bar, to make room for a line; it comes back with the next step."""
        if self._shown:
            self._percent = -1
            self._write("\r\x1b[K")

    @staticmethod
    def _write(text: str) -> None:
        print(text, end="", file=sys.stderr, flush=True)


def file_progress(path: str) -> Progress:
    """Return a bar for reading the session's file *path*; nothing is shown if its size isn't
    known."""
    try:
        size = os.path.getsize(path)
    except (OSError, ValueError):
        size = 0
    return Progress(size, shown_from=PROGRESS_FROM, doing="reading")


class ReadingProgress(Progress):
    """A bar that ``read_all`` moves.

    It appears when there is much to read, in bytes or in files.
    """

    def __init__(self) -> None:
        super().__init__(0, shown_from=1, doing="reading")

    def __call__(self, size: int, total: int, files: int) -> None:
        """Move the bar on by *size* of *total* bytes in *files*."""
        self._size = total
        self._shown = _is_terminal(sys.stderr) and (
            total >= PROGRESS_FROM or files >= PROGRESS_FILES
        )
        self.advance(size)


def count_fields(count: Any) -> dict[str, Any]:
    """Return a ``Count`` for JSON."""
    return {
        "tokens": int(count),
        "basis": count.basis,
        "low": count.low,
        "high": count.high,
        "note": count.note,
    }


def basis_of(count: Any) -> str:
    """Return the basis of a ``Count``, and its interval if it has one."""
    return (
        count.basis
        if count.low == count.high
        else f"{count.basis}, {count.low:,} to {count.high:,}"
    )


# Rules --------------------------------------------------------------------------------------------

_KINDS = {
    "constraint": "red",
    "preference": "cyan",
    "procedure": "blue",
    "workflow": "blue",
    "episodic": "faint",
}
"""The colours of the kinds that stand out; a directive is the usual one."""


def kind_of(rule: Behavior) -> str:
    """Return the kind of *rule*, in its colour."""
    kind = rule.kind.value
    return paint(kind, _KINDS[kind]) if kind in _KINDS else kind


def title(rule: Behavior) -> str:
    """Return the line that says which rule it is."""
    return "  ".join(
        [paint(rule.name, "green"), kind_of(rule), rule.id, f"({rule.status}, {rule.scope})"]
    )


def whole(rule: Behavior) -> str:
    """Return all that an agent can be told about *rule*, and when: a person is asked to agree to
    it.

    Blank lines are left out, as they are for the agent: what follows a thousand of them isn't
    overlooked.
    """
    about = [f"#{tag}" for tag in rule.tags] + [f"when {rule.when}"] * bool(rule.when)
    about += ["(an agent's note)"] * (rule.status == "pending")
    text = "\n".join(line for line in block(rule.canonical).split("\n") if line.strip())
    text += f"\n  refuses {printable(refused(rule))}" if rule.blocks else ""
    return f"{kind_of(rule)}  {printable('  '.join([rule.name, *about]))}\n{text}"


def tokens_line(tokens: dict[str, int]) -> str:
    """Return what ``tier_tokens`` found, in one line."""
    return f"{tokens['full']:,} whole, {tokens['summary']:,} as a summary, {tokens['name_only']:,} by name"
