"""How a watch is shown: the gauge, drawn in place for a person, a line for each change, or an
object for scripts.

The gauge is the bar with its two marks, and below it where the tokens and the money went. Every
line is at most as wide as it is told, so that the next drawing can take its place.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Sequence
from signal import SIGTERM, signal
from typing import Self

from brim.agents.stream import subagent_of
from brim.cli.output import age, counted, cut, dollars, note, paint, printable, symbols, width_of
from brim.figures import bar, column, percent
from brim.install.agents import NAMES
from brim.report.watch import UNTOLD, Reading
from brim.tracking.auto_compact import AutoCompact
from brim.tracking.plan_windows import PlanWindow
from brim.tracking.windows import SOURCES

LEAST_WIDTH = 20
"""Columns that a gauge needs.

Below that, only the number is shown: lines that wrap can't be drawn in place.
"""

MOST_ROWS = 6
"""Rows that a list gets at most; the rest is summed up in one."""

SUMS_ALONE = ("codex-exec", "gemini-stream")
"""Formats that say what a session took in all, and never what is in its window."""

_NAMES = 11
"""Columns of the names on the left."""
_SHORTEST_BAR, _LONGEST_BAR = 8, 40

PAUSE = 0.05
"""Least seconds between two drawings: faster can't be seen, and would slow down a long stream."""

MOST_COLUMNS = 100
"""A wider gauge isn't easier to read."""

_HIDE, _SHOW = "\x1b[?25l", "\x1b[?25h"
_CLEAR_LINE, _CLEAR_BELOW, _CLEAR_ALL = "\x1b[K", "\x1b[J", "\x1b[H\x1b[2J"


def draw(reading: Reading, width: int) -> list[str]:
    """Return the lines of the gauge, none wider than *width*."""
    if width < LEAST_WIDTH:
        full = percent(reading["utilization"]) if reading["used_tokens"] else symbols("…", "-")
        return [paint(_cut(full, max(1, width)), colour_of(reading))]
    lines = _head(reading, width)
    if reading["context_window"]:
        marks = (reading["warn_threshold"], reading["compact_threshold"])
        full, rest = bar(
            reading["utilization"], width, marks=marks, nice=symbols("█░│▏▎▍▌▋▊▉", "") != ""
        )
        lines += [paint(full, colour_of(reading)) + paint(rest, "faint"), _marks(reading, width)]
    for name, rows in _sections(reading, width):
        for at, row in enumerate(rows):
            left = "" if at else name
            narrow = _cut(f"{left} {row}" if left else f"  {row}", width)
            wide = paint(f"{left:<{_NAMES}}", "faint") + _cut(row, width - _NAMES)
            lines.append(narrow if width < 3 * _NAMES else wide)
    for warning, colour in (
        (reading["warning"], colour_of(reading)),
        (reading["cost_warning"], "red"),
    ):
        warned = (
            textwrap.wrap(f"! {printable(warning)}", width, subsequent_indent="  ")
            if warning
            else []
        )
        lines += [paint(_cut(line, width), colour) for line in warned]
    return lines


def one_line(reading: Reading) -> str:
    """Return the state in one line, for a file or a pipe."""
    cost = _cost(reading, short=True) if reading["cost"] or reading["unpriced"] else ""
    compactions = counted(reading["compactions"], "compaction") if reading["compactions"] else ""
    return "  ".join(filter(None, (level(reading), printable(reading["model"]), cost, compactions)))


def level(reading: Reading) -> str:
    """Return how full the window is, in words and numbers."""
    if not reading["used_tokens"]:
        only_sums = reading["format"] in SUMS_ALONE
        return (
            "this file has only totals: watch the session's own file"
            if only_sums
            else "nothing reported yet"
        )
    if not reading["context_window"]:
        return f"{reading['used_tokens']:,} tokens; the window's size isn't known"
    of = f"{reading['used_tokens']:,} of {reading['context_window']:,} tokens"
    return f"{of}  {percent(reading['utilization'])}"


def plan_line(windows: Sequence[PlanWindow], now: float) -> str:
    """Return how much of one agent's plan is used, with the age of the reading unless it's
    fresh."""
    told = "; ".join(printable(each.told(now)) for each in windows)
    return (
        told
        if all(each.is_fresh(now) for each in windows)
        else f"{told} ({age(windows[0].read_at, now)})"
    )


def plan_lines(windows: Sequence[PlanWindow], now: float) -> list[str]:
    """Return a line for each agent whose plan's windows these are."""
    by_agent = {
        each.agent: [other for other in windows if other.agent == each.agent] for each in windows
    }
    return [f"{NAMES.get(agent, agent)}: {plan_line(its, now)}" for agent, its in by_agent.items()]


