"""The status line as text, never wider than asked: what matters least is shortened or left out
first."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import struct_time
from typing import TYPE_CHECKING

from brim.config.settings import PARTS
from brim.figures import bar, percent, rounded
from brim.record import PlainData

if TYPE_CHECKING:
    from brim.hooks.statusline import StatusLine

Piece = tuple[str, str]
"""A text and its colour."""

Part = list[list[Piece]]
"""One thing to say: its wordings, the longest first. When none fits, it is left out."""

LONG_BAR = 12
SHORT_BAR = 8
"""Columns of the gauge."""

SHRINKING = (
    "aside",
    "cache",
    "folder",
    "tokens",
    "aside",
    "cache",
    "model",
    "cache",
    "plan",
    "branch",
    "warning",
    "headroom",
    "bar",
    "folder",
    "branch",
    "cost",
    "tokens",
    "model",
    "bar",
    "headroom",
    "plan",
    "notice",
    "warning",
)
"""Whose wording gets shorter next when there is no room. The percentage stays to the end."""

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "faint": "2", "bold red": "1;31"}


@dataclass(frozen=True)
class Look(PlainData):
    """How a status line is drawn: its width, marks, parts in their order, colors, block characters
    or ASCII."""

    width: int = 80
    warn: float = 0.70
    compact: float = 0.78
    near: float = 0.8
    """The share of a plan's window from which it's shown."""
    parts: tuple[str, ...] = PARTS[2:]
    colour: bool = True
    nice: bool = True


def draw(
    status: StatusLine,
    look: Look,
    *,
    notices: Sequence[str] = (),
    aside: Sequence[str] = (),
    until: struct_time | None = None,
    now: float = 0.0,
) -> str:
    """Return the line for *status*.

    *notices* are told after it, *aside* only if there is room, its longest wording first. *until*
    is when the cache goes cold: a clock time and not the time left, because the line isn't drawn
    again while nothing happens.
    """
    all_parts = {
        "folder": _named(status.folder, look, os.path.basename(status.folder)),
        "branch": _named(status.branch, look),
        "model": _named(status.model_name, look),
        "bar": _bar(status, look),
        "percent": _percent(status, look),
        "headroom": _headroom(status),
        "tokens": _tokens(status),
        "cost": _cost(status.cost_usd),
        "plan": _plan(status, look, now),
        "cache": _cache(status, until),
        "warning": _warning(level_of(status, look), look),
        "notice": _part("yellow", _clean(", ".join(notices))),
        "aside": _part("faint", *map(_clean, aside)),
    }
    parts = {name: all_parts[name] for name in (*look.parts, "aside")}
    _fit(parts, look.width)
    chosen = _longest_wordings(parts)
    if chosen and _width(chosen) > look.width:
        chosen = _cut_to(look.width, chosen)
    line = ""
    gaps = _gaps(chosen, nice=look.nice)
    for gap, wording in zip(gaps, chosen.values(), strict=True):
        line += gap + "".join([_paint(piece, look) for piece in wording])
    return line


def level_of(status: StatusLine, look: Look) -> str:
    """Return ``compact`` or ``warn`` if *status* is over that mark, else nothing. Being on a mark
    is being over it."""
    share = status.utilization
    if share is None:
        return ""
    if share >= look.compact:
        return "compact"
    if share >= look.warn:
        return "warn"
    return ""


# Making it fit ------------------------------------------------------------------------------------


def _fit(parts: dict[str, Part], width: int) -> None:
    """Take away wordings until the others fit: the longest of a part first, and parts in the order
    of ``SHRINKING``."""
    for name in SHRINKING:
        if _width(_longest_wordings(parts)) <= width:
            return
        if parts.get(name):
            del parts[name][0]


def _longest_wordings(parts: Mapping[str, Part]) -> dict[str, Sequence[Piece]]:
    """Return the longest wording that each part still has."""
    return {name: wordings[0] for name, wordings in parts.items() if wordings}


def _cut_to(width: int, chosen: Mapping[str, Sequence[Piece]]) -> dict[str, Sequence[Piece]]:
    """Return as much of the first part as fits into *width*."""
    name, wording = next(iter(chosen.items()))
    pieces = [(text[:width], colour) for text, colour in wording[:1]]
    return {name: pieces}


def _width(chosen: Mapping[str, Sequence[Piece]]) -> int:
    width = sum(map(columns_of, _gaps(chosen)))
    for wording in chosen.values():
        for text, _ in wording:
            width += columns_of(text)
    return width


def _gaps(chosen: Iterable[str], *, nice: bool = True) -> list[str]:
    """Return what stands before each part: the headroom belongs to the percentage."""
    gaps = []
    for before, name in pairwise(("", *chosen)):
        if not before:
            gaps.append("")
        elif nice and (before, name) == ("percent", "headroom"):
            gaps.append(" · ")
        else:
            gaps.append("  ")
    return gaps


# The parts ----------------------------------------------------------------------------------------


def _part(colour: str, *wordings: str) -> Part:
    """Return a part that has one colour; without any text it is left out."""
    return [[(text, colour)] for text in wordings if text]


def _named(name: str, look: Look, short: str = "") -> Part:
    """Return a part that is a name, or a path with the name *short* at its end."""
    return _part("", _name(name, look, 40), _name(short or name, look, 16))


def _name(name: str, look: Look, columns: int) -> str:
    """Return *name* in at most so many *columns*."""
    if look.nice:
        return _cut(_clean(name), columns, "…")
    return _cut(_clean(name.encode("ascii", "replace").decode()), columns, ".")


def _bar(status: StatusLine, look: Look) -> Part:
    if not status.context_window:
        return []
    colour = _colour(level_of(status, look))
    wordings = []
    for length in (LONG_BAR, SHORT_BAR):
        share = status.utilization or 0.0
        if share > 0:
            share = max(share, 1 / (8 * length))  # the least is seen too
        if not look.nice:
            share = round(share * length) / length
        full, empty = bar(
            share,
            length,
            marks=(look.warn, look.compact),
            strong_marks=_compaction_marks(status),
            nice=look.nice,
        )
        wordings.append([(full, colour), (empty, "faint")])
    return wordings


def _compaction_marks(status: StatusLine) -> tuple[float, ...]:
    """Return the share of the window at which the client compacts; none if that isn't known."""
    compaction = status.auto_compact
    if compaction is None or compaction.at is None or not status.context_window:
        return ()
    return (compaction.at / status.context_window,)


