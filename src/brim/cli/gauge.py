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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from signal import SIGTERM, signal
from typing import Self

from brim.agents.agent import subagent_of
from brim.cli.output import age, counted, cut, dollars, note, paint, printable, symbols, width_of
from brim.figures import bar, percent
from brim.install.agents import NAMES
from brim.run.watch import UNTOLD
from brim.sessions.plan_windows import PlanWindow
from brim.sessions.window.live import Reading
from brim.sessions.window.windows import SOURCES, AutoCompact

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
_SHORTEST_BAR = 8
_LONGEST_BAR = 40

PAUSE = 0.05
"""Least seconds between two drawings: faster can't be seen, and would slow down a long stream."""

MOST_COLUMNS = 100
"""A wider gauge isn't easier to read."""

_HIDE = "\x1b[?25l"
_SHOW = "\x1b[?25h"
_CLEAR_LINE = "\x1b[K"
_CLEAR_BELOW = "\x1b[J"
_CLEAR_ALL = "\x1b[H\x1b[2J"


def draw(reading: Reading, width: int) -> list[str]:
    """Return the lines of the gauge, none wider than *width*."""
    if width < LEAST_WIDTH:
        full = percent(reading["utilization"]) if reading["used_tokens"] else symbols("…", "-")
        return [paint(_cut(full, max(1, width)), colour_of(reading))]
    lines = _head(reading, width)
    if reading["context_window"]:
        full, empty = bar(
            reading["utilization"],
            width,
            marks=(reading["warn_threshold"], reading["compact_threshold"]),
            strong_marks=_compaction_marks(reading),
            nice=symbols("█░│┃▏▎▍▌▋▊▉", "") != "",
        )
        lines.append(paint(full, colour_of(reading)) + paint(empty, "faint"))
        lines.append(paint(_cut(_legend(reading), width), "faint"))
    for name, rows in _sections(reading, width):
        lines += _section_lines(name, rows, width)
    lines += _warning_lines(reading["warning"], colour_of(reading), width)
    lines += _warning_lines(reading["cost_warning"], "red", width)
    return lines


def _section_lines(name: str, rows: Sequence[str], width: int) -> list[str]:
    """Return *rows* with their *name* before the first one."""
    lines = []
    for row in rows:
        if width >= 3 * _NAMES:
            lines.append(paint(f"{name:<{_NAMES}}", "faint") + _cut(row, width - _NAMES))
        elif name:
            lines.append(_cut(f"{name} {row}", width))
        else:
            lines.append(_cut(f"  {row}", width))
        name = ""
    return lines


def _warning_lines(warning: str, colour: str, width: int) -> list[str]:
    if not warning:
        return []
    lines = textwrap.wrap(f"! {printable(warning)}", width, subsequent_indent="  ")
    return [paint(_cut(line, width), colour) for line in lines]


def one_line(reading: Reading) -> str:
    """Return the state in one line, for a file or a pipe."""
    parts = [level(reading), printable(reading["model"])]
    if reading["cost"] or reading["unpriced"]:
        parts.append(_cost(reading, short=True))
    if reading["compactions"]:
        parts.append(counted(reading["compactions"], "compaction"))
    return "  ".join(filter(None, parts))


def level(reading: Reading) -> str:
    """Return how full the window is, in words and numbers."""
    used = reading["used_tokens"]
    window = reading["context_window"]
    if not used and reading["format"] in SUMS_ALONE:
        return "this file has only totals: watch the session's own file"
    if not used:
        return "nothing reported yet"
    if not window:
        return f"{used:,} tokens; the window's size isn't known"
    return f"{used:,} of {window:,} tokens  {percent(reading['utilization'])}"


def plan_line(windows: Sequence[PlanWindow], now: float) -> str:
    """Return how much of one agent's plan is used, with the age of the reading unless it's
    fresh."""
    line = "; ".join(printable(window.told(now)) for window in windows)
    if all(window.is_fresh(now) for window in windows):
        return line
    return f"{line} ({age(windows[0].read_at, now)})"


