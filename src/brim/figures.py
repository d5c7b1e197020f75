"""How figures and texts are written for people: money, tokens, shares, bars, ages, paths.

One of each.
"""

from __future__ import annotations

import os
import re
import time

DOLLAR = 1_000_000
"""Micro-dollars."""

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

_EIGHTHS = " ▏▎▍▌▋▊▉"

_BLANK = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0x1107F, 0x1107F),
    (0x16FE4, 0x16FE4),
    (0x1D159, 0x1D159),
    (0xE0100, 0xE01EF),
)
"""First and last of the printable characters that nothing is drawn for: text can hide in them."""


def printable(text: str) -> str:
    """Return *text* with every character visible that steers a terminal or isn't drawn: anyone may
    have written it.

    >>> printable("a\\u200bb\\x1b[2J")
    'a<U+200B>b<U+001B>[2J'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(letter: str) -> str:
    """Return *letter*, or its code in brackets if it isn't drawn."""
    if _is_drawn(letter):
        return letter
    return f"<U+{ord(letter):04X}>"


def _is_drawn(letter: str) -> bool:
    """Whether *letter* is drawn; spaces of every width are."""
    if letter.isascii():
        return letter.isprintable()
    code = ord(letter)
    for first, last in _BLANK:
        if first <= code <= last:
            return False
    if letter.isprintable():
        return True
    is_control = code < 0xA0 or code in (0x2028, 0x2029)
    return letter.isspace() and not is_control


def counted(count: int, noun: str) -> str:
    """Return *count* and the *noun* for what is counted.

    >>> counted(1, "pair"), counted(2_000, "pair"), counted(2, "entry")
    ('1 pair', '2,000 pairs', '2 entries')
    """
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("ry"):
        return f"{count:,} {noun.removesuffix('y')}ies"
    return f"{count:,} {noun}s"


def share(part: float, whole: float) -> str:
    """Return *part* of *whole* as a percentage; empty if there is no whole.

    >>> share(430, 1_000), share(43, 1_000), share(1, 10_000), share(0, 5)
    ('43%', '4.3%', '<0.1%', '0%')
    """
    if whole <= 0:
        return ""
    percent = 100 * part / whole
    if 0 < percent < 0.05:
        return "<0.1%"
    if 0 < percent < 9.95:
        return f"{percent:,.1f}%"
    return f"{percent:,.0f}%"


def bar(
    share: float,
    width: int,
    *,
    marks: tuple[float, ...] = (),
    strong_marks: tuple[float, ...] = (),
    nice: bool = True,
) -> tuple[str, str]:
    """Return the filled and the empty part of a bar of *width* columns, with a line at each of
    *marks*, and another one at each of *strong_marks*.

    *nice* draws eighths of a column; without it the bar is plain ASCII.

    >>> "".join(bar(0.43, 20, marks=(0.7,), nice=False))
    '########------|-----'
    """
    eighths = min(8 * width, max(0, round(share * 8 * width)))
    full_columns, part = divmod(eighths, 8)
    if nice:
        full = "█" * full_columns + _EIGHTHS[part].strip()
        blank = "░"
        line = "│"
        strong_line = "┃"
    else:
        full = "#" * full_columns
        blank = "-"
        line = "|"
        strong_line = "!"
    empty = [blank] * (width - len(full))
    lines = [(mark, line) for mark in marks]
    lines += [(mark, strong_line) for mark in strong_marks]
    for mark, character in lines:
        place = column(mark, width) - len(full)
        if 0 <= place < len(empty):
            empty[place] = character
    return full, "".join(empty)


def percent(share: float) -> str:
    """Return *share* in whole per cent, half up as Claude Code rounds: the one rounding of a
    window's gauge.

    >>> percent(0.785), percent(0.002), percent(0.0), percent(1.5)
    ('79%', '<1%', '0%', '150%')
    """
    whole = int(100 * share + 0.5)
    if share > 0 and whole == 0:
        return "<1%"
    return f"{whole:,}%"


def column(share: float, width: int) -> int:
    """Return the column of a bar of *width* columns that *share* falls on."""
    return min(width - 1, max(0, round(share * width)))


def dollars(micro: int, *, up: bool | None = None) -> str:
    """Return micro-dollars with two decimals, rounded to the nearest cent, or *up* or down if that
    is given.

    >>> dollars(290_000), dollars(1_005), dollars(-20_000)
    ('$0.29', '<$0.01', '-$0.02')
    >>> dollars(1_005, up=True), dollars(999_999, up=False)
    ('$0.01', '$0.99')
    """
    cent = DOLLAR // 100
    if up is None and 0 < micro < cent // 2:
        return "<$0.01"
    amount = abs(int(micro))
    if up is None:
        amount += cent // 2
    elif up:
        amount += cent - 1
    cents = amount // cent
    text = f"${cents // 100:,}.{cents % 100:02}"
    if micro < 0:
        return f"-{text}"
    return text


def rounded(tokens: int) -> str:
    """Return *tokens* for a sentence, to three digits at most.

    >>> rounded(950), rounded(14_060), rounded(410_400), rounded(2_345_000), rounded(999_600)
    ('950', '14.1k', '410k', '2.3M', '1M')
    """
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size * 0.9995:
            decimals = 1
            if tokens >= 99.95 * size:
                decimals = 0
            number = f"{tokens / size:,.{decimals}f}"
            return number.removesuffix(".0") + unit
    return str(tokens)


def home_path(text: str) -> str:
    """Return *text*, a path or a sentence with paths, for people: with ``~`` for the home folder,
    and printable."""
    home = os.path.expanduser("~").rstrip(os.sep)
    if home:
        text = re.sub(rf"(?<![\w.~/-]){re.escape(home)}(?![\w.-])", "~", text)
    return printable(text)


def readable_size(size: int) -> str:
    """Return *size* in bytes in the unit that reads best; a kB is 1,000 bytes."""
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 1_000)):
        if size >= one:
            return f"{size / one:,.1f} {unit}"
    return f"{size:,} B"


def age(time: float | None, now: float) -> str:
    """Return how long ago *time* was, in the largest unit; empty if it is None."""
    if time is None:
        return ""
    seconds = max(0.0, now - time)
    year = 365 * 86_400
    if seconds >= year:
        return f"{int(seconds / year):,} y ago"
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{round(seconds / size):,} {unit} ago"
    return "just now"


def clock(moment: float, now: float) -> str:
    """Return *moment* as a person says it: ``at 15:20``, ``on Mon at 00:00``, ``on 2026-12-01``."""
    try:
        then = time.localtime(moment)
        today = time.localtime(now)
    except (OSError, OverflowError, ValueError):
        return "later"
    if moment - now > 6 * 86_400:
        return f"on {then.tm_year}-{then.tm_mon:02}-{then.tm_mday:02}"
    is_midnight = (then.tm_hour, then.tm_min) == (0, 0)
    if is_midnight and moment - now <= 86_400:
        return "at midnight"
    hour = f"at {then.tm_hour:02}:{then.tm_min:02}"
    if then[:3] == today[:3]:
        return hour
    return f"on {_DAYS[then.tm_wday]} {hour}"