def colour_of(reading: Reading) -> str:
    """Return the colour of the gauge: that of the highest threshold that is passed."""
    if reading["utilization"] >= reading["compact_threshold"]:
        return "red"
    return "yellow" if reading["utilization"] >= reading["warn_threshold"] else "green"


def _head(reading: Reading, width: int) -> list[str]:
    left = level(reading)
    agent = subagent_of(reading["path"])
    session = f"session {reading['session'][:8]}" if reading["session"] else ""
    session = f"sub-agent {agent[:8]}" if agent else session
    right = "  ".join(printable(each) for each in (reading["model"], session) if each)
    gap = width - width_of(left) - width_of(right)
    colour = colour_of(reading)
    if right and gap >= 2:
        return [paint(left, colour) + " " * gap + paint(right, "faint")]
    return [
        paint(_cut(left, width), colour),
        *([paint(_cut(right, width), "faint")] if right else []),
    ]


def _marks(reading: Reading, width: int) -> str:
    """Return the line below the bar: a pointer to each threshold, named on its outer side if there
    is room."""
    mark = symbols("▲", "^")
    thresholds = (("warn", reading["warn_threshold"]), ("compact", reading["compact_threshold"]))
    columns = [column(share, width) for _, share in thresholds]
    cells = [" "] * width
    for at, (word, share) in zip(columns, thresholds, strict=True):
        cells[at] = mark
        before = word == "warn"
        for label in (f"{word} {percent(share)}", percent(share)):
            start = at - 1 - len(label) if before else at + 2
            if start >= 0 and start + len(label) <= width and (before or columns[0] < at):
                cells[start : start + len(label)] = label
                break
    return paint("".join(cells).rstrip(), "faint")


def _sections(reading: Reading, width: int) -> list[tuple[str, list[str]]]:
    used, times = reading["used_tokens"], reading["compactions"]
    cached = f"{percent(reading['cache_hit_share'])} of prompt tokens came from the cache"
    point, plan = reading["auto_compact"], [PlanWindow(**each) for each in reading["plan_windows"]]
    others = [
        f"{SOURCES.get(source, source)}: {tokens:,}"
        for source, tokens in reading["window_others"].items()
    ]
    said = "; ".join(
        [str(SOURCES.get(reading["window_source"], reading["window_source"])), *others]
    )
    return [
        ("window", [printable(f"{reading['context_window']:,} tokens ({said})")]),
        (
            "headroom",
            [AutoCompact(**point).told(used + reading["answer_tokens"])[0]]
            if point and used
            else [],
        ),
        ("plan", [plan_line(plan, time.time())] if plan else []),
        ("cost", [_cost(reading)] if reading["cost"] or reading["unpriced"] else []),
        ("cache", [cached] if used else []),
        ("filled by", _filling(reading, width - _NAMES) if used else []),
        ("sub-agents", _agents(reading) if reading["agents"] else []),
        ("compacted", [{1: "once", 2: "twice"}.get(times, f"{times:,} times")] if times else []),
        (
            "skipped",
            [f"{counted(broken, 'line')} that can't be read"]
            if (broken := reading["broken_lines"])
            else [],
        ),
    ]


def _cost(reading: Reading, *, short: bool = False) -> str:
    unpriced = ", ".join(reading["unpriced"])
    text = dollars(reading["cost"])
    if reading["cost_limit"] is not None:
        text += f" of {dollars(reading['cost_limit'])}"
    if unpriced and reading["unattributed"]:  # the client's own total has what they cost
        said = dollars(reading["unattributed"])
        return (
            f"{text} ({said} of it as the agent reports: no known price for {printable(unpriced)})"
        )
    if unpriced:
        return f"{text} plus {printable(unpriced)}: no known price"
    if reading["unattributed"] and not short:
        return f"{text} ({dollars(reading['unattributed'])} of it in no single request)"
    return text