def plan_lines(windows: Sequence[PlanWindow], now: float) -> list[str]:
    """Return a line for each agent whose plan's windows these are."""
    by_agent: dict[str, list[PlanWindow]] = {}
    for window in windows:
        by_agent.setdefault(window.agent, []).append(window)
    return [f"{NAMES.get(agent, agent)}: {plan_line(own, now)}" for agent, own in by_agent.items()]


def colour_of(reading: Reading) -> str:
    """Return the colour of the gauge: that of the highest threshold that is passed."""
    if reading["utilization"] >= reading["compact_threshold"]:
        return "red"
    return "yellow" if reading["utilization"] >= reading["warn_threshold"] else "green"


def _head(reading: Reading, width: int) -> list[str]:
    left = level(reading)
    right = "  ".join(filter(None, (printable(reading["model"]), printable(_whose(reading)))))
    gap = width - width_of(left) - width_of(right)
    colour = colour_of(reading)
    if right and gap >= 2:
        return [paint(left, colour) + " " * gap + paint(right, "faint")]
    lines = [paint(_cut(left, width), colour)]
    if right:
        lines.append(paint(_cut(right, width), "faint"))
    return lines


def _whose(reading: Reading) -> str:
    """Return the sub-agent or the session that it is."""
    agent = subagent_of(reading["path"])
    if agent:
        return f"sub-agent {agent[:8]}"
    if reading["session"]:
        return f"session {reading['session'][:8]}"
    return ""


def _compaction_marks(reading: Reading) -> tuple[float, ...]:
    """Return the share of the window at which the agent compacts; none if that isn't known."""
    point = reading["auto_compact"]
    if not point or point["at"] is None:
        return ()
    return (point["at"] / reading["context_window"],)


def _legend(reading: Reading) -> str:
    """Name the marks of the bar: where brim warns, and where the agent compacts."""
    first = percent(reading["warn_threshold"])
    second = percent(reading["compact_threshold"])
    legend = f"{symbols('│', '|')} brim warns {first}, {second}"
    for mark in _compaction_marks(reading):
        legend += f"  {symbols('┃', '!')} the agent compacts {percent(mark)}"
    return legend


def _sections(reading: Reading, width: int) -> list[tuple[str, list[str]]]:
    """Return the sections below the bar, each with its rows; many have none."""
    used = reading["used_tokens"]
    sections = [("window", [_window(reading)])]
    if reading["auto_compact"] and used:
        point = AutoCompact(**reading["auto_compact"])
        sections.append(("headroom", [point.told(used + reading["answer_tokens"])[0]]))
    if reading["plan_windows"]:
        windows = [PlanWindow(**window) for window in reading["plan_windows"]]
        sections.append(("plan", [plan_line(windows, time.time())]))
    if reading["cost"] or reading["unpriced"]:
        sections.append(("cost", [_cost(reading)]))
    if used:
        cached = percent(reading["cache_hit_share"])
        sections.append(("cache", [f"{cached} of prompt tokens came from the cache"]))
        sections.append(("filled by", _filling(reading, width - _NAMES)))
    if reading["agents"]:
        sections.append(("sub-agents", _agents(reading)))
    if reading["compactions"]:
        sections.append(("compacted", [_times(reading["compactions"])]))
    if reading["broken_lines"]:
        lines = counted(reading["broken_lines"], "line")
        sections.append(("skipped", [f"{lines} that can't be read"]))
    return sections


def _window(reading: Reading) -> str:
    """Return the size of the window, where it comes from, and what other sources say."""
    source = reading["window_source"]
    sources = [str(SOURCES.get(source, source))]
    for other, tokens in reading["window_others"].items():
        sources.append(f"{SOURCES.get(other, other)}: {tokens:,}")
    return printable(f"{reading['context_window']:,} tokens ({'; '.join(sources)})")


def _times(count: int) -> str:
    if count == 1:
        return "once"
    if count == 2:
        return "twice"
    return f"{count:,} times"


