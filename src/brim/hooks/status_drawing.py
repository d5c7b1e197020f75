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
    *(
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
    ),
    *(
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
    ),
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
    every = {
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
        "notice": _said("yellow", _clean(", ".join(notices))),
        "aside": _said("faint", *map(_clean, aside)),
    }
    parts = {name: every[name] for name in (*look.parts, "aside")}
    _fit(parts, look.width)
    chosen = {name: wordings[0] for name, wordings in parts.items() if wordings}
    if chosen and _width(chosen) > look.width:
        name, wording = next(iter(chosen.items()))
        chosen = {name: [(text[: look.width], colour) for text, colour in wording[:1]]}
    painted = ["".join(_paint(piece, look) for piece in wording) for wording in chosen.values()]
    return "".join(
        gap + text for gap, text in zip(_gaps(chosen, nice=look.nice), painted, strict=True)
    )


def level_of(status: StatusLine, look: Look) -> str:
    """Return ``compact`` or ``warn`` if *status* is over that mark, else nothing. Being on a mark
    is being over it."""
    share = status.utilization
    if share is None:
        return ""
    return "compact" if share >= look.compact else "warn" if share >= look.warn else ""


def _fit(parts: dict[str, Part], width: int) -> None:
    """Take away wordings until the rest fits: the longest of a part first, and parts in the order
    of ``SHRINKING``."""
    for name in SHRINKING:
        if _width({each: wordings[0] for each, wordings in parts.items() if wordings}) <= width:
            return
        if parts.get(name):
            del parts[name][0]


def _said(colour: str, *wordings: str) -> Part:
    """Return a part that has one colour; without any text it is left out."""
    return [[(text, colour)] for text in wordings if text]


def _named(name: str, look: Look, short: str = "") -> Part:
    """Return a part that is a name, or a path with the name *short* at its end."""
    found = [(name, 40), (short or name, 16)]
    texts = [
        (_clean(each if look.nice else each.encode("ascii", "replace").decode()), most)
        for each, most in found
    ]
    return _said("", *(_cut(each, most, "…" if look.nice else ".") for each, most in texts))


def _bar(status: StatusLine, look: Look) -> Part:
    colour = _colour(level_of(status, look))
    found = status.utilization or 0.0
    wordings = []
    for length in (LONG_BAR, SHORT_BAR) if status.context_window else ():
        share = max(found, 1 / (8 * length)) if found > 0 else found  # the least is seen too
        share = share if look.nice else round(share * length) / length
        full, rest = bar(share, length, marks=(look.warn, look.compact), nice=look.nice)
        wordings.append([(full, colour), (rest, "faint")])
    return wordings


def _percent(status: StatusLine, look: Look) -> Part:
    share = status.utilization
    if share is None:
        return []
    return _said(_colour(level_of(status, look)), percent(share))


def _tokens(status: StatusLine) -> Part:
    used = status.used_tokens
    window = status.context_window
    if used is not None and window is not None:
        return _said("", f"{used:,} of {window:,}", f"{rounded(used)}/{rounded(window)}")
    if used is not None:
        return _said("", f"{used:,} tokens", rounded(used))
    if window is not None:
        return _said(
            "faint",
            f"window {window:,}{', emptied' if status.emptied else ''}",
            f"window {rounded(window)}",
        )
    return []


def _headroom(status: StatusLine) -> Part:
    """Say how far it is to the client's own compaction, or to what it calls full."""
    found = status.auto_compact
    if found is None or status.used_tokens is None:
        return []
    used = sum(status.counters)  # with the answer, as the client counts
    left = found.left(used)
    return _said(
        "red" if not left else "yellow" if left <= found.usable / 10 else "", *found.told(used)[-2:]
    )


def _plan(status: StatusLine, look: Look, now: float) -> Part:
    """Say which of the plan's windows are nearly used up, and when they begin again."""
    near = [each for each in status.plan_windows if each.used >= look.near and each.is_current(now)]
    colour = "red" if any(each.used >= 1 for each in near) else "yellow"
    short = " ".join(f"{each.label} {percent(each.used)}" for each in near)
    return _said(colour, _clean("; ".join(each.told(now) for each in near)), _clean(short))


def _cost(usd: float | None) -> Part:
    return [] if usd is None else _said("", "< $0.01" if 0 < usd < 0.005 else f"${usd:,.2f}")


def _cache(status: StatusLine, until: struct_time | None) -> Part:
    if status.cache == "warm":
        clock = "" if until is None else f"{until.tm_hour:02}:{until.tm_min:02}"
        words = [f"cache warm until {clock}", f"warm until {clock}"] if clock else ["cache warm"]
        return _said("faint", *words, "warm")
    if status.cache == "cold":
        again = (
            f"cache cold, {rounded(status.recache_tokens)} again" if status.recache_tokens else ""
        )
        return _said("yellow", again, "cache cold", "cold")
    return []


def _warning(level: str, look: Look) -> Part:
    if level == "compact":
        return _said("bold red", "time to /compact", "/compact")
    return _said("yellow", f"compact at {percent(look.compact)}", "nearly full") if level else []


def _colour(level: str) -> str:
    return {"compact": "red", "warn": "yellow"}.get(level, "green")


def _paint(piece: Piece, look: Look) -> str:
    text, colour = piece
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if look.colour and colour and text else text


def _gaps(chosen: Iterable[str], *, nice: bool = True) -> list[str]:
    """Return what stands before each part: the headroom belongs to the percentage."""
    pairs = pairwise(("", *chosen))
    return [
        " · " if pair == ("percent", "headroom") and nice else "  " if pair[0] else ""
        for pair in pairs
    ]


def _width(chosen: Mapping[str, Sequence[Piece]]) -> int:
    texts = [text for wording in chosen.values() for text, _ in wording]
    return sum(map(columns_of, (*texts, *_gaps(chosen))))


def columns_of(text: str) -> int:
    """Return how many columns *text* takes: East Asian characters two, marks none."""
    if text.isascii():
        return len(text)

    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def _cut(text: str, columns: int, end: str) -> str:
    if columns_of(text) <= columns:
        return text
    while columns_of(text) >= columns:
        text = text[:-1]
    return text.rstrip() + end


def _clean(text: str) -> str:
    """Return *text* without what could steer a terminal or turn the direction of writing."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())
