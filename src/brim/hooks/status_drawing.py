"""The status line as text, never wider than asked: what matters least is shortened or left out first."""

from __future__ import annotations

from brim.record import Record
from brim.tracking.gauge import bar, percent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from time import struct_time

    from brim.hooks.statusline import Status

Piece = tuple[str, str]
"""A text and its colour."""

Part = list[list[Piece]]
"""One thing to say: its wordings, the longest first. When none fits, it is left out."""

LONG_BAR, SHORT_BAR = 12, 8
"""Columns of the gauge."""

SHRINKING = (
    *("aside", "cache", "tokens", "aside", "model", "cache", "warning", "bar", "cache", "model", "bar"),
    *("cost", "tokens", "notice", "warning"),
)
"""Whose wording gets shorter next when there is no room. The percentage stays to the end."""

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "faint": "2", "bold red": "1;31"}
_GAP = "  "


class Look(Record):
    """How a status line is drawn: its width, its colors, block characters or ASCII, and the two marks."""

    width: int = 80
    warn: float = 0.70
    compact: float = 0.78
    colour: bool = True
    nice: bool = True


def draw(
    status: Status,
    look: Look,
    *,
    notices: Sequence[str] = (),
    aside: Sequence[str] = (),
    until: struct_time | None = None,
) -> str:
    """Return the line for *status*.

    *notices* are told after it, *aside* only if there is room, its longest wording first. *until* is when the cache
    goes cold: a clock time and not the time left, because the line isn't drawn again while nothing happens.
    """
    parts = {
        "model": _model(status.model_name, nice=look.nice),
        "bar": _bar(status, look),
        "percent": _percent(status, look),
        "tokens": _tokens(status),
        "cost": _cost(status.cost_usd),
        "cache": _cache(status, until),
        "warning": _warning(level_of(status, look), look),
        "notice": _said("yellow", _clean(", ".join(notices))),
        "aside": _said("faint", *map(_clean, aside)),
    }
    _fit(parts, look.width)
    chosen = [wordings[0] for wordings in parts.values() if wordings]
    if _width(chosen) > look.width:
        chosen = [[(text[: look.width], colour) for text, colour in chosen[0][:1]]]
    return _GAP.join("".join(_paint(piece, look) for piece in wording) for wording in chosen)


def level_of(status: Status, look: Look) -> str:
    """Return ``compact`` or ``warn`` if *status* is over that mark, else nothing. Being on a mark is being over it."""
    share = status.utilization
    if share is None:
        return ""
    return "compact" if share >= look.compact else "warn" if share >= look.warn else ""


def _fit(parts: dict[str, Part], width: int) -> None:
    """Take away wordings until the rest fits: the longest of a part first, and parts in the order of ``SHRINKING``."""
    for name in SHRINKING:
        if _width([wordings[0] for wordings in parts.values() if wordings]) <= width:
            return
        if parts.get(name):
            del parts[name][0]


def _said(colour: str, *wordings: str) -> Part:
    """Return a part that has one colour; without any text it is left out."""
    return [[(text, colour)] for text in wordings if text]


def _model(name: str, *, nice: bool) -> Part:
    name = _clean(name if nice else name.encode("ascii", "replace").decode())
    return _said("", *(_cut(name, columns, "…" if nice else ".") for columns in (40, 16)))


def _bar(status: Status, look: Look) -> Part:
    colour, found = _colour(level_of(status, look)), status.utilization or 0.0
    wordings = []
    for length in (LONG_BAR, SHORT_BAR) if status.context_window else ():
        share = max(found, 1 / (8 * length)) if found > 0 else found  # the least is seen too
        share = share if look.nice else round(share * length) / length
        full, rest = bar(share, length, marks=(look.warn, look.compact), nice=look.nice)
        wordings.append([(full, colour), (rest, "faint")])
    return wordings


def _percent(status: Status, look: Look) -> Part:
    share = status.utilization
    if share is None:
        return []
    return _said(_colour(level_of(status, look)), percent(share))


def _tokens(status: Status) -> Part:
    used, window = status.used_tokens, status.context_window
    if used is not None and window is not None:
        return _said("", f"{used:,} of {window:,}", f"{_short(used)}/{_short(window)}")
    if used is not None:
        return _said("", f"{used:,} tokens", _short(used))
    if window is not None:
        return _said("faint", f"window {window:,}{', emptied' if status.emptied else ''}", f"window {_short(window)}")
    return []


def _short(tokens: int) -> str:
    """Return *tokens* in three digits or so: ``842``, ``13.5k``, ``200k``, ``1M``."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size * 0.9995:
            number = f"{tokens / size:.1f}" if tokens < 99.95 * size else f"{tokens / size:.0f}"
            return number.removesuffix(".0") + unit
    return str(tokens)


def _cost(usd: float | None) -> Part:
    return [] if usd is None else _said("", "< $0.01" if 0 < usd < 0.005 else f"${usd:,.2f}")


def _cache(status: Status, until: struct_time | None) -> Part:
    if status.cache == "warm":
        clock = "" if until is None else f"{until.tm_hour:02}:{until.tm_min:02}"
        words = [f"cache warm until {clock}", f"warm until {clock}"] if clock else ["cache warm"]
        return _said("faint", *words, "warm")
    if status.cache == "cold":
        again = f"cache cold, {_short(status.recache_tokens)} again" if status.recache_tokens else ""
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


def _width(wordings: Sequence[Sequence[Piece]]) -> int:
    lengths = [sum(columns_of(text) for text, _ in wording) for wording in wordings]
    return sum(lengths) + len(_GAP) * max(0, len(lengths) - 1)


def columns_of(text: str) -> int:
    """Return how many columns *text* takes: East Asian characters two, marks none."""
    if text.isascii():
        return len(text)
    import unicodedata

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