def _filling(reading: Reading, width: int) -> list[str]:
    """Return what fills the window, the largest first, each with a bar if there is room for one."""
    items = sorted(reading["filling"].items(), key=lambda item: (-item[1], item[0]))
    items = [(printable(name), tokens) for name, tokens in items if tokens > 0]
    if not items:
        return []
    if len(items) > MOST_ROWS:
        rest = items[MOST_ROWS - 1 :]
        items = [*items[: MOST_ROWS - 1], (f"{len(rest)} more", sum(tokens for _, tokens in rest))]
    whole = max(1, reading["used_tokens"])
    rows = [
        (name, f"{tokens:,}", percent(tokens / whole), min(1.0, tokens / whole))
        for name, tokens in items
    ]
    names, numbers, shares = (max(width_of(str(row[at])) for row in rows) for at in range(3))
    room = width - names - numbers - shares - 6
    if room < 0:
        return [f"{share:>{shares}}  {name}" for name, _, share, _ in rows]
    longest = min(room, _LONGEST_BAR) if room >= _SHORTEST_BAR else 0
    lines = []
    for name, tokens, share, part in rows:
        full, _ = bar(1.0, round(part * longest), nice=symbols("█", "") != "")
        padded = name + " " * (names - width_of(name))
        lines.append(f"{padded}  {tokens:>{numbers}}  {share:>{shares}}  {full}".rstrip())
    return lines


def _agents(reading: Reading) -> list[str]:
    shown = reading["agents"][-MOST_ROWS:]
    widest = max(len(f"{agent['used_tokens']:,}") for agent in shown)
    rows = []
    for agent in shown:
        full = f"{agent['used_tokens']:>{widest},}  {percent(agent['utilization']):>5} of {agent['context_window']:,}"
        rows.append(f"{full}  {printable(agent['model'])}  {printable(agent['id'][:8])}")
    hidden = len(reading["agents"]) - len(shown)
    return [f"{hidden} earlier ones", *rows] if hidden else rows


def _cut(text: str, width: int) -> str:
    """Return as much of *text* as fits into *width* columns, up to the end of a word."""
    return text if width_of(text) <= width else cut(text, width)


class GaugeView:
    """Shows every state that differs from the one before: drawn in place on a terminal, else as a
    line.

    With *as_json* it is an object on one line. Warnings go to standard error.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        on_screen = not as_json and sys.stdout is not None and sys.stdout.isatty()
        self._screen = Screen() if on_screen else None
        self._shown: Reading = {}
        self._line = ""
        self._drawn_at = 0.0

    def __enter__(self) -> Self:
        if self._screen:
            self._screen.show_cursor(False)
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen:
            self._screen.show_cursor(True)

    def show(self, reading: Reading) -> None:
        """Show *reading*, unless nothing in it is new, or the last drawing was a moment ago."""
        if self._screen:
            if time.monotonic() - self._drawn_at >= PAUSE:
                self._drawn_at = time.monotonic()
                self._screen.draw(draw(reading, min(MOST_COLUMNS, size().columns)))
            return
        told = {key: value for key, value in reading.items() if key not in UNTOLD}
        if told != self._shown or reading["notices"]:
            self._shown = told
            self._say(reading)

    def end(self, reading: Reading) -> None:
        """Show the last state, and leave it there."""
        if self._screen:
            self._screen.draw(draw(reading, min(MOST_COLUMNS, size().columns)))

    def _say(self, reading: Reading) -> None:
        line = json.dumps(reading) if self._as_json else one_line(reading)
        if self._as_json or line != self._line:
            self._line = line
            print(line)
            sys.stdout.flush()
        for told in reading["notices"]:
            note(told["text"])


class Screen:
    """Draws on standard output, from the cursor's line downwards. The last drawing stays."""

    def __init__(self) -> None:
        self._drawn: list[str] = []
        self._size = size()

    def show_cursor(self, shown: bool) -> None:
        """Show or hide the cursor; while it is hidden, the end of the process brings it back."""
        if not shown:  # end as the signal would, but not before the cursor is back
            signal(SIGTERM, lambda number, _: sys.exit(128 + number))
        self._write(_SHOW if shown else _HIDE)

    def draw(self, lines: Sequence[str]) -> None:
        """Put *lines* where the last drawing is; what does not fit into the height is left out."""
        now = size()
        lines = list(lines[: max(1, now.lines - 1)])  # a row is left for the cursor
        if lines == self._drawn and now == self._size:
            return
        begin = f"\x1b[{len(self._drawn)}A\r" if self._drawn else "\r"
        if now != self._size:  # what was drawn may be wrapped now: its beginning is unknown
            begin = _CLEAR_ALL
        # Cleared before it is written: behind a full line, a terminal would take its last column
        # away again.
        self._write(begin + "".join(f"{_CLEAR_LINE}{line}\n" for line in lines) + _CLEAR_BELOW)
        self._drawn, self._size = lines, now

    @staticmethod
    def _write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def size() -> os.terminal_size:
    """Return the terminal's current size: unlike a variable, it follows when the window is
    resized."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        found = os.terminal_size((0, 0))
    return found if found.columns > 0 and found.lines > 0 else shutil.get_terminal_size((80, 24))
