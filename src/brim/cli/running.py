"""What ``brim run`` shows: answers on standard output, everything of brim's own on standard error.

On a terminal the gauge stays below what is said, and is drawn anew; else there is a line for each turn.
"""

from __future__ import annotations

import os
import sys
import time

from brim.cli.gauge import draw, one_line
from brim.cli.options import is_person_there
from brim.cli.output import dollars, note, paint, printable, say, terminal_width, width_of
from brim.cli.watching import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.agents.supervise.report import RunReport
    from brim.agents.supervise.tracked import Tracked
    from brim.cli.memory import Memory
    from brim.cli.tail import Counts
    from brim.config import Config

PAUSE = 0.1
"""Seconds between two drawings at least."""

GAUGE_LINES = 3
"""Lines of the gauge that fit below a conversation: the numbers, the bar, its marks."""

_ENDS = {"finished": "green", "limit": "yellow", "failed": "red", "interrupted": "yellow"}


class TerminalFace:
    """A person's view of a run. *output* is what the command wanted printed: ``text``, ``json`` or ``stream-json``.

    *quiet* shows nothing but what must be told, for ``--json``.
    """

    def __init__(self, config: Config, memory: Memory, counts: Counts, *, output: str, quiet: bool) -> None:
        self._watch, self._memory, self._counts = Watch(config, memory), memory, counts
        self._output, self._quiet = output, quiet
        self._draws = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._drawn, self._drawn_at = 0, 0.0
        self._line = ""
        self.can_ask = is_person_there() and is_in_front()

    def tell(self, text: str) -> None:
        """Say *text* on standard error."""
        self._clear()
        note(text)

    def typed(self, text: str) -> None:
        """Take in that *text* was typed below the gauge: its line goes with the gauge when that is drawn anew."""
        import shutil

        if self._drawn:
            self._drawn += 1 + max(0, width_of(text) - 1) // max(1, shutil.get_terminal_size().columns)

    def ask(self, text: str) -> None:
        """Put the question where the answer is typed."""
        self._clear()
        self._write(text)

    def line(self, line: bytes) -> None:
        """Print the agent's own line, if its stream was asked for."""
        if self._output == "stream-json" and not self._quiet:
            _print(line.decode("utf-8", "replace"))

    def answer(self, text: str, line: bytes) -> None:
        """Print what the agent answered, as it would have itself."""
        if self._quiet or self._output == "stream-json" or not (text or self._output == "json"):
            return
        self._clear()
        _print(line.decode("utf-8", "replace") if self._output == "json" else text)

    def show(self, tracked: Tracked, *, settled: bool) -> None:
        """Draw the gauge, or say how it stands when a turn has ended. A window that the agent reports is remembered."""
        if settled and tracked.budget.window.source == "reported":
            self._memory.window(tracked.budget.model, tracked.budget.context_window)
        if self._quiet or (not self._draws and not settled):
            return
        if self._draws and not settled and time.monotonic() - self._drawn_at < PAUSE:
            return
        self._watch.budget, self._watch.meter = tracked.budget, tracked.purse.meter
        reading = self._watch.reading("", self._counts)
        reading["unpriced"] = list(tracked.purse.unpriced)  # what the agent itself prices is in the cost
        if not self._draws:
            if self._line != (line := one_line(reading)):
                self._line = line
                note(line)
            return
        self._drawn_at = time.monotonic()
        self._clear()
        lines = draw(reading, terminal_width())[:GAUGE_LINES]
        self._drawn = len(lines)  # before it can be seen: what is typed then stands below it
        self._write("".join(f"{line}\n" for line in lines))

    def leave(self) -> None:
        """Take the gauge away: the report comes."""
        self._clear()

    def _clear(self) -> None:
        if self._drawn:
            self._write(f"\x1b[{self._drawn}A\r\x1b[J")
            self._drawn = 0

    @staticmethod
    def _write(text: str) -> None:
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.stderr.write(text)
        sys.stderr.flush()


def report_lines(report: RunReport) -> list[str]:
    """Return the report for a person."""
    head = report.outcome + (f": {printable(report.why)}" if report.why else "")
    lines = [paint(head, _ENDS[report.outcome])]
    done = f"{_counted(report.turns, 'turn')} in {report.seconds:.0f} s"
    if report.compactions:
        done += f", {_counted(report.compactions, 'compaction')}"
    if report.wrapped_up:
        done += ", the last of them the wrap-up"
    lines.append(f"  {done}")
    if report.used_tokens:
        share = f"{100 * report.used_tokens / report.context_window:.0f} %" if report.context_window else ""
        lines.append(f"  window   {report.used_tokens:,} of {report.context_window:,} tokens  {share}".rstrip())
    lines.append(f"  cost     {_cost(report)}")
    if report.scratch:
        lines.append(f"  scratch  {printable(report.scratch)}")
    if report.session:
        lines.append(f"  session  {printable(report.session)}")
    if report.unsent:
        lines.append(f"  not sent {'; '.join(printable(text[:60]) for text in report.unsent)}")
    if report.broken_lines:
        lines.append(f"  skipped  {_counted(report.broken_lines, 'line')} of the agent that cannot be read")
    return lines


def _cost(report: RunReport) -> str:
    text = dollars(report.cost)
    if report.limit is not None:
        text += f" of {dollars(report.limit)}"
    if report.overshoot:
        text += f", {dollars(report.overshoot)} over: the calls that were under way"
    if report.unpriced:
        text += f", and what {printable(', '.join(report.unpriced))} costs: no price is known"
    if report.by_client:
        text += f", as {report.agent} says: brim knows no price of {printable(', '.join(report.by_client))}"
    return f"{text}  ({report.scope})"


def is_in_front() -> bool:
    """Whether the terminal is brim's now: whoever reads from it in the background is stopped."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


def listen(typed: Callable[[str | None], object], face: TerminalFace) -> None:
    """Hand every line that is typed from now on to *typed*, and None at their end; *face* shows where."""
    import threading

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
    """Print an answer at once; if nobody reads any more, the run goes on all the same."""
    if sys.stdout is None:
        return
    try:
        say(text)
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