def _cost(reading: Reading, *, short: bool = False) -> str:
    unpriced = ", ".join(reading["unpriced"])
    text = dollars(reading["cost"])
    if reading["cost_limit"] is not None:
        text += f" of {dollars(reading['cost_limit'])}"
    if unpriced and reading["unattributed"]:  # the client's own total has what they cost
        reported = dollars(reading["unattributed"])
        reason = f"no known price for {printable(unpriced)}"
        return f"{text} ({reported} of it as the agent reports: {reason})"
    if unpriced:
        return f"{text} plus {printable(unpriced)}: no known price"
    if reading["unattributed"] and not short:
        return f"{text} ({dollars(reading['unattributed'])} of it in no single request)"
    return text


def _filling(reading: Reading, width: int) -> list[str]:
    """Return what fills the window, the largest first, each with a bar if there is room for one."""
    items = _largest(reading["filling"])
    if not items:
        return []
    whole = max(1, reading["used_tokens"])
    rows = [FillingRow(name, tokens, tokens / whole) for name, tokens in items]
    names = max(width_of(row.name) for row in rows)
    numbers = max(len(f"{row.tokens:,}") for row in rows)
    shares = max(len(percent(row.share)) for row in rows)
    room = width - names - numbers - shares - 6
    if room < 0:
        return [f"{percent(row.share):>{shares}}  {row.name}" for row in rows]
    longest = 0
    if room >= _SHORTEST_BAR:
        longest = min(room, _LONGEST_BAR)
    is_nice = symbols("█", "") != ""
    lines = []
    for row in rows:
        full, _ = bar(1.0, round(min(1.0, row.share) * longest), nice=is_nice)
        name = row.name + " " * (names - width_of(row.name))
        share = f"{percent(row.share):>{shares}}"
        lines.append(f"{name}  {row.tokens:>{numbers},}  {share}  {full}".rstrip())
    return lines


@dataclass(frozen=True)
class FillingRow:
    """One of the things that fill the window."""

    name: str
    tokens: int
    share: float


def _largest(filling: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return what fills the window, the largest first; the smallest are one item."""
    by_size = sorted(filling.items(), key=lambda item: (-item[1], item[0]))
    items = [(printable(name), tokens) for name, tokens in by_size if tokens > 0]
    hidden = items[MOST_ROWS - 1 :]
    if len(hidden) <= 1:
        return items
    total = sum(tokens for _, tokens in hidden)
    return [*items[: MOST_ROWS - 1], (f"{len(hidden)} more", total)]


def _agents(reading: Reading) -> list[str]:
    agents = reading["agents"][-MOST_ROWS:]
    widest = max(len(f"{agent['used_tokens']:,}") for agent in agents)
    rows = []
    hidden = len(reading["agents"]) - len(agents)
    if hidden:
        rows.append(f"{hidden} earlier ones")
    for agent in agents:
        tokens = f"{agent['used_tokens']:>{widest},}"
        share = f"{percent(agent['utilization']):>5} of {agent['context_window']:,}"
        rows.append(f"{tokens}  {share}  {printable(agent['model'])}  {printable(agent['id'][:8])}")
    return rows


def _cut(text: str, width: int) -> str:
    """Return as much of *text* as fits into *width* columns, up to the end of a word."""
    if width_of(text) <= width:
        return text
    return cut(text, width)


class GaugeView:
    """Shows every state that differs from the one before: drawn in place on a terminal, else as a
    line.

    With *as_json* it is an object on one line. Warnings go to standard error.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        on_screen = not as_json and sys.stdout is not None and sys.stdout.isatty()
        self._screen = Screen() if on_screen else None
        self._last: Reading = {}
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
        news = {key: value for key, value in reading.items() if key not in UNTOLD}
        if news != self._last or reading["notices"]:
            self._last = news
            self._say(reading)

    def end(self, reading: Reading) -> None:
        """Show the last state, and leave it there."""
        if self._screen:
            self._screen.draw(draw(reading, min(MOST_COLUMNS, size().columns)))

    def _say(self, reading: Reading) -> None:
        line = one_line(reading)
        if self._as_json:
            line = json.dumps(reading)
        if self._as_json or line != self._line:
            self._line = line
            print(line)
            sys.stdout.flush()
        for notice in reading["notices"]:
            note(notice["text"])


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
        terminal = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        terminal = os.terminal_size((0, 0))
    if terminal.columns > 0 and terminal.lines > 0:
        return terminal
    return shutil.get_terminal_size((80, 24))