def _percent(status: StatusLine, look: Look) -> Part:
    share = status.utilization
    if share is None:
        return []
    return _part(_colour(level_of(status, look)), percent(share))


def _tokens(status: StatusLine) -> Part:
    used = status.used_tokens
    window = status.context_window
    if used is not None and window is not None:
        return _part("", f"{used:,} of {window:,}", f"{rounded(used)}/{rounded(window)}")
    if used is not None:
        return _part("", f"{used:,} tokens", rounded(used))
    if window is None:
        return []
    emptied = ", emptied" if status.emptied else ""
    return _part("faint", f"window {window:,}{emptied}", f"window {rounded(window)}")


def _headroom(status: StatusLine) -> Part:
    """Say how far it is to the client's own compaction, or to what it calls full."""
    compaction = status.auto_compact
    if compaction is None or status.used_tokens is None:
        return []
    used = sum(status.counters)  # with the answer, as the client counts
    left = compaction.left(used)
    colour = ""
    if not left:
        colour = "red"
    elif left <= compaction.usable / 10:
        colour = "yellow"
    return _part(colour, *compaction.told(used)[-2:])


def _plan(status: StatusLine, look: Look, now: float) -> Part:
    """Say which of the plan's windows are nearly used up, and when they begin again."""
    colour = "yellow"
    sentences = []
    labels = []
    for window in status.plan_windows:
        if window.used < look.near or not window.is_current(now):
            continue
        if window.used >= 1:
            colour = "red"
        sentences.append(window.told(now))
        labels.append(f"{window.label} {percent(window.used)}")
    return _part(colour, _clean("; ".join(sentences)), _clean(" ".join(labels)))


def _cost(usd: float | None) -> Part:
    if usd is None:
        return []
    if 0 < usd < 0.005:
        return _part("", "< $0.01")
    return _part("", f"${usd:,.2f}")


def _cache(status: StatusLine, until: struct_time | None) -> Part:
    if status.cache == "warm":
        if until is None:
            return _part("faint", "cache warm", "warm")
        clock = f"{until.tm_hour:02}:{until.tm_min:02}"
        return _part("faint", f"cache warm until {clock}", f"warm until {clock}", "warm")
    if status.cache == "cold":
        longest = ""
        if status.recache_tokens:
            longest = f"cache cold, {rounded(status.recache_tokens)} again"
        return _part("yellow", longest, "cache cold", "cold")
    return []


def _warning(level: str, look: Look) -> Part:
    if not level:
        return []
    if level == "compact":
        return _part("bold red", "time to /compact", "/compact")
    return _part("yellow", f"compact at {percent(look.compact)}", "nearly full")


def _colour(level: str) -> str:
    return {"compact": "red", "warn": "yellow"}.get(level, "green")


# Text ---------------------------------------------------------------------------------------------


def _paint(piece: Piece, look: Look) -> str:
    text, colour = piece
    if not look.colour or not colour or not text:
        return text
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m"


def columns_of(text: str) -> int:
    """Return how many columns *text* takes: East Asian characters two, marks none."""
    if text.isascii():
        return len(text)
    columns = len(text)
    for character in text:
        if unicodedata.east_asian_width(character) in "WF":
            columns += 1
        if unicodedata.combining(character) > 0:
            columns -= 1
    return columns


def _cut(text: str, columns: int, end: str) -> str:
    if columns_of(text) <= columns:
        return text
    while columns_of(text) >= columns:
        text = text[:-1]
    return text.rstrip() + end


def _clean(text: str) -> str:
    """Return *text* without what could steer a terminal or turn the direction of writing."""
    one_line = " ".join(text.split())
    return "".join([character for character in one_line if character.isprintable()])
