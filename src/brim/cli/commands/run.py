"""``brim run``: an agent under supervision.

Answers go to standard output, everything of brim's own to standard error. On a terminal the gauge
stays below what is said, and is redrawn; otherwise there is a line for each turn.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import signal
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable

from brim.cli.commands.limit import Money
from brim.cli.gauge import draw, one_line
from brim.cli.options import (
    add_json,
    command,
    here,
    is_person_there,
    need_person,
    option,
    own_prices,
)
from brim.cli.output import (
    counted,
    dollars,
    emit,
    note,
    paint,
    printable,
    tell,
    terminal_width,
    width_of,
)
from brim.config import Config
from brim.errors import BrimError, ConfigError, InputError
from brim.figures import percent
from brim.hooks.limit_words import notify
from brim.report.watch import Memory, Watch, budget_of
from brim.run.command import CLIENTS, ClientCommand, client_command
from brim.run.purse import ON_LIMIT, Purse, scope_of
from brim.run.session import Notes, SessionFiles, Tracked
from brim.run.supervisor import RunReport, Supervisor
from brim.spend.money import micro_dollars
from brim.spend.periods import plan_limits
from brim.store.project import branch
from brim.tracking.live import Counts
from brim.tracking.notices import COST_LIMIT, COST_WARNING, Notice
from brim.workspace import Workspace

Tell = Callable[[str], object]

INPUT_PATIENCE = 3.0
"""Seconds to wait for what is piped in with a prompt, as Claude Code does."""
AT_LIMIT = "at the limit: ask (default; without a terminal, wrap-up), continue (once, a tenth more), wrap-up or stop"


@command(
    option("words", nargs="*", metavar="COMMAND", help="the agent's command, after --"),
    option(
        "--budget-usd",
        metavar="USD",
        help="stop at this cost; 5%%, at most $0.50, is kept for the wrap-up",
    ),
    option(
        "--on-limit", choices=(*ON_LIMIT, "wrap-up"), default="ask", metavar="ANSWER", help=AT_LIMIT
    ),
    option(
        "--task", default="", metavar="TEXT", help="what the work is about (default: the prompt)"
    ),
    option(
        "--then", action="append", default=[], metavar="TEXT", help="the next turn; may be repeated"
    ),
    option(
        "--scope",
        metavar="SCOPE",
        help="the ledger's scope (default: the project and a name for this run)",
    ),
    option(
        "--agent", choices=tuple(CLIENTS), help="which agent it is, if the program has another name"
    ),
    option(
        "--compact",
        metavar="SHARE",
        help="compact from this share on (default: the setting 'context.compact')",
    ),
    add_json,
)
def run(options: Namespace) -> int:
    """Run an agent under supervision: gauge, compaction, limit.

    Shows how full the agent's window is, keeps the memory, compacts between two turns when it's
    time, and stops at a limit. Put the agent's own command after --. Claude Code takes all turns in
    one process; brim resumes Codex (codex exec) and Gemini for each turn, and says at the start
    what they can't do.

    On a terminal, each line that you type while the agent works is its next turn. Ctrl-C ends the
    turn; pressed again, it ends the agent. Exits with 0 if everything was done, 1 if the limit or a
    failure ended it, 2 for a wrong command line, and 130 after Ctrl-C.

    Examples:
      brim run -- claude -p "fix the parser" --permission-mode acceptEdits
      brim run --budget-usd 2 --then "now write the changelog" -- claude -p "fix the parser"
      brim run --budget-usd 0.50 --on-limit stop --json -- codex exec "explain this repository"
    """
    if os.name != "posix":
        raise InputError(
            "brim run works on Linux and macOS; on Windows the agent cannot be interrupted calmly yet"
        )
    if options.on_limit == "continue":
        need_person("lets an agent go on at a limit")
    command = client_command(options.words, options.agent)
    if any(not text.strip() for text in options.then):
        raise InputError("--then is empty: write the turn, or leave it out")
    prompt, given = _prompt(command)
    workspace, run_id = here({"context.compact": options.compact}), secrets.token_hex(6)
    cwd = workspace.cwd
    if not cwd:
        raise InputError("the current folder was deleted: go to another")
    memory, money, counts = Memory(workspace.home), _money(), Counts()
    face = TerminalFace(
        workspace.config, memory, counts, output=command.output, quiet=options.as_json
    )
    try:
        scope = options.scope or scope_of(
            workspace.place, run_id, None if money is None else money.ledger
        )
        purse = _purse(options, command, workspace, money, scope=scope, tell=face.tell)
        place = workspace.project or cwd
        notes = Notes(
            place,
            cwd,
            job=options.task or prompt,
            clock=time.time,
            tell=face.tell,
            environ=os.environ,
        )
        files = SessionFiles(command.agent, os.environ, since=time.time())
        tracked = Tracked(budget_of(workspace.config), purse, notes, files, feed=counts.feed())
        supervisor = Supervisor(
            command,
            prompt,
            tracked,
            face,
            environ=os.environ,
            cwd=cwd,
            run=run_id,
            given=given,
            then=options.then,
            task=options.task,
            on_limit=options.on_limit.replace("-", "_"),  # ``brim limit`` has it as ``wrap-up``
        )
        _catch_signals(supervisor)
        if face.can_ask:
            listen(supervisor.typed, face)
        report = supervisor.run()
    finally:
        face.clear()
        memory.close()
        if money is not None:
            money.ledger.close()
    return emit(
        report,
        lambda done: tell("\n".join(report_lines(done))),
        options.as_json,
        code=report.exit_code,
    )


def _purse(
    options: Namespace,
    command: ClientCommand,
    workspace: Workspace,
    money: Money | None,
    *,
    scope: str,
    tell: Tell,
) -> Purse:
    """Return the money of the run. Its limit is the lower one of that given here and that given to
    the agent."""
    config, home, environ = workspace.config, workspace.home, workspace.environ
    own_prices(config)
    if money is not None:
        money.apply_default(scope)
    given = [text for text in (options.budget_usd, command.own_cap or None) if text is not None]
    return Purse(
        min((micro_dollars(text, up=False) for text in given), default=None),
        scope=scope,
        ledger=None if money is None else money.ledger,
        warn=config["spend.warn"],
        resumed=command.resumed,
        plans=lambda limit: plan_limits(limit, command.agent, home, environ, time.time()),
        branch=branch(workspace.project) or "" if workspace.project else "",
        tell=tell,
    )


def _money() -> Money | None:
    """Return the user's ledger; None, and a word about it, if it can't be used."""
    try:
        money = Money(clock=time.time)  # a run may last beyond midnight
    except ConfigError:
        raise
    except BrimError as error:
        note(f"spending is counted but not saved: {error}")
        return None
    if money.ledger.database.readonly:
        money.ledger.close()
        note("spending is counted but not saved: the ledger can only be read")
        return None
    command = money.config.yours["notify"]

    def tell_person(notice: Notice) -> None:
        if notice.kind in (COST_WARNING, COST_LIMIT):
            notify(command, str(notice), reached=notice.kind == COST_LIMIT, environ=os.environ)

    money.ledger.subscribe(tell_person)
    return money


def _prompt(command: ClientCommand) -> tuple[str, str]:
    """Return the prompt and what is piped in; if the command has no prompt, the piped text is the
    prompt."""
    prompt = "" if command.prompt == "-" else command.prompt
    if sys.stdin is None or sys.stdin.isatty():
        if not prompt:
            raise InputError(
                'no prompt: put it in quotes after -p, as in: brim run -- claude -p "fix the parser"'
            )
        return prompt, ""
    given = (
        sys.stdin.buffer.read().decode("utf-8", "replace")
        if not prompt or _is_input_there()
        else ""
    )
    if not prompt and not given.strip():
        raise InputError("no prompt: the command has none, and standard input is empty")
    return (prompt, given) if prompt else (given, "")


def _is_input_there() -> bool:
    """Whether something comes on standard input, or its end: one that was left open and silent must
    not stop a run."""
    try:
        ready, _, _ = select.select([sys.stdin.fileno()], [], [], INPUT_PATIENCE)
    except (OSError, ValueError):
        return False
    if not ready:
        note(
            f"no standard input after {INPUT_PATIENCE:.0f} s: going on without it (add '< /dev/null')"
        )
    return bool(ready)


def _catch_signals(supervisor: Supervisor) -> None:
    """Let signals end the turn, not brim; ignore SIGPIPE, so that brim outlives an agent that stops
    reading."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: supervisor.signalled(number))
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


