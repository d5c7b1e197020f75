"""How results look: one ``emit``, and one way to print notes and errors.

In a pipe nothing is cut, so that scripts see everything.
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
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from brim.errors import InputError
from brim.figures import age, counted, dollars, home_path, printable, readable_size, rounded, share
from brim.text import border_at_or_before

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


def emit(
    result: Result,
    view: str | Callable[[Result], str | None],
    as_json: bool,
    *notes: str,
    empty: str = "",
    code: int = 0,
) -> int:
    """Print *result* as JSON or as *view*, and return *code*.

    As JSON it's its ``to_dict()``, or itself. *view* is a text, or makes one of it. If there is
    nothing to show, a person reads *empty* instead. The *notes* follow in either case.
    """
    if as_json:
        _emit_json(result)
    else:
        _emit_text(result, view, empty)
    note(*notes)
    return code


def _emit_json(result: object) -> None:
    if hasattr(result, "to_dict"):
        result = result.to_dict()
    say_json(result)


def _emit_text(result: Result, view: str | Callable[[Result], str | None], empty: str) -> None:
    text: str | None
    if isinstance(view, str):
        text = view
    else:
        text = view(result)
    if text:
        print(text)
    else:
        note(empty)


def say_paged(text: str) -> None:
    """Print *text*; on a terminal that it is too long for, through ``$PAGER``.

    The default is ``less``.
    """
    pager = os.environ.get("PAGER", "less").strip()
    is_long = text.count("\n") + 2 > shutil.get_terminal_size((80, 24)).lines
    if is_long and pager and is_terminal(sys.stdout) and is_terminal(sys.stdin):
        sys.stdout.flush()
        with suppress(OSError, ValueError):
            pages = subprocess.run(  # noqa: S603
                shlex.split(pager),
                input=f"{text}\n".encode(),
                env={"LESS": "FRX", **os.environ},
                check=False,
            )
            if pages.returncode == 0:
                return
    print(text)


def say_json(value: object) -> None:
    """Print *value* as indented JSON."""
    try:
        say_text(json.dumps(value, indent=2, ensure_ascii=False))
    except RecursionError:
        raise InputError("nested too deeply to be written") from None


def say_text(text: str) -> None:
    """Print JSON.

    Characters that the encoding of standard output lacks are escaped as JSON escapes them.
    """
    if not _can_print("é─█"):
        text = "".join(_escaped(letter) for letter in text)
    print(text)


def _escaped(letter: str) -> str:
    if letter.isascii():
        return letter
    return json.dumps(letter)[1:-1]


def note(*texts: str) -> None:
    """Print a line for each of *texts* that isn't empty to standard error.

    Each begins with ``brim:``.
    """
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


def end_with_reader() -> None:
    """Let ``brim ... | head`` end silently, as ``cat`` does."""
    _set_sigpipe("SIG_DFL")


def outlive_reader() -> None:
    """Let brim go on when nobody reads its output any longer."""
    _set_sigpipe("SIG_IGN")


def _set_sigpipe(action: str) -> None:

    if hasattr(signal, "SIGPIPE"):  # Windows has no such signal
        signal.signal(signal.SIGPIPE, getattr(signal, action))


# Text ---------------------------------------------------------------------------------------------


def cut(text: str, width: int) -> str:
    """Return *text* in at most *width* columns.

    If something had to go, it ends with an ellipsis after a whole word.
    """
    indent = text[: len(text) - len(text.lstrip(" "))]
    text = printable(" ".join(text.split()))
    width -= len(indent)
    if width_of(text) <= width:
        return indent + text
    ellipsis = symbols("…", "~")
    end = _letters_in(text, width - 1)
    space = max(text.rfind(" ", 0, end + 1), text.rfind("-", 0, end + 1))
    if space > 0:
        return indent + text[:space].rstrip(" ,;:.-") + ellipsis
    ending = text[1 - width :]
    if text.isascii() and "/" in ending:  # of a path, the last parts say most
        return indent + ellipsis + ending[ending.index("/") :]
    return indent + text[: border_at_or_before(text, end)].rstrip(" ,;:.") + ellipsis


def _letters_in(text: str, width: int) -> int:
    """Return how many letters of *text* fit into *width* columns."""
    taken = 0
    for at, letter in enumerate(text):
        taken += _columns_of(letter)
        if taken > width:
            return at
    return len(text)


def _columns_of(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 1


def wrapped(text: str) -> str:
    """Return the sentence *text*, wrapped on a terminal that is too narrow, never inside a word."""
    columns = columns_of_terminal()
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


def lines(*parts: str) -> str:
    """Return the non-empty *parts*, one per line."""
    return "\n".join(part for part in parts if part)


# The terminal -------------------------------------------------------------------------------------


def width_of(text: str) -> int:
    """Return how many columns *text* takes.

    Colours take none, East Asian characters two, combining marks none.
    """
    if text.isascii() and "\x1b" not in text:
        return len(text)
    text = re.sub(r"\x1b\[\d*m", "", text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    combining = sum(unicodedata.combining(letter) > 0 for letter in text)
    return len(text) + wide - combining


def terminal_width(widest: int = 100) -> int:
    """Return the columns to draw in: the terminal's, from 40 to *widest*."""
    return max(40, min(widest, shutil.get_terminal_size((80, 24)).columns))


def columns_of_terminal() -> int | None:
    """Return the columns that a table may take, from 40 to 200; None in a pipe."""
    if not is_terminal(sys.stdout):
        return None
    return terminal_width(200)


def paint(text: str, colour: str) -> str:
    """Return *text* in *colour*, or ``faint``, if standard output shows colours."""
    if not text or not _shows_colours():
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def _shows_colours() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(sys.stdout)


def symbols(nice: str, plain: str) -> str:
    """Return *nice* if standard output can print it, else *plain*."""
    if _can_print(nice):
        return nice
    return plain


def is_terminal(stream: Any) -> bool:
    """Whether *stream* is a terminal; a stream that was closed before brim began is None."""
    return stream is not None and stream.isatty()


def _can_print(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
