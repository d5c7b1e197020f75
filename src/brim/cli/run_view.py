"""How ``brim run`` shows itself: the gauge below the conversation, and the report at its end."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable

from brim.cli.asking import is_person_there
from brim.cli.gauge import draw, one_line
from brim.cli.output import counted, dollars, note, paint, printable, terminal_width, width_of
from brim.config import Config
from brim.figures import percent
from brim.run.session import Tracked
from brim.run.supervisor import RunReport
from brim.run.watch import Watch
from brim.sessions.window.live import Counts
from brim.sessions.window.remembered import Memory

PAUSE = 0.1
"""Seconds between two drawings at least."""

GAUGE_LINES = 3
"""Lines of the gauge that fit below a conversation: the numbers, the bar, its marks."""

LONGEST_UNSENT = 60
"""Characters of a turn that wasn't sent, in the report."""

_ENDS = {"finished": "green", "limit": "yellow", "failed": "red", "interrupted": "yellow"}


class TerminalFace:
    """A person's view of a run.

    *output* is what the command wanted printed: ``text``, ``json`` or ``stream-json``. *quiet*
    shows nothing but what must be told, for ``--json``.
    """

    def __init__(
        self, config: Config, memory: Memory, counts: Counts, *, output: str, quiet: bool
    ) -> None:
        self._watch = Watch(config, memory)
        self._memory = memory
        self._counts = counts
        self._output = output
        self._quiet = quiet
        self._draws = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._rows = 0
        self._drawn_at = 0.0
        self._line = ""
        self.can_ask = is_person_there() and is_in_front()

    def tell(self, text: str) -> None:
        """Say *text* on standard error."""
        self.clear()
        note(text)

    def typed(self, text: str) -> None:
        """Take in that *text* was typed below the gauge.

        Its line goes when the gauge is redrawn.
        """
        if self._rows:
            columns = max(1, shutil.get_terminal_size().columns)
            self._rows += 1 + max(0, width_of(text) - 1) // columns

    def ask(self, text: str) -> None:
        """Put the question where the answer is typed."""
        self.clear()
        self._write(text)

    def line(self, line: bytes) -> None:
        """Print the agent's own line, if its stream was asked for."""
        if self._output == "stream-json" and not self._quiet:
            _print(line.decode("utf-8", "replace"))

    def answer(self, text: str, line: bytes) -> None:
        """Print what the agent answered, as it would have itself."""
        if self._quiet or self._output == "stream-json":
            return
        if self._output == "json":
            text = line.decode("utf-8", "replace")
        elif not text:
            return
        self.clear()
        _print(text)

    def show(self, tracked: Tracked, *, settled: bool) -> None:
        """Draw the gauge, or say how it stands when a turn has ended.

        A window that the agent reports is remembered.
        """
        if settled and tracked.budget.window.source == "reported":
            self._memory.window(tracked.budget.model, tracked.budget.context_window)
        may_draw = self._draws and time.monotonic() - self._drawn_at >= PAUSE
        if self._quiet or not (settled or may_draw):
            return
        self._watch.budget = tracked.budget
        self._watch.meter = tracked.purse.meter
        reading = self._watch.reading("", self._counts)
        # What the agent itself prices is in the cost.
        reading["unpriced"] = list(tracked.purse.unpriced)
        if self._draws:
            self._draw(draw(reading, terminal_width())[:GAUGE_LINES])
            return
        line = one_line(reading)
        if line != self._line:
            self._line = line
            note(line)

    def clear(self) -> None:
        """Take the gauge away, to make room for a line."""
        if self._rows:
            self._write(f"\x1b[{self._rows}A\r\x1b[J")
            self._rows = 0

    def _draw(self, lines: list[str]) -> None:
        self._drawn_at = time.monotonic()
        self.clear()
        self._rows = len(lines)  # before it can be seen: what is typed then stands below it
        self._write("".join(f"{line}\n" for line in lines))

    @staticmethod
    def _write(text: str) -> None:
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.stderr.write(text)
        sys.stderr.flush()


def report_lines(report: RunReport) -> list[str]:
    """Return the report for a person."""
    head = report.outcome
    if report.why:
        head += f": {printable(report.why)}"
    rows = {
        "window": _window(report),
        "cost": _cost(report),
        "memory": report.scratch,
        "session": report.session,
        "not sent": "; ".join(text[:LONGEST_UNSENT] for text in report.unsent),
        "skipped": "",
    }
    if report.broken_lines:
        lines = counted(report.broken_lines, "line")
        rows["skipped"] = f"{lines} of the agent that cannot be read"
    facts = [f"  {name:<8} {printable(text)}" for name, text in rows.items() if text]
    return [paint(head, _ENDS[report.outcome]), f"  {_turns(report)}", *facts]


def _turns(report: RunReport) -> str:
    parts = [f"{counted(report.turns, 'turn')} in {report.seconds:.0f} s"]
    if report.compactions:
        parts.append(counted(report.compactions, "compaction"))
    if report.wrapped_up:
        parts.append("the last of them the wrap-up")
    return ", ".join(parts)


def _window(report: RunReport) -> str:
    if not report.used_tokens:
        return ""
    tokens = f"{report.used_tokens:,} of {report.context_window:,} tokens"
    if not report.context_window:
        return tokens
    return f"{tokens}  {percent(report.used_tokens / report.context_window)}"


def _cost(report: RunReport) -> str:
    cost = dollars(report.cost)
    if report.limit is not None:
        cost += f" of {dollars(report.limit)}"
    parts = [cost]
    if report.overshoot:
        parts.append(f"{dollars(report.overshoot)} over: the calls that were under way")
    if report.unpriced:
        parts.append(f"plus {', '.join(report.unpriced)}: no known price")
    if report.by_client:
        parts.append(f"as {report.agent} reports: no known price for {', '.join(report.by_client)}")
    return f"{', '.join(parts)}  ({report.scope})"


def is_in_front() -> bool:
    """Whether brim is in the foreground.

    A background process that reads from the terminal is stopped.
    """
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


def listen(typed: Callable[[str | None], object], face: TerminalFace) -> None:
    """Hand every line that is typed from now on to *typed*, and None at their end.

    *face* shows where.
    """

    def read() -> None:
        try:
            for line in sys.stdin:
                face.typed(line.rstrip("\r\n"))
                typed(line.rstrip("\r\n"))
        except (OSError, ValueError):
            pass
        typed(None)

    threading.Thread(target=read, daemon=True).start()


def _print(text: str) -> None:
    """Print an answer at once; the run goes on even without a reader."""
    if sys.stdout is None:
        return
    try:
        print(text)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