# What is shown ------------------------------------------------------------------------------------

PAUSE = 0.1
"""Seconds between two drawings at least."""

GAUGE_LINES = 3
"""Lines of the gauge that fit below a conversation: the numbers, the bar, its marks."""

_ENDS = {"finished": "green", "limit": "yellow", "failed": "red", "interrupted": "yellow"}


class TerminalFace:
    """A person's view of a run. *output* is what the command wanted printed: ``text``, ``json`` or
    ``stream-json``.

    *quiet* shows nothing but what must be told, for ``--json``.
    """

    def __init__(
        self, config: Config, memory: Memory, counts: Counts, *, output: str, quiet: bool
    ) -> None:
        self._watch, self._memory, self._counts = Watch(config, memory), memory, counts
        self._output, self._quiet = output, quiet
        self._draws = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._drawn, self._drawn_at = 0, 0.0
        self._line = ""
        self.can_ask = is_person_there() and is_in_front()

    def tell(self, text: str) -> None:
        """Say *text* on standard error."""
        self.clear()
        note(text)

    def typed(self, text: str) -> None:
        """Take in that *text* was typed below the gauge: its line goes when the gauge is
        redrawn."""
        if self._drawn:
            self._drawn += 1 + max(0, width_of(text) - 1) // max(
                1, shutil.get_terminal_size().columns
            )

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
        if self._quiet or self._output == "stream-json" or not (text or self._output == "json"):
            return
        self.clear()
        _print(line.decode("utf-8", "replace") if self._output == "json" else text)

    def show(self, tracked: Tracked, *, settled: bool) -> None:
        """Draw the gauge, or say how it stands when a turn has ended. A window that the agent
        reports is remembered."""
        if settled and tracked.budget.window.source == "reported":
            self._memory.window(tracked.budget.model, tracked.budget.context_window)
        is_late = self._draws and time.monotonic() - self._drawn_at >= PAUSE
        if self._quiet or not (settled or is_late):
            return
        self._watch.budget, self._watch.meter = tracked.budget, tracked.purse.meter
        reading = self._watch.reading("", self._counts)
        reading["unpriced"] = list(
            tracked.purse.unpriced
        )  # what the agent itself prices is in the cost
        if not self._draws:
            if self._line != (line := one_line(reading)):
                self._line = line
                note(line)
            return
        self._drawn_at = time.monotonic()
        self.clear()
        lines = draw(reading, terminal_width())[:GAUGE_LINES]
        self._drawn = len(lines)  # before it can be seen: what is typed then stands below it
        self._write("".join(f"{line}\n" for line in lines))

    def clear(self) -> None:
        """Take the gauge away, to make room for a line."""
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
    done = f"{counted(report.turns, 'turn')} in {report.seconds:.0f} s"
    done += f", {counted(report.compactions, 'compaction')}" if report.compactions else ""
    done += ", the last of them the wrap-up" if report.wrapped_up else ""
    share = (
        f"  {percent(report.used_tokens / report.context_window)}" if report.context_window else ""
    )
    unsent = "; ".join(text[:60] for text in report.unsent)
    broken = f"{counted(report.broken_lines, 'line')} of the agent that cannot be read"
    rows = {
        "window": f"{report.used_tokens:,} of {report.context_window:,} tokens{share}"
        if report.used_tokens
        else "",
        "cost": _cost(report),
        "memory": report.scratch,
        "session": report.session,
        "not sent": unsent,
        "skipped": broken if report.broken_lines else "",
    }
    facts = [f"  {name:<8} {printable(text)}" for name, text in rows.items() if text]
    return [paint(head, _ENDS[report.outcome]), f"  {done}", *facts]


def _cost(report: RunReport) -> str:
    parts = [
        dollars(report.cost) + ("" if report.limit is None else f" of {dollars(report.limit)}")
    ]
    if report.overshoot:
        parts.append(f"{dollars(report.overshoot)} over: the calls that were under way")
    if report.unpriced:
        parts.append(f"plus {', '.join(report.unpriced)}: no known price")
    if report.by_client:
        parts.append(f"as {report.agent} reports: no known price for {', '.join(report.by_client)}")
    return f"{', '.join(parts)}  ({report.scope})"


def is_in_front() -> bool:
    """Whether brim is in the foreground: a background process that reads from the terminal is
    stopped."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False


def listen(typed: Callable[[str | None], object], face: TerminalFace) -> None:
    """Hand every line that is typed from now on to *typed*, and None at their end; *face* shows
    where."""

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
