"""The status line: what a person sees of the window all the time, and where the hooks get exact usage from.

A client starts it after each message, with JSON on standard input, and shows what it prints. It never fails loudly: at
worst it prints nothing. The lines of a status line that was there before come first, where they have always been.
"""

from __future__ import annotations

import os
import sys

from brim.agents.status_drawing import Look, draw, level_of
from brim.agents.status_reading import read_status
from brim.agents.status_spend import limit_notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from time import struct_time
    from typing import Any, BinaryIO

    from brim.agents.place import Place
    from brim.agents.status_reading import Status

MOST_BYTES = 4 << 20
"""What is read of standard input."""

WIDTH = 80
"""Columns of a terminal of which nothing is known."""

MARGIN = 4
"""Columns that Claude Code keeps free at the sides of a status line; what reaches into them, it cuts off."""

SYMBOLS = "█░│…"
"""What a stream must be able to print for a line of blocks; else it is drawn in ASCII."""

PAUSED = "paused"
"""The file in the user's folder that ``brim pause`` makes."""


def main(
    stdin: BinaryIO | None = None,
    stdout: BinaryIO | None = None,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Read what the client sends, print the status line in one write, and return 0, whatever happens."""
    import time

    environ = os.environ if environ is None else environ
    try:
        given = (stdin or sys.stdin.buffer).read(MOST_BYTES)
        nice = stdout is not None or can_print(SYMBOLS, sys.stdout)
        shown = lines_for(given, environ, now=time.time(), nice=nice)
        out = stdout or sys.stdout.buffer
        out.write(shown + b"\n" if shown else b"")
        out.flush()
    except Exception as error:  # nobody would see it, and the client would show a blank line for it
        _log(environ, f"statusline: {type(error).__name__}: {error}")
    return 0


def lines_for(
    given: bytes, environ: Mapping[str, str], *, now: float, nice: bool = True, terminal: int = WIDTH
) -> bytes:
    """Return what to show for *given*: the lines of the other status line, and brim's own below.

    *nice* says whether more than ASCII can be shown, *terminal* how wide that is if the client does not say so.
    """
    from brim.config.places import user_folder

    other = _start_other(given, environ, user_folder(environ))
    answer = None if _is_disabled(environ) else _guarded(environ, _answer, given, environ, now)
    shown: list[bytes] = []
    late: list[str] = []
    if other is not None:
        shown.append(other.lines())
        if other.failure:
            late = [f"the other status line {other.failure}", "the other one failed"]
            _log(environ, f"statusline: {late[0]}")
    if answer is not None:
        status, look, told = answer
        look = look.changed(nice=nice, width=max(1, columns(environ, terminal) - MARGIN))
        shown.append(_guarded(environ, _drawn, status, look, told, late))
    return b"\n".join(filter(None, shown))


def facts_of(given: bytes, environ: Mapping[str, str], *, now: float) -> dict[str, object] | None:
    """Return what the line is drawn from, for a script; None if *given* cannot be read."""
    answer = _guarded(environ, _answer, given, environ, now)
    if answer is None:
        return None
    status, look, told = answer
    facts = {name: getattr(status, name) for name in sorted(status.__slots__)}
    facts |= {"utilization": status.utilization, "warn_threshold": look.warn, "compact_threshold": look.compact}
    return {**facts, "warning": level_of(status, look), "notices": told}


def columns(environ: Mapping[str, str], terminal: int = WIDTH) -> int:
    """Return the width to keep to: the client's word (``COLUMNS``), else that of the *terminal*."""
    said = environ.get("COLUMNS", "")[:9]
    return min(int(said), 1_000) if said.isascii() and said.isdigit() and int(said) > 0 else terminal


def wants_colour(environ: Mapping[str, str]) -> bool:
    """Whether to use colours: a client reads them from a pipe, so only the person can say no."""
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def can_print(text: str, stream: Any) -> bool:
    """Whether *stream* has the characters of *text*."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def local_time(status: Status) -> struct_time | None:
    """Return when the cache goes cold, by the clock of this machine; None if that is not known."""
    if status.cache_until is None:
        return None
    import time

    try:
        return time.localtime(status.cache_until)
    except (OSError, OverflowError, ValueError):
        return None


def _drawn(status: Status, look: Look, notices: list[str], aside: list[str]) -> bytes:
    return draw(status, look, notices=notices, aside=aside, until=local_time(status)).encode("utf-8", "replace")


def _guarded(environ: Mapping[str, str], call: Callable[..., Any], *arguments: Any) -> Any:
    """Return what *call* returns; None, and a line in the log, if it fails: the rest is shown all the same."""
    try:
        return call(*arguments)
    except Exception as error:
        _log(environ, f"statusline: {type(error).__name__}: {error}")
        return None


def _answer(given: bytes, environ: Mapping[str, str], now: float) -> tuple[Status, Look, list[str]] | None:
    """Return what the client says, how to draw it, and what else to tell."""
    from brim import _json
    from brim.agents.place import Place

    data = _json.loads(given.decode("utf-8", "replace"))
    if not isinstance(data, dict):
        raise ValueError("what came is no JSON object")
    cwd = data.get("cwd")
    place = Place(environ, cwd if isinstance(cwd, str) and "\0" not in cwd else "", now=now)
    warn, compact, window = _guarded(environ, _marks, place) or (None, None, None)
    status = read_status(data, now=now, window=window)
    _guarded(environ, _remember, status, place)
    told = [notice] if (notice := _guarded(environ, limit_notice, status, place)) else []
    _guarded(environ, place.close)
    if os.path.exists(os.path.join(place.home, PAUSED)):
        told.append("brim is paused")
    look = Look(colour=wants_colour(environ))
    return status, look if warn is None or compact is None else look.changed(warn=warn, compact=compact), told


def _is_disabled(environ: Mapping[str, str]) -> bool:
    """Whether brim is not to be there at all; one that is paused says so, since the person may have forgotten."""
    return environ.get("BRIM_DISABLE", "").lower() not in ("", "0", "false", "no", "off")


def _marks(place: Place) -> tuple[float, float, int | None]:
    """Return the shares at which to warn and to compact, and the window that is pinned."""
    config = place.config
    return config["context.warn"], config["context.compact"], config["context.window"]


def _remember(status: Status, place: Place) -> None:
    """Keep the exact usage for the hooks.

    A client sends the same numbers again and again, and for a moment after a compaction too, when they are no longer
    true. So numbers that were seen before are not kept again.
    """
    if not status.session:
        return
    from brim.agents.state import UsageSeen

    state = place.state(status.session)
    seen = state.usage
    cost = None if status.cost_usd is None else round(status.cost_usd * 1_000_000)
    if status.used_tokens is not None:
        window, found = status.context_window or 0, list(status.counters)
        if state.kept("statusline") != found:
            state.keep("statusline", found)
            state.usage = UsageSeen(status.used_tokens, window, status.model, place.now, "statusline", cost)
        elif seen is not None and seen.source == "statusline":
            state.usage = seen.changed(window=window, model=status.model, cost=cost)
    elif status.emptied and seen is not None and seen.source == "statusline":
        state.usage = None


def _start_other(given: bytes, environ: Mapping[str, str], home: str) -> Any:
    """Start the status line that was there before, if there was one and it is not what has started this one."""
    from brim.agents.status_chain import INSIDE, Other, previous_command

    if environ.get(INSIDE):
        return None
    command = previous_command(home)
    return Other(command, given, environ) if command else None


def _log(environ: Mapping[str, str], line: str) -> None:
    try:
        from brim.agents.log import log

        log(environ, line)
    except Exception:
        return
